"""A process beside this one that makes runs.

Python's part of a run, its metrics and encoding, holds the interpreter's lock, so that threads
would wait for each other there. A process has a lock of its own. It reads pickled jobs from its
standard input and writes what comes of them to its standard output, until its input ends, as it
does when whoever started it is gone.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from ccperf.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ccperf.campaign.job import Job
    from ccperf.campaign.outcome import Failed
    from ccperf.store.packing import PackedRun


#: Before it imports what makes runs.
_START = (
    "from ccperf.base.process import start_lightly; start_lightly(); "
    f"from {__name__} import main; main()"
)


class Died(RunError):
    """The process ended in the middle of a run."""


class Process:
    """One that is there, and makes one run at a time."""

    def __init__(self) -> None:
        """Start it; it is ready soon, and takes jobs at once."""
        import subprocess

        self._process = subprocess.Popen(
            [sys.executable, "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C in a terminal is for who started it.
            start_new_session=True,
        )

    def make(self, job: Job, progress: Callable[[float], None]) -> PackedRun | Failed:
        """Make a run; what it raises is an outcome, too.

        After :class:`Died`, or whatever `progress` raises, answers are left that nobody has read:
        such a process is of no more use, and has to be killed.
        """
        with self._while_alive():
            _send(self._input, job)
        while isinstance(answer := self._answer(), float):
            progress(answer)
        outcome: PackedRun | Failed = answer
        made = getattr(outcome, "id", job.id)
        if made != job.id:
            raise Died(f"the process that made it answered with another run, {made}")
        return outcome

    def _answer(self) -> Any:
        with self._while_alive():
            return pickle.load(self._output)

    @contextmanager
    def _while_alive(self) -> Iterator[None]:
        try:
            yield
        # ValueError: somebody has killed it, and closed its files.
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as error:
            self._process.kill()
            status = self._process.wait()
            raise Died(f"the process that made it ended with status {status}") from error

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        with suppress(OSError):  # what was not read
            self._input.close()
        self._output.close()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def _input(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _output(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout


def _send(stream: IO[bytes], what: Any) -> None:
    pickle.dump(what, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def main() -> None:
    """Make what is asked for until nobody asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    jobs = sys.stdin.buffer
    # Whatever prints must not be taken for an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    from ccperf.campaign.outcome import attempt

    while True:
        try:
            job: Job = pickle.load(jobs)
        except EOFError:
            return
        try:
            _send(answers, attempt(job, lambda done: _send(answers, done)))
        except BrokenPipeError:  # nobody is left to tell
            os._exit(1)
