"""This process: how one that is ccperf's own starts, and how many cores it may use.

A short run is over before what a start leaves out is. That is not for processes of others, who have
their own ideas of their environment and their garbage.
"""

from __future__ import annotations

import gc
import os
import sys
from types import ModuleType

#: What libraries look for at their start, and nobody here has a use for. OpenBLAS, which is under
#: NumPy, has a thread a core that waits for linear algebra without sleeping; pydantic reads the
#: entry points of every package that is installed.
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "PYDANTIC_DISABLE_PLUGINS": "__all__"}

#: Where pydantic looks for plugins. Before it sees that there are to be none, that module loads the
#: metadata of packages, and with it archives and mail: a fifteenth of a start.
_PLUGINS = "pydantic.plugin._loader"

#: What NumPy says of its functions, and hangs on them one by one: a fiftieth of a start. Who starts
#: Python with -OO goes without it, too.
_SENTENCES = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")

#: So many more objects make a look for garbage worth while; some tens of megabytes at most.
NEW_OBJECTS = 300_000


def start_lightly() -> None:
    """Let this process load its libraries soon; to be called before it loads them."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if os.environ["PYDANTIC_DISABLE_PLUGINS"] == ENVIRONMENT["PYDANTIC_DISABLE_PLUGINS"]:
        _leave_out(_PLUGINS, get_plugins=tuple)
    for name in _SENTENCES:
        _leave_out(name)
    # Nothing of what a start loads is garbage: to look for some took a fifth of a short run's time.
    gc.set_threshold(NEW_OBJECTS)


def _leave_out(name: str, **offers: object) -> None:
    """Have an empty module in the place of one that is not loaded yet."""
    module = ModuleType(name)
    module.__dict__.update(offers)
    sys.modules.setdefault(name, module)


def with_streams() -> None:
    """Have streams to nowhere in the place of those that were closed (`2>&-`).

    Else the next file that is opened has their number, and gets what others print there.
    """
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)  # its number is the lowest that is free
            os.set_inheritable(nowhere, nowhere == number)
            mode = "r" if number == 0 else "w"
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8"))


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
