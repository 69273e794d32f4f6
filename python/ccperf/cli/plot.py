"""``ccperf plot``: the figures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ccperf.cli.options import Folder, load_runs, writable_folder
from ccperf.errors import UsageError, unknown


def command(
    run: Annotated[str, Parameter(help="Id of a run, or its beginning.")],
    /,
    *,
    db: Annotated[list[Path], Parameter(help="Database; may be repeated.")],
    figure: Annotated[str, Parameter(help="Figures, e.g. time_series; default: all.")] = "",
    format: Annotated[str, Parameter(help="pdf, svg, png, or several: pdf,svg.")] = "pdf",
    output: Folder = Path(),
) -> None:
    """Draw the figures of a run."""
    from ccperf import figures

    names = [name.strip() for name in figure.split(",")] if figure else list(figures.FIGURES)
    for name in names:
        if name not in figures.FIGURES:
            raise UsageError("--figure", unknown("figure", name, figures.FIGURES))
    formats = [name.strip() for name in format.split(",")]
    for name in formats:
        if name not in figures.FORMATS:
            raise UsageError("--format", unknown("format", name, figures.FORMATS))
    writable_folder(output)
    (result,) = load_runs([run], db)
    output.mkdir(parents=True, exist_ok=True)
    for name in names:
        paths = [output / f"{result.id}_{name}.{suffix}" for suffix in formats]
        figures.save(figures.describe(name, result.scenario, result.recording), *paths)
        for path in paths:
            print(path)
