"""The four small examples of the paper on Hermes (H. Zhang et al., ACM SIGCOMM 2017, section 2).

They show what other balancers do badly: CONGA waits for gaps that DCTCP does not make, Presto gives
one window to two paths that are not alike, and CONGA does not see who else is on a path.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ccperf.experiments.topologies import Fabric, SwitchPort, leaf_spine
from ccperf.runs import backends
from ccperf.scenario import profiles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ccperf.runs.recording import Recording

#: DCTCP's at 10 Gbps.
RED = {"type": "StepRedQueueDisc", "attributes": {"MarkingThreshold": "65p", "MaxSize": "600p"}}
SEGMENT = 1400
#: Of the balancers that have it; the paper's for DCTCP.
FLOWLET = {"FlowletTimeout": "150us"}


def fabric(leaves: int, hosts: int) -> Fabric:
    """Leaves with two spines, everything at 10 Gbps; hosts mark as switches do."""
    return leaf_spine(leaves, 2, hosts, port=SwitchPort(RED), host_port=SwitchPort(RED))


def flow(name: str, source: str, destination: str, **more: Any) -> dict[str, Any]:
    """DCTCP, which always has data to send."""
    return {
        "name": name,
        "source": source,
        "destination": destination,
        "stack": "dc",
        "application": {"type": "Greedy", "write": f"{SEGMENT}B"},
        **more,
    }


def run(
    network: Fabric,
    flows: Sequence[Mapping[str, Any]],
    scheme: str,
    attributes: Mapping[str, str],
    stop: str,
    seed: int = 1,
    **tcp: Any,
) -> Recording:
    stack = {
        "name": "dc",
        "cc": "TcpDctcp",
        "recovery": "TcpClassicRecovery",
        "tcp": profiles.tcp("ns3-ecn-sharp", InitialCwnd=10, **tcp),
    }
    scenario = network.scenario(
        flows,
        stop_time=stop,
        seed=seed,
        stacks=[stack],
        routing={"type": scheme, "attributes": attributes},
        recording={
            "interval": "100us",
            "completions": True,
            "links": network.between_switches,
            "queues": {"links": network.between_switches, "interval": "10us"},
        },
    )
    return backends.get("native").simulate(scenario)


def of_link(recording: Recording, name: str, column: str) -> npt.NDArray[Any]:
    """A column of a direction's samples, one every 100 us."""
    samples, names = recording.link_samples, recording.links.strings("name")
    return samples.array(column)[samples.array("link") == names.index(name)]


def queue(recording: Recording, name: str) -> npt.NDArray[Any]:
    """The bytes in a direction's queue, every 10 us."""
    samples = recording.queue_samples
    assert samples is not None
    return samples.array("qdisc_bytes")[
        samples.array("link") == recording.links.strings("name").index(name)
    ]


def gbps(recording: Recording, name: str, first_ms: float) -> float:
    """What a flow's receiver got from then on, in Gbit/s."""
    samples, names = recording.flow_samples, recording.flows.strings("name")
    read = samples.array("read_bytes")[samples.array("flow") == names.index(name)]
    first = round(first_ms * 10)
    return float((read[-1] - read[first]) * 8 / ((len(read) - 1 - first) * 100_000))


#: When the small flows have ended in every run.
ALONE_MS = 6


def four_flows(scheme: str, attributes: Mapping[str, str], seed: int) -> Recording:
    """A and B are small, C and D long; all of one rack to another, each with hosts of its own."""
    network = fabric(2, 4)
    sizes = {"A": "1500kB", "B": "1500kB", "C": "0B", "D": "0B"}
    flows = [
        flow(
            name,
            f"h_0_{i}",
            f"h_1_{i}",
            start=f"{20 * i}us",
            application={"type": "Greedy", "bytes": size, "write": f"{SEGMENT}B"},
        )
        for i, (name, size) in enumerate(sizes.items())
    ]
    return run(network, flows, scheme, attributes, "12ms", seed)


def sent_by(recording: Recording, leaf: int, first_ms: float) -> list[int]:
    """Bytes that a leaf has sent to each spine from then on."""
    totals = [of_link(recording, f"leaf_{leaf}_spine_{s}_forward", "tx_bytes") for s in (0, 1)]
    return [int(total[-1] - total[round(first_ms * 10)]) for total in totals]


def test_conga_moves_no_flow_of_dctcp_to_a_path_that_is_free() -> None:
    """Figure 1: A and B have ended and left a path free, C and D share the other for ever."""
    runs = [four_flows("conga", FLOWLET, seed) for seed in range(1, 9)]
    shared = 0
    for recording in runs:
        completions = recording.completions
        assert completions is not None
        assert np.nanmax(completions.array("end_ns")) < ALONE_MS * 1e6
        sent = sorted(sent_by(recording, 0, ALONE_MS))
        is_shared = sent[0] == 0
        # Nobody moves: either both are on one path all the time, or each on its own.
        assert is_shared or sent[0] == pytest.approx(sent[1], rel=0.02)
        together = sum(gbps(recording, name, ALONE_MS) for name in "CD")
        assert together == pytest.approx(9.6 if is_shared else 19.2, rel=0.03)
        shared += is_shared
    assert 0 < shared < 8


def test_what_chooses_for_each_packet_takes_the_free_path() -> None:
    together = [
        sum(gbps(four_flows("drill", {}, seed), name, ALONE_MS) for name in "CD") for seed in (1, 2)
    ]
    assert min(together) > 12


def broken(scheme: str, attributes: Mapping[str, str], **tcp: Any) -> Recording:
    """Leaf 0 reaches leaf 2 by spine 0 alone, with 9 Gbps of UDP; leaf 1 by both, with DCTCP."""
    whole = fabric(3, 2)
    links = tuple(link for link in whole.links if link["name"] != "leaf_0_spine_1")
    datagrams = {
        "name": "UDP",
        "source": "h_0_0",
        "destination": "h_2_0",
        "transport": "UDP",
        "application": {"type": "CBR", "rate": "9Gbps", "write": f"{SEGMENT}B"},
    }
    flows = [datagrams, flow("DCTCP", "h_1_0", "h_2_1", start="1ms")]
    return run(replace(whole, links=links), flows, scheme, attributes, "40ms", **tcp)


def test_presto_gives_a_flow_as_little_on_the_free_path_as_on_the_full_one() -> None:
    """Figure 2: of the 11 Gbps that two paths have left, a flow over both gets about one."""
    recording = broken("presto", {}, ReTxThreshold=500)
    assert gbps(recording, "DCTCP", 20) == pytest.approx(1, rel=0.2)
    sent = sent_by(recording, 1, 20)
    assert sent[0] == pytest.approx(sent[1], rel=0.1), "the same on both"
    # The queue of the full path comes and goes with the cells.
    waiting = queue(recording, "leaf_2_spine_0_reverse")[2000:]
    low, high = np.percentile(waiting, (5, 95))
    assert low < 40_000
    assert high > 200_000


def test_conga_gives_it_the_free_path() -> None:
    assert gbps(broken("conga", FLOWLET), "DCTCP", 20) > 9


def test_weights_do_not_help_presto() -> None:
    """Figure 3: paths of 1 and 10 Gbps with weights of 1 and 10 carry about 5 Gbps."""
    whole = fabric(2, 1)
    marks = {**RED, "attributes": {"MarkingThreshold": "32kB", "MaxSize": "840kB"}}
    slow = {"rate": "1Gbps", **dict.fromkeys(("forward", "reverse"), SwitchPort(marks).direction())}
    links = tuple({**link, **slow} if "spine_0" in link["name"] else link for link in whole.links)
    recording = run(
        replace(whole, links=links),
        [flow("DCTCP", "h_0_0", "h_1_0")],
        "presto",
        {"Weighted": "true"},
        "60ms",
        ReTxThreshold=500,
    )
    sent = sent_by(recording, 0, 30)
    assert sent[1] / sent[0] == pytest.approx(10, rel=0.1)
    assert gbps(recording, "DCTCP", 30) == pytest.approx(5, rel=0.1)


PERIOD_MS, ON_MS, END_MS = 13, 10, 110


def test_conga_s_flow_goes_back_and_forth_into_one_that_its_leaf_does_not_see() -> None:
    """Figure 4, the hidden terminal: in each gap A goes where nothing is known of B any more.

    What A knows of the path that it left is gone 10 ms later, as the paper says; by default only a
    seventh of it is then, and A stays in some gaps.
    """
    network = fabric(3, 2)
    on_and_off = {
        "type": "OnOff",
        "rate": "9Gbps",
        "write": f"{SEGMENT}B",
        "on_time": f"{ON_MS}ms",
        "off_time": f"{PERIOD_MS - ON_MS}ms",
    }
    flows = [
        flow("B", "h_1_0", "h_2_1"),
        # A short buffer, so that a burst ends when its source does.
        flow("A", "h_0_0", "h_2_0", application=on_and_off),
    ]
    attributes = {**FLOWLET, "AgingTime": "1400us"}
    recording = run(network, flows, "conga", attributes, f"{END_MS}ms", SndBufSize=300_000)
    totals = [of_link(recording, f"leaf_0_spine_{s}_forward", "tx_bytes") for s in (0, 1)]
    starts = range(PERIOD_MS - ON_MS, END_MS - ON_MS, PERIOD_MS)
    bursts = [
        [int(total[10 * (start + ON_MS)] - total[10 * start]) for total in totals]
        for start in starts
    ]
    assert all(min(burst) == 0 for burst in bursts), "no gap within a burst"
    taken = [int(np.argmax(burst)) for burst in bursts]
    assert all(one != other for one, other in pairwise(taken))
    # A comes with a window that is too large for two: the queue where it meets B jumps.
    met = int(np.argmax(sent_by(recording, 1, 0)))
    waiting = queue(recording, f"leaf_2_spine_{met}_reverse")
    most = [int(waiting[100 * start : 100 * (start + 1)].max()) for start in starts]
    joined = [size for size, spine in zip(most, taken, strict=True) if spine == met]
    alone = [size for size, spine in zip(most, taken, strict=True) if spine != met]
    assert len(joined) == len(alone) == 4
    assert min(joined) > 130_000
    assert max(alone) < 40_000
