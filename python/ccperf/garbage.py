"""How often Python looks for garbage.

Neither what a start loads nor what a run leaves is garbage to speak of: to look for some among all
objects took a fifth of a short run's time.
"""

from __future__ import annotations

import gc

#: So many more objects make a look worth while; some tens of megabytes at most.
_NEW_OBJECTS = 300_000


def look_rarely() -> None:
    """Look for garbage only among many new objects, from now on, in this process."""
    gc.set_threshold(_NEW_OBJECTS)
