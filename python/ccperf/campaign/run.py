"""The coordinator: hands out what the store lacks, and alone writes what comes back."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections import deque
from collections.abc import Sequence, Sized
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import chain, islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from ccperf.algorithms.user_code.content import ChangedError, Contents
from ccperf.base.interruption import notice
from ccperf.campaign.claims import Claims
from ccperf.campaign.executor import Stopped
from ccperf.campaign.job import Job
from ccperf.campaign.local import MANY, LocalExecutor, Processes
from ccperf.campaign.progress import Silent, in_notebook
from ccperf.runs import backends
from ccperf.runs.result import Identity, Result, identify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
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


class Failure(NamedTuple):
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
    #: Those that another process stored in the same database meanwhile.
    made_elsewhere: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    #: How many runs were not begun because the first ones all failed alike.
    skipped: int = 0
    #: Whether Ctrl-C ended the campaign; what was finished is in the store.
    interrupted: bool = False
    #: Whether its time was up before all was made; what was finished is in the store.
    out_of_time: bool = False
    #: That user code was edited meanwhile, which ended the campaign, too.
    changed: ChangedError | None = None
    #: A point with user code whose run, made twice, came out differently.
    unrepeatable: Point | None = None
    wall_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether every point has its run in the store."""
        ended = self.interrupted or self.out_of_time or self.changed
        return not (self.failures or self.skipped or ended)

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
    processes: Processes | None = None,
    count: int | None = None,
    seconds: float | None = None,
    gives_up: bool = True,
) -> CampaignReport:
    """Make the runs of `points` that `store` lacks, `jobs` at a time (default: one per core).

    Points are asked for while runs are made: of an iterator no more are held than are under way.
    Each run is stored as soon as it is finished.  What another process is making for the same
    database is left to it, and made here if that process ends without it.  A run that fails does
    not stop the others, unless it `gives_up` since the first ones all fail alike.  With user code
    in it, the first run is made twice and compared.
    Ctrl-C ends the runs under way and returns what was finished; a second one is not caught.
    `progress` shows how it goes; in a notebook there is a bar if it is not given.
    `executor` makes what makes the runs, given a function to report progress to; by default they
    are made on this machine, where they are many by `processes`, which may serve several campaigns.
    `count` says how many points an iterator has, where that is known.  After `seconds` it ends as
    by Ctrl-C, and is `out_of_time`.
    """
    started = time.perf_counter()
    report = CampaignReport()
    stop = threading.Event()
    if count is None and isinstance(points, Sized):
        count = len(points)
    with (
        _interrupt_sets(stop),
        _time_sets(stop, seconds) as is_over,
        nullcontext(processes) if processes else Processes() as kept,
        progress or in_notebook() or Silent() as shown,
        Claims(store.path) as claims,
    ):
        coordinator = _Coordinator(
            points, store, claims, backend, shown, report, stop, gives_up=gives_up
        )
        if count is not None:
            shown.begin(count, 0)

        def make_executor(are_many: bool) -> Executor:
            if executor:
                return executor(coordinator.advance)
            # Processes find a backend by its name.
            are_worth_it = are_many and backend.abilities.is_in_process
            used = kept if are_worth_it and backends.is_registered(backend) else None
            return LocalExecutor(backend, jobs, coordinator.advance, processes=used)

        coordinator.run(make_executor, count)
        if report.interrupted and is_over.is_set():
            report.interrupted, report.out_of_time = False, True
    report.wall_seconds = time.perf_counter() - started
    return report


class _Wanted(NamedTuple):
    """A run that is not stored yet, and the points that it serves."""

    identity: Identity
    points: list[Point]


class _Coordinator:
    """Asks for points, submits the runs that are missing, and stores what comes back."""

    def __init__(
        self,
        points: Iterable[Point],
        store: Store,
        claims: Claims,
        backend: Backend,
        progress: Progress,
        report: CampaignReport,
        stop: threading.Event,
        *,
        gives_up: bool,
    ) -> None:
        self._gives_up = gives_up
        self._store = store
        self._claims = claims
        self._backend = backend
        self._progress = progress
        self._report = report
        self._stop = stop
        #: A list's points are there anyway; of others, whose scenarios are large, few are held.
        self._are_listed = isinstance(points, Sequence)
        self._missing = self._plan(points)
        self._executor: Executor
        #: Runs that were asked for, in the order of their points: by their ids, their places.
        self._places: dict[str, int] = {}
        #: Those that are under way or wait to be handed in.
        self._wanted: dict[str, _Wanted] = {}
        self._running: dict[Future[PackedRun], str] = {}
        #: Those of them that are done. To ask each of thousands, whenever one is, took seconds.
        self._done: SimpleQueue[Future[PackedRun]] = SimpleQueue()
        self._failures: dict[str, Failure] = {}
        #: Whether no further run is to be handed in; points are still counted.
        self._has_given_up = False
        self._not_begun: set[str] = set()
        #: The run that is made twice, its second future, and the contents that came of both.
        self._twice: tuple[str, Future[PackedRun], Point] | None = None
        self._contents: set[str] = set()

    def advance(self, run_id: str, fraction: float) -> None:
        """A run has come this far; from any thread."""
        if wanted := self._wanted.get(run_id):
            self._progress.advance(wanted.points[0], fraction)

    def run(self, make_executor: Callable[[bool], Executor], count: int | None) -> None:
        """Make them all; what makes them is made once it is known whether they are many.

        Where nobody has counted the points, those that are fewer than many are counted here.
        """
        first: deque[_Wanted] = deque()
        are_many = count is not None and count >= MANY and self._store.latest() is None
        if not are_many and (count is None or count >= MANY or self._are_listed):
            first += islice(self._missing, MANY)
            are_many = len(first) == MANY
        if count is None:
            known = 0 if are_many else len(first)
            self._progress.begin(known, len(self._report.stored_before))
        self._executor = make_executor(are_many)
        try:
            self._make(chain(_emptied(first), self._missing))
        finally:
            # After a failure to store or a second Ctrl-C, the runs under way are worth nothing.
            self._executor.close()
        report = self._report
        report.run_ids = list(self._places)
        report.made.sort(key=self._places.__getitem__)
        failed = sorted(self._failures, key=self._places.__getitem__)
        report.failures = [self._failures[run_id] for run_id in failed]
        unfinished = len(self._not_begun) + len(self._wanted)
        if self._stop.is_set() and unfinished:
            report.interrupted = True
        elif not report.changed:
            report.skipped = unfinished

    def _make(self, missing: Iterator[_Wanted]) -> None:
        for wanted in self._claimed(missing):
            if self._has_given_up:
                self._not_begun.add(wanted.identity.id)
                self._wanted.pop(wanted.identity.id, None)
                continue
            job = Job.of(wanted.points[0], wanted.identity, self._backend)
            self._submit(job)
            if job.user_code and self._twice is None:
                self._twice = (job.id, self._submit(job), wanted.points[0])
            self._collect_some(self._executor.room)
        self._collect_some(1)
        if self._stop.is_set():
            self._executor.stop()

    def _plan(self, points: Iterable[Point]) -> Iterator[_Wanted]:
        """Yield the runs that the store lacks, each once; what it has is noted in the report."""
        contents = Contents()
        for point in points:
            if self._stop.is_set():
                self._report.interrupted = True
                return
            identity = point.identity(self._backend, contents)
            self._report.of_points.append(identity.id)
            # Points of different experiments may be the same run.
            if identity.id in self._places:
                if wanted := self._wanted.get(identity.id):
                    wanted.points.append(point)
                elif identity.id not in self._failures and identity.id not in self._not_begun:
                    _add_points(self._store, identity.id, [point])
                continue
            self._places[identity.id] = len(self._places)
            if self._store.has(identity.id):
                _add_points(self._store, identity.id, [point])
                self._report.stored_before.append(identity.id)
                self._progress.skip(point)
                continue
            self._wanted[identity.id] = wanted = _Wanted(identity, [point])
            yield wanted

    def _claimed(self, missing: Iterator[_Wanted]) -> Iterator[_Wanted]:
        """Yield what no other process is making; what one is, once it was let go without a result.

        Others make theirs in much the same order, so that few are remembered at a time.
        """
        theirs: deque[_Wanted] = deque()
        for wanted in missing:
            while theirs and self._is_made_elsewhere(theirs[0]):
                theirs.popleft()
            if not self._claims.take(wanted.identity.id):
                theirs.append(wanted)
            elif not self._is_made_elsewhere(wanted):
                yield wanted
        while theirs and not self._stop.is_set() and not self._has_given_up:
            self._progress.wait(len(theirs))
            for _ in range(min(len(theirs), MANY)):
                wanted = theirs.popleft()
                if not self._claims.take(wanted.identity.id):
                    theirs.append(wanted)
                elif not self._is_made_elsewhere(wanted):
                    yield wanted
            self._collect_some(self._executor.room)
            if theirs:
                time.sleep(_LOOK_S)

    def _is_made_elsewhere(self, wanted: _Wanted) -> bool:
        """Whether a run has been stored meanwhile; then it is wanted no more."""
        run_id = wanted.identity.id
        if not self._store.has(run_id):
            return False
        self._claims.give(run_id)
        _add_points(self._store, run_id, wanted.points)
        self._report.made_elsewhere.append(run_id)
        del self._wanted[run_id]
        self._progress.skip(wanted.points[0])
        return True

    def _submit(self, job: Job) -> Future[PackedRun]:
        future = self._executor.submit(job)
        self._running[future] = job.id
        future.add_done_callback(self._done.put)
        return future

    def _collect_some(self, room: int) -> None:
        """Collect what is done, and wait until fewer than `room` are under way."""
        while self._running and not self._stop.is_set():
            is_full = len(self._running) >= room
            try:
                self._collect(self._done.get(timeout=_LOOK_S if is_full else 0))
            except Empty:
                if not is_full:
                    return

    def _collect(self, future: Future[PackedRun]) -> None:
        run_id = self._running.pop(future)
        error = future.exception()
        if isinstance(error, Stopped):
            return
        if self._twice and run_id == self._twice[0] and error is None:
            self._compare(future.result(), self._twice[2])
        if self._twice and future is self._twice[1]:
            return
        first, *others = self._wanted[run_id].points
        if error is None:
            self._store.add(future.result())
            _add_points(self._store, run_id, others)
            self._report.made.append(run_id)
            del self._wanted[run_id]
        elif isinstance(error, ChangedError):
            self._report.changed = self._report.changed or error
            self._give_up()
        else:
            self._failures[run_id] = Failure(first, error)
            del self._wanted[run_id]
            if self._gives_up and self._has_failed_alike():
                self._give_up()
        self._claims.give(run_id)
        self._progress.finish(first, error)

    def _compare(self, packed: PackedRun, point: Point) -> None:
        """Whether the run that is made twice comes out the same."""
        self._contents.add(packed.content)
        if len(self._contents) > 1:
            self._report.unrepeatable = point

    def _has_failed_alike(self) -> bool:
        """Whether nothing but failures of one kind has come back."""
        failures = list(self._failures.values())
        alike = len({failure.kind for failure in failures}) == 1
        return len(failures) >= _ENOUGH and alike and not self._report.made

    def _give_up(self) -> None:
        self._has_given_up = True
        self._executor.stop()


def _emptied(waiting: deque[_Wanted]) -> Iterator[_Wanted]:
    """Yield what waits, and keep none of it."""
    while waiting:
        yield waiting.popleft()


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


@contextmanager
def _time_sets(stop: threading.Event, seconds: float | None) -> Iterator[threading.Event]:
    """Let `stop` be set after so many seconds, and say whether that was what set it."""
    is_over = threading.Event()

    def end() -> None:
        if not stop.is_set():
            is_over.set()
            stop.set()

    if seconds is None:
        yield is_over
        return
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield is_over
    finally:
        timer.cancel()


def _add_points(store: Store, identity: str, points: Sequence[Point]) -> None:
    for point in points:
        store.add_point(identity, point.experiment, point.parameters)
