"""Making pages of runs: what one page takes, and many of them on all cores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from ccperf.present.figures import packed, svg
from ccperf.site import copies, drawing
from ccperf.site.deflated import deflated
from ccperf.site.naming import slug
from ccperf.site.pages import prepare, run_page
from ccperf.site.views import RunView
from ccperf.store import DamagedRun, Store

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from ccperf.runs.result import Result
    from ccperf.site.inventory import Group, Page
    from ccperf.site.output import File

#: Fewer pages than this are made here: processes take longer to start.
_WORTH_PROCESSES = 24

#: File names from the site's root, and contents.
Files: TypeAlias = "list[File]"


def make(
    jobs: Sequence[tuple[Group, Page]], intact: Mapping[Path, Collection[str]]
) -> Iterator[Files | DamagedRun]:
    """Yield the files of each page, in their order, made on as many cores as there are.

    Runs that are `intact` were compared with their checksums before, those of each database.
    """
    workers = copies.worth(len(jobs), _WORTH_PROCESSES // 2)
    if workers < 2:
        with Stores(intact) as stores:
            for job in jobs:
                yield page_files(*job, stores)
        return
    # What the copies would each take a moment for, they have of this process.
    prepare()
    _jobs.extend(jobs)
    _stores.intact = intact
    try:
        yield from copies.mapped(_made, range(len(jobs)), workers)
    finally:
        _jobs.clear()
        _stores.intact = {}


class Stores:
    """Databases that stay open while pages are made of them: opening takes milliseconds."""

    def __init__(self, intact: Mapping[Path, Collection[str]] | None = None) -> None:
        """None is open yet."""
        self._open: dict[Path, Store] = {}
        #: Runs of each database that need not be compared with their checksums again.
        self.intact = intact or {}

    def __enter__(self) -> Stores:
        return self

    def __exit__(self, *_: object) -> None:
        for store in self._open.values():
            store.close()
        self._open.clear()

    def of(self, database: Path) -> Store:
        """Return the store of a database."""
        if database not in self._open:
            store = self._open[database] = Store(database, "r")
            store.take_as_intact(self.intact.get(database, ()))
        return self._open[database]


#: What the children make; they have it of their parent.
_jobs: list[tuple[Group, Page]] = []
#: Those of a child, which ends with it.
_stores = Stores()


def _made(index: int) -> Files | DamagedRun:
    return page_files(*_jobs[index], _stores)


def page_files(group: Group, page: Page, stores: Stores) -> Files | DamagedRun:
    """Return the files of a page of runs, or the run for which there can be none."""
    try:
        return _files(group, page, stores)
    except DamagedRun as damaged:
        return damaged


def _files(group: Group, page: Page, stores: Stores) -> Files:
    """Return the page itself, its picture, its series, and what it says."""
    shown = page.record
    first = _of(page, stores.of(shown.database).load(page.id, drawn=True))
    files: Files = []
    flows = drawing.series_of(first)
    detail = svg.COARSEST if page.is_small else svg.COARSE
    picture = drawing.picture(first, flows, detail)
    if picture is not None:
        files.append((picture[0].file, picture[1]))
    full, small = packed.rooms(page.is_small)
    if flows is not None:
        files.append((drawing.DATA_FILE, drawing.data(first, flows, full)))
        for seed in page.seeds[1:]:
            record = page.cell.records[seed]
            other = _of(page, stores.of(record.database).load_series(record.row.id))
            series = drawing.series_of(other)
            if series is not None:
                files.append((f"{slug(other.id)}.js", drawing.data(other, series, small)))
    view = RunView(first, page, group, picture[0] if picture else None)
    files.append(("scenario.js", drawing.scenario(view.scenario)))
    files.append(("result.js", deflated(f"result {page.id}", view.json.encode(), "text")))
    files.append(("index.html", run_page(view)))
    return [(f"{page.folder}/{name}", content) for name, content in files]


def _of(page: Page, result: Result) -> Result:
    """Return a run as the point that its page is of; it may serve others, too."""
    row = page.record.row
    return replace(result, experiment=row.experiment, parameters=row.parameters)
