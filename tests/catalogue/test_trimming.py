"""Switches that cut packets: what they are for, held to what links need.

Ndp, Nscc, NdpQueueDisc.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ccperf
from ccperf.errors import ScenarioError, UsageError
from ccperf.experiments import catalogue
from ccperf.experiments.topologies import FabricLink, SwitchPort, fat_tree, star
from ccperf.runs import backends
from ccperf.scenario import Scenario

if TYPE_CHECKING:
    from ccperf.runs.recording import Recording

#: A packet of 1000 B at 40 Gbps, in ns.
PACKET = 1064 * 8 / 40


def recorded(name: str, transport: str = "ndp", **given: Any) -> Recording:
    return ccperf.run(name, transport=transport, **given).recording


def completions(recording: Recording) -> Any:
    table = recording.completions
    assert table is not None
    assert table.array("finished").all()
    return table.array("end_ns") - table.array("start_ns")


@pytest.mark.parametrize("n", [4, 16, 32])
def test_an_incast_ends_when_the_link_has_carried_it(n: int) -> None:
    """The paper: the last of the flows ends within a few percent of the least time there is."""
    recording = recorded("pfc_incast", n=n)
    took = completions(recording)
    # Through two links and back, and all packets through the one of the receiver.
    ideal = 4000 + 2 * 13 + (1000 * n + 1) * PACKET
    assert ideal < took.max() < 1.02 * ideal
    # All of them end together.
    assert took.min() > 0.95 * took.max()
    assert recording.flows.array("rtos").sum() == 0


@pytest.mark.parametrize("n", [4, 16])
def test_an_incast_of_windows_ends_soon_after_that(n: int) -> None:
    """First windows are more than a round trip each, so that much is cut; windows that have adapted
    keep the link busy, and share it."""
    recording = recorded("pfc_incast", "nscc", n=n)
    took = completions(recording)
    ideal = 4000 + 2 * 13 + (1000 * n + 1) * PACKET
    assert ideal < took.max() < 1.05 * ideal
    assert recording.flows.array("rtos").sum() == 0
    trimmed = recording.flows.array("retransmissions").sum()
    # Of the first windows all that the queue and the link did not take.
    assert trimmed > 30 * (n - 2)


def test_the_delay_in_a_queue_of_windows_stays_near_the_target() -> None:
    """Three quarters of a round trip: two packets, two ACKs and four times 1 us."""
    round_trip = 2 * PACKET + 2 * 13 + 4000
    result = ccperf.run("pfc_incast", transport="nscc", n=4, size="5MB")
    samples = result.recording.flow_samples
    steady = (samples.array("time_ns") > 1_000_000) & (samples.array("time_ns") < 3_500_000)
    delays = samples.array("srtt_ns")[steady] - round_trip
    assert np.nanmean(delays) == pytest.approx(0.75 * round_trip, rel=0.1)


def test_an_incast_of_windows_is_that_of_the_consortium_s_simulator() -> None:
    """Twelve times 100 packets over a fat-tree, beside five runs of it (docs/trimming.md): to three
    standard errors of what seeds change in either."""
    port = {"DataLimit": "42p", "HeaderWeight": 100_000, "MarkLow": 37_440, "MarkHigh": 145_600}
    network = fat_tree(
        4,
        FabricLink("100Gbps", "1us"),
        port=SwitchPort({"type": "NdpQueueDisc", "attributes": port}),
        host_port=SwitchPort({"type": "FifoQueueDisc", "attributes": {"MaxSize": "10000p"}}),
    )
    receiver, *others = network.hosts
    flow = {
        "destination": receiver,
        "transport": "TRIMMING",
        "cc": {"type": "nscc", "attributes": {"Timeout": "100862ns"}},
        "application": {"type": "Greedy", "bytes": "409600B", "write": "4096B"},
    }
    jumbo = {"mtu": "4200B"}
    given = {
        "nodes": network.nodes,
        "links": [
            {**link, **{way: {**link[way], **jumbo} for way in ("forward", "reverse")}}
            for link in network.links
        ],
        # Of other pods, all alike far away.
        "flows": [{"source": host, **flow} for host in others[3:]],
        "stop_time": "5ms",
        "routing": {"type": "random"},
        "recording": {"completions": True},
    }
    means, cut = [], []
    for seed in range(1, 6):
        recording = backends.get("native").simulate(
            Scenario.model_validate({**given, "seed": seed})
        )
        means.append(completions(recording).mean() / 1e3)
        cut.append(recording.flows.array("retransmissions").sum())
    assert np.mean(means) == pytest.approx(383.4, abs=3 * np.hypot(7.8, np.std(means)) / 5**0.5)
    assert np.mean(cut) == pytest.approx(620.0, abs=3 * np.hypot(3.1, np.std(cut)) / 5**0.5)


def test_a_permutation_has_nine_tenths_of_all_links_where_packets_are_sprayed() -> None:
    """As in the paper: NDP has more than 90 %, hashed flows have not."""

    def share(**given: Any) -> float:
        metrics = ccperf.run("permutation", **given).metrics
        return metrics.network["net"]["mean_goodput_l4"] / 40e3

    assert 0.9 < share(transport="ndp") < 9000 / 9064
    assert 0.9 < share(transport="nscc") < 9000 / 9064
    assert share(transport="nscc", routing="ecmp") < 0.8
    assert share(transport="ndp", routing="ecmp") < 0.8
    assert share(transport="dcqcn") < 0.8
    # Where nothing is cut, the hosts' links carry data, and an ACK and a PULL for each packet.
    small = share(transport="ndp", packet="1000B")
    assert small == pytest.approx(1000 / (1064 + 2 * 64), rel=0.01)
    # Without PULLs.
    small = share(transport="nscc", packet="1000B")
    assert small == pytest.approx(1000 / (1064 + 64), rel=0.01)


@pytest.mark.parametrize("transport", ["ndp", "nscc"])
@pytest.mark.parametrize("routing", ["drb", "random", "ecmp"])
def test_the_page_says_what_a_permutation_gets(transport: str, routing: str) -> None:
    """Means over the seeds, and the least and the largest."""
    page = (Path(__file__).parents[2] / "docs" / "trimming.md").read_text(encoding="utf-8")
    found = re.search(
        rf"^\| `{transport}` \| `{routing}` \| ([\d.]+)(?: \(([\d.]+) to ([\d.]+)\))?"
        r" \| ([\d.]+) \|$",
        page,
        re.MULTILINE,
    )
    assert found is not None
    seeds = [
        ccperf.run("permutation", transport=transport, routing=routing, seed=seed)
        for seed in range(1, 6)
    ]
    nets = [run.network_metrics["net"] for run in seeds]
    shares = [net["mean_goodput_l4"] / 40e3 for net in nets]
    measured = [np.mean(shares), min(shares), max(shares)]
    measured.append(np.mean([net["jains_fairness_goodput_l4"] for net in nets]))
    for said, value in zip(found.groups(), measured, strict=True):
        if said is not None:
            digits = len(said.partition(".")[2])
            assert f"{value:.{digits}f}" == said


@pytest.mark.parametrize("transport", ["ndp", "nscc"])
@pytest.mark.parametrize("name", list(catalogue.LOSSLESS))
def test_all_experiments_on_fabrics_take_it(name: str, transport: str) -> None:
    recording = recorded(name, transport, stop_time="5ms")
    assert recording.pauses is None
    assert recording.completions is not None
    assert recording.completions.array("acked_bytes").sum() > 0


@pytest.mark.parametrize("transport", ["ndp", "nscc"])
def test_what_is_cut_is_counted(transport: str) -> None:
    result = ccperf.run("pfc_incast", transport=transport, n=16)
    trimmed = result.metrics.network["net"]["total_trimmed_l2"]
    # Each packet that was cut goes again, and no other one.
    assert trimmed == result.recording.flows.array("retransmissions").sum() > 100
    without = ccperf.run("pfc_incast", transport="dcqcn", n=2, stop_time="1ms")
    assert "total_trimmed_l2" not in without.metrics.network["net"]


def test_what_a_receiver_asks_for_is_its_share_of_the_link() -> None:
    samples = recorded("pfc_incast", n=4).flow_samples
    rates, times = samples.array("pacing_rate_bps"), samples.array("time_ns")
    steady = (times >= 200_000) & (times < 800_000)
    assert rates[steady].mean() == pytest.approx(40e9 / 4, rel=0.02)


@pytest.mark.parametrize("transport", ["ndp", "nscc"])
@pytest.mark.parametrize("name", ["all_reduce", "all_to_all"])
def test_collectives_take_it(name: str, transport: str) -> None:
    """They lose nothing to timeouts, and need at least what their links need."""
    given = {"leaves": 2, "spines": 2, "servers": 2, "data": "1MB", "stop_time": "100ms"}
    result = ccperf.run(name, routing="drb", transport=transport, **given)
    took = completions(result.recording)
    assert len(took) > 10
    # Each rank sends 2 (n - 1) / n, or (n - 1) / n of its data.
    share = 1.5 if name == "all_reduce" else 0.75
    makespan = result.metrics.classes["collective"]["makespan_l4"]
    least = share * 1e6 * (1512 / 1448) * 8 / 10e9 * 1e3
    assert least < makespan < 2 * least
    assert result.recording.flows.array("rtos").sum() == 0


@pytest.mark.parametrize(
    "cc",
    [
        {"type": "ndp", "attributes": {"InitialWindow": 12}},
        {"type": "nscc", "attributes": {"TargetQdelay": 0.5}},
    ],
)
def test_the_same_transfers_over_a_stack_as_over_flows(cc: dict[str, Any]) -> None:
    port = SwitchPort({"type": "NdpQueueDisc"})
    network = star(3, FabricLink("10Gbps", "1us"), port=port)
    first, *others = network.hosts
    application = {"type": "Greedy", "bytes": "300kB", "write": "1400B"}
    flows = [
        {
            "source": host,
            "destination": first,
            "transport": "TRIMMING",
            "cc": cc,
            "application": application,
        }
        for host in others
    ]
    workload = {
        "name": "in",
        "stack": "cut",
        "write": "1400B",
        "arrivals": {"type": "Times", "times": ["0s", "0s"]},
        "pairs": {"type": "Listed", "pairs": [[host, first] for host in others]},
        "sizes": {"type": "Constant", "bytes": "300kB"},
    }
    stack = {"name": "cut", "transport": "TRIMMING", "cc": cc}

    def took(**traffic: Any) -> list[float]:
        scenario = Scenario.model_validate(
            {
                "nodes": network.nodes,
                "links": network.links,
                "stop_time": "10ms",
                "recording": {"completions": True},
                **traffic,
            }
        )
        recording = backends.get("native").simulate(scenario)
        return sorted(completions(recording).tolist())

    assert took(flows=flows) == took(flows=[], stacks=[stack], workloads=[workload])


def scenario(**changed: Any) -> dict[str, Any]:
    network = star(2, FabricLink("10Gbps", "1us"), port=SwitchPort({"type": "NdpQueueDisc"}))
    source, destination = network.hosts
    flow = {"source": source, "destination": destination, "transport": "TRIMMING", **changed}
    return {
        "nodes": network.nodes,
        "links": list(network.links),
        "flows": [flow],
        "stop_time": "1ms",
    }


@pytest.mark.parametrize(
    ("changed", "path", "says"),
    [
        (
            {"tcp": {"SegmentSize": 1000}},
            "flows[0].tcp",
            "this transport is TRIMMING; leave it out",
        ),
        ({"cc": "cubic"}, "flows[0].cc.type", "no transport over switches that trim"),
        (
            {"application": {"type": "CBR", "rate": "1Gbps"}},
            "flows[0].application.type",
            "write Greedy",
        ),
        (
            {"application": {"type": "Greedy", "write": "1500B"}},
            "flows[0].application.write",
            "beside 62 B of headers; write at most 1438B",
        ),
    ],
)
def test_what_it_cannot_have_is_refused(changed: dict[str, Any], path: str, says: str) -> None:
    with pytest.raises(ScenarioError) as error:
        Scenario.model_validate(scenario(**changed)).check()
    assert any(path == each[0] and says in each[1] for each in error.value.problems)


def test_its_links_do_not_fail() -> None:
    given = scenario()
    link = given["links"][0]["name"]
    given["failures"] = [{"link": link, "down": "100us"}]
    with pytest.raises(ScenarioError, match=r"cut"):
        Scenario.model_validate(given).check()


@pytest.mark.parametrize("backend", ["ns3", "linux"])
def test_other_backends_refuse_it(backend: str) -> None:
    other = backends.get(backend)
    if why := other.available():
        pytest.skip(why)
    given = Scenario.model_validate(scenario())
    with pytest.raises(UsageError, match="TRIMMING is the backend native's"):
        other.simulate(given)
