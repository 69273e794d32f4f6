"""How a run ended elsewhere that has no result, as data that travels."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccperf.campaign.job import Job, perform
from ccperf.errors import RunError

if TYPE_CHECKING:
    from ccperf.store.packing import PackedRun


@dataclass(frozen=True)
class Failed:
    """An error, or what it says where it does not travel."""

    pickled: bytes | None
    message: str

    @classmethod
    def of(cls, error: Exception) -> Failed:
        """What is left of an error on its way."""
        message = str(error) or type(error).__name__
        try:
            pickled = pickle.dumps(error)
            pickle.loads(pickled)
        except Exception:
            return cls(None, message)
        return cls(pickled, message)

    def error(self) -> BaseException:
        """The error again, or a :class:`~ccperf.errors.RunError` that says the same."""
        if self.pickled is None:
            return RunError(self.message)
        error = pickle.loads(self.pickled)
        return error if isinstance(error, BaseException) else RunError(self.message)


def attempt(job: Job, progress: Callable[[float], None] | None = None) -> PackedRun | Failed:
    """Make a run; what goes wrong is an outcome, too."""
    try:
        return perform(job, progress)
    except Exception as error:
        return Failed.of(error)
