"""The coordinator: hands out what the store lacks, and alone writes what comes back."""

from __future__ import annotations

import re
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from ccperf.algorithms.user_code.content import ChangedError, Contents
from ccperf.base.interruption import notice
from ccperf.campaign.executor import Stopped
from ccperf.campaign.job import Job
from ccperf.campaign.local import MANY, LocalExecutor
from ccperf.campaign.progress import Silent, in_notebook
from ccperf.runs import backends
from ccperf.runs.result import Identity, Result, identify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from ccperf.campaign.executor import Executor, JobProgress
    from ccperf.campaign.points import Point
    from ccperf.campaign.progress import Progress
    from ccperf.runs.backends import Backend
    from ccperf.store import PackedRun, Store

#: How long the coordinator sleeps at most between two looks for signals.
_LOOK_S = 0.05
#: So many runs that fail alike, and none that succeeds, are enough to know.
_ENOUGH = 3


@dataclass(frozen=True)
class Failure:
    """A point that has no result, and why."""

    point: Point
    error: BaseException

    @property
    def message(self) -> str:
        """What the run ended with."""
        return str(self.error) or type(self.error).__name__

    @property
    def kind(self) -> str:
        """The message without its numbers: failures of one kind have one cause."""
        return re.sub(r"\d+(?:\.\d+)?", "#", f"{type(self.error).__name__} {self.message}")

    def __str__(self) -> str:
        return f"{self.point.title}: {self.message}"


@dataclass
class CampaignReport:
    """What became of a campaign's points."""

    #: The runs of all points in their order, each once, whether made now or before.
    run_ids: list[str] = field(default_factory=list)
    #: The id of each point's run.
    of_points: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    stored_before: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    #: How many runs were not begun because the first ones all failed alike.
    skipped: int = 0
    #: Whether Ctrl-C ended the campaign; what was finished is in the store.
    interrupted: bool = False
    #: That user code was edited meanwhile, which ended the campaign, too.
    changed: ChangedError | None = None
    #: A point with user code whose run, made twice, came out differently.
    unrepeatable: Point | None = None
    wall_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether every point has its run in the store."""
        return not (self.failures or self.skipped or self.interrupted or self.changed)

    def failures_by_kind(self) -> list[list[Failure]]:
        """The failures, those alike together, in the order of the points."""
        kinds: dict[str, list[Failure]] = {}
        for failure in self.failures:
            kinds.setdefault(failure.kind, []).append(failure)
        return list(kinds.values())


def simulate(
    point: Point,
    backend: Backend,
    progress: Callable[[float], None] | None = None,
    *,
    packets: Path | None = None,
    identity: Identity | None = None,
) -> Result:
    """Make one run, its packet trace too if asked for; whatever the backend raises goes through.

    User code is what it was when `identity` was found out, by default now.
    """
    identity = identity or identify(point.scenario, backend)
    start = time.perf_counter()
    recording = backend.simulate(
        point.scenario, packets=packets, progress=progress, user_code=identity.user_code
    )
    return Result.of(
        point.scenario,
        recording,
        backend,
        identity=identity,
        experiment=point.experiment,
        parameters=point.parameters,
        wall_seconds=time.perf_counter() - start,
    )


def run(
    points: Iterable[Point],
    store: Store,
    backend: Backend,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    executor: Callable[[JobProgress], Executor] | None = None,
) -> CampaignReport:
    """Make the runs of `points` that `store` lacks, `jobs` at a time (default: one per core).

    Each run is stored as soon as it is finished.  A run that fails does not stop the others, unless
    the first ones all fail alike.  With user code in it, the first run is made twice and compared.
    Ctrl-C ends the runs under way and returns what was finished; a second one is not caught.
    `progress` shows how it goes; in a notebook there is a bar if it is not given.
    `executor` makes what makes the runs, given a function to report progress to; by default they
    are made on this machine.
    """
    started = time.perf_counter()
    report = CampaignReport()
    stop = threading.Event()
    with _interrupt_sets(stop):
        missing = _plan(points, store, backend, report, stop)
        if stop.is_set():
            report.interrupted = True
            return report
        with progress or in_notebook() or Silent() as shown:
            shown.begin(len(missing), len(report.stored_before))

            def advance(run_id: str, fraction: float) -> None:
                shown.advance(missing[run_id].points[0], fraction)

            made_by: Executor = (
                executor(advance)
                if executor
                else LocalExecutor(backend, jobs, advance, processes=_has_many(missing, backend))
            )
            try:
                _Coordinator(missing, store, backend, made_by, shown, report, stop).run()
            finally:
                # After a failure to store or a second Ctrl-C, the runs under way are worth nothing.
                made_by.close()
    report.wall_seconds = time.perf_counter() - started
    return report


def _has_many(missing: Mapping[str, _Wanted], backend: Backend) -> bool:
    """Whether processes are worth it: many runs, on a backend that they find by its name."""
    is_worth_it = len(missing) >= MANY and backend.abilities.is_in_process
    return is_worth_it and backends.is_registered(backend)


def _plan(
    points: Iterable[Point],
    store: Store,
    backend: Backend,
    report: CampaignReport,
    stop: threading.Event,
) -> dict[str, _Wanted]:
    """The runs that `store` lacks, by id; what it has is noted in `report`."""
    # Points of different experiments may be the same run.
    wanted: dict[str, _Wanted] = {}
    contents = Contents()
    for point in points:
        if stop.is_set():
            break
        identity = identify(point.scenario, backend, contents)
        report.of_points.append(identity.id)
        wanted.setdefault(identity.id, _Wanted(identity)).points.append(point)
    report.run_ids = list(wanted)
    missing = {}
    for run_id, each in wanted.items():
        if store.has(run_id):
            _add_points(store, run_id, each.points)
            report.stored_before.append(run_id)
        else:
            missing[run_id] = each
    return missing


@dataclass
class _Wanted:
    """A run, and the points that it serves."""

    identity: Identity
    points: list[Point] = field(default_factory=list)


class _Coordinator:
    """Submits the runs that are missing, and stores what comes back."""

    def __init__(
        self,
        missing: dict[str, _Wanted],
        store: Store,
        backend: Backend,
        executor: Executor,
        progress: Progress,
        report: CampaignReport,
        stop: threading.Event,
    ) -> None:
        self._missing = missing
        self._store = store
        self._backend = backend
        self._executor = executor
        self._progress = progress
        self._report = report
        self._stop = stop
        self._running: dict[Future[PackedRun], str] = {}
        #: Those of them that are done. To ask each of thousands, whenever one is, took seconds.
        self._done: SimpleQueue[Future[PackedRun]] = SimpleQueue()
        self._failures: dict[str, Failure] = {}
        #: The run that is made twice, its second future, and the contents that came of both.
        self._twice: tuple[str, Future[PackedRun]] | None = None
        self._contents: set[str] = set()

    def run(self) -> None:
        report, stop = self._report, self._stop
        for run_id, each in self._missing.items():
            if stop.is_set():
                break
            job = Job.of(each.points[0], each.identity, self._backend)
            self._submit(job, run_id)
            if job.user_code and self._twice is None:
                self._twice = (run_id, self._submit(job, run_id))
        while self._running:
            for future in self._finished():
                self._collect(future)
            if stop.is_set():
                self._executor.stop()
                break
        order = {run_id: position for position, run_id in enumerate(self._missing)}
        report.made.sort(key=order.__getitem__)
        report.failures = [self._failures[key] for key in self._missing if key in self._failures]
        unfinished = len(self._missing) - len(report.made) - len(report.failures)
        if stop.is_set() and unfinished:
            report.interrupted = True
        elif not report.changed:
            report.skipped = unfinished

    def _submit(self, job: Job, run_id: str) -> Future[PackedRun]:
        future = self._executor.submit(job)
        self._running[future] = run_id
        future.add_done_callback(self._done.put)
        return future

    def _finished(self) -> Iterator[Future[PackedRun]]:
        """Yield those that are done, or none after a moment."""
        try:
            yield self._done.get(timeout=_LOOK_S)
            while True:
                yield self._done.get_nowait()
        except Empty:
            return

    def _collect(self, future: Future[PackedRun]) -> None:
        run_id = self._running.pop(future)
        error = future.exception()
        if isinstance(error, Stopped):
            return
        if self._twice and run_id == self._twice[0] and error is None:
            self._compare(future.result())
        if self._twice and future is self._twice[1]:
            return
        first, *others = self._missing[run_id].points
        if error is None:
            self._store.add(future.result())
            _add_points(self._store, run_id, others)
            self._report.made.append(run_id)
        elif isinstance(error, ChangedError):
            self._report.changed = self._report.changed or error
            self._executor.stop()
        else:
            self._failures[run_id] = Failure(first, error)
            self._give_up()
        self._progress.finish(first, error)

    def _compare(self, packed: PackedRun) -> None:
        """Whether the run that is made twice comes out the same."""
        self._contents.add(packed.content)
        if len(self._contents) > 1:
            self._report.unrepeatable = self._missing[packed.id].points[0]

    def _give_up(self) -> None:
        """Stop when nothing but failures of one kind has come back."""
        failures = list(self._failures.values())
        alike = len({failure.kind for failure in failures}) == 1
        if len(failures) >= _ENOUGH and alike and not self._report.made:
            self._executor.stop()


@contextmanager
def _interrupt_sets(stop: threading.Event) -> Iterator[None]:
    """Let the first Ctrl-C set `stop` only, so that it never cuts a run's storing in two.

    Nor does it come up as an exception inside a library that takes it for a mistake of its own.
    A second one raises KeyboardInterrupt.  Python delivers signals to the main thread only.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: object) -> None:
        is_watched = notice()
        if stop.is_set() and not is_watched:
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _add_points(store: Store, identity: str, points: Sequence[Point]) -> None:
    for point in points:
        store.add_point(identity, point.experiment, point.parameters)
