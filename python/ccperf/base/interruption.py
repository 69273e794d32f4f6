"""Ctrl-C: a command ends within half a second, whatever it is in the middle of.

Python notices a signal when its main thread comes back to Python code. Inside a library that may
take a while, so a command also watches from a thread of its own. What runs side by side is asked to
end, and after :data:`PATIENCE_S` no longer waited for; what is left of the half second is for lines
to be written and a database to be closed. A second Ctrl-C waits for nothing.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from typing import NoReturn

#: The exit status after Ctrl-C.
STATUS = 130
#: So long may threads and processes take to end by themselves.
PATIENCE_S = 0.2
#: By then the main thread has made an end, or is in the middle of something long.
_LIMIT_S = 0.4

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


def watch() -> None:
    """See to it that Ctrl-C ends this process; a command calls this, a library never."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return  # started with Ctrl-C ignored, as by `nohup`
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, _interrupt)
    _watched.set()
    threading.Thread(target=_wait, args=(readable,), name="ccperf-ctrl-c", daemon=True).start()


def _interrupt(_number: int, _frame: object) -> None:
    if not is_noticed():
        notice()
        raise KeyboardInterrupt


def _wait(readable: int) -> None:
    """Wait for a Ctrl-C, and leave if nobody else makes an end."""
    _next(readable, None)
    _next(readable, _LIMIT_S)
    print("stopped; what was finished is stored", file=sys.stderr)
    leave()


def _next(readable: int, timeout_s: float | None) -> bool:
    """Whether Ctrl-C was pressed within so many seconds (None: wait for it)."""
    while select.select([readable], [], [], timeout_s)[0]:
        if os.read(readable, 1) == bytes([signal.SIGINT]):
            return True
    return False


def leave() -> NoReturn:
    """End the process now, with its threads; a terminal gets back its cursor, hidden by a bar."""
    try:
        if sys.stderr.isatty():
            sys.stderr.write("\x1b[?25h")
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(STATUS)
