"""Runs with user code, each in a process of its own: whatever it does ends that run only.

The process tells through shared memory where it is (``crates/plugin/src/monitor.rs``), so that
there is something to say about it when it has crashed or has to be killed.
"""

from __future__ import annotations

import json
import mmap
import os
import pickle
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ccperf.errors import RunError
from ccperf.user_code.content import ChangedError

if TYPE_CHECKING:
    from ccperf.backends import Progress

#: Seconds of wall clock without progress in simulated time, and for the whole run.
CALL_LIMIT = ("CCPERF_CALL_LIMIT", 10.0)
RUN_LIMIT = ("CCPERF_RUN_LIMIT", 3600.0)

#: Functions of an algorithm by their numbers in the monitor's file.
CALLS = (
    "",
    "create",
    "init",
    "ssthresh",
    "cong_avoid",
    "pkts_acked",
    "set_state",
    "cwnd_event",
    "cong_control",
    "enqueue",
    "dequeue",
    "timer",
)
_CREATE = 1
_MONITOR = struct.Struct("=QQQ")
_POLL_S = 0.05


def simulate(
    lowered: str,
    user_code: Mapping[str, str],
    *,
    packets: Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run a lowered scenario in another process and return its tables.

    `user_code`: the user's algorithms in it, sorted by name, each with the SHA-256 of its files.

    Raises:
        RunError: names the algorithm, the simulated time, and what happened.
        ChangedError: if a file is not what `user_code` says.
    """
    with TemporaryDirectory(prefix="ccperf-") as name:
        folder = Path(name)
        job = {
            "lowered": lowered,
            "user_code": dict(user_code),
            "packets": None if packets is None else str(packets.absolute()),
            "path": [os.getcwd(), *sys.path],
        }
        (folder / "job.json").write_text(json.dumps(job))
        (folder / "monitor").write_bytes(bytes(_MONITOR.size))
        with (folder / "monitor").open("rb") as file:
            monitor = mmap.mmap(file.fileno(), _MONITOR.size, access=mmap.ACCESS_READ)
        with monitor:
            process = subprocess.Popen(
                [sys.executable, "-m", "ccperf.backends.worker", str(folder)],
                stdin=subprocess.PIPE,  # ends with this process, and with it the other one
                stdout=2,  # what user code prints is not a result
                env={**os.environ, "PYTHONHASHSEED": "0"},
            )
            try:
                watch = _Watch(monitor, list(user_code), json.loads(lowered)["stop_ns"])
                status = watch.until_end(process, progress)
            finally:
                process.kill()
                process.communicate()
            if (folder / "error.json").exists():
                error = json.loads((folder / "error.json").read_text())
                if changed := error.get("changed"):
                    raise ChangedError(changed)
                raise RunError(error["message"])
            if status:
                raise RunError(watch.report(_ending(status)))
        with (folder / "tables").open("rb") as file:
            tables: dict[str, Any] = pickle.load(file)
        return tables


class _Watch:
    """Looks at one process from outside."""

    def __init__(self, monitor: mmap.mmap, user_code: Sequence[str], stop_ns: int) -> None:
        self._monitor = monitor
        self._user_code = user_code
        self._stop_ns = stop_ns

    def _look(self) -> tuple[int, int, int]:
        """Simulated time of the last call, calls so far, the present call (0: none)."""
        time_ns, calls, call = _MONITOR.unpack(self._monitor[:])
        return time_ns, calls, call

    def until_end(self, process: subprocess.Popen[bytes], progress: Progress | None) -> int:
        """Wait for the process, report progress, and raise when a limit is reached."""
        call_limit, run_limit = _limit(*CALL_LIMIT), _limit(*RUN_LIMIT)
        started = moved = time.monotonic()
        before = (-1, 0)
        while True:
            try:
                return process.wait(timeout=_POLL_S)
            except subprocess.TimeoutExpired:
                pass
            now = time.monotonic()
            time_ns, calls, call = self._look()
            if progress:
                progress(min(time_ns / self._stop_ns, 0.99))
            # The engine may take its time, and so may the import of a large library.
            is_elsewhere = call % 256 == _CREATE or (call == 0 and calls == before[1])
            if time_ns != before[0] or is_elsewhere:
                moved = now
            before = (time_ns, calls)
            if now - moved > call_limit:
                name, _ = CALL_LIMIT
                what = f"no progress for {call_limit:g} s: an endless loop? ({name} sets the limit)"
                raise RunError(self.report(what))
            if now - started > run_limit:
                name, _ = RUN_LIMIT
                raise RunError(self.report(f"not finished after {run_limit:g} s ({name})"))

    def report(self, what: str) -> str:
        """What happened, where."""
        time_ns, _, call = self._look()
        algorithm, function = divmod(call, 256)
        at = f"at {time_ns / 1e9:.9f} s of simulated time"
        if call:
            return f"{self._user_code[algorithm - 1]} failed {at}: {what} (in {CALLS[function]})"
        names = " or ".join(self._user_code)
        return f"{names} failed {at}: {what} (after a call that had returned)"


def _limit(variable: str, default: float) -> float:
    try:
        return float(os.environ.get(variable, default))
    except ValueError:
        raise RunError(f"{variable} is not a number of seconds") from None


def _ending(status: int) -> str:
    if status > 0:
        return f"its process ended with status {status}"
    try:
        return f"its process crashed with {signal.Signals(-status).name}"
    except ValueError:
        return f"its process crashed with signal {-status}"
