"""The store: runs with their metrics, series and provenance in one SQLite file."""

from __future__ import annotations

from ccperf.store.store import RunRow, Store, StoreError

__all__ = ["RunRow", "Store", "StoreError"]
