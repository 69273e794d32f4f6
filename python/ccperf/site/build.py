"""Read stores, write the site's folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from ccperf.errors import UsageError
from ccperf.site.output import Output
from ccperf.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ccperf.result import Result


#: The page that a site begins with.
INDEX = "index.html"


@dataclass(frozen=True)
class Built:
    """What a build did; counts are files."""

    index: Path
    runs: int
    written: int
    unchanged: int
    removed: int


def build(
    databases: Sequence[str | Path],
    output: str | Path,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Built:
    """Write the site of all runs in `databases` to the folder `output`.

    What is there already and would not change is not written again. `progress` is called with the
    number of runs read and to read. Raises `UsageError` for a database or folder that cannot be
    used, or without jinja2.
    """
    try:
        from ccperf.site.drawing import draw
        from ccperf.site.pages import render
        from ccperf.site.views import RunView
    except ModuleNotFoundError as error:
        raise UsageError(
            "site", f"{error.name} is not installed: pip install 'ccperf[figures]'"
        ) from error

    paths = [Path(path) for path in databases]
    for path in paths:
        Store(path, "r").close()  # all are databases of ours before anything is written
    target = Output(Path(output))
    runs: list[RunView] = []
    total = _count(paths) if progress else 0
    for done, (path, points) in enumerate(_results(paths), start=1):
        figures = draw(points[0])
        drawn = [figure for figure, _ in figures]
        runs += [RunView(point, drawn, path.name) for point in points]
        for figure, content in figures:
            target.write(f"{runs[-1].folder}/{figure.file}", content)
        if progress:
            progress(done, total)
    for asset in files("ccperf.site").joinpath("static").iterdir():
        target.write(f"static/{asset.name}", asset.read_bytes())
    pages = dict(render(runs, [path.name for path in paths]))
    # Last, so that a site which has one is whole.
    index = pages.pop(INDEX)
    for name, content in pages.items():
        target.write(name, content)
    target.write(INDEX, index)
    target.finish()
    return Built(
        Path(output) / INDEX,
        len({run.id for run in runs}),
        target.written,
        target.unchanged,
        target.removed,
    )


def _results(databases: Sequence[Path]) -> Iterator[tuple[Path, list[Result]]]:
    """Yield each run, as each point of an experiment that it is; one run at a time is held."""
    seen: set[str] = set()
    for path in databases:
        with Store(path, "r") as store:
            for run, points in groupby(store.runs(), key=lambda row: row.id):
                if run in seen:
                    continue
                seen.add(run)
                result = store.load(run)
                yield (
                    path,
                    [
                        replace(result, experiment=point.experiment, parameters=point.parameters)
                        for point in points
                    ],
                )


def _count(databases: Sequence[Path]) -> int:
    """Return how many runs there are."""
    runs: set[str] = set()
    for path in databases:
        with Store(path, "r") as store:
            runs |= {row.id for row in store.runs()}
    return len(runs)
