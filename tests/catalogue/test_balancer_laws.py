"""What the papers on host-based load balancers say, held against what the packets did.

ns-3 has none of these, so each is judged by laws over the recorded packets, derived from the papers
alone (named at each test), not from how the engine does it: which path each packet took, what its
sender had seen until then.
"""

from __future__ import annotations

import csv
from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ccperf.experiments.topologies import SwitchPort, fat_tree, leaf_spine
from ccperf.runs import backends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ccperf.experiments.topologies import Fabric
    from ccperf.runs.recording import Recording

SEGMENT = 1400
#: DCTCP's threshold at 10 Gbps.
RED = {"type": "StepRedQueueDisc", "attributes": {"MarkingThreshold": "65p", "MaxSize": "600p"}}


class Event(NamedTuple):
    """A row of the packet trace."""

    time_ns: int
    link: str
    event: str
    flow: str
    seq: int
    ack: int
    payload: int
    wire: int
    flags: str


COLUMNS = "time_ns link event flow seq ack payload_bytes wire_bytes flags".split()


@dataclass(frozen=True)
class Run:
    """A recording, and of each flow what links sent, and all that happened at hosts' links."""

    recording: Recording
    of: Mapping[str, Sequence[Event]]

    def sent(self, flow: str) -> list[tuple[Event, int]]:
        """The data packets that a leaf (or edge) sent up, each with the number of the uplink."""
        return [
            (event, int(event.link.split("_")[-2]))
            for event in self.of[flow]
            if event.event == "tx"
            and event.payload
            and event.link.startswith(("leaf", "edge"))
            and event.link.endswith("_forward")
        ]


def run(
    network: Fabric,
    flows: Sequence[Mapping[str, Any]],
    scheme: str,
    attributes: Mapping[str, str],
    stop: str,
    folder: Path,
    *,
    cc: str = "TcpDctcp",
    tcp: Mapping[str, str] | None = None,
    **more: Any,
) -> Run:
    own = {"SegmentSize": f"{SEGMENT}", "InitialCwnd": "10", "MinRto": "10ms", **(tcp or {})}
    stack = {"name": "dc", "cc": cc, "recovery": "TcpClassicRecovery", "tcp": own}
    scenario = network.scenario(
        [{"stack": "dc", **flow} for flow in flows],
        stop_time=stop,
        stacks=[stack],
        routing={"type": scheme, "attributes": attributes},
        recording={"interval": "1ms", "balancing": True},
        **more,
    )
    recording = backends.get("native").simulate(scenario, packets=folder / "packets.csv")
    of: defaultdict[str, list[Event]] = defaultdict(list)
    with (folder / "packets.csv").open() as file:
        rows = csv.reader(file)
        assert next(rows)[: len(COLUMNS)] == COLUMNS
        for time, link, event, name, seq, ack, payload, wire, flags, *_ in rows:
            if event != "tx" and not link.startswith("h_"):
                continue
            numbers = int(seq), int(ack), int(payload), int(wire)
            of[name].append(Event(int(time), link, event, name, *numbers, flags))
    return Run(recording, of)


def flow(name: str, source: str, destination: str, size: str = "0B", **more: Any) -> dict[str, Any]:
    application = {"type": "Greedy", "bytes": size, "write": f"{SEGMENT}B"}
    return {
        "name": name,
        "source": source,
        "destination": destination,
        "application": application,
        **more,
    }


def slower(network: Fabric, spine: int, rate: str) -> Fabric:
    """The same network with all links of a spine at this rate."""
    links = [
        {**link, "rate": rate} if link["name"].endswith(f"_spine_{spine}") else link
        for link in network.links
    ]
    return replace(network, links=tuple(links))


def steady(rate: str) -> dict[str, Any]:
    """A source that fills no queue."""
    return {"type": "CBR", "rate": rate, "write": f"{SEGMENT}B"}


def runs_of(paths: Iterable[int]) -> list[tuple[int, int]]:
    """Each path with how many packets took it in a row."""
    return [(path, len(list(of))) for path, of in groupby(paths)]


# XPath: S. Hu et al., "Explicit Path Control in Commodity Data Centers", NSDI 2015: a source names
# a path, and all switches obey.


def test_xpath_keeps_each_flow_on_the_path_that_its_source_names(tmp_path: Path) -> None:
    network = leaf_spine(2, 4, 6)
    flows = [flow(f"f{i}", f"h_0_{i}", f"h_1_{i}", "300kB") for i in range(6)]
    done = run(network, flows, "xpath", {"Paths": "2 0 3"}, "5ms", tmp_path)
    for i in range(6):
        assert {path for _, path in done.sent(f"f{i}")} == {(2, 0, 3)[i % 3]}


def test_xpath_names_a_path_through_every_switch_of_a_fat_tree(tmp_path: Path) -> None:
    """Two choices upwards: its number mod 2, then what is left of it, mod 2; all four differ."""
    network = fat_tree(4)
    ends = [("h_0_0_0", "h_1_0_0"), ("h_0_0_1", "h_1_0_1")]
    flows = [flow(f"f{i}", *ends[i % 2], "100kB", start=f"{i}ms") for i in range(4)]
    done = run(network, flows, "xpath", {"Paths": "0 1 2 3"}, "10ms", tmp_path)
    taken = defaultdict(set)
    for name, events in done.of.items():
        for event in events:
            if event.event == "tx" and event.payload and "agg" in event.link:
                taken[name].add(event.link)
    edges = {
        name: {
            int(p)
            for _, p in [
                (e, e.link.split("_")[-2])
                for e in done.of[name]
                if e.event == "tx"
                and e.payload
                and e.link.startswith("edge_0")
                and "_agg_" in e.link
                and e.link.endswith("_forward")
            ]
        }
        for name in taken
    }
    assert all(len(of) == 1 for of in edges.values())
    assert [edges[f"f{i}"] for i in range(4)] == [{0}, {1}, {0}, {1}]
    assert len({frozenset(of) for of in taken.values()}) == 4


def in_sequence(done: Run, name: str) -> list[int]:
    """The path of each packet in the order in which its host sent them: nothing was sent twice."""
    sent = sorted(done.sent(name), key=lambda row: row[0].seq)
    assert all(one.seq < other.seq for (one, _), (other, _) in pairwise(sent))
    return [path for _, path in sent]


# Presto: K. He et al., "Presto: Edge-based Load Balancing for Fast Datacenter Networks", SIGCOMM
# 2015, section 3.1: flowcells of 64 KB, sent round robin over all paths; with weights for unlike
# paths.


@pytest.mark.parametrize("cell", [65_536, 20_000])
def test_presto_sends_flowcells_of_equal_size_in_turn_over_all_paths(
    tmp_path: Path, cell: int
) -> None:
    network = leaf_spine(2, 3, 2)
    attributes = {"FlowcellSize": str(cell)}
    flows = [flow("f", "h_0_0", "h_1_0", "3MB")]
    done = run(network, flows, "presto", attributes, "20ms", tmp_path, cc="TcpNewReno")
    cells = runs_of(in_sequence(done, "f"))
    packets = [count for _, count in cells[:-1]]
    # A cell ends with the first packet that would exceed it, or that reaches it.
    assert set(packets) <= {cell // SEGMENT, -(-cell // SEGMENT)}
    order = [path for path, _ in cells]
    assert sorted(order[:3]) == [0, 1, 2]
    assert all(path == order[i % 3] for i, path in enumerate(order))


def test_weighted_presto_takes_paths_as_often_as_their_rates_say(tmp_path: Path) -> None:
    """Two paths of 10 Gbps and one of 2: 5, 5 and 1 of each 11 cells, evenly spread."""
    network = slower(leaf_spine(2, 3, 2), 2, "2Gbps")
    attributes = {"Weighted": "true", "FlowcellSize": "14000"}
    flows = [{**flow("f", "h_0_0", "h_1_0"), "application": steady("2Gbps")}]
    done = run(network, flows, "presto", attributes, "8ms", tmp_path, cc="TcpNewReno")
    sent = in_sequence(done, "f")
    cells = [sent[i] for i in range(0, len(sent), 10)][:110]
    assert Counter(cells) == {0: 50, 1: 50, 2: 10}
    slow = [i for i, path in enumerate(cells) if path == 2]
    assert {b - a for a, b in pairwise(slow)} == {11}


# FlowBender: A. Kabbani et al., "FlowBender: Flow-level Adaptive Routing for Improved Latency and
# Throughput in Datacenter Networks", CoNEXT 2014, algorithm 1: once a round trip, if more than T of
# its acknowledgements were marked, N times in a row, the flow takes another path.


def departures(done: Run, name: str, host: str) -> list[tuple[int, int]]:
    """When a host sent each packet of a flow, and which path it took from the leaf on.

    Leaves send packets of several paths in another order: each waits in its uplink's queue. So
    what was sent twice is left out.
    """
    times = defaultdict(list)
    for event in done.of[name]:
        is_sent = event.event == "enqueue" and event.link == f"{host}_forward"
        if is_sent and event.payload:
            times[event.seq].append(event.time_ns)
    taken = [(times[event.seq], path) for event, path in done.sent(name)]
    return sorted((time[0], path) for time, path in taken if len(time) == 1)


def bent(done: Run, name: str, host: str, threshold: float, rounds: int) -> list[int]:
    """The times of the ACKs that end so many bad round trips in a row.

    A round trip ends with the ACK of what was sent last when it began, wherever that was.
    """
    sent, acks = [(0, 0)], []
    for event in done.of[name]:
        if not event.link.startswith(f"{host}_"):
            continue
        if event.payload and event.event == "enqueue":
            sent.append((event.time_ns, max(sent[-1][1], event.seq + event.payload)))
        elif event.event == "rx" and "ACK" in event.flags and not event.payload:
            # In a handshake ECE agrees to ECN (RFC 3168, section 6.1.1).
            is_marked = "ECE" in event.flags and "SYN" not in event.flags
            acks.append((event.time_ns, event.ack, is_marked))

    def ends(first: int) -> Iterator[int]:
        """Where bad round trips end that begin with this ACK: the index behind each."""
        time, marked = acks[first][0], 0
        edge = sent[max(0, bisect_left(sent, (time, 0)) - 1)][1]  # before it lets more go
        for i in range(first + 1, len(acks)):
            marked += acks[i][2]
            if acks[i][1] >= edge:
                if marked > threshold * (i - first):
                    yield i
                return

    ended = set(range(len(acks)))
    for _ in range(rounds):
        ended = {end for first in ended for end in ends(first)}
    return [acks[i][0] for i in sorted(ended)]


# PLB: M. A. Qureshi et al., "PLB: Congestion Signals are Simple and Effective for Network Load
# Balancing", SIGCOMM 2022, section 3: after so many congested round trips in a row a busy flow
# takes another path; one is congested if at least half of its acknowledgements were marked.


def test_plb_moves_a_flow_only_after_round_trips_half_of_which_was_marked(tmp_path: Path) -> None:
    network = leaf_spine(2, 4, 8, port=SwitchPort(RED), host_port=SwitchPort(RED))
    flows = [flow(f"f{i}", f"h_0_{i}", f"h_1_{i}") for i in range(8)]
    attributes = {"Rounds": "2", "IdleRounds": "0", "Threshold": "0.5"}
    done = run(network, flows, "plb", attributes, "12ms", tmp_path, tcp={"UseEcn": "On"})
    changes = 0
    for i in range(8):
        may = bent(done, f"f{i}", f"h_0_{i}", 0.4999, 2)
        for (last, before), (left, after) in pairwise(departures(done, f"f{i}", f"h_0_{i}")):
            if before != after:
                changes += 1
                assert any(last <= time <= left for time in may), (i, left)
    assert changes > 2


# REPS: T. Bonato et al., "REPS: Recycled Entropy Packet Spraying for Adaptive Load Balancing and
# Failure Mitigation", arXiv 2407.21625, section 3: paths are used again whose packets were
# acknowledged without a mark; after a timeout only those.


def sprayed(folder: Path, network: Fabric, explore: int, **more: Any) -> Run:
    # Every segment has an ACK with its own path, and a loss is left to the timer.
    own = {"UseEcn": "On", "ReTxThreshold": "1000"}
    flows = [{**flow("f", "h_0_0", "h_1_0"), "application": steady("6Gbps")}]
    attributes = {"Explore": str(explore), "FreezingTimeout": "20ms"}
    return run(network, flows, "reps", attributes, "20ms", folder, tcp=own, **more)


def test_reps_gives_a_slow_path_what_it_carries_without_marks(tmp_path: Path) -> None:
    """6 Gbps over four paths, one of them of 100 Mbps: in turn, it had a quarter."""
    red = {**RED, "attributes": {"MarkingThreshold": "3p", "MaxSize": "600p"}}
    network = slower(leaf_spine(2, 4, 2, port=SwitchPort(red)), 1, "100Mbps")
    late = [row for row in sprayed(tmp_path, network, 32).sent("f") if row[0].time_ns > 5e6]
    taken = Counter(path for _, path in late)
    bits = 8 * sum(event.wire for event, path in late if path == 1)
    assert 0.05e9 < bits / 15e-3 < 0.11e9
    assert taken[1] < sum(taken.values()) / 6
    assert min(taken, key=lambda path: taken[path]) == 1


def test_reps_uses_only_paths_that_it_knows_after_a_timeout(tmp_path: Path) -> None:
    """A spine that drops all from 5 ms on: what it swallows comes back from no acknowledgement."""
    network = leaf_spine(2, 4, 2)
    ends = {"sources": ["h_0_0"], "destinations": ["h_1_0"]}
    hole = {"node": "spine_2", "start": "5ms", **ends}
    done = sprayed(tmp_path, network, 32, faults=[hole])
    before = Counter(path for event, path in done.sent("f") if event.time_ns < 5e6)
    assert min(before[path] for path in range(4)) > 100
    lost = [event.time_ns for event, path in done.sent("f") if path == 2 and event.time_ns > 5e6]
    assert len(lost) < 40
    assert max(lost) < 12e6


@pytest.mark.parametrize(("threshold", "rounds"), [(0.05, 1), (0.05, 3), (0.6, 1)])
def test_flowbender_bends_a_flow_only_when_too_much_of_a_round_trip_was_marked(
    tmp_path: Path, threshold: float, rounds: int
) -> None:
    network = leaf_spine(2, 4, 8, port=SwitchPort(RED), host_port=SwitchPort(RED))
    flows = [flow(f"f{i}", f"h_0_{i}", f"h_1_{i}") for i in range(8)]
    attributes = {"Threshold": str(threshold), "Rounds": str(rounds)}
    done = run(network, flows, "flowbender", attributes, "12ms", tmp_path, tcp={"UseEcn": "On"})
    changes = 0
    for i in range(8):
        may = bent(done, f"f{i}", f"h_0_{i}", threshold, rounds)
        for (last, before), (left, after) in pairwise(departures(done, f"f{i}", f"h_0_{i}")):
            if before != after:
                changes += 1
                # Between those two its sender saw such a round trip end.
                assert any(last <= time <= left for time in may), (i, left)
    assert changes > 2


def test_flowbender_leaves_flows_alone_that_are_not_marked(tmp_path: Path) -> None:
    network = leaf_spine(2, 4, 4)
    flows = [flow(f"f{i}", f"h_0_{i}", f"h_1_{i}", "1MB") for i in range(4)]
    done = run(network, flows, "flowbender", {"Threshold": "0"}, "10ms", tmp_path, cc="TcpNewReno")
    assert all(len({path for _, path in done.sent(f"f{i}")}) == 1 for i in range(4))


# CLOVE: N. Katta et al., "Clove: Congestion-Aware Load Balancing at the Virtual Edge", CoNEXT 2017,
# sections 3 and 4: a flowlet stays on its path; without marks weights are equal, and flowlets go
# round robin; a marked path loses a third of its weight to the others.


def bursts(count: int, gap: str, size: int = 10) -> dict[str, Any]:
    """A source that is on for a moment and then silent: each of its bursts is a flowlet."""
    return {
        "type": "OnOff",
        "rate": "5Gbps",
        "write": f"{SEGMENT}B",
        "on_time": f"{size * SEGMENT * 8 / 5}ns".replace(".0", ""),
        "off_time": gap,
        "bytes": f"{count * size * SEGMENT}B",
    }


@pytest.mark.parametrize("mode", ["edge-flowlet", "ecn", "int"])
def test_clove_keeps_a_flowlet_on_its_path(tmp_path: Path, mode: str) -> None:
    network = leaf_spine(2, 4, 4, port=SwitchPort(RED), host_port=SwitchPort(RED))
    flows = [
        {**flow(f"f{i}", f"h_0_{i}", f"h_1_{i}"), "application": bursts(40, "200us")}
        for i in range(4)
    ]
    attributes = {"Mode": mode, "FlowletTimeout": "100us"}
    done = run(network, flows, "clove", attributes, "15ms", tmp_path, tcp={"UseEcn": "On"})
    changes = 0
    for i in range(4):
        for (one, before), (other, after) in pairwise(done.sent(f"f{i}")):
            if before != after:
                changes += 1
                assert other.time_ns - one.time_ns > 90_000
    assert changes > 20


def flowlets(done: Run, name: str, gap_ns: int = 90_000) -> list[int]:
    """The path of each burst."""
    sent = done.sent(name)
    firsts = [sent[0], *(b for a, b in pairwise(sent) if b[0].time_ns - a[0].time_ns > gap_ns)]
    return [path for _, path in firsts]


def test_clove_sends_flowlets_round_robin_while_nothing_is_marked(tmp_path: Path) -> None:
    network = leaf_spine(2, 4, 2)
    flows = [{**flow("f", "h_0_0", "h_1_0"), "application": bursts(60, "300us", 5)}]
    attributes = {"Mode": "ecn", "FlowletTimeout": "100us"}
    taken = flowlets(run(network, flows, "clove", attributes, "25ms", tmp_path), "f")
    assert len(taken) > 40
    for first in range(len(taken) - 8):
        count = Counter(taken[first : first + 8])
        assert set(count.values()) == {2}, taken


def test_clove_gives_a_path_that_is_marked_fewer_flowlets(tmp_path: Path) -> None:
    """One path marks everything: at equal weights it had a quarter of the flowlets.

    After k marks it has (2/3)^k in weight of four: below one in sixteen from the fourth on.
    """
    red = {**RED, "attributes": {"MarkingThreshold": "2p", "MaxSize": "600p"}}
    network = slower(leaf_spine(2, 4, 2, port=SwitchPort(red)), 1, "1Gbps")
    flows = [{**flow("f", "h_0_0", "h_1_0"), "application": bursts(120, "300us", 10)}]
    attributes = {"Mode": "ecn", "FlowletTimeout": "100us", "RelayInterval": "40us"}
    done = run(network, flows, "clove", attributes, "45ms", tmp_path, tcp={"UseEcn": "On"})
    taken = Counter(flowlets(done, "f")[20:])
    assert sum(taken.values()) > 60
    others = [taken[path] for path in (0, 2, 3)]
    assert taken[1] < sum(taken.values()) / 8
    assert max(others) - min(others) <= max(others) / 3


# Hermes: H. Zhang et al., "Resilient Datacenter Load Balancing in the Wild", SIGCOMM 2017,
# algorithms 1 and 2: only a flow that has sent more than S, at less than R of its link's rate,
# leaves a congested path; a path has failed for two hosts after three timeouts without an ACK.


def crowded(folder: Path, attributes: Mapping[str, str]) -> Run:
    network = leaf_spine(2, 2, 8, port=SwitchPort(RED), host_port=SwitchPort(RED))
    flows = [flow(f"f{i}", f"h_0_{i}", f"h_1_{i}", "3MB", start=f"{20 * i}us") for i in range(8)]
    # Everything that can be is congested, and any path a little better is better.
    low = {"EcnThreshold": "0.01", "RttLow": "1us", "RttHigh": "2us", "BetterRtt": "1us"}
    settings = {**low, "BetterEcn": "0", **attributes}
    return run(network, flows, "hermes", settings, "25ms", folder, tcp={"UseEcn": "On"})


def moves(done: Run) -> list[int]:
    """How many bytes a flow had sent at each of its moves, those of headers among them."""
    found = []
    for i in range(8):
        sent = 0
        for (event, before), (_, after) in pairwise(done.sent(f"f{i}")):
            sent += event.wire
            if before != after:
                found.append(sent)
    return found


@pytest.mark.parametrize("least", [0, 600_000, 1_500_000])
def test_hermes_moves_only_flows_that_have_sent_enough(tmp_path: Path, least: int) -> None:
    found = moves(crowded(tmp_path, {"MinSent": str(least), "MaxRate": "1"}))
    assert found
    assert min(found) > least
    assert least or min(found) < 600_000


@pytest.mark.parametrize(
    "attributes", [{"MaxRate": "0"}, {"Rerouting": "false"}, {"MinSent": "4000000"}]
)
def test_hermes_leaves_flows_where_they_are_otherwise(
    tmp_path: Path, attributes: Mapping[str, str]
) -> None:
    assert moves(crowded(tmp_path, {"MinSent": "0", "MaxRate": "1", **attributes})) == []


def test_hermes_puts_a_new_flow_on_the_path_that_is_used_less(tmp_path: Path) -> None:
    network = leaf_spine(2, 2, 3)
    flows = [
        {
            **flow(f"f{i}", "h_0_0", f"h_1_{i}", start=f"{2 * i}ms"),
            "application": steady("2Gbps"),
        }
        for i in range(2)
    ]
    done = run(network, flows, "hermes", {"Rerouting": "false"}, "5ms", tmp_path)
    first, second = ({path for _, path in done.sent(f"f{i}")} for i in range(2))
    assert len(first) == len(second) == 1
    assert first != second


def test_hermes_takes_a_path_for_a_black_hole_at_the_third_timeout(tmp_path: Path) -> None:
    """Of two hosts that had no ACK by it (section 3.1.2; algorithm 1 has "> 3").

    Nobody of the two goes there from then on, and all flows end.
    """
    network = leaf_spine(2, 2, 4)
    ends = ("h_0_1", "h_1_1")
    names = [f"f{i}" for i in range(14)]
    # All before anybody knows anything of a path: every other one goes into the hole.
    flows = [flow(name, *ends, "20kB", start=f"{4 * i}us") for i, name in enumerate(names)]
    hole = {"node": "spine_0", "sources": [ends[0]], "destinations": [ends[1]]}
    done = run(
        *(network, flows, "hermes", {"FailedTime": "10s"}, "100ms", tmp_path),
        tcp={"ConnTimeout": "10ms"},
        faults=[hole],
    )
    failed = done.recording.failed_paths
    assert failed is not None
    assert set(failed.strings("reason")) == {"black_hole"}
    assert (failed.strings("source")[0], failed.strings("destination")[0]) == ends
    assert set(failed.array("path").tolist()) == {0}
    at = int(failed.array("time_ns")[0])
    timeouts = []
    for name in names:
        tries = handshake(done, name)
        timeouts += [again for (_, path), (again, _) in pairwise(tries) if path == 0]
    timeouts.sort()
    assert len(timeouts) > 4
    assert at == timeouts[2]
    # A pure ACK goes back by the path of what it answers.
    into_the_hole = [
        event.time_ns
        for name in names
        for event in done.of[name]
        if event.link == "leaf_0_spine_0_forward"
        and event.event == "tx"
        and (event.payload or "SYN" in event.flags)
    ]
    assert max(into_the_hole) < at
    assert (done.recording.flows.array("completion_ns") > 0).all()


def handshake(done: Run, name: str) -> list[tuple[int, int]]:
    """When a flow's host sent a SYN, and by which uplink it went on."""
    sent = [
        event.time_ns
        for event in done.of[name]
        if event.event == "tx" and event.link == "h_0_1_forward" and "SYN" in event.flags
    ]
    took = [
        int(event.link.split("_")[-2])
        for event in done.of[name]
        if event.event == "tx"
        and event.link.startswith("leaf_0_spine_")
        and event.link.endswith("_forward")
        and "SYN" in event.flags
    ]
    return list(zip(sent, took, strict=True))
