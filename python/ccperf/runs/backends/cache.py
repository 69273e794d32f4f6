"""Where backends keep what they compile."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def cache_directory(backend: str) -> Path:
    """Return the folder of a backend, in the user's folder of caches; it may not be there yet."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "ccperf" / backend


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file: of several processes that want the same thing one makes it, the others wait."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
