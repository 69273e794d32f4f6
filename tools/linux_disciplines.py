"""ns-3's queue disciplines and Linux's: ``.venv/bin/python tools/linux_disciplines.py``

Runs the four points of `aqm` with CUBIC of the Linux kernel's at the ends, and CoDel, FqCoDel, PIE
and RED at the bottleneck: those of ns-3, which the engine has, and the kernel's own with the same
numbers. What `benchmarks/linux_disciplines.json` has is not made anew. For each difference of more
than 10 % it throws switches, as `tools/linux_and_ns3.py` does, which writes the page of both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ccperf import Scenario
from ccperf.experiments.catalogue import REGISTRY
from ccperf.runs import backends
from ccperf.runs.metrics import METRICS, compute
from ccperf.runs.recording import Recording
from ccperf.store.metric_text import reduced

RECORD = Path(__file__).parent.parent / "benchmarks" / "linux_disciplines.json"
CC = "TcpCubic"
BOTTLENECK = "btl"
#: What is compared: of the flows, and of the queue.
COMPARED = (
    "mean_srtt_l4",
    "used_capacity_l1",
    "mean_jains_fairness_throughput_l4",
    "mean_qdisc_delay_l2",
    "p99_sojourn_l2",
    "total_qdisc_drops_l2",
)
#: Relative differences that want a cause, and the part of one that a cause leaves at most.
LARGE, LEFT = 0.1, 0.5
Attributes = Mapping[str, str]


@dataclass(frozen=True)
class Switch:
    """What ns-3's discipline can be told to do as Linux's does."""

    cause: str
    attributes: Attributes


@dataclass(frozen=True)
class Pair:
    """A discipline of ns-3's and Linux's, told the same."""

    ns3: str
    linux: str
    #: Of both, for so many flows; the limit is the experiment's.
    ours: Attributes = field(default_factory=dict)
    theirs: Attributes = field(default_factory=dict)
    #: Those that grow with the number of flows.
    ours_per_flow: Mapping[str, int] = field(default_factory=dict)
    theirs_per_flow: Mapping[str, int] = field(default_factory=dict)
    switches: Mapping[str, Switch] = field(default_factory=dict)


PAIRS: Mapping[str, Pair] = {
    "CoDel": Pair("CoDelQueueDisc", "codel"),
    "FqCoDel": Pair("FqCoDelQueueDisc", "fq_codel", theirs={"noecn": "true"}),
    "PIE": Pair(
        "PieQueueDisc",
        "pie",
        # At their own 15 ms, as long as the whole buffer is, neither would have anything to do.
        ours={"MeanPktSize": "1500", "QueueDelayReference": "5ms"},
        theirs={"target": "5ms"},
        switches={
            "derandomised": Switch(
                "Linux spaces drops evenly (RFC 8033 section 5.4), which ns-3 does not by default",
                {"UseDerandomization": "true"},
            ),
        },
    ),
    "RED": Pair(
        "RedQueueDisc",
        "red",
        ours={"MeanPktSize": "1500", "QW": "0.001953125", "LinkBandwidth": "16Mbps"},
        # With bursts of 64 packets tc has the same weight, 1/512.
        theirs={"avpkt": "1500", "burst": "64", "bandwidth": "16Mbit", "probability": "0.02"},
        ours_per_flow={"MinTh": 5, "MaxTh": 15},
        theirs_per_flow={"min": 5 * 1500, "max": 15 * 1500},
        switches={
            "not gentle": Switch(
                "above its upper threshold Linux drops all; ns-3 is gentle by default",
                {"Gentle": "false"},
            ),
            "no wait": Switch(
                "ns-3 waits between two drops by default",
                {"Wait": "false"},
            ),
        },
    ),
}


def scenario(pair: Pair, k: int, side: str, more: Attributes | None = None) -> Scenario:
    """A point of `aqm` with one of both disciplines."""
    data = REGISTRY["aqm"].scenario(CC, k=k, qdisc="FifoQueueDisc").canonical()
    (link,) = (link for link in data["links"] if link["name"] == BOTTLENECK)
    limit = link["forward"]["qdisc"]["attributes"]["MaxSize"]
    is_ours = side == "ns3"
    grown = pair.ours_per_flow if is_ours else pair.theirs_per_flow
    link["forward"]["qdisc"] = {
        "type": pair.ns3 if is_ours else f"linux:{pair.linux}",
        "attributes": {
            "MaxSize": limit,
            **(pair.ours if is_ours else pair.theirs),
            **{name: str(k * value) for name, value in grown.items()},
            **(more or {}),
        },
    }
    return Scenario.model_validate(data)


def values(made: Scenario) -> tuple[dict[str, float], str]:
    """The metrics of a run with the kernel's sockets at the ends, and a hash of all that happened.

    The reasons of drops are words of each side's own.
    """
    recording = backends.get("linux").simulate(made)
    digest = hashlib.sha256()
    for name in ("flows", "links", "flow_samples", "link_samples"):
        for column in recording.tables[name].values():
            data = column if isinstance(column, list) else column.tolist()
            digest.update(repr(data).encode())
    found = scalars(made, recording)
    return {metric: float(found[metric]) for metric in COMPARED}, digest.hexdigest()


def scalars(made: Scenario, recording: Recording) -> dict[str, float]:
    """All metrics of a run that are one number each."""
    tables = compute(made, recording).by_scope
    return dict(reduced({key: value for table in tables.values() for key, value in table.items()}))


def apart(one: float | None, other: float | None) -> float:
    """The difference of two values, relative to the larger one."""
    if one is None or other is None:
        return 0.0 if one == other else 1.0
    return abs(one - other) / max(abs(one), abs(other), 1e-9)


def compared(pair: Pair, k: int) -> dict[str, Any]:
    """Both sides, and the first switch for each large difference that most of it is due to."""
    runs = {side: values(scenario(pair, k, side)) for side in ("ns3", "linux")}
    both = {side: found for side, (found, _) in runs.items()}

    @cache
    def switched(key: str) -> Mapping[str, float]:
        return values(scenario(pair, k, "ns3", pair.switches[key].attributes))[0]

    causes = {}
    for metric in COMPARED:
        ours, theirs = (both[side][metric] for side in ("ns3", "linux"))
        if apart(ours, theirs) <= LARGE:
            continue
        for key in pair.switches:
            if abs((new := switched(key)[metric]) - theirs) <= LEFT * abs(ours - theirs):
                causes[metric] = {"switch": key, "value": new}
                break
    return {**both, "same": runs["ns3"][1] == runs["linux"][1], "causes": causes}


def points() -> Iterator[tuple[str, int]]:
    """Each discipline at each point of the experiment."""
    counts = dict.fromkeys(point["k"] for point in REGISTRY["aqm"].grid())
    for name in PAIRS:
        for k in counts:
            yield name, int(k)


def read() -> dict[str, Any]:
    """What has been recorded."""
    if RECORD.exists():
        found: dict[str, Any] = json.loads(RECORD.read_text())
        return found
    return {"linux": "", "runs": {}}


HEAD = """
## Queue disciplines

The same kernel's CUBIC at the ends, the same engine's links between them, and at the bottleneck of
[`aqm`](experiments.md) a discipline of ns-3's (the engine's) or the kernel's own
([`linux:`](linux.md#linuxs-own-queue-disciplines)), told the same: the limit of the experiment, no
ECN, each discipline's own defaults; for PIE a target of 5 ms, for RED 5 and 15 packets for each
flow, 1/512 and 1/50. A single value means that both are equal; otherwise it is ns-3's / Linux's.
*Same* says that all samples and totals of the run are equal. `tools/linux_disciplines.py` makes the
runs.

"""
CAUSES_HEAD = """
Of more than 10 %:

| discipline | flows | metric | unit | ns-3 | Linux | ns-3's, switched | cause |
|---|---|---|---|---|---|---|---|
"""


def section(known: Mapping[str, Any]) -> str:
    """The part of the page."""
    heads = ["discipline", "flows", "same", *(f"`{m}` [{METRICS[m].unit}]" for m in COMPARED)]
    lines = [_row(heads), _row(["---"] * len(heads))]
    causes = []
    for name, runs in known["runs"].items():
        for k, entry in runs.items():
            pairs = {metric: (entry["ns3"][metric], entry["linux"][metric]) for metric in COMPARED}
            cells = [" / ".join(dict.fromkeys(f"{v:.4g}" for v in pair)) for pair in pairs.values()]
            lines.append(_row([name, k, "yes" if entry["same"] else "no", *cells]))
            for metric, (ours, theirs) in pairs.items():
                if apart(ours, theirs) <= LARGE:
                    continue
                found = entry["causes"].get(metric)
                cause = PAIRS[name].switches[found["switch"]].cause if found else "not known yet"
                shown = [f"{ours:.4g}", f"{theirs:.4g}", f"{found['value']:.4g}" if found else ""]
                cells = [name, k, f"`{metric}`", METRICS[metric].unit, *shown, cause]
                causes.append(_row(cells))
    return HEAD + "\n".join([*lines, ""]) + CAUSES_HEAD + "\n".join([*causes, ""])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Make what the record lacks; it is written after each."""
    known = read()
    known["linux"] = backends.get("linux").version.partition("-")[0]
    for name, k in points():
        runs = known["runs"].setdefault(name, {})
        if str(k) not in runs:
            runs[str(k)] = compared(PAIRS[name], k)
            RECORD.write_text(json.dumps(known, indent=1) + "\n")
            print(name, k, flush=True)


if __name__ == "__main__":
    main()
