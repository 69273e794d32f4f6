"""What makes runs: whoever takes jobs and gives packed runs back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ccperf.campaign.job import Job
    from ccperf.store.packing import PackedRun

#: Called with a job's id and the part of its run that is done, from any thread.
JobProgress = Callable[[str, float], None]


class Stopped(Exception):
    """The outcome of a job that was not finished because the executor was stopped."""


class Executor(Protocol):
    """Makes runs side by side, here or elsewhere.

    The coordinator submits the jobs of a campaign as there is room, stores what comes back, and
    calls `close` at the end whatever happened.
    """

    @property
    def room(self) -> int:
        """How many jobs it takes that have not ended."""
        ...

    def submit(self, job: Job) -> Future[PackedRun]:
        """Make a run as soon as there is room.

        The future ends with the packed run, with :class:`Stopped`, or with what the backend raised.
        """
        ...

    def stop(self) -> None:
        """Start no further run, and end those under way soon. Returns at once; may be repeated."""
        ...

    def close(self) -> None:
        """Stop, and wait a moment for the runs under way to end."""
        ...
