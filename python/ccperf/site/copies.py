"""Work on all cores, by processes that are copies of this one."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, TypeVar

from ccperf.base.process import cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Item = TypeVar("Item")
Made = TypeVar("Made")


def worth(items: int, least: int) -> int:
    """Return how many processes `items` are worth, of which each is to have at least `least`.

    A copy needs nothing of the caller's script; where there are none, one process does all.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        return 1
    return max(1, min(cores(), items // least))


def mapped(function: Callable[[Item], Made], items: Sequence[Item], workers: int) -> Iterator[Made]:
    """Yield what `function` makes of each item, in their order, made by so many processes."""
    if workers < 2:
        yield from map(function, items)
        return
    # What is shared with this process is nothing for theirs to look through, and so to copy.
    gc.freeze()
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), initializer=_begin)
    try:
        # One at a time: a page of a thousand flows takes as long as fifty others, and its
        # neighbours are like it.
        yield from pool.map(function, items)
    except BaseException:
        # A page may take seconds, and nobody wants it any more.
        for process in multiprocessing.active_children():
            process.kill()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        gc.unfreeze()


def _begin() -> None:
    """Leave Ctrl-C to the process that this is a copy of, and end with it."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        wait([parent.sentinel])
        os._exit(1)
