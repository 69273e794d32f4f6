"""Runs with user code, each in a process of its own: whatever it does ends that run only.

It is forked by one that stands ready and never sees user code (`ccperf.runs.backends.warm`).

The process tells through shared memory where it is (``crates/plugin/src/monitor.rs``), so that
there is something to say about it when it has crashed or has to be killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import stat
import struct
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.algorithms.user_code.content import ChangedError
from ccperf.base.folders import Temporary
from ccperf.errors import RunError
from ccperf.runs import recording
from ccperf.runs.backends import keeper, warm
from ccperf.runs.parquet import decode_table
from ccperf.runs.recording import RecordingError, Table

if TYPE_CHECKING:
    from typing_extensions import Self

    from ccperf.runs.backends import Progress
    from ccperf.scenario.canonical import Runnable

#: Seconds of wall clock without progress in simulated time; for the import of a module (which may
#: be a large one) and the making of an object; and for the whole run.
CALL_LIMIT = ("CCPERF_CALL_LIMIT", 10.0)
START_LIMIT = ("CCPERF_START_LIMIT", 60.0)
RUN_LIMIT = ("CCPERF_RUN_LIMIT", 3600.0)

#: Set: user code is shut in; see `ccperf._native.confine`.
CONFINED = "CCPERF_SANDBOX"

#: How many runs may be made at a time; what memory may be used they have in equal parts.
_runs_at_a_time = 1

#: Functions of an algorithm by their numbers in the monitor's file; 0 is between calls.
CALLS = ("", *_native.user_calls())
_CREATE = CALLS.index("create")
#: The folder of the worker's tables, in the job's.
TABLES = "tables"
#: Characters of an error of user code that are passed on.
_SHOWN = 2000
#: In bytes: the text of an error can be longer than what is shown of it.
_LARGEST_ERROR = 2**24
#: What is read at a time; then one looks at the clock.
_PIECE = 2**24
_MONITOR = struct.Struct("=QQQ")
#: How a file of user code's is opened: no link is followed, no pipe waited for.
_AS_IT_IS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_POLL_S = 0.05


def simulate(
    scenario: Runnable,
    user_code: Mapping[str, str],
    *,
    packets: Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Table]:
    """Run a scenario in another process and return its tables.

    `user_code`: the user's algorithms in it, sorted by name, each with the SHA-256 of its files.

    Raises:
        RunError: names the algorithm, the simulated time, and what happened.
        ChangedError: if a file is not what `user_code` says.
    """
    trace = None if packets is None else str(packets.absolute())
    with _Folder() as folder:
        watch = _run(folder, scenario, user_code, {"packets": trace}, progress)
        try:
            return _tables(folder)
        except Exception as error:  # whatever user code has put there
            what = f"its process left something else than a result ({error})"
            raise RunError(watch.report(what[:_SHOWN])) from error


def share_memory(runs_at_a_time: int) -> None:
    """Say how many runs will be made side by side: together they may take half of the memory."""
    global _runs_at_a_time
    _runs_at_a_time = max(1, runs_at_a_time)


def load(scenario: Runnable, user_code: Mapping[str, str]) -> None:
    """Load the user's algorithms of a scenario in another process, and make their objects.

    Raises as :func:`simulate` does, before anything has run.
    """
    with _Folder() as folder:
        _run(folder, scenario, user_code, {"packets": None, "load_only": True}, None)


def _run(
    folder: _Folder,
    scenario: Runnable,
    user_code: Mapping[str, str],
    options: Mapping[str, object],
    progress: Progress | None,
) -> _Watch:
    """Run a process to its end; its results are in the folder then."""
    stop_ns = _native.parse_time(scenario.parsed["stop_time"])
    job = {
        "seed": scenario.parsed["seed"],
        "user_code": dict(user_code),
        "path": [os.getcwd(), *sys.path],
        "memory": folder.memory,
        "tables": TABLES,
        "is_confined": bool(os.environ.get(CONFINED)),
        **options,
    }
    try:
        (folder.path / "lowered.json").write_text(scenario.lowered(), encoding="utf-8")
        (folder.path / "job.json").write_text(json.dumps(job))
    except OSError as full:
        place = f"{folder.path.parent} cannot be written: {full.strerror}"
        raise RunError(f"{place}; TMPDIR names another place") from full
    environment = _environment(folder.path if job["is_confined"] else None)
    process = warm.run(_own_path(), str(folder.path), environment)
    watch = _Watch(folder.monitor, list(user_code), stop_ns)
    try:
        status = watch.until_end(process, progress)
    finally:
        process.end(2 * keeper.PATIENCE_S)
    if error := _error(folder, watch, user_code):
        raise error
    _warn(folder)
    if status or not folder.has_tables():
        raise RunError(watch.report(_ending(status)))
    return watch


def confinement_missing() -> str:
    """What is missing for user code to be shut in; empty where nothing is."""
    probe = "from ccperf import _native; _native.confine([], [])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def _environment(confined_to: Path | None) -> dict[str, str]:
    """What the worker is told."""
    temporary = {} if confined_to is None else {"TMPDIR": str(confined_to)}
    return {**os.environ, "PYTHONHASHSEED": "0", **temporary}


def _error(folder: _Folder, watch: _Watch, user_code: Mapping[str, str]) -> RunError | None:
    """What the worker says went wrong, if it says anything."""
    try:
        text = folder.read("error.json", _LARGEST_ERROR)
        if text is None:
            return None
        error = json.loads(text)
        message, changed = str(error["message"])[:_SHOWN], error["changed"]
        if changed in user_code:
            return ChangedError(changed)
        return RunError(message if error["is_placed"] else watch.report(message))
    except Exception as unreadable:  # whatever user code has put there
        what = f"its process left something else than an error ({unreadable})"
        return RunError(watch.report(what[:_SHOWN]))


#: What was warned of, each once: the next of many runs says the same. User code could write any.
_MOST_WARNINGS = 100
_warned: set[str] = set()


def _warn(folder: _Folder) -> None:
    """Pass on what the worker warns of; what is no list of texts is no warning either."""
    try:
        texts = json.loads(folder.read("warnings.json", _LARGEST_ERROR) or "[]")
    except (RecordingError, ValueError, RecursionError):
        return
    for text in texts if isinstance(texts, list) else ():
        if isinstance(text, str) and text not in _warned and len(_warned) < _MOST_WARNINGS:
            _warned.add(text)
            warnings.warn(text[:_SHOWN], RuntimeWarning, stacklevel=2)


def _memory() -> int:
    """Bytes of memory that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _own_path() -> list[str]:
    """Where the worker finds ccperf and what it needs: not the folder that happens to be here.

    A `json.py` there would be taken for Python's.
    """
    here = os.getcwd()
    return [place for place in sys.path if place and os.path.abspath(place) != here]


def _tables(folder: _Folder) -> dict[str, Table]:
    """The tables that the worker has left, as data: Parquet cannot carry code."""
    found: dict[str, Table] = {}
    left = folder.memory
    with folder.opened(TABLES) as tables:
        for name in recording.TABLES:
            file = folder.read(f"{name}.parquet", left, tables)
            if file is not None:
                left -= len(file)
                found[name] = decode_table(name, file, most=folder.memory)
    return found


class _Folder:
    """A job's folder; a context manager, which deletes it.

    User code can put anything there. So the folder is held open from before there is user code,
    and what is read has to be a regular file of limited size: no link, no pipe, no device.
    """

    def __init__(self) -> None:
        self._made = Temporary()
        self.path = Path(self._made.name)
        self._file = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        #: Where the worker says what it does: a file, since a map of it would end this process
        #: where user code cuts it off.
        self.monitor = os.open("monitor", os.O_RDWR | os.O_CREAT, 0o600, dir_fd=self._file)
        os.write(self.monitor, bytes(_MONITOR.size))
        #: Bytes of memory that the run may take, and its results.
        self.memory = _memory() // 2 // _runs_at_a_time
        #: When the run and the reading of its results have to be finished.
        self.until = time.monotonic() + _limit(*RUN_LIMIT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.monitor)
        os.close(self._file)
        # What cannot be deleted, or is somewhere else now, is not worth a run.
        with contextlib.suppress(OSError):
            self._made.cleanup()

    def has_tables(self) -> bool:
        """Whether the worker got as far as its results."""
        try:
            return stat.S_ISDIR(os.lstat(TABLES, dir_fd=self._file).st_mode)
        except OSError:
            return False

    @contextlib.contextmanager
    def opened(self, name: str) -> Iterator[int]:
        """A folder in it, held open.

        Raises :class:`~ccperf.runs.recording.RecordingError` for anything else.
        """
        try:
            file = os.open(name, _AS_IT_IS | os.O_DIRECTORY, dir_fd=self._file)
        except OSError as error:
            raise RecordingError(f"{name}: {error.strerror}") from None
        try:
            yield file
        finally:
            os.close(file)

    def read(self, name: str, most: int, at: int | None = None) -> bytes | None:
        """A file of at most so many bytes, there or `at` a folder in there; None if there is none.

        Raises :class:`~ccperf.runs.recording.RecordingError` for anything else.
        """
        try:
            opened = os.open(name, _AS_IT_IS, dir_fd=self._file if at is None else at)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RecordingError(f"{name}: {error.strerror}") from None
        with open(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise RecordingError(f"{name} is no regular file")
            pieces, left = [], most
            if os.fstat(file.fileno()).st_size <= most:
                while left >= 0 and (piece := file.read(min(_PIECE, left + 1))):
                    pieces.append(piece)
                    left -= len(piece)
                    if time.monotonic() > self.until:
                        raise RecordingError(f"{name} was not read in time ({RUN_LIMIT[0]})")
                if left >= 0:
                    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
            raise RecordingError(f"{name} is larger than {most} bytes")


class _Watch:
    """Looks at one process from outside."""

    def __init__(self, monitor: int, user_code: Sequence[str], stop_ns: int) -> None:
        self._monitor = monitor
        self._user_code = user_code
        self._stop_ns = stop_ns
        self._seen = (0, 0, 0)

    def _look(self) -> tuple[int, int, int]:
        """Simulated time of the last call, calls so far, the present call (0: none)."""
        words = os.pread(self._monitor, _MONITOR.size, 0)
        if len(words) == _MONITOR.size:
            self._seen = _MONITOR.unpack(words)
        return self._seen

    def until_end(self, process: warm.Run, progress: Progress | None) -> int:
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
        # User code may have written there, too.
        if 0 < algorithm <= len(self._user_code) and function < len(CALLS):
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
