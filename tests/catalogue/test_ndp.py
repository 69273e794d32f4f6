"""NDP: what it is for, held to what the links need (Ndp, NdpQueueDisc)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import ccperf
from ccperf.errors import ScenarioError, UsageError
from ccperf.experiments import catalogue
from ccperf.experiments.topologies import FabricLink, SwitchPort, star
from ccperf.runs import backends
from ccperf.scenario import Scenario

if TYPE_CHECKING:
    from ccperf.runs.recording import Recording

#: A packet of 1000 B at 40 Gbps, in ns.
PACKET = 1064 * 8 / 40


def recorded(name: str, **given: Any) -> Recording:
    return ccperf.run(name, transport="ndp", **given).recording


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


def test_a_permutation_has_nine_tenths_of_all_links_where_packets_are_sprayed() -> None:
    """As in the paper: NDP has more than 90 %, hashed flows have not."""

    def share(**given: Any) -> float:
        metrics = ccperf.run("permutation", **given).metrics
        return metrics.network["net"]["mean_goodput_l4"] / 40e3

    assert 0.9 < share(transport="ndp") < 9000 / 9064
    assert share(transport="ndp", routing="ecmp") < 0.8
    assert share(transport="dcqcn") < 0.8
    # Where nothing is cut, the hosts' links carry data, and an ACK and a PULL for each packet.
    small = share(transport="ndp", packet="1000B")
    assert small == pytest.approx(1000 / (1064 + 2 * 64), rel=0.01)


@pytest.mark.parametrize("name", list(catalogue.LOSSLESS))
def test_all_experiments_on_fabrics_take_it(name: str) -> None:
    recording = recorded(name, stop_time="5ms")
    assert recording.pauses is None
    assert recording.completions is not None
    assert recording.completions.array("acked_bytes").sum() > 0


def test_what_is_cut_is_counted() -> None:
    result = ccperf.run("pfc_incast", transport="ndp", n=16)
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


@pytest.mark.parametrize("name", ["all_reduce", "all_to_all"])
def test_collectives_take_it(name: str) -> None:
    """One over NDP loses nothing to timeouts, and needs at least what its links need."""
    given = {"leaves": 2, "spines": 2, "servers": 2, "data": "1MB", "stop_time": "100ms"}
    result = ccperf.run(name, routing="drb", transport="ndp", **given)
    took = completions(result.recording)
    assert len(took) > 10
    # Each rank sends 2 (n - 1) / n, or (n - 1) / n of its data.
    share = 1.5 if name == "all_reduce" else 0.75
    makespan = result.metrics.classes["collective"]["makespan_l4"]
    least = share * 1e6 * (1512 / 1448) * 8 / 10e9 * 1e3
    assert least < makespan < 2 * least
    assert result.recording.flows.array("rtos").sum() == 0


def test_the_same_transfers_over_a_stack_as_over_flows() -> None:
    port = SwitchPort({"type": "NdpQueueDisc"})
    network = star(3, FabricLink("10Gbps", "1us"), port=port)
    first, *others = network.hosts
    cc = {"type": "ndp", "attributes": {"InitialWindow": 12}}
    application = {"type": "Greedy", "bytes": "300kB", "write": "1400B"}
    flows = [
        {
            "source": host,
            "destination": first,
            "transport": "NDP",
            "cc": cc,
            "application": application,
        }
        for host in others
    ]
    workload = {
        "name": "in",
        "stack": "ndp",
        "write": "1400B",
        "arrivals": {"type": "Times", "times": ["0s", "0s"]},
        "pairs": {"type": "Listed", "pairs": [[host, first] for host in others]},
        "sizes": {"type": "Constant", "bytes": "300kB"},
    }
    stack = {"name": "ndp", "transport": "NDP", "cc": cc}

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
    flow = {"source": source, "destination": destination, "transport": "NDP", **changed}
    return {
        "nodes": network.nodes,
        "links": list(network.links),
        "flows": [flow],
        "stop_time": "1ms",
    }


@pytest.mark.parametrize(
    ("changed", "path", "says"),
    [
        ({"tcp": {"SegmentSize": 1000}}, "flows[0].tcp", "this transport is NDP; leave it out"),
        ({"cc": "cubic"}, "flows[0].cc.type", "not a receiver-driven transport"),
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
    with pytest.raises(ScenarioError, match=r"NDP|cuts packets"):
        Scenario.model_validate(given).check()


@pytest.mark.parametrize("backend", ["ns3", "linux"])
def test_other_backends_refuse_it(backend: str) -> None:
    other = backends.get(backend)
    if why := other.available():
        pytest.skip(why)
    given = Scenario.model_validate(scenario())
    with pytest.raises(UsageError, match="NDP is the backend native's"):
        other.simulate(given)
