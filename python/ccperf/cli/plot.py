"""``ccperf plot``: figures of runs, of several runs together, of a metric against a parameter."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ccperf.cli.choice import Choice, Parameters, named
from ccperf.cli.options import Folder, Json, databases, load_runs, writable_folder
from ccperf.cli.output import print_json, say
from ccperf.errors import UsageError, unknown

if TYPE_CHECKING:
    from ccperf.present.figures import Figure
    from ccperf.runs.result import Result


def command(
    *runs: Annotated[str, Parameter(help="Ids of runs, or their beginnings.")],
    db: Annotated[
        list[Path] | None,
        Parameter(help="Database; may be repeated. Default: those here."),
    ] = None,
    figure: Annotated[str, Parameter(help="Figures, e.g. time_series; default: all.")] = "",
    choice: Choice | None = None,
    overlay: Annotated[bool, Parameter(help="All the runs in one figure.")] = False,
    sweep: Annotated[
        str, Parameter(help="Draw --metric against this parameter, with intervals over seeds.")
    ] = "",
    metric: Annotated[str, Parameter(help="Draw these, e.g. mean_srtt_l4.")] = "",
    base: Annotated[
        str, Parameter(help="Of --sweep: over the values of this algorithm, paired by seed.")
    ] = "",
    format: Annotated[str, Parameter(help="pdf, svg, png, or several: pdf,svg.")] = "pdf",
    width: Annotated[
        str, Parameter(help="column (3.4 inches), ieee, ieee-page, acm or acm-page.")
    ] = "column",
    output: Folder = Path(),
    json: Json = False,
    **parameters: Parameters,
) -> None:
    """Draw figures at the width of a column, named by what they show.

    Runs are named by their ids or chosen by experiment, algorithm, point and seed. `--overlay` lays
    them over each other, one colour a run; `--sweep k --metric mean_srtt_l4` draws a line for each
    algorithm with the 95 % confidence interval of its means. Where runs are chosen and nothing else
    is said, it is the figure of their experiment: its first headline over its x axis.
    """
    from ccperf.evidence import sweeps
    from ccperf.evidence.chosen import metrics_named
    from ccperf.experiments.catalogue import answer
    from ccperf.present import figures

    names = _known("--figure", "figure", figure, [*figures.FIGURES, *figures.OF_RECORDINGS])
    formats = _known("--format", "format", format, figures.FORMATS)
    _known("--width", "width", width, figures.WIDTHS)
    writable_folder(output)
    is_made = choice is not None and choice.is_made(parameters)
    is_default = is_made and not (runs or names or overlay or sweep or metric or base)
    chosen = []
    if sweep or metric or base or is_default:
        if runs:
            raise UsageError("runs", "are chosen for --sweep: by --experiment, --cc, --k")
        chosen = (choice or Choice()).cells(databases(db), parameters)
    if is_default and all(answer(cell.point.experiment).shape == "time" for cell in chosen):
        names = ["time_series"]
    elif chosen:
        drawn = sweeps.sweeps(chosen, sweep, metrics_named(metric, "--metric"), base)
        _save(drawn, formats, output, width, json)
        return
    ids = named(runs, choice, parameters, databases(db))
    if not ids:
        raise UsageError("runs", "name at least one; `ccperf runs --db FILE` lists them")
    results = load_runs(ids, databases(db))
    if overlay:
        alike = [figures.drawable(each.scenario, each.recording) for each in results]
        common = [name for name in alike[0] if all(name in other for other in alike)]
        drawn = _overlays(results, names or common)
    else:
        from ccperf.base.outputs import stem

        drawn = {
            f"{stem(result)}_{name}": figures.describe(name, result.scenario, result.recording)
            for result in results
            for name in names or figures.drawable(result.scenario, result.recording)
        }
    _save(drawn, formats, output, width, json)


def _known(option: str, kind: str, text: str, known: Collection[str]) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise UsageError(option, unknown(kind, name, known))
    return names


def _overlays(results: Sequence[Result], names: Sequence[str]) -> dict[str, Figure]:
    """Each figure with all the runs in it, called by what tells them apart."""
    from ccperf.algorithms.roles import parameters, under_test
    from ccperf.base.outputs import file_name
    from ccperf.present import figures

    def words(result: Result) -> dict[str, str]:
        flows = dict.fromkeys(flow.cc.type for flow in result.scenario.flows if flow.cc)
        point = parameters(result.parameters)
        return {
            "algorithm": under_test(result.parameters) or ",".join(flows),
            **{name: f"{name}={value}" for name, value in point.items()},
            "seed": f"seed {result.provenance.seed}",
            "run": result.id[:8],
        }

    described = [words(result) for result in results]
    differing = [
        key
        for key in dict.fromkeys(key for one in described for key in one)
        if key != "run" and len({one.get(key) for one in described}) > 1
    ]
    labels = [" ".join(one[key] for key in differing if key in one) for one in described]
    if len(set(labels)) < len(labels) or not all(labels):
        labels = [
            f"{label} {one['run']}".strip() for label, one in zip(labels, described, strict=True)
        ]
    common = results[0].experiment or "runs"
    return {
        file_name([common, *labels[:4], name]): figures.overlay(
            {
                label: figures.describe(name, result.scenario, result.recording)
                for label, result in zip(labels, results, strict=True)
            }
        )
        for name in names
    }


def _save(
    drawn: dict[str, Figure], formats: Sequence[str], output: Path, width: str, json: bool
) -> None:
    from ccperf.base.outputs import FIGURES, may_write
    from ccperf.present import figures

    targets = {name: [output / f"{name}.{suffix}" for suffix in formats] for name in drawn}
    for path in (path for paths in targets.values() for path in paths):
        may_write(path, FIGURES[path.suffix[1:]], "--output")
    output.mkdir(parents=True, exist_ok=True)
    for name, figure in drawn.items():
        figures.save(figure, *targets[name], width=width)
        if not json:
            for path in targets[name]:
                say(path)
    if json:
        print_json(
            [
                {
                    "figure": figure.name,
                    "title": figure.title,
                    "shows": figure.alt,
                    "files": [str(path) for path in targets[name]],
                }
                for name, figure in drawn.items()
            ]
        )
