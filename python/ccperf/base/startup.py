"""How the processes that are ccperf's own start: a short run is over before what they leave out is.

Not for processes of others, who have their own ideas of their environment and their garbage.
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

#: So many more objects make a look for garbage worth while; some tens of megabytes at most.
NEW_OBJECTS = 300_000


def lightly() -> None:
    """Let this process load its libraries soon; to be called before it loads them."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if os.environ["PYDANTIC_DISABLE_PLUGINS"] == ENVIRONMENT["PYDANTIC_DISABLE_PLUGINS"]:
        none = ModuleType(_PLUGINS)
        none.__dict__["get_plugins"] = tuple
        sys.modules.setdefault(_PLUGINS, none)
    # Nothing of what a start loads is garbage: to look for some took a fifth of a short run's time.
    gc.set_threshold(NEW_OBJECTS)
