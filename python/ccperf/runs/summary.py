"""A run in a few rows: what people look at first of its flows, links and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ccperf.runs.metrics import metric_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ccperf.runs.metrics import MetricTables

#: What is said of each scope: metrics, and their heads. The rest is in the tables.
_SAID: Mapping[str, Mapping[str, str]] = {
    "flow": {
        "mean_throughput_l4": "throughput [Mbps]",
        "mean_srtt_l4": "sRTT [ms]",
        "p95_srtt_l4": "95 % [ms]",
        "total_retransmissions_l4": "retransm.",
        "total_rtos_l4": "RTOs",
    },
    "link": {
        # That of published tables, `mean_qdisc_delay_l2`, is rounded down to whole ms.
        "mean_sojourn_l2": "queueing delay [ms]",
        "total_qdisc_drops_l2": "drops",
        "total_qdisc_marks_l2": "marks",
    },
    # The headlines are of it.
    "network": {},
    "class": {
        "total_transfers_l4": "flows",
        "total_unfinished_l4": "unfinished",
        "mean_fct_l4": "FCT [ms]",
        "p99_fct_l4": "99 % [ms]",
        "mean_rpc_time_l4": "RPC [ms]",
    },
}
#: What is in another unit there than the metric: that times so much.
_IN_MS = {"mean_sojourn_l2": 1e-3}
#: More flows, links or classes than that fill a screen.
_ON_A_SCREEN = 4


class Part(NamedTuple):
    """What is said of one scope; `more` subjects are left out."""

    head: list[str]
    rows: list[list[str]]
    more: int


def parts(metrics: MetricTables, algorithms: Mapping[str, str]) -> list[Part]:
    """A row for each flow, link or class; flows have `algorithms` by their names."""
    found = []
    for scope, subjects in metrics.by_scope.items():
        heads = _SAID[scope]
        names = [name for name in heads if any(name in of for of in subjects.values())]
        if not names:
            continue
        # A last one takes no more room than to say that there is one more.
        shown = len(subjects) if len(subjects) <= _ON_A_SCREEN + 1 else _ON_A_SCREEN
        rows = [
            [
                " ".join(filter(None, (subject, algorithms.get(subject)))),
                *(
                    number(name, of[name] * _IN_MS.get(name, 1)) if name in of else ""
                    for name in names
                ),
            ]
            for subject, of in list(subjects.items())[:shown]
        ]
        head = [scope, *(heads[name] for name in names)]
        found.append(Part(head, rows, len(subjects) - shown))
    return found


def number(metric: str, value: float) -> str:
    """A metric's value for people: counts as such, the rest with four decimals."""
    return f"{value:.0f}" if metric_named(metric).kind == "count" else f"{value:.4f}"
