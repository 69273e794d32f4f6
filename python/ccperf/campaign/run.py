"""The coordinator: hands out what the store lacks, and alone writes what comes back."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ccperf.campaign.progress import Silent
from ccperf.result import Identity, Result, identify
from ccperf.user_code.content import ChangedError, Contents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from ccperf.backends import Backend
    from ccperf.campaign.points import Point
    from ccperf.campaign.progress import Progress
    from ccperf.store import Store

# How long the coordinator sleeps at most between two looks for signals.
_PATIENCE_S = 0.2


class Interrupted(Exception):
    """Raised inside a run to end it."""


@dataclass(frozen=True)
class Failure:
    """A point that has no result, and why."""

    point: Point
    error: BaseException

    def __str__(self) -> str:
        return f"{self.point.title}: {str(self.error) or type(self.error).__name__}"


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
    #: Whether Ctrl-C ended the campaign; what was finished is in the store.
    interrupted: bool = False
    #: That user code was edited meanwhile, which ended the campaign, too.
    changed: ChangedError | None = None
    wall_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether every point has its run in the store."""
        return not (self.failures or self.interrupted or self.changed)


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
) -> CampaignReport:
    """Make the runs of `points` that `store` lacks, `jobs` at a time (default: one per core).

    Each run is stored as soon as it is finished.  A run that fails does not stop the others.
    Ctrl-C ends the runs under way and returns what was finished; a second one is not caught.
    """
    started = time.perf_counter()
    report = CampaignReport()
    # Points of different experiments may be the same run.
    wanted: dict[str, _Wanted] = {}
    contents = Contents()
    for point in points:
        identity = identify(point.scenario, backend, contents)
        report.of_points.append(identity.id)
        wanted.setdefault(identity.id, _Wanted(identity)).points.append(point)
    report.run_ids = list(wanted)
    missing = {}
    for run_id, run in wanted.items():
        if store.has(run_id):
            _add_points(store, run_id, run.points)
            report.stored_before.append(run_id)
        else:
            missing[run_id] = run
    with progress or Silent() as shown:
        shown.begin(len(missing), len(report.stored_before))
        _make(missing, store, backend, jobs or cores(), shown, report)
    report.wall_seconds = time.perf_counter() - started
    return report


@dataclass
class _Wanted:
    """A run, and the points that it serves."""

    identity: Identity
    points: list[Point] = field(default_factory=list)


def _make(
    missing: dict[str, _Wanted],
    store: Store,
    backend: Backend,
    jobs: int,
    progress: Progress,
    report: CampaignReport,
) -> None:
    stop = threading.Event()
    failures: dict[str, Failure] = {}

    def work(run: _Wanted) -> Result:
        point = run.points[0]

        def advance(fraction: float) -> None:
            if stop.is_set():
                raise Interrupted
            progress.advance(point, fraction)

        # Also where a backend never reports progress, no further run starts.
        advance(0.0)
        return simulate(point, backend, advance, identity=run.identity)

    def collect(future: Future[Result]) -> None:
        run_id = running.pop(future)
        first, *others = missing[run_id].points
        error = future.exception()
        if isinstance(error, Interrupted):
            return
        if error is None:
            store.add(future.result())
            _add_points(store, run_id, others)
            report.made.append(run_id)
        elif isinstance(error, ChangedError):
            report.changed = report.changed or error
            stop.set()
        else:
            failures[run_id] = Failure(first, error)
        progress.finish(first, error)

    executor = ThreadPoolExecutor(jobs, thread_name_prefix="ccperf-run")
    running: dict[Future[Result], str] = {}
    try:
        with _interrupt_sets(stop):
            running |= {executor.submit(work, run): key for key, run in missing.items()}
            while running:
                done, _ = wait(running, timeout=_PATIENCE_S, return_when=FIRST_COMPLETED)
                for future in done:
                    collect(future)
            ended = len(report.made) + len(failures)
            report.interrupted = stop.is_set() and ended < len(missing) and not report.changed
    finally:
        # Where storing failed or a second Ctrl-C came, the runs under way are worth nothing.
        stop.set()
        executor.shutdown(wait=True, cancel_futures=True)
    order = {key: position for position, key in enumerate(missing)}
    report.made.sort(key=order.__getitem__)
    report.failures = [failures[key] for key in missing if key in failures]


@contextmanager
def _interrupt_sets(stop: threading.Event) -> Iterator[None]:
    """Let the first Ctrl-C set `stop` only, so that it never cuts a run's storing in two.

    A second one raises KeyboardInterrupt.  Python delivers signals to the main thread only.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: object) -> None:
        if stop.is_set():
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


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
