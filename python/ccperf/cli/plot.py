"""``ccperf plot``: the figures of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ccperf.cli.options import Folder, databases, load_runs, writable_folder
from ccperf.cli.output import say
from ccperf.errors import UsageError, unknown
from ccperf.outputs import FIGURES, may_write


def command(
    *runs: Annotated[str, Parameter(help="Ids of runs, or their beginnings.")],
    db: Annotated[
        list[Path] | None,
        Parameter(help="Database; may be repeated. Default: those here."),
    ] = None,
    figure: Annotated[str, Parameter(help="Figures, e.g. time_series; default: all.")] = "",
    format: Annotated[str, Parameter(help="pdf, svg, png, or several: pdf,svg.")] = "pdf",
    output: Folder = Path(),
) -> None:
    """Draw the figures of runs."""
    from ccperf import figures

    if not runs:
        raise UsageError("runs", "name at least one; `ccperf runs --db FILE` lists them")
    names = [name.strip() for name in figure.split(",")] if figure else list(figures.FIGURES)
    for name in names:
        if name not in figures.FIGURES:
            raise UsageError("--figure", unknown("figure", name, figures.FIGURES))
    formats = [name.strip() for name in format.split(",")]
    for name in formats:
        if name not in figures.FORMATS:
            raise UsageError("--format", unknown("format", name, figures.FORMATS))
    writable_folder(output)
    results = load_runs(runs, databases(db))
    targets = {
        (result.id, name): [output / f"{result.id}_{name}.{suffix}" for suffix in formats]
        for result in results
        for name in names
    }
    for path in (path for paths in targets.values() for path in paths):
        may_write(path, FIGURES[path.suffix[1:]], "--output")
    output.mkdir(parents=True, exist_ok=True)
    for result in results:
        for name in names:
            paths = targets[result.id, name]
            figures.save(figures.describe(name, result.scenario, result.recording), *paths)
            for path in paths:
                say(path)
