"""``ccperf diff``: where two runs differ."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from ccperf.cli.choice import Choice, Parameters, exactly
from ccperf.cli.options import Databases, Json, databases
from ccperf.cli.output import print_json, say, table
from ccperf.cli.parameter import Parameter
from ccperf.scenario.differences import differences


def command(
    *runs: Annotated[str, Parameter(help="Ids of two runs, or their beginnings.")],
    db: Databases = None,
    choice: Choice | None = None,
    json: Json = False,
    **parameters: Parameters,
) -> int:
    """Tell where two runs differ: scenario, metrics, and the first sample of each column.

    Exit status 0 if they are alike, 1 if not.
    """
    from ccperf.verify.compare import metric_differences, table_differences

    a, b = exactly(2, runs, choice, parameters, databases(db, runs))
    fields = [
        difference
        for difference in differences(a.scenario.canonical(), b.scenario.canonical())
        if difference[0] != "label"
    ]
    metrics = list(metric_differences(a.metrics, b.metrics))
    samples = list(table_differences(a.recording, b.recording))
    alike = not (fields or metrics or samples)
    if json:
        head = ("path", "first", "second")
        print_json(
            {
                "runs": [a.id, b.id],
                "alike": alike,
                "scenario": [dict(zip(head, row, strict=True)) for row in fields],
                "metrics": [asdict(difference) for difference in metrics],
                "samples": [_without_nan(asdict(difference)) for difference in samples],
            }
        )
        return 0 if alike else 1
    if alike:
        say("alike: same scenario, same metrics, same samples")
        return 0
    sections = (
        ("Scenario", "field", [[path, str(x), str(y)] for path, x, y in fields]),
        (
            "Metrics",
            "metric",
            [[f"{m.subject} {m.metric}", _text(m.ours), _text(m.theirs)] for m in metrics],
        ),
        (
            "First sample that differs",
            "column",
            [
                [
                    f"{s.table}.{s.column}, {s.place or f'row {s.row}'}",
                    _text(s.ours),
                    _text(s.theirs),
                ]
                for s in samples
            ],
        ),
    )
    for title, what, rows in sections:
        if rows:
            say(f"{title}\n{table([what, a.id, b.id], rows)}\n")
    if not (metrics or samples):
        say("alike but for that: same metrics, same samples")
    return 1


def _without_nan(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in fields.items()}


def _text(value: object) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
