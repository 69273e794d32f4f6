"""The figures of many runs, drawn on all cores, and only those that are not there yet."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

from ccperf import figures
from ccperf.errors import UsageError
from ccperf.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from ccperf.result import Result
    from ccperf.site.output import Output

FORMATS = ("svg", "pdf")
#: With fewer figures than this, starting processes takes longer than drawing.
WORTH_PROCESSES = 24
#: Beside the figures of a run: what they were drawn with.
STAMP = "figures.txt"


@dataclass(frozen=True)
class Drawn:
    """A figure of a run's page: file names are relative to the page."""

    title: str
    caption: str
    alt: str
    files: dict[str, str]


@dataclass(frozen=True)
class _Job:
    """The figures of one run that are to be drawn; the stamp is written when they are there."""

    database: Path
    run: str
    names: tuple[str, ...]
    folder: Path
    stamp: str


class Drawing:
    """Collects the figures of runs, then draws what is missing."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._jobs: list[_Job] = []

    def add(self, database: Path, result: Result, folder: str) -> list[Drawn]:
        """Plan the figures of a run for `folder` of the site; none if there is nothing to draw."""
        try:
            described = [
                figures.describe(name, result.scenario, result.recording)
                for name in figures.FIGURES
            ]
        except UsageError:
            return []
        drawn = [
            Drawn(
                figure.title,
                figures.FIGURES[figure.name].caption,
                figure.alt,
                {suffix: f"{figure.name}.{suffix}" for suffix in FORMATS},
            )
            for figure in described
        ]
        paths = [
            self._output.path(f"{folder}/{name}") for each in drawn for name in each.files.values()
        ]
        stamp = self._output.path(f"{folder}/{STAMP}")
        wanted = f"{result.id} {drawn_with()}\n"
        there = stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted
        if there and all(path.is_file() for path in paths):
            self._output.unchanged += len(paths)
        else:
            names = tuple(figure.name for figure in described)
            self._jobs.append(_Job(database, result.id, names, stamp.parent, wanted))
        return drawn

    def finish(self, jobs: int | None, progress: Callable[[int, int], None] | None) -> None:
        """Draw what `add` planned, on `jobs` processes (default: one a core)."""
        workers = min(jobs or os.cpu_count() or 1, len(self._jobs))
        count = sum(len(job.names) for job in self._jobs)
        with ExitStack() as stack:
            executor: Executor | None = None
            if workers > 1 and count >= WORTH_PROCESSES:
                # Not by fork: the engine's threads may be running.
                context = multiprocessing.get_context("spawn")
                executor = stack.enter_context(ProcessPoolExecutor(workers, mp_context=context))
            done = executor.map(_draw, self._jobs) if executor else map(_draw, self._jobs)
            if progress and self._jobs:
                progress(0, len(self._jobs))
            for number, written in enumerate(done, start=1):
                self._output.written += written
                if progress:
                    progress(number, len(self._jobs))


def _draw(job: _Job) -> int:
    with Store(job.database, "r") as store:
        result = store.load(job.run)
    job.folder.mkdir(parents=True, exist_ok=True)
    (job.folder / STAMP).unlink(missing_ok=True)
    for name in job.names:
        figure = figures.describe(name, result.scenario, result.recording)
        figures.save(figure, *(job.folder / f"{name}.{suffix}" for suffix in FORMATS))
    (job.folder / STAMP).write_text(job.stamp, encoding="utf-8")
    return len(job.names) * len(FORMATS)


@cache
def drawn_with() -> str:
    """Return a hash of all that figures depend on besides their run: our sources, matplotlib."""
    sources: Sequence[tuple[str, bytes]] = sorted(
        (f"{package}/{entry.name}", entry.read_bytes())
        for package in ("figures", "metrics")
        for entry in files("ccperf").joinpath(package).iterdir()
        if entry.name.endswith(".py")
    )
    digest = hashlib.sha256(f"matplotlib {version('matplotlib')}".encode())
    for name, content in sources:
        digest.update(f"\n{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()
