"""The scenarios that HPCC's ns-3 fork ran, run by the engine, beside what the fork recorded.

    python -m benchmarks.hpcc_fork

prints the table of docs/lossless.md. `tools/hpcc_fork.py` records the fork.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf.runs import backends
from ccperf.scenario import Scenario

if TYPE_CHECKING:
    from ccperf.runs.recording import Recording

RECORDED = Path(__file__).parents[1] / "tests" / "catalogue" / "hpcc_fork.json"
#: Bytes of a full packet on the wire in both: no length is a whole number of ns at the rates here,
#: where the fork's binary fractions lose a ns.
WIRE = 1051
#: Headers of data in the fork (Ethernet, IP, UDP, the sequence number, INT or a timestamp), and in
#: ours.
THEIR_HEADERS = {"hpcc": 90, "timely": 56}
OUR_HEADERS = {"hpcc": 88}
PLAIN_HEADERS, OUR_PLAIN_HEADERS = 48, 46
LAWS = ("line_rate", "dcqcn", "dcqcn_paper", "hpcc", "timely")
#: The fork's reserve of each port of a switch, and how far below the threshold a pause ends.
RESERVE, RESUME = 4096, 3072
#: The least rate of a flow, in Mbps.
LEAST = 100
#: Webs of search: bytes, and how many in a hundred flows have no more (Alizadeh et al. 2010, as in
#: HPCC's `WebSearch_distribution.txt`).
WEB_SEARCH = (
    *((0, 0), (10_000, 15), (20_000, 20), (30_000, 30), (50_000, 40), (80_000, 53)),
    *((200_000, 60), (1_000_000, 70), (2_000_000, 80), (5_000_000, 90), (10_000_000, 97)),
    (30_000_000, 100),
)


@dataclass(frozen=True)
class Link:
    """Between two nodes, by number: hosts come first."""

    ends: tuple[int, int]
    gbps: int

    @property
    def headroom(self) -> int:
        """Of the fork: three times what a link of 1 us holds."""
        return self.gbps * 375


@dataclass(frozen=True)
class Flow:
    source: int
    destination: int
    packets: int
    start_ns: int = 0


@dataclass(frozen=True)
class Case:
    """Hosts, switches and their links of 1 us, and flows."""

    hosts: int
    switches: int
    links: tuple[Link, ...]
    flows: tuple[Flow, ...]
    #: Of each switch, in MiB.
    buffer: int = 32
    #: The port whose queue is watched, if any: the link to that host.
    watched: int | None = None
    laws: tuple[str, ...] = LAWS
    #: How often it ran: starts differ by some ns, and marks by their seed.
    runs: int = 5

    @property
    def gbps(self) -> int:
        """Of hosts."""
        return self.links[0].gbps

    def run(self, number: int) -> Case:
        """The same with starts of that run."""
        return replace(
            self,
            flows=tuple(
                replace(flow, start_ns=flow.start_ns + number * (37 * i + 11) % 97)
                for i, flow in enumerate(self.flows)
            ),
        )

    def links_of(self, node: int) -> list[Link]:
        return [link for link in self.links if node in link.ends]

    def base_rtt(self, payload: int) -> int:
        """The fork's, in ns: both ways, and a payload at each link of one way; of the longest."""
        return max(self._from(host, payload) for host in range(self.hosts))

    def _from(self, host: int, payload: int) -> int:
        reached, queue = {host: 0}, [host]
        for node in queue:
            for link in self.links_of(node):
                (other,) = set(link.ends) - {node}
                if other not in reached:
                    reached[other] = reached[node] + 2000 + payload * 8 // link.gbps
                    queue += [other] * (other >= self.hosts)
        return max(time for node, time in reached.items() if node < self.hosts)


def _star(hosts: int, flows: tuple[Flow, ...], gbps: int = 100, **more: Any) -> Case:
    links = tuple(Link((host, hosts), gbps) for host in range(hosts))
    return Case(hosts, 1, links, flows, watched=hosts - 1, **more)


def _incast(senders: int, **more: Any) -> Case:
    return _star(senders + 1, tuple(Flow(i, senders, 1000) for i in range(senders)), **more)


def _parking_lot() -> Case:
    """Two hosts at each of three switches: one flow over both links, one over each."""
    hosts = [Link((host, 6 + host // 2), 100) for host in range(6)]
    links = (*hosts, Link((6, 7), 100), Link((7, 8), 100))
    return Case(6, 3, links, (Flow(0, 5, 5000), Flow(1, 2, 5000), Flow(3, 4, 5000)))


def _tree() -> Case:
    """Four racks of eight hosts under one switch, and 300 flows at 30 % of the hosts' links."""
    rng = Random(1)
    steps = list(itertools.pairwise(WEB_SEARCH))
    mean = sum((low + high) / 2 * (q - p) / 100 for (low, p), (high, q) in steps)
    gap = mean * 1.05 * 8 / (32 * 100 * 0.3)
    time, flows = 0.0, []
    for _ in range(300):
        time += rng.expovariate(1 / gap)
        source, destination = rng.sample(range(32), 2)
        draw = rng.random() * 100
        (low, p), (high, q) = next(step for step in steps if draw <= step[1][1])
        packets = max(1, round((low + (high - low) * (draw - p) / (q - p)) / 1000))
        flows.append(Flow(source, destination, packets, round(time)))
    links = [Link((host, 32 + host // 8), 100) for host in range(32)]
    links += [Link((leaf, 36), 400) for leaf in range(32, 36)]
    return Case(
        32, 5, tuple(links), tuple(flows), laws=("line_rate", "dcqcn", "hpcc", "timely"), runs=1
    )


CASES = {
    "alone": _star(2, (Flow(0, 1, 1000),), runs=1),
    "pair": _star(3, (Flow(0, 2, 10_000), Flow(1, 2, 1000, 100_000))),
    "incast_4": _incast(4),
    "incast_16": _incast(16),
    "incast_64": _incast(64),
    "incast_16_at_25": _incast(16, gbps=25),
    "pauses": _incast(16, buffer=4, laws=("line_rate", "dcqcn", "timely"), runs=1),
    "parking_lot": _parking_lot(),
    "tree": _tree(),
}


def every() -> Iterator[tuple[str, str]]:
    """All cases with each of their laws."""
    return ((name, law) for name, case in CASES.items() for law in case.laws)


def their_payload(law: str) -> int:
    return WIRE - THEIR_HEADERS.get(law, PLAIN_HEADERS)


def our_payload(law: str) -> int:
    return WIRE - OUR_HEADERS.get(law, OUR_PLAIN_HEADERS)


def thresholds(gbps: int) -> tuple[int, int]:
    """Kmin and Kmax in kB, of HPCC's configuration; P_max is a fifth."""
    return 4 * gbps, 16 * gbps


def shift(case: Case, link: Link) -> int:
    """The fork's alpha of PFC is 1 over 2 to this: an eighth, and more for faster links."""
    found, gbps = 3, link.gbps
    while gbps > case.gbps and found:
        found, gbps = found - 1, gbps // 2
    return found


def law_of(case: Case, law: str) -> dict[str, Any]:
    """A law with the parameters of HPCC's configuration."""
    share = 1e-3 / case.gbps
    if law == "line_rate":
        return {"type": law}
    if law == "hpcc":
        base = case.base_rtt(their_payload(law))
        attributes: dict[str, Any] = {
            "MaxStage": 0,
            # 0.4 Mbps for each Gbps.
            "WAI": round(0.4e6 * case.gbps * base / 8e9),
            "T": f"{base}ns",
            "PayloadWindow": True,
            "IntUnits": case.gbps // 25,
        }
    elif law == "timely":
        attributes = {"HaiThreshold": 6, "HaiBelowTLow": True, "Segment": 0}
        attributes["MinRate"] = LEAST * share
    else:
        law, paper = "dcqcn_mlx5", law == "dcqcn_paper"
        attributes = {"MinRate": LEAST * share}
        if paper:
            attributes |= {"AlphaTimer": "50us", "DecreaseInterval": "50us"}
            attributes["IncreaseTimer"] = "55us"
    return {"type": law, "attributes": attributes}


def scenario(case: Case, law: str, seed: int = 1) -> Scenario:
    """A case as the engine runs it."""

    def name(node: int) -> str:
        return f"h{node}" if node < case.hosts else f"s{node - case.hosts}"

    def port(node: int, link: Link) -> dict[str, Any]:
        fifo = {"type": "FifoQueueDisc", "attributes": {"MaxSize": "1000MB"}}
        low, high = thresholds(link.gbps)
        marks = {"MaxSize": "1000MB", "KMin": f"{low}kB", "KMax": f"{high}kB", "PMax": 0.2}
        red = {"type": "MarkingRedQueueDisc", "attributes": marks}
        return {"qdisc": fifo if node < case.hosts else red, "device_queue": "1p"}

    def direction(link: Link, sender: int, receiver: int) -> dict[str, Any]:
        made = port(sender, link)
        if receiver >= case.hosts:
            own = case.links_of(receiver)
            free = case.buffer * 2**20 - sum(each.headroom + RESERVE for each in own)
            made["pfc"] = {
                "alpha": 2.0 ** -shift(case, link),
                "buffer": f"{free}B",
                "hysteresis": f"{RESUME}B",
                "headroom": f"{link.headroom}B",
            }
        return made

    payload = our_payload(law)
    links = [
        {
            "name": f"l{number}",
            "ends": [name(end) for end in link.ends],
            "rate": f"{link.gbps}Gbps",
            "delay": "1us",
            "forward": direction(link, *link.ends),
            "reverse": direction(link, *reversed(link.ends)),
        }
        for number, link in enumerate(case.links)
    ]
    flows = [
        {
            "source": name(flow.source),
            "destination": name(flow.destination),
            "start": f"{flow.start_ns}ns",
            "transport": "ROCE",
            "cc": law_of(case, law),
            "application": {
                "type": "Greedy",
                "bytes": f"{flow.packets * payload}B",
                "write": f"{payload}B",
            },
        }
        for flow in case.flows
    ]
    watched = [] if case.watched is None else [f"l{case.watched}_reverse"]
    return Scenario.model_validate(
        {
            "label": "hpcc fork",
            "seed": seed,
            "nodes": [name(node) for node in range(case.hosts + case.switches)],
            "links": links,
            "flows": flows,
            "stop_time": "50ms",
            "recording": {"interval": "1us", "flows": "none", "links": watched},
        }
    )


@dataclass(frozen=True)
class Found:
    """What a run says, of either simulator: completion times of flows in ns, pauses and their time
    in ns of all ports, and the watched queue's mean until the last flow ends, and its most, in
    bytes."""

    times: Any
    pauses: tuple[int, int]
    queue: tuple[float, float] | None


def ours(name: str, law: str, run: int = 0) -> Found:
    case = CASES[name].run(run)
    recording = backends.get("native").simulate(scenario(case, law, run + 1))
    flows = recording.flows
    ends = flows.array("completion_ns")
    table = recording.pauses
    assert table is not None
    pauses = (int(table.array("pauses").sum()), int(table.array("paused_ns").sum()))
    queue = None if case.watched is None else _queue(recording, ends.max())
    return Found(ends - flows.array("start_ns"), pauses, queue)


def _queue(recording: Recording, end: float) -> tuple[float, float]:
    samples = recording.link_samples
    queued = samples.array("qdisc_bytes")[samples.array("time_ns") <= end]
    return float(queued.mean()), float(queued.max())


def theirs() -> dict[tuple[str, str], list[Found]]:
    """All runs of the fork that were recorded."""
    found = defaultdict(list)
    for row in json.loads(RECORDED.read_text())["runs"]:
        queue = row.get("queue")
        one = Found(np.array(row["times_ns"]), tuple(row["pauses"]), queue and tuple(queue))
        found[row["case"], row["law"]].append(one)
    return dict(found)


def compared(name: str, law: str, recorded: list[Found]) -> dict[str, float]:
    """Ours over the fork's, less 1: the mean time of a flow, the last one's, and the largest
    difference of any flow; the queue's mean and most."""
    mine = [ours(name, law, run) for run in range(len(recorded))]

    def ratio(value: Any) -> float:
        return float(np.mean([value(x) for x in mine]) / np.mean([value(x) for x in recorded]) - 1)

    by_flow = [abs(x.times / y.times - 1).max() for x, y in zip(mine, recorded, strict=True)]
    found = {
        "mean": ratio(lambda x: x.times.mean()),
        "last": ratio(lambda x: x.times.max()),
        "flow": float(max(by_flow)),
    }
    if recorded[0].queue:
        found["queue"] = ratio(lambda x: x.queue[0]) if recorded[0].queue[0] > WIRE else 0.0
        found["peak"] = ratio(lambda x: x.queue[1]) if recorded[0].queue[1] > 10 * WIRE else 0.0
    return found


def main() -> None:
    recorded = theirs()
    print("| case | law | mean time | ours | last | any flow | queue, peak | pauses | ours |")
    for name, law in every():
        runs = recorded[name, law]
        found = compared(name, law, runs)
        more = (f"{found[key]:+.1%}" if key in found else "-" for key in ("queue", "peak"))
        print(
            f"| {name} | {law} | {np.mean([x.times.mean() for x in runs]) / 1e3:.1f} us "
            f"| {found['mean']:+.2%} | {found['last']:+.2%} | {found['flow']:.2%} "
            f"| {', '.join(more)} | {runs[0].pauses} | {ours(name, law).pauses} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
