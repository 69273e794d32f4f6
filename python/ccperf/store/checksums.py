"""Checksums of what is stored: SQLite has none, and a flipped bit would be a silent wrong number.

A run's `content` covers its flows, its metrics and the SHA-256 of each of its series; its
`checksum` covers its own row, `content` included. Runs of before version 3 have none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from json.encoder import encode_basestring_ascii
from typing import Any

#: The columns of a run that its checksum covers, in order.
RUN = (
    "id",
    "label",
    "scenario",
    "scenario_hash",
    "seed",
    "backend",
    "backend_version",
    "engine_hash",
    "ccperf_version",
    "wall_seconds",
    "finished_at",
    "user_code",
    "content",
)
FLOW = (
    "position",
    "name",
    "source",
    "destination",
    "cc",
    "recovery",
    "start_ns",
    "stop_ns",
    "base_rtt_ns",
    "bottleneck",
)
METRIC = ("scope", "subject", "name", "value", "position")


def of_bytes(data: bytes) -> str:
    """SHA-256 of a series."""
    return hashlib.sha256(data).hexdigest()


def of_values(values: Sequence[Any]) -> str:
    """SHA-256 of a row; texts, numbers and NULL come back from SQLite as they were."""
    return hashlib.sha256(json.dumps(values, ensure_ascii=False).encode()).hexdigest()


def of_content(
    flows: Iterable[Sequence[Any]],
    metrics: Iterable[Sequence[Any]],
    series: Iterable[tuple[str, int, str]],
    packed: Iterable[tuple[str, str]] = (),
) -> str:
    """SHA-256 of what belongs to a run: rows of `FLOW`, of `METRIC`, and `(name, rows, SHA-256)`.

    `packed` are metrics by scope; runs of before version 5 have `metrics` in place of them.  The
    order of rows does not matter.
    """
    given: list[list[Any]] = [list(rows) for rows in (flows, metrics, series)]
    if of_scopes := [(scope, of_bytes(text.encode())) for scope, text in packed]:
        given.append(of_scopes)
    written = [_rows_as_written(rows) for rows in given]
    if all(rows is not None for rows in written):
        parts = [f"[{', '.join(f'[{row}]' for row in sorted(rows or ()))}]" for rows in written]
        return hashlib.sha256(f"[{', '.join(parts)}]".encode()).hexdigest()
    return of_values([sorted(rows, key=_order) for rows in given])


#: Between rows, as JSON writes them.
_BETWEEN = "], ["


def _rows_as_written(rows: Sequence[Sequence[Any]]) -> list[str] | None:
    """Return each row as JSON writes it, without its brackets.

    A run of a thousand flows has fifty thousand: in one piece that takes a fraction of the time.
    None where some text is not ASCII, or looks like what stands between rows.
    """
    if not rows:
        return []
    text = json.dumps(rows, ensure_ascii=False)
    found = text[2:-2].split(_BETWEEN)
    return found if text.isascii() and len(found) == len(rows) else None


_WRITTEN: dict[type, Callable[[Any], str]] = {
    str: encode_basestring_ascii,
    int: int.__repr__,
    float: float.__repr__,
}


def _order(row: Sequence[Any]) -> str:
    """Return the row as JSON writes it, by which rows are sorted; a third of `json.dumps`' time."""
    return ", ".join([_WRITTEN.get(type(value), json.dumps)(value) for value in row])
