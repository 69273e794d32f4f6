"""``ccperf compare`` of single runs, named by their ids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ccperf.algorithms import roles
from ccperf.cli.alike import of_results
from ccperf.cli.options import load_runs
from ccperf.cli.output import note, note_findings, print_json, say

if TYPE_CHECKING:
    from ccperf.runs.metrics import Metric
    from ccperf.runs.result import Result


def compare_runs(
    items: Sequence[str], databases: Sequence[Path], metrics: Sequence[str], format: str
) -> int:
    """Single runs side by side: by default all metrics, without a word on chance."""
    from ccperf.cli.formats import render
    from ccperf.errors import UsageError
    from ccperf.evidence.text import digits
    from ccperf.runs.metrics import METRICS, named

    if len(items) < 2:
        raise UsageError("runs", "name at least two; `ccperf runs --db FILE` lists them")
    results = load_runs(items, databases)
    names = _names(results)
    rows: list[list[str]] = []
    document: dict[str, dict[str, float]] = {}
    for name in metrics or METRICS:
        definition = named(name)
        assert definition is not None
        values = [_reduced(definition, result) for result in results]
        present = [value for value in values if value is not None]
        if not present:
            continue
        best = {"higher": max, "lower": min}.get(definition.better or "", lambda _: None)(present)
        alike = len({digits(value) for value in present}) == 1
        rows.append([name, definition.unit])
        for value, result in zip(values, results, strict=True):
            if value is None:
                columns = result.metrics.of(definition.scope).values()
                rows[-1].append(definition.without_value(columns))
                continue
            if format == "csv":  # is for programs
                rows[-1].append(str(value))
                continue
            text = digits(value)
            if change := _change(definition, values[0], value):
                text += f" ({change})"
            is_best = best is not None and digits(value) == digits(best) and not alike
            rows[-1].append(text + (" <" if is_best else ""))
        document[name] = {
            result.id: value
            for result, value in zip(results, values, strict=True)
            if value is not None
        }
    if format == "json":
        print_json(document)
        return 0
    if format == "text":
        for name, result, text in zip(names, results, of_results(results), strict=True):
            what = f"{result.id}  {result.title}  seed {result.provenance.seed}"
            say(f"{name}: {what}  {text}".rstrip())
        say()
    say(render(format, ["metric", "unit", *names], rows))
    note_findings(*results)
    note("single runs: < is the best value of its row, which may be by chance")
    return 0


def _change(metric: Metric, first: float | None, value: float) -> str:
    """How a value differs from the first one: in per cent, or what may be negative in its unit."""
    from ccperf.evidence.text import digits
    from ccperf.evidence.verdict import effect_text

    if first is None or digits(value) == digits(first):
        return ""
    if metric.effect == "difference":
        return effect_text("difference", value - first)
    return f"{100 * (value / first - 1):+.1f} %".replace("-", "−") if first else ""


def _names(results: Sequence[Result]) -> list[str]:
    """Algorithms where they tell the runs apart, else with the beginning of the run's id."""
    names = [
        str(
            roles.under_test(result.parameters)
            or ",".join(dict.fromkeys(f.cc.type for f in result.scenario.flows if f.cc))
        )
        for result in results
    ]
    return [
        name if names.count(name) == 1 else f"{name} {result.id[:4]}"
        for name, result in zip(names, results, strict=True)
    ]


def _reduced(metric: Metric, result: Result) -> float | None:
    return metric.of_run(result.metrics.of(metric.scope))
