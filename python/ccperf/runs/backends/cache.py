"""Where backends keep what they compile."""

from __future__ import annotations

import fcntl
import os
import struct
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def cache_directory(backend: str) -> Path:
    """Return the folder of a backend, in the user's folder of caches; it may not be there yet."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "ccperf" / backend


#: Of a header of ELF, 64 bits, little-endian: where its sections are listed, and where it says how
#: large an entry is and how many there are.
_ELF, _SECTIONS, _ENTRIES = b"\x7fELF\x02\x01", 40, 58


def is_whole(program: Path) -> bool:
    """Whether a compiled file is there and nothing of its end is missing.

    A power cut, a full disk or a copy of the cache may have left less; compilers put the list of
    sections at the end.
    """
    try:
        with program.open("rb") as file:
            head = file.read(64)
            size = file.seek(0, os.SEEK_END)
    except OSError:
        return False
    if len(head) < 64 or not head.startswith(_ELF):
        return size > 0
    (sections,) = struct.unpack_from("<Q", head, _SECTIONS)
    entry, count = struct.unpack_from("<HH", head, _ENTRIES)
    return bool(size >= sections + entry * count)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file: of several processes that want the same thing one makes it, the others wait."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
