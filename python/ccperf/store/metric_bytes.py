"""The metrics of a scope as bytes: one piece a run, not a row a value.

A run of a thousand flows has fifty thousand values, and as rows they took SQLite longer to store
than the engine to compute.  First a line of JSON with the columns' names and the metrics', then the
values, column by column, as little-endian doubles; NaN where a column does not have a metric.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from ccperf.metrics import METRICS

_DOUBLE = np.dtype("<f8")


def encode(columns: Mapping[str, Mapping[str, float]]) -> bytes:
    """Return `{column: {metric: value}}` as bytes; infinities stay, and there are no NaNs."""
    there = {name for values in columns.values() for name in values}
    names = [name for name in METRICS if name in there]
    names += sorted(there.difference(names))
    head = json.dumps([list(columns), names], separators=(",", ":"))
    matrix = [values.get(name, math.nan) for values in columns.values() for name in names]
    return head.encode() + b"\n" + np.array(matrix, _DOUBLE).tobytes()


def decode(data: bytes) -> dict[str, dict[str, float]]:
    """Return what `encode` was given, metrics in their order.

    Raises ValueError for other bytes.
    """
    columns, names, matrix = _parts(data)
    # NaN is no value.
    return {
        column: {name: v for name, v in zip(names, values, strict=True) if v == v}
        for column, values in zip(columns, matrix.tolist(), strict=True)
    }


def reduced(data: bytes) -> Iterator[tuple[str, float, float]]:
    """Yield of each metric that some column has its name, its mean and its sum over the columns.

    Raises ValueError for bytes that are not of `encode`.
    """
    _, names, matrix = _parts(data)
    for name, column in zip(names, matrix.T.tolist(), strict=True):
        values = [value for value in column if value == value]
        if values:
            total = math.fsum(values)
            yield name, total / len(values), total


def _parts(data: bytes) -> tuple[list[str], list[str], npt.NDArray[np.float64]]:
    head, _, values = data.partition(b"\n")
    columns, names = json.loads(head)
    for texts in (columns, names):
        if not (isinstance(texts, list) and all(isinstance(text, str) for text in texts)):
            raise ValueError("its metrics have no names")
        if len(set(texts)) < len(texts):
            raise ValueError("its metrics have a name twice")
    if len(values) != _DOUBLE.itemsize * len(columns) * len(names):
        raise ValueError("its metrics are not as many as their names")
    return columns, names, np.frombuffer(values, _DOUBLE).reshape(len(columns), len(names))
