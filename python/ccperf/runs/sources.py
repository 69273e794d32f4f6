"""Which code makes results: part of the id of each run."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from ccperf import _native
from ccperf.runs import metrics


def sources_hash() -> str:
    """Return a hash, in hex, of the engine's sources and those of the metrics.

    A result may be another with others. It is what a run's provenance calls its engine.
    """
    return hashlib.sha256(f"{_native.ENGINE_HASH} {_of_metrics()}".encode()).hexdigest()


@cache
def _of_metrics() -> str:
    return of_folder(Path(metrics.__file__).parent)


def of_folder(folder: Path) -> str:
    """Return a hash of the Python files in a folder, by name and content."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.py")):
        for part in (file.name.encode(), file.read_bytes()):
            digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()
