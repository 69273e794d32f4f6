"""Experiments on lossless fabrics: what pauses do, what laws of RoCE make of it, DCQCN's model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ccperf
from ccperf.algorithms import registry
from ccperf.errors import UsageError
from ccperf.experiments import catalogue
from ccperf.experiments.topologies import FabricLink, SwitchPort, star
from ccperf.runs import backends
from ccperf.scenario import Scenario

if TYPE_CHECKING:
    from ccperf.runs.recording import Recording

LINE_RATE = {"transport": "line_rate"}
LAWS = [law["linux"][0] for law in registry.tables()["rate_control"]]


def recorded(name: str, **given: Any) -> Recording:
    return ccperf.run(name, cc="TcpDctcp", **given).recording


def acknowledged(recording: Recording) -> Any:
    table = recording.completions
    assert table is not None
    return table.array("acked_bytes")[np.argsort(table.array("flow"))]


@pytest.mark.parametrize("name", list(catalogue.LOSSLESS))
@pytest.mark.parametrize("transport", LAWS)
def test_nothing_is_lost(name: str, transport: str) -> None:
    recording = recorded(name, transport=transport, stop_time="5ms")
    for cause in ("qdisc_dropped", "device_dropped", "loss_dropped"):
        assert recording.links.array(cause).sum() == 0
    assert recording.flows.array("retransmissions").sum() == 0


def test_pauses_share_a_link_among_links_and_dcqcn_among_flows() -> None:
    """Figures 3 and 8 of the paper: half and three sixths, or quarters."""
    *far, near = acknowledged(recorded("pfc_unfairness", **LINE_RATE))
    whole = near + sum(far)
    # Payload on 40 Gbps for 50 ms.
    assert whole == pytest.approx(40e9 / 8 * 0.05 * 1000 / 1046, rel=0.01)
    assert near / whole == pytest.approx(1 / 2, rel=0.02)
    assert [each / whole for each in far] == pytest.approx([1 / 6] * 3, rel=0.03)
    *far, near = acknowledged(recorded("pfc_unfairness", stop_time="300ms"))
    whole = near + sum(far)
    assert [each / whole for each in (*far, near)] == pytest.approx([1 / 4] * 4, rel=0.2)


def test_a_ring_stops_for_ever_with_pauses_alone() -> None:
    ring = recorded("pfc_deadlock", **LINE_RATE)
    assert ring.pauses is not None
    longest = ring.pauses.array("paused_ns")
    # All five links of the ring have stopped within the first half of a millisecond of 20.
    assert (longest > 19.5e6).sum() >= 5
    assert (acknowledged(ring) < 1e6).all()
    for given in ({}, {"transport": "line_rate", "pfc": "off"}):
        goes_on = acknowledged(recorded("pfc_deadlock", **given))
        assert (goes_on > 30e6).all(), given


def test_a_victim_waits_for_pauses_that_are_none_of_its_business() -> None:
    def completion(**given: Any) -> float:
        flows = recorded("pfc_victim", **given).flows
        return float(flows.array("completion_ns")[-1] - flows.array("start_ns")[-1]) / 1e6

    alone, dcqcn = completion(**LINE_RATE), completion()
    # 10 MB take 2.1 ms at 40 Gbps.
    assert alone > 6
    assert dcqcn < alone / 2


def paused(recording: Recording) -> float:
    assert recording.pauses is not None
    return float(recording.pauses.array("paused_ns").max())


def jain(shares: Any) -> float:
    return float(shares.sum() ** 2 / (len(shares) * (shares**2).sum()))


@pytest.mark.parametrize("transport", ["hpcc", "swift"])
def test_windows_of_hpcc_and_swift_need_no_pauses(transport: str) -> None:
    """As their papers say: a window, and one that follows each ACK, ends an incast in time."""
    incast = recorded("pfc_incast", transport=transport)
    assert paused(incast) == 0
    # 16 MB at 40 Gbps, at the link's rate or 95 % of it with headers of telemetry.
    least = {"hpcc": 16e6 * 1088 / 1000 / 0.95, "swift": 16e6 * 1046 / 1000}[transport] / 5
    assert incast.flows.array("completion_ns").max() == pytest.approx(least, rel=0.02)
    ring = recorded("pfc_deadlock", transport=transport)
    assert paused(ring) == 0
    assert acknowledged(ring).min() > 30e6
    assert jain(acknowledged(recorded("pfc_unfairness", transport=transport))) > 0.9


@pytest.mark.parametrize("transport", LAWS)
def test_who_has_a_link_back_after_a_short_flow_and_who_queues(transport: str) -> None:
    """HPCC's first micro-benchmark: HPCC has the link back at once and no queue, while DCQCN's long
    flow has not got it back after 2 ms."""
    recording = recorded("pfc_long_short", transport=transport)
    flows, links = recording.flow_samples, recording.link_samples
    ended = recording.flows.array("completion_ns")[1]
    long = flows.array("flow") == 0
    times, received = flows.array("time_ns")[long], flows.array("received_bytes")[long]
    after = np.searchsorted(times, ended + np.array([100e3, 200e3, 1.9e6, 2e6]))
    at = (received[after[1::2]] - received[after[::2]]) * 8 / 100e3 / 40
    shares = {"hpcc": 0.95 * 1000 / 1088, "dcqcn": 0.5 * 1000 / 1046}
    assert at[0] == pytest.approx(shares.get(transport, 1000 / 1046), rel=0.15)
    assert (at[1] > 0.85) == (transport != "dcqcn")
    beside = (links.array("time_ns") > 1.05e6) & (links.array("time_ns") < ended)
    queue = links.array("qdisc_bytes")[beside].mean()
    if transport == "hpcc":
        assert queue < 2 * 1086
    else:
        assert queue > 50e3


def test_a_ring_has_five_switches_at_least() -> None:
    with pytest.raises(UsageError, match="at least 5"):
        ccperf.run("pfc_deadlock", cc="TcpDctcp", switches=4)


# The fluid model (Zhu et al., SIGCOMM 2015, equations 5 to 9): bytes, seconds.
_G, _NOTIFIED, _ALPHA, _TIMER, _BYTES, _STEPS = 1 / 256, 50e-6, 55e-6, 55e-6, 10e6, 5
_PACKET = 1046
_LINE = 40e9 / 8


def _slope(p: float, rate: float) -> Any:
    """How fast the rate of a flow changes that has had `rate` for long, with marks of `p`."""
    packets = rate / _PACKET

    def some(seconds: float) -> Any:
        return 1 - (1 - p) ** (seconds * packets)

    def events(count: float) -> Any:
        """Of a counter of so many packets, per packet."""
        return p / ((1 - p) ** -count - 1)

    alpha = some(_ALPHA)
    of_bytes, of_time = _BYTES / _PACKET, _TIMER * packets
    increase = (
        0.001
        * _LINE
        * packets
        * sum((1 - p) ** (_STEPS * count) * events(count) for count in (of_bytes, of_time))
    )
    # dR_T = 0: how far the target is above the rate.
    above = increase / (some(_NOTIFIED) / _NOTIFIED)
    cut = rate * alpha / (2 * _NOTIFIED) * some(_NOTIFIED)
    recovered = above / 2 * packets * (events(of_bytes) + events(of_time))
    return recovered - cut


def _marks(flows: int) -> float:
    """The share of marked packets at the fixed point R = C / N."""
    low, high = 1e-7, 0.5
    for _ in range(100):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if _slope(middle, _LINE / flows) > 0 else (low, middle)
    return low


@pytest.mark.parametrize("flows", [2, 8])
def test_marks_and_queue_are_at_the_fixed_point_of_the_fluid_model(flows: int) -> None:
    k_max, p_max = 1000e3, 0.05
    red = {
        "MinTh": 5000,
        "MaxTh": k_max,
        "LInterm": 1 / p_max,
        "MeanPktSize": 1044,
        "MaxSize": "100MB",
        "QW": 1,
        "UseEcn": True,
        "UseHardDrop": False,
        "Gentle": False,
        "Wait": False,
    }
    port = SwitchPort({"type": "RedQueueDisc", "attributes": red}, "100p")
    network = star(flows + 1, FabricLink("40Gbps", "1us"), port=port)
    receiver, *senders = network.hosts
    roce = {"transport": "ROCE", "cc": "dcqcn", "application": {"write": "1000B"}}
    each = [{"source": host, "destination": receiver, **roce} for host in senders]
    scenario = Scenario.model_validate(
        {
            "nodes": network.nodes,
            "links": network.links,
            "flows": each,
            "stop_time": "200ms",
            "recording": {
                "interval": "1ms",
                "queues": {"links": [f"{receiver}_reverse"], "interval": "20us"},
            },
        }
    )
    recording = backends.get("native").simulate(scenario)
    samples, queues = recording.link_samples, recording.queue_samples
    assert queues is not None
    name = recording.links.strings("name").index(f"{receiver}_reverse")
    rows = samples.array("link") == name
    marked, sent = (samples.array(each)[rows] for each in ("qdisc_marked", "tx_bytes"))
    half = len(marked) // 2
    share = (marked[-1] - marked[half]) / ((sent[-1] - sent[half]) / _PACKET)
    queue = queues.array("qdisc_bytes")[len(queues.array("qdisc_bytes")) // 2 :].mean()
    # Above the fixed point by a quarter to a third: rates of real flows vary around it, and marks
    # are lost on a flow that has just been told.
    assert 1.1 < share / _marks(flows) < 1.5
    # RED spaces its marks evenly (Floyd and Jacobson 1993): 2 p / (1 + p) of all, p from its line.
    p = share / (2 - share)
    assert queue == pytest.approx(5000 + p / p_max * (k_max - 5000), rel=0.3)
