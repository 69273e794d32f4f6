"""The store: runs with their metrics, series and provenance in one SQLite file."""

from __future__ import annotations

from ccperf.store.opening import DamagedRun, StoreError, StoreWriteError
from ccperf.store.packing import PackedRun, pack
from ccperf.store.rows import RunRow
from ccperf.store.several import Several
from ccperf.store.store import Store

__all__ = [
    "DamagedRun",
    "PackedRun",
    "RunRow",
    "Several",
    "Store",
    "StoreError",
    "StoreWriteError",
    "pack",
]
