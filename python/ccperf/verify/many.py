"""Many comparisons side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from ccperf.verify import fuzz
from ccperf.verify.compare import compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ccperf.backends import Backend, Progress
    from ccperf.verify.case import Case
    from ccperf.verify.compare import Comparison
    from ccperf.verify.fuzz import Draw, Finding

Work = TypeVar("Work")
Outcome = TypeVar("Outcome")


class _Stopped(Exception):
    """Raised inside a run to end it."""


def compare_all(
    cases: Iterable[Case], ours: Backend, theirs: Backend, jobs: int
) -> Iterator[tuple[Case, Comparison]]:
    """Compare the backends on each case, `jobs` at a time; yield in order of completion.

    Where the caller stops listening (Ctrl-C among the reasons), the runs under way are ended.
    """

    def work(case: Case, progress: Progress) -> tuple[Case, Comparison]:
        return case, compare(case.scenario, ours, theirs, progress)

    return _side_by_side(cases, work, jobs)


def fuzz_all(seed: int, count: int, ours: Backend, theirs: Backend, jobs: int) -> Iterator[Finding]:
    """Examine the first `count` random scenarios of `seed`; yield in order of completion."""

    def work(item: tuple[int, Draw], progress: Progress) -> Finding:
        return fuzz.examine(*item, ours, theirs, progress)

    return _side_by_side(zip(range(count), fuzz.draws(seed), strict=False), work, jobs)


def _side_by_side(
    items: Iterable[Work], work: Callable[[Work, Progress], Outcome], jobs: int
) -> Iterator[Outcome]:
    stop = Event()

    def progress(_: float) -> None:
        if stop.is_set():
            raise _Stopped

    executor = ThreadPoolExecutor(jobs, thread_name_prefix="ccperf-verify")
    try:
        futures = [executor.submit(work, item, progress) for item in items]
        for future in as_completed(futures):
            yield future.result()
    finally:
        stop.set()
        executor.shutdown(wait=True, cancel_futures=True)
