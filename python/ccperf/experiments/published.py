"""The published result tables (ccperf.net): what ``ccperf verify seeds`` compares with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from ccperf import data

Tables = Mapping[str, Mapping[str, float]]


class Published(NamedTuple):
    """One published page. The tables hold the trusted values only, as printed: two decimals."""

    experiment: str
    #: The page's own number of the run.
    number: int
    url: str
    #: As text, ``aut`` left out.
    parameters: Mapping[str, str]
    command: str
    flow_metrics: Tables
    link_metrics: Tables
    network_metrics: Tables

    def values(self) -> Iterator[tuple[str, str, str, float]]:
        """``(table, column, metric, value)`` of every value."""
        for table in ("flow_metrics", "link_metrics", "network_metrics"):
            columns: Tables = getattr(self, table)
            for column, metrics in columns.items():
                for metric, value in metrics.items():
                    yield table, column, metric, value


@cache
def published() -> tuple[Published, ...]:
    """Every published page whose tables are complete."""
    entries: list[dict[str, Any]] = json.loads(data.text("published.json"))
    return tuple(Published(**entry) for entry in entries)
