"""Runs with user code, each in a process of its own: whatever it does ends that run only.

The process tells through shared memory where it is (``crates/plugin/src/monitor.rs``), so that
there is something to say about it when it has crashed or has to be killed.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ccperf import recording
from ccperf.errors import RunError
from ccperf.parquet import decode_table
from ccperf.recording import RecordingError, Table
from ccperf.user_code.content import ChangedError

if TYPE_CHECKING:
    from ccperf.backends import Progress

#: Seconds of wall clock without progress in simulated time; for the import of a module (which may
#: be a large one) and the making of an object; and for the whole run.
CALL_LIMIT = ("CCPERF_CALL_LIMIT", 10.0)
START_LIMIT = ("CCPERF_START_LIMIT", 60.0)
RUN_LIMIT = ("CCPERF_RUN_LIMIT", 3600.0)

#: How many runs may be made at a time; what memory may be used they have in equal parts.
_runs_at_a_time = 1

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
    "pick",
    "tick",
)
_CREATE = 1
#: The folder of the worker's tables, in the job's.
TABLES = "tables"
#: Characters of an error of user code that are passed on.
_SHOWN = 2000
#: Python puts the folder that it is called in first in its path; the worker is found elsewhere.
_START = (
    f"import sys; sys.path[:] = sys.argv[1].split({os.pathsep!r}); "
    "from ccperf.backends.worker import start; start(sys.argv[2])"
)
_MONITOR = struct.Struct("=QQQ")
_POLL_S = 0.05


def simulate(
    lowered: str,
    user_code: Mapping[str, str],
    *,
    packets: Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Table]:
    """Run a lowered scenario in another process and return its tables.

    `user_code`: the user's algorithms in it, sorted by name, each with the SHA-256 of its files.

    Raises:
        RunError: names the algorithm, the simulated time, and what happened.
        ChangedError: if a file is not what `user_code` says.
    """
    with TemporaryDirectory(prefix="ccperf-") as folder:
        trace = None if packets is None else str(packets.absolute())
        watch = _run(Path(folder), lowered, user_code, {"packets": trace}, progress)
        try:
            return _tables(Path(folder) / TABLES)
        except Exception as error:  # whatever user code has put there
            what = f"its process left something else than a result ({error})"
            raise RunError(watch.report(what[:_SHOWN])) from error


def share_memory(runs_at_a_time: int) -> None:
    """Say how many runs will be made side by side: together they may take half of the memory."""
    global _runs_at_a_time
    _runs_at_a_time = max(1, runs_at_a_time)


def load(lowered: str, user_code: Mapping[str, str]) -> None:
    """Load the user's algorithms of a scenario in another process, and make their objects.

    Raises as :func:`simulate` does, before anything has run.
    """
    with TemporaryDirectory(prefix="ccperf-") as folder:
        _run(Path(folder), lowered, user_code, {"packets": None, "load_only": True}, None)


def _run(
    folder: Path,
    lowered: str,
    user_code: Mapping[str, str],
    options: Mapping[str, object],
    progress: Progress | None,
) -> _Watch:
    """Run a process to its end; its results are in the folder then."""
    job = {
        "lowered": lowered,
        "user_code": dict(user_code),
        "path": [os.getcwd(), *sys.path],
        "memory": _memory() // 2 // _runs_at_a_time,
        **options,
    }
    (folder / "job.json").write_text(json.dumps(job))
    (folder / "monitor").write_bytes(bytes(_MONITOR.size))
    with (folder / "monitor").open("rb") as file:
        monitor = mmap.mmap(file.fileno(), _MONITOR.size, access=mmap.ACCESS_READ)
    process = subprocess.Popen(
        [sys.executable, "-c", _START, os.pathsep.join(_own_path()), str(folder)],
        stdin=subprocess.PIPE,  # ends with this process, and with it the other one
        stdout=2,  # what user code prints is not a result
        env={**os.environ, "PYTHONHASHSEED": "0"},
        start_new_session=True,  # so that its children can be ended with it
    )
    watch = _Watch(monitor, list(user_code), json.loads(lowered)["stop_ns"])
    try:
        status = watch.until_end(process, progress)
    finally:
        _end(process)
    if (folder / "error.json").exists():
        error = json.loads((folder / "error.json").read_text())
        if changed := error.get("changed"):
            raise ChangedError(changed)
        raise RunError(str(error["message"])[:_SHOWN])
    if status or not (folder / TABLES).is_dir():
        raise RunError(watch.report(_ending(status)))
    return watch


def _memory() -> int:
    """Bytes of memory that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _own_path() -> list[str]:
    """Where the worker finds ccperf and what it needs: not the folder that happens to be here.

    A `json.py` there would be taken for Python's.
    """
    here = os.getcwd()
    return [place for place in sys.path if place and os.path.abspath(place) != here]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and the children that user code has left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()


def _tables(folder: Path) -> dict[str, Table]:
    """The tables that the worker has left, as data: Parquet cannot carry code."""
    found: dict[str, Table] = {}
    for path in sorted(folder.iterdir()):
        if path.stem not in recording.TABLES:
            raise RecordingError(f"unknown table `{path.stem}`")
        found[path.stem] = decode_table(path.stem, path.read_bytes())
    return found


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
        start_limit = _limit(*START_LIMIT)
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
            # The engine may take its time.
            is_elsewhere = call == 0 and calls == before[1]
            is_starting = call % 256 == _CREATE
            if time_ns != before[0] or is_elsewhere or (is_starting and calls != before[1]):
                moved = now
            before = (time_ns, calls)
            limit = start_limit if is_starting else call_limit
            if now - moved > limit:
                name, _ = START_LIMIT if is_starting else CALL_LIMIT
                what = f"no progress for {limit:g} s: an endless loop? ({name} sets the limit)"
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
    if status >= 0:
        return f"its process ended with status {status}"
    try:
        return f"its process crashed with {signal.Signals(-status).name}"
    except ValueError:
        return f"its process crashed with signal {-status}"
