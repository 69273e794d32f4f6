"""The metrics of a scope as one text: a run's, not a row a value.

A run of a thousand flows has fifty thousand values, and as rows they took SQLite longer to store
than the engine to compute. The text is JSON, `{column: {metric: value}}`, so that SQL reads it:
the view `metric_value` has a row a value.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

from ccperf import _native
from ccperf.runs.metrics import METRICS
from ccperf.runs.metrics.registry import REDUCTIONS


def encode(columns: Mapping[str, Mapping[str, float]]) -> str:
    """Return the text, which gives the same values back to the last bit.

    Raises ValueError for what is not a finite number, with its metric and its column.
    """
    text = _native.metric_text(columns)
    if text is None:
        told = (
            f"metric {name} of {column} is {value}: it must be a finite number, or absent"
            for column, values in columns.items()
            for name, value in values.items()
            if not math.isfinite(value)
        )
        raise ValueError(next(told))
    return text


def decode(text: str) -> dict[str, dict[str, float]]:
    """Return what `encode` was given.

    Raises ValueError for any other text.
    """
    columns = json.loads(text)
    if not isinstance(columns, dict):
        raise ValueError("its metrics have no columns")
    for values in columns.values():
        if not isinstance(values, dict):
            raise ValueError("its metrics have no names")
        if not all(type(value) is float and math.isfinite(value) for value in values.values()):
            raise ValueError("its metrics are not numbers")
    return columns


def reduced(columns: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, float]]:
    """Yield each metric that some column has, reduced over them as it says (`Metric.of_run`)."""
    of_name: dict[str, list[float]] = {}
    for values in columns.values():
        for name, value in values.items():
            of_name.setdefault(name, []).append(value)
    for name, found in of_name.items():
        metric = METRICS.get(name)
        if metric is None or not metric.without_value(columns.values()):
            yield name, REDUCTIONS[metric.over_flows if metric else "mean"](found)
