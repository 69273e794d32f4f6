"""Names of files for what others have named."""

from __future__ import annotations

import hashlib
import re


def slug(name: str) -> str:
    """Return a name for a file: the name itself where it is harmless, else the rest with a hash.

    So a database of a stranger's cannot write elsewhere, and two names never share a file.
    """
    kept = re.sub(r"[^A-Za-z0-9._-]+", "_", name).lstrip(".")[:60]
    if kept == name:
        return name
    return f"{kept}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
