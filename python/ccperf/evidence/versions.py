"""Versions of users' algorithms: files that changed between runs under one name.

``mycca.py:MyCca@2503`` is the one whose SHA-256 begins so (``sha256sum mycca.py``, if the file
imports none from beside it).
"""

from __future__ import annotations

import hashlib
import re
from itertools import count
from typing import TYPE_CHECKING

from ccperf.algorithms import roles
from ccperf.base import expression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ccperf.store import RunRow

_VERSION = re.compile(r"(?P<name>.+)@(?P<version>[0-9a-f]{4,64})")
#: The digits that a version has at least.
_SHORT = 4


def algorithm(row: RunRow) -> str:
    """Return the algorithm under test, or those of the flows."""
    return str(roles.under_test(row.parameters) or ",".join(row.cc))


def digests(row: RunRow) -> tuple[str, tuple[str, ...]]:
    """Return the SHA-256 of the code under test, empty for what is built in, and of all other code
    of users in the run."""
    code = row.provenance.user_code
    if not code:
        return "", ()
    names = {expression.cut(name)[0] for name in expression.split(algorithm(row))}
    own = [digest for name, digest in code.items() if name in names]
    others = tuple(digest for name, digest in code.items() if name not in names)
    if len(own) > 1:
        return hashlib.sha256("".join(own).encode()).hexdigest(), others
    return "".join(own), others


def versioned(rows: Sequence[RunRow]) -> list[str]:
    """Return the algorithm of each run, with its version where there are runs of several."""
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(algorithm(row), set()).add(digests(row)[0])
    length = {
        name: next(n for n in count(_SHORT) if len({digest[:n] for digest in of}) == len(of))
        for name, of in found.items()
        if len(of) > 1
    }
    names = ((algorithm(row), digests(row)[0]) for row in rows)
    return [
        f"{name}@{digest[: length[name]]}" if digest and name in length else name
        for name, digest in names
    ]


def split(name: str) -> tuple[str, str]:
    """Return the name, and the version that it gives if it gives one."""
    found = _VERSION.fullmatch(name)
    return (found["name"], found["version"]) if found else (name, "")
