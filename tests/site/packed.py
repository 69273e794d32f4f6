"""A recording as the engine for browsers packs it (``crates/wasm/src/pack.rs``)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf import _native

if TYPE_CHECKING:
    from collections.abc import Mapping


def pack(tables: Mapping[str, Mapping[str, Any] | _native.LongTable]) -> bytes:
    """The block of bytes of tables as ``_native.Simulation.finish`` returns them."""
    parts = [_number(len(tables))]
    for name, table in tables.items():
        columns = table.read() if isinstance(table, _native.LongTable) else table
        rows = len(next(iter(columns.values()), []))
        parts += [_word(name), _number(rows), _number(len(columns))]
        for column, values in columns.items():
            parts.append(_word(column))
            if isinstance(values, np.ndarray):
                assert values.dtype in (np.int64, np.float64)
                parts += [_number(int(values.dtype == np.float64)), values.tobytes()]
            else:
                parts += [_number(2), *map(_word, values)]
    return b"".join(parts)


def _number(value: int) -> bytes:
    return struct.pack("<q", value)


def _word(text: str) -> bytes:
    data = text.encode()
    return _number(len(data)) + data + bytes(-len(data) % 8)
