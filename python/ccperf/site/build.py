"""Read stores, write the site's folder."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.evidence import cells
from ccperf.site import engine
from ccperf.site.inventory import inventory
from ccperf.site.memory import Memory, digest, place
from ccperf.site.output import Output
from ccperf.site.scores import Scores
from ccperf.store import DamagedRun, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ccperf.site.inventory import Group, Inventory


#: The page that a site begins with.
INDEX = "index.html"
#: The page of a scenario that is there to be changed.
PLAY = "play.html"


@dataclass(frozen=True)
class Built:
    """What a build did; counts are files."""

    index: Path
    runs: int
    written: int
    unchanged: int
    removed: int
    #: Runs that cannot be read, and so have no page.
    left_out: tuple[DamagedRun, ...] = ()


def build(
    databases: Sequence[str | Path],
    output: str | Path,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Built:
    """Write the site of all runs in `databases` to the folder `output`.

    What is there already and would not change is not written again. `progress` is called with the
    number of runs read and to read. A run that cannot be read is left out.
    Raises `UsageError` for a database or folder that cannot be used.
    """
    paths = [Path(path) for path in databases]
    for path in paths:
        Store(path, "r").close()  # all are databases of ours before anything is written
    target = Output(Path(output))
    with Memory(place(target.folder)) as memory:
        records = [record for path in paths for record in memory.records(path)]
        is_whole = False
        while not is_whole:
            whole = filter(memory.is_whole, records)
            found = inventory(cells.gather(whole), [path.name for path in paths])
            is_whole = _write_runs(found, target, memory, progress)
        _write_common(target, memory)
        _write_overviews(found, target, memory)
    target.finish()
    left_out = [run for runs in memory.damaged.values() for run in runs.values()]
    return Built(
        Path(output) / INDEX,
        found.runs,
        target.written,
        target.unchanged,
        target.removed,
        tuple(left_out),
    )


def _write_runs(
    found: Inventory,
    target: Output,
    memory: Memory,
    progress: Callable[[int, int], None] | None,
) -> bool:
    """Write the pages of runs that are not there yet as they would be made.

    Returns whether all could be read; those that could not are to be left out.
    """
    from ccperf.site import work

    group_of = {page.id: group for group in found.groups for page in reversed(group.pages)}
    done = 0
    is_whole = True
    jobs = []
    for page in found.pages:
        group = group_of[page.id]
        first = group.page(page.id)
        if memory.keeps(f"runs {page.id}", first.made_of(group), target):
            done += len(page.runs)
        else:
            jobs.append((group, first))
    if progress and done:
        progress(done, found.runs)
    for (group, page), made in zip(jobs, work.make(jobs, memory.intact), strict=True):
        if isinstance(made, DamagedRun):
            memory.leave_out(made)
            is_whole = False
            continue
        for name, content in made:
            target.write(name, content)
        names = [name for name, _ in made]
        memory.remember(f"runs {page.id}", page.made_of(group), names, target)
        done += len(page.runs)
        if progress:
            progress(done, found.runs)
    return is_whole


def _write_overviews(found: Inventory, target: Output, memory: Memory) -> None:
    from ccperf.site import pages

    parts: dict[str, str] = {}
    for group in found.groups:
        looks = found.looks(group.kind)
        made_of = digest(
            [
                group.name,
                looks,
                [[page.algorithm, page.point, page.runs, page.stamp] for page in group.pages],
            ]
        )
        parts[group.name] = made_of
        if group.name and not memory.keeps(f"experiment {group.name}", made_of, target):
            made = list(pages.experiment_pages(group, _scenario(group), looks))
            for name, content in made:
                target.write(name, content)
            names = [name for name, _ in made]
            memory.remember(f"experiment {group.name}", made_of, names, target)
    everything = [parts, found.databases]
    if memory.keeps("overviews", everything, target):
        return

    def recall(group: Group, what: str, make: Callable[[], Any]) -> Any:
        return memory.value(f"{what} {group.name}", parts[group.name], make)

    scores = Scores(found, recall)
    names = []
    for algorithm in found.algorithms:
        view = pages.algorithm_view(algorithm, found, scores)
        shown = view.made_of
        if not memory.keeps(f"algorithm {algorithm}", shown, target):
            made = list(pages.algorithm_pages(view))
            for name, content in made:
                target.write(name, content)
            memory.remember(f"algorithm {algorithm}", shown, [name for name, _ in made], target)
        names += view.files
    overview = dict(pages.overview_pages(found, scores))
    # Last, so that a site which has one is whole.
    index = overview.pop(INDEX)
    for name, content in overview.items():
        target.write(name, content)
    target.write(INDEX, index)
    memory.remember("overviews", everything, [*names, *overview, INDEX], target)


def play(output: str | Path) -> Path:
    """Write a site without runs, and return its page of a scenario that is there to be changed.

    A site that has runs has that page, too, and stays as it is. Raises `UsageError` for a folder
    that cannot be used, or without the engine.
    """
    page = Path(output) / PLAY
    if not engine.module():
        message = "this ccperf has no engine for browsers; `make wasm` in a checkout builds it"
        raise UsageError("play", message)
    if not ((Path(output) / "runs").is_dir() and page.is_file()):
        build([], output)
    return page


def _write_common(target: Output, memory: Memory) -> None:
    """Write what every site has."""
    from ccperf.site import pages

    for asset in files("ccperf.site").joinpath("static").iterdir():
        target.write(f"static/{asset.name}", asset.read_bytes())
    if not memory.keeps("engine", [], target):
        made = list(engine.files_of_site())
        for name, content in made:
            target.write(name, content)
        memory.remember("engine", [], [name for name, _ in made], target)
    for name, content in pages.generated():
        target.write(name, content)
    if not memory.keeps(PLAY, [], target):
        made = list(pages.play_page())
        for name, content in made:
            target.write(name, content)
        memory.remember(PLAY, [], [name for name, _ in made], target)


def _scenario(group: Group) -> dict[str, Any]:
    """Return the scenario of the point that an experiment's page shows first."""
    from ccperf.site.experiment_data import first_page

    page = first_page(group)
    with Store(page.record.database, "r") as store:
        return store.scenario(page.id)
