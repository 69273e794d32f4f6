"""Experiments on lossless fabrics: what pauses do, what the laws of RoCE make of it (Dcqcn,
DcqcnMlx5, Hpcc, Swift, Timely and LineRate), DCQCN's model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmarks.lossless import jain, shares_while

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
    return ccperf.run(name, **given).recording


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
    half = 0.5 * 1000 / 1046
    shares = {"hpcc": 0.95 * 1000 / 1088, "dcqcn": half, "dcqcn_mlx5": half}
    assert at[0] == pytest.approx(shares.get(transport, 1000 / 1046), rel=0.15)
    assert (at[1] > 0.85) == (not transport.startswith("dcqcn"))
    beside = (links.array("time_ns") > 1.05e6) & (links.array("time_ns") < ended)
    queue = links.array("qdisc_bytes")[beside].mean()
    if transport == "hpcc":
        assert queue < 2 * 1086
    else:
        # The cards' cuts are 4 us apart, not 50.
        assert queue > (10e3 if transport == "dcqcn_mlx5" else 50e3)


def alone_us(headers: int) -> float:
    """A packet of 1 kB there and its answer back: two links each of 1 us and 40 Gbps."""
    data, ack = 1000 + headers + 2, headers + 4 + 2
    return 4 * 1 + 2 * (data + ack) * 8 / 40e3


@pytest.mark.parametrize("transport", LAWS)
def test_a_mouse_waits_for_the_queue_of_the_elephants(transport: str) -> None:
    """HPCC's micro-benchmark: a mouse takes what it takes alone, and the queue; and how long that
    is follows from the law."""
    recording = recorded("pfc_mice", transport=transport)
    flows, links = recording.flows, recording.link_samples
    took = (flows.array("completion_ns") - flows.array("start_ns"))[2:] / 1e3
    while_they_come = (links.array("time_ns") > 2e6) & (links.array("time_ns") < 7e6)
    queue = links.array("qdisc_bytes")[while_they_come].mean()
    alone = alone_us(86 if transport == "hpcc" else 44)
    # And half of the packet that is being sent.
    assert took.mean() == pytest.approx(alone + (queue + 523) * 8 / 40e3, rel=0.03)
    assert took.min() >= alone - 1e-3
    expected = {
        # As much as the switch lets in over both links before it has them pause.
        "line_rate": alone + 2 * 100e3 * 8 / 40e3,
        # Nobody waits for more than the other packets of a moment.
        "hpcc": alone + 1088 * 8 / 40e3,
        # The delay of all is Swift's target, over one switch.
        "swift": 25 + 1,
    }
    if transport in expected:
        assert took.mean() == pytest.approx(expected[transport], rel=0.05)


@pytest.mark.parametrize("transport", LAWS)
def test_who_joins_gets_a_share_and_who_leaves_gives_it_to_the_others(transport: str) -> None:
    had = shares_while(recorded("pfc_joining", transport=transport), 5e6, 4)
    there = np.array([[i <= step < i + 4 for i in range(4)] for step in range(7)])
    assert (had[~there] == 0).all()
    of_link = had.sum(axis=1) * 8 / 2.5e-3 / 40e9
    if transport == "dcqcn":
        # 5 ms after the others have gone it has found what additive increase finds, 40 Mbps each
        # 55 us: in the middle of the last quarter less than 3.64 Gbps more than its half.
        assert 0.4 < of_link[6] < 0.5 + 3.75 / 5 * 3.64 / 40
    full = 1000 / 1088 * 0.95 if transport == "hpcc" else 1000 / 1046
    if transport in ("hpcc", "swift", "line_rate"):
        assert of_link == pytest.approx(full, rel=0.02)
    fairness = [jain(own[now]) for own, now in zip(had, there, strict=True)]
    if transport == "timely":
        # Its gradient is the same for all, whatever their rates (Zhu et al., CoNEXT 2016).
        assert min(fairness) < 0.95
    else:
        least = {"hpcc": 0.985, "line_rate": 0.985, "swift": 0.96, "dcqcn": 0.9, "dcqcn_mlx5": 0.75}
        assert min(fairness) > least[transport]


@pytest.mark.parametrize("transport", LAWS)
def test_the_mean_of_jain_s_index_over_all_steps_is_that_of_equal_shares(transport: str) -> None:
    result = ccperf.run("pfc_joining", transport=transport)
    best = sum(n / 4 for n in (1, 2, 3, 4, 3, 2, 1)) / 7
    assert best == pytest.approx(4 / 7)
    mean = result.metrics.network["net"]["mean_jains_fairness_throughput_l4"]
    # The cards' law moves shares each 300 us, by a fifty-thousandth of the link and more.
    least = 0.88 if transport == "dcqcn_mlx5" else 0.93
    assert least * best < mean < 1.005 * best


def test_one_sender_joins_nobody() -> None:
    with pytest.raises(UsageError, match="at least 2"):
        ccperf.run("pfc_joining", senders=1)


@pytest.mark.parametrize("seed", [1, 42])
@pytest.mark.parametrize("transport", LAWS)
def test_a_sick_host_stops_others_but_for_laws_with_windows(transport: str, seed: int) -> None:
    """Guo et al. 2016, section 4.3; a window that is full waits, whatever the least rate is."""

    def last(storm: str) -> Any:
        """What each flow has had acknowledged in the last of 8 ms, in bytes."""
        given = {"storm": storm, "stop_time": "8ms", "seed": seed}
        recording = recorded("pfc_storm", transport=transport, **given)
        assert recording.links.array("loss_dropped").sum() == 0
        acked = recording.flow_samples.array("acked_bytes").reshape(-1, 22)
        return acked[-1] - acked[-2]

    ill, well = last("on"), last("off")
    assert (well > 50_000).sum() >= 20
    has_window = transport in ("hpcc", "swift")
    # The two that lead to it, or half of all.
    stopped = (ill < 10_000).sum()
    assert stopped == 2 if has_window else stopped >= 8, ill
    assert (ill.sum() > 0.9 * well.sum()) == has_window


def test_a_ring_has_five_switches_at_least() -> None:
    with pytest.raises(UsageError, match="at least 5"):
        ccperf.run("pfc_deadlock", switches=4)


# DCQCN in bytes and seconds, with the paper's parameters; packets as they are on the wire.
_ALPHA, _TIMER, _BYTES, _STEPS = 55e-6, 55e-6, 10e6, 5
_PACKET = 1046
_LINE = 40e9 / 8
_INCREASE = 0.001 * _LINE
#: Of RED's line.
_K_MIN, _K_MAX, _P_MAX = 5e3, 1000e3, 0.05


def _fluid(p: float, rate: float, interval: float) -> float:
    """The fluid model (Zhu et al., SIGCOMM 2015, equations 5 to 9): how fast the rate of a flow
    changes that has had `rate` for long, with marks of `p`, and notifications an `interval` apart.
    """
    packets = rate / _PACKET

    def some(seconds: float) -> float:
        return 1 - (1 - p) ** (seconds * packets)

    def events(count: float) -> float:
        """Of a counter of so many packets, per packet."""
        return p / ((1 - p) ** -count - 1)

    alpha = some(_ALPHA)
    counters = _BYTES / _PACKET, _TIMER * packets
    increase = (
        _INCREASE * packets * sum((1 - p) ** (_STEPS * count) * events(count) for count in counters)
    )
    # dR_T = 0: how far the target is above the rate.
    above = increase / (some(interval) / interval)
    cut = rate * alpha / (2 * interval) * some(interval)
    return above / 2 * packets * sum(map(events, counters)) - cut


def _by_notifications(p: float, rate: float, interval: float) -> float:
    """What a flow gains on average from one notification to the next one, step by step.

    After `interval` the next mark is notified: more than t > `interval` pass with a probability of
    exp(-`p` packets/s (t - `interval`)).  A notification leaves the target at the rate that there
    was, and alpha / 2 of that below it; each step of the timer halves what is missing.
    """
    per_second = p * rate / _PACKET
    steps = np.arange(1, 5000)
    #: That there is this step before the next notification.
    reached = np.exp(-per_second * (steps * _TIMER - interval).clip(0))
    alpha = 1 / (1 + reached.sum())
    missing = rate * alpha / 2 * 0.5 ** np.arange(_STEPS + 1)
    later = _INCREASE + (missing[-1] - _INCREASE) * 0.5 ** (steps[_STEPS:] - _STEPS)
    halved = -np.diff(np.concatenate([missing, later]))
    gained = _INCREASE * reached[_STEPS:].sum()
    return float(gained - (missing[0] - (reached * halved).sum()))


def _balanced(model: Any, flows: int, interval: float) -> float:
    """The share of marks with which nothing changes at R = C / N."""
    low, high = 1e-7, 0.1
    for _ in range(100):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if model(middle, _LINE / flows, interval) > 0 else (low, middle)
    return low


def settled(flows: int, interval: str) -> tuple[float, float]:
    """The share of marked packets and the mean queue in the second half of 200 ms."""
    red = {
        "MinTh": _K_MIN,
        "MaxTh": _K_MAX,
        "LInterm": 1 / _P_MAX,
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
    law = {"type": "dcqcn", "attributes": {"NotificationInterval": interval}}
    roce = {"transport": "ROCE", "cc": law, "application": {"write": "1000B"}}
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
    waiting = queues.array("qdisc_bytes")
    return share, waiting[len(waiting) // 2 :].mean()


@pytest.mark.parametrize("flows", [2, 4, 8])
def test_marks_and_queue_settle_where_a_flow_gains_nothing_between_notifications(
    flows: int,
) -> None:
    share, queue = settled(flows, "50us")
    assert share == pytest.approx(_balanced(_by_notifications, flows, 50e-6), rel=0.08)
    # RED spaces its marks evenly (Floyd and Jacobson 1993): 2 p / (1 + p) of all, p from its line.
    p = share / (2 - share)
    assert queue == pytest.approx(_K_MIN + p / _P_MAX * (_K_MAX - _K_MIN), rel=0.3)


@pytest.mark.parametrize("flows", [4, 8])
def test_the_fluid_model_holds_where_each_mark_is_notified(flows: int) -> None:
    """Why there are 1.3 times as many marks as it says: a flow that has just been told does not
    hear of marks for 50 us. The model takes that for a share of time, whatever came before."""
    at_once, usual = (settled(flows, interval)[0] for interval in ("1us", "50us"))
    assert at_once == pytest.approx(_balanced(_fluid, flows, 1e-6), rel=0.05)
    assert 1.2 < usual / _balanced(_fluid, flows, 50e-6) < 1.35
