"""What must come out of an experiment, by theory, where the algorithm's behaviour is known."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import pytest

from ccperf import backends, campaign
from ccperf.catalogue import REGISTRY
from ccperf.result import Result

NATIVE = backends.get("native")
SEGMENT_BITS = 8 * 1448
FRAME_BITS = 8 * 1502


def run(name: str, cc: str = "TcpNewReno", **given: object) -> Result:
    scenario = REGISTRY[name].scenario(cc, recovery="TcpPrrRecovery", **given)
    return campaign.simulate(campaign.Point(scenario), NATIVE)


@pytest.mark.parametrize("p", [0.005, 0.01, 0.02, 0.05])
def test_new_reno_under_random_loss_follows_the_square_root_law(p: float) -> None:
    """Between the model without timeouts and the one with all that a Reno without SACK has.

    Above: additive increase by one segment a round trip, halving at each of Poisson losses, has a
    mean window of 1.3098 / sqrt(p) (T. J. Ott, J. H. B. Kemperman, M. Mathis, "The stationary
    behavior of ideal TCP congestion avoidance", 1996). Below: J. Padhye et al., "Modeling TCP
    throughput", SIGCOMM 1998, equation 30, with ns-3's least timeout of 1 s and an ACK for every
    segment. Both within three standard errors of the mean over the seeds.
    """
    runs = [run("loss_resilience", loss=p, stop_time="60s", seed=seed) for seed in range(1, 6)]
    flows = [result.flow_metrics["flow_1"] for result in runs]
    measured = [flow["mean_throughput_l7"] * 1e6 / SEGMENT_BITS for flow in flows]
    rtt = fmean(flow["mean_srtt_l4"] for flow in flows) / 1000
    timeout = 1.0
    above = 1.3098 / sqrt(p) / rtt
    timeouts = timeout * min(1, 3 * sqrt(3 * p / 8)) * p * (1 + 32 * p**2)
    below = 1 / (rtt * sqrt(2 * p / 3) + timeouts)
    error = 3 * stdev(measured) / sqrt(len(measured))
    assert below - error <= fmean(measured) <= above + error


def test_vegas_keeps_between_alpha_and_beta_segments_in_the_queue() -> None:
    """L. S. Brakmo, L. L. Peterson, "TCP Vegas: end to end congestion avoidance on a global
    Internet", 1995: 2 to 4 of them, one more or less for a window of whole segments."""
    result = run("steady_state_single_flow", "TcpVegas", path="static.default", stop_time="30s")
    srtt = result.recording.flow_samples.array("srtt_ns")
    rate = 16e6
    queued = (srtt - np.nanmin(srtt)) / 1e9 * rate / FRAME_BITS
    steady = queued[len(queued) // 2 :]
    assert steady.min() >= 2 - 1
    assert steady.max() <= 4 + 1
    assert result.link_metrics["btl_forward"]["total_qdisc_drops_l2"] == 0


@pytest.mark.parametrize("k", [2, 5])
def test_additive_increase_and_multiplicative_decrease_converge_to_fair_shares(k: int) -> None:
    """D.-M. Chiu, R. Jain, 1989: flows that hear the same signals end up with equal windows. What
    is left over two minutes is at most one sawtooth of a single flow: half of its share in a
    quarter of the time."""
    result = run("steady_state_synchronous_fairness", k=k, path="static.default", stop_time="120s")
    shares = [flow["mean_throughput_l7"] for flow in result.flow_metrics.values()]
    assert max(shares) - min(shares) <= fmean(shares) / 8


def test_a_late_flow_gets_its_share_from_new_reno() -> None:
    result = run("steady_state_start_time_fairness", stop_time="120s")
    shares = [flow["mean_throughput_l7"] for flow in result.flow_metrics.values()]
    assert min(shares) / max(shares) > 0.5


@pytest.mark.parametrize("buffer", [0.1, 0.25, 0.5, 1, 2])
def test_a_sawtooth_uses_what_its_buffer_allows(buffer: float) -> None:
    """A window in bandwidth-delay products that grows by one segment a round trip from
    a = (1 + B) / 2 to 1 + B and is halved there. Below 1 the link idles: the round trip is the
    path's and the rate is the window; above, the link is busy. So the window's growth from w takes
    dw below 1 and w dw above, and carries w dw in both:

        utilisation = ((1 + B)^2 - a^2) / 2 / ((1 - a) + ((1 + B)^2 - 1) / 2), or 1 if a >= 1.

    The tolerance is a round trip of recovery in a cycle of (1 + B) / 2 times 167 of them, and the
    second of each timeout.
    """
    result = run("buffer_sizing", buffer=buffer, k=1, stop_time="120s")
    received = result.recording.flow_samples.array("received_bytes")
    quarter = len(received) // 4
    measured = (received[-1] - received[quarter]) * 8 / 90 / 50e6 * FRAME_BITS / SEGMENT_BITS
    low, high = (1 + buffer) / 2, 1 + buffer
    carried, idle = (high**2 - low**2) / 2, max(0.0, 1 - low)
    theory = carried / (idle + (high**2 - 1) / 2) if low < 1 else 1.0
    cycle = (1 + buffer) / 2 * 167
    tolerance = 1 / cycle + result.flow_metrics["flow_1"]["total_rtos_l4"] / 90
    assert measured == pytest.approx(theory, abs=tolerance)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_who_goes_far_gets_less_than_who_goes_near(n: int) -> None:
    """It hears the losses of all bottlenecks and waits in all queues, those over one of them less
    (S. Floyd, "Connections with multiple congested gateways", 1991); what it leaves they use."""
    result = run("parking_lot", n=n, stop_time="120s")
    long_one, *short_ones = (flow["mean_throughput_l7"] for flow in result.flow_metrics.values())
    capacity = 20 * SEGMENT_BITS / FRAME_BITS
    for short in short_ones:
        assert 0 < long_one < short
        assert 0.9 * capacity <= short + long_one <= capacity


@pytest.mark.parametrize("size", ["20kB", "200kB"])
def test_no_answer_of_an_incast_is_sooner_than_its_bytes(size: str) -> None:
    """The last one cannot be sooner than all bytes over the asker's link, plus the path."""
    result = run("incast", "TcpDctcp", n=32, size=size, stop_time="5s")
    completions = result.recording.completions
    bits = 32 * int(size.removesuffix("kB")) * 8000
    last = max(completions.array("end_ns")) - min(completions.array("start_ns"))
    assert last >= bits / 10e9 * 1e9
    assert completions.rows == 32


def test_more_and_longer_detours_cost_new_reno_more() -> None:
    def rate(**given: object) -> float:
        return run("reordering", **given).flow_metrics["flow_1"]["mean_throughput_l7"]

    # A detour shorter than three packets of 0.75 ms cannot make three duplicate ACKs.
    untouched = 16 * SEGMENT_BITS / FRAME_BITS
    assert rate(frequency=1, detour="1ms") > 0.95 * untouched
    assert rate(frequency=10, detour="20ms") < rate(frequency=1, detour="20ms") < untouched


def test_jitter_reorders_nothing(tmp_path: Path) -> None:
    scenario = REGISTRY["jitter"].scenario("TcpNewReno", spread="20ms", stop_time="5s")
    trace = tmp_path / "packets.csv"
    NATIVE.simulate(scenario, packets=trace)
    rows = [line.split(",") for line in trace.read_text().splitlines()]
    bottleneck = [row for row in rows if row[1] == "btl_forward"]
    sent = [row[4] for row in bottleneck if row[2] == "tx"]
    came = [row[4] for row in bottleneck if row[2] == "rx"]
    assert came == sent[: len(came)]


def test_bursts_lose_what_they_are_to_lose() -> None:
    """The share of packets lost is that of the time in the bad state, half of them there; over 100
    bursts within five standard errors of their exponential lengths."""
    scenario = REGISTRY["bursty_loss"].scenario("TcpNewReno", loss=0.02, burst="20ms")
    (schedule,) = scenario.links[0].schedules
    times = [*schedule.times_ns, 15 * 10**9]
    assert schedule.losses is not None
    bad = sum(
        end - start
        for start, end, loss in zip(times, times[1:], schedule.losses, strict=False)
        if loss
    )
    bursts = len(schedule.times_ns) / 2
    assert bad / (15 * 10**9) * 0.5 == pytest.approx(0.02, rel=5 * (2 / bursts) ** 0.5)
