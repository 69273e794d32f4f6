"""Read stores, write the site's folder."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.evidence import cells
from ccperf.site.inventory import inventory
from ccperf.site.output import Output
from ccperf.site.scores import Scores
from ccperf.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ccperf.site.inventory import Group


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
        from ccperf.site import pages, work
    except ModuleNotFoundError as error:
        raise UsageError(
            "site", f"{error.name} is not installed: pip install 'ccperf[figures]'"
        ) from error

    paths = [Path(path) for path in databases]
    for path in paths:
        Store(path, "r").close()  # all are databases of ours before anything is written
    target = Output(Path(output))
    found = inventory(cells.read(paths), [path.name for path in paths])
    by_page = {page.id: (group, page) for group in found.groups for page in group.pages}
    jobs = [by_page[page.id] for page in found.pages]
    done = 0
    for (_, page), made in zip(jobs, work.make(jobs), strict=True):
        for name, content in made:
            target.write(name, content)
        done += len(page.runs)
        if progress:
            progress(done, found.runs)
    for asset in files("ccperf.site").joinpath("static").iterdir():
        target.write(f"static/{asset.name}", asset.read_bytes())
    for name, content in pages.generated():
        target.write(name, content)
    scores = Scores(found)
    for group in found.groups:
        if group.name:
            for name, content in pages.experiment_pages(group, _scenario(group)):
                target.write(name, content)
    for algorithm in found.algorithms:
        for name, content in pages.algorithm_pages(algorithm, found, scores):
            target.write(name, content)
    overview = dict(pages.overview_pages(found, scores))
    # Last, so that a site which has one is whole.
    index = overview.pop(INDEX)
    for name, content in overview.items():
        target.write(name, content)
    target.write(INDEX, index)
    target.finish()
    return Built(Path(output) / INDEX, found.runs, target.written, target.unchanged, target.removed)


def _scenario(group: Group) -> dict[str, Any]:
    """Return the scenario of an experiment's first page."""
    page = group.pages[0]
    with Store(page.record.database, "r") as store:
        return store.scenario(page.id)
