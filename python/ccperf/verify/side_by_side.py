"""Work in threads, which ends soon where nobody listens any more."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from ccperf.base.interruption import patience_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ccperf.runs.backends import Progress

Work = TypeVar("Work")
Outcome = TypeVar("Outcome")


class _Stopped(Exception):
    """Raised inside a run to end it."""


def side_by_side(
    items: Iterable[Work], work: Callable[[Work, Progress], Outcome], jobs: int
) -> Iterator[Outcome]:
    """Do `work` on each item, `jobs` at a time; yield in order of completion.

    Where the caller stops listening (Ctrl-C among the reasons), the runs under way are ended at
    their next report of progress.
    """
    stop = Event()

    def progress(_: float) -> None:
        if stop.is_set():
            raise _Stopped

    executor = ThreadPoolExecutor(jobs, thread_name_prefix="ccperf-verify")
    futures = []
    try:
        futures = [executor.submit(work, item, progress) for item in items]
        for future in as_completed(futures):
            yield future.result()
    finally:
        stop.set()
        executor.shutdown(wait=False, cancel_futures=True)
        # Of those that have not begun, nobody would ever say that they are done.
        wait([future for future in futures if not future.cancelled()], timeout=patience_s())
