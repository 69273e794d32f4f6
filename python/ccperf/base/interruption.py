"""Ctrl-C, SIGTERM or a terminal that is gone (SIGHUP): a command ends within half a second,
whatever it is in the middle of. At the other two nobody waits: it has five, so that it leaves no
folder behind on a busy machine.

Python notices a signal when its main thread comes back to Python code. Inside a library that may
take a while, so a command also watches from a thread of its own. What runs side by side is asked to
end, and after :func:`patience_s` no longer waited for; what is left of the time is for lines to be
written and a database to be closed. A second Ctrl-C waits for nothing.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import NoReturn

#: What a command returns that was interrupted: the exit status after Ctrl-C.
STATUS = 130
#: At these nobody waits. Status 128 and their number says which it was.
_TERMINATING = (signal.SIGTERM, signal.SIGHUP)
#: So long may threads and processes take to end by themselves.
_PATIENCE_S = 0.2
#: The same where nobody waits.
_PATIENCE_WHEN_TERMINATED_S = 4.0
#: By then the main thread has made an end, or is in the middle of something long.
_LIMIT_S = 0.4
#: The same where nobody waits: who sends SIGTERM, a scheduler of jobs say, has tens of seconds.
_LIMIT_WHEN_TERMINATED_S = 5.0

#: Temporary ones, which go with this process (`ccperf.base.folders`).
folders: set[str] = set()

#: What this one returns.
_status = STATUS
_noticed = threading.Event()
_watched = threading.Event()


def notice() -> bool:
    """Say that the main thread knows of the Ctrl-C, and is ending what it does.

    Returns whether a second one is taken care of.
    """
    _noticed.set()
    return _watched.is_set()


def is_noticed() -> bool:
    """Whether the main thread knows of a Ctrl-C: what fails from then on fails because of it."""
    return _noticed.is_set()


def patience_s() -> float:
    """For how many seconds threads and processes that were asked to end are waited for."""
    return _PATIENCE_WHEN_TERMINATED_S if _status != STATUS else _PATIENCE_S


def watch() -> None:
    """See to it that these signals end this process; a command calls this, a library never."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    # Else started with it ignored, as in the background of a shell.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    for number in _TERMINATING:  # nohup ignores one of them
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _terminate)
    _watched.set()
    threading.Thread(target=_wait, args=(readable,), name="ccperf-ctrl-c", daemon=True).start()


def _interrupt(_number: int, _frame: object) -> None:
    if not is_noticed():
        notice()
        raise KeyboardInterrupt


def _terminate(number: int, frame: FrameType | None) -> None:
    """Do what a Ctrl-C does at the moment."""
    global _status
    _status = 128 + number
    interrupt = signal.getsignal(signal.SIGINT)
    (interrupt if callable(interrupt) else _interrupt)(number, frame)


def _wait(readable: int) -> None:
    """Wait for one of the signals, and leave if nobody else makes an end."""
    first = _next(readable, None)
    _next(readable, _LIMIT_WHEN_TERMINATED_S if first in _TERMINATING else _LIMIT_S)
    with suppress(OSError):  # the terminal may be gone
        print("stopped; what was finished is stored", file=sys.stderr)
    leave()


def _next(readable: int, timeout_s: float | None) -> int | None:
    """The one that came within so many seconds (None: wait for it), if one did."""
    ready = select.poll()  # `select` takes no file from 1024 on
    ready.register(readable, select.POLLIN)
    while ready.poll(None if timeout_s is None else 1000 * timeout_s):
        number = os.read(readable, 1)[0]
        if number in (signal.SIGINT, *_TERMINATING):
            return number
    return None


def leave() -> NoReturn:
    """End the process now, with its threads and temporary folders; a terminal gets back its cursor,
    hidden by a bar."""
    try:
        if folders:
            import shutil  # few commands need it

            for folder in [*folders]:
                shutil.rmtree(folder, ignore_errors=True)
        if sys.stderr.isatty():
            sys.stderr.write("\x1b[?25h")
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(_status)
