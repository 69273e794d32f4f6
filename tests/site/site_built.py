"""A site of given runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ccperf import site
from ccperf.runs.result import Result
from ccperf.store import Store


def built(place: Path, runs: Iterable[Result]) -> Path:
    """Store the runs in an empty folder, and return the folder of their site."""
    with Store(place / "runs.db", "a") as store:
        for run in runs:
            store.add(run)
    site.build([place / "runs.db"], place / "site")
    return place / "site"
