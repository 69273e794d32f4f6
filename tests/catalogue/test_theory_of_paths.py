"""What must come out where the path is not a plain queue: bounds on both sides, by theory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from catalogue.runs import FRAME_BITS, run
from ccperf import _native
from ccperf.experiments.catalogue import REGISTRY


@pytest.mark.parametrize(
    ("walk", "column", "low", "high", "noise"),
    [
        ("rate", "rates_bps", 4e6, 28e6, 1e6),
        # One way, without the access links on both sides.
        ("delay", "delays_ns", 3e6, 23e6, 5e5),
        ("loss", "losses", 0.0, 0.02, 0.001),
    ],
)
def test_a_walk_has_the_steps_of_its_law(
    walk: str, column: str, low: float, high: float, noise: float
) -> None:
    """d[n] = rho d[n-1] + e[n]: where neither of two steps ended at a bound, e[n] can be taken from
    the columns, and its variance is that of the noise, within four standard errors, sqrt(2 / N) of
    it, of a normal sample of N. Values never leave their bounds."""
    scenario = REGISTRY["random_walk"].scenario("TcpNewReno", walks=walk, stop_time="300s")
    (schedule,) = scenario.links[0].schedules
    values = np.array(getattr(schedule, column), dtype=float)
    assert values.min() >= low
    assert values.max() <= high
    steps = np.diff(values)
    free = (values > low) & (values < high)
    known = free[:-2] & free[1:-1] & free[2:]
    drawn = (steps[1:] - 0.9 * steps[:-1])[known]
    assert len(drawn) > 500
    assert np.mean(drawn**2) == pytest.approx(noise**2, rel=4 * np.sqrt(2 / len(drawn)))


def integral(times: tuple[int, ...], rates: tuple[int, ...], begin: int, end: int) -> float:
    """Bits that a schedule lets through from one time to another, in ns."""
    total = 0.0
    for (start, stop), rate in zip(pairwise([*times, end]), rates, strict=True):
        total += rate * max(0, min(stop, end) - max(start, begin)) / 1e9
    return total


def test_new_reno_keeps_a_link_of_poisson_slots_busy() -> None:
    """2.64 Mbps over 176 ms are 39 packets, the queue has 130: a halved window of 84 leaves 45 in
    the queue, seven standard deviations of the slots in a round trip. So in congestion avoidance
    every slot is used, but for the round trip of recovery at each loss, of which there is one in
    84 round trips at most, and those after timeouts, of a second each."""
    result = run("replay_rate_trace", trace_file="2.64mbps-poisson.trace", stop_time="120s")
    forward = result.recording.links["name"].index("btl_forward")
    samples = result.recording.link_samples
    rows = samples.array("link") == forward
    times, sent = samples.array("time_ns")[rows], samples.array("tx_bytes")[rows] * 8
    half = len(times) // 2
    (schedule,) = (
        found for found in result.scenario.links[0].schedules if found.rates_bps is not None
    )
    assert schedule.rates_bps is not None
    allowed = integral(schedule.times_ns, schedule.rates_bps, times[half], times[-1])
    used = float(sent[-1] - sent[half])
    timeouts = result.flow_metrics["flow_1"]["total_rtos_l4"] / 60
    assert allowed * (1 - 1 / 84 - timeouts) - FRAME_BITS <= used <= allowed + FRAME_BITS


@pytest.mark.parametrize(
    ("order", "spread", "taken_for_lost"),
    [("kept", "20ms", False), ("free", "1ms", False), ("free", "20ms", True)],
)
def test_jitter_is_taken_for_a_loss_where_three_packets_overtake(
    order: str, spread: str, taken_for_lost: bool
) -> None:
    """A packet takes 0.75 ms of the link: within 1 ms one can be overtaken by the next one only,
    and where order is kept by none, so that there are fewer than three duplicate ACKs and nothing
    is sent again but what the queue dropped. Within 20 ms 26 of them fit."""
    flow = (result := run("jitter", order=order, spread=spread)).flow_metrics["flow_1"]
    dropped = result.link_metrics["btl_forward"]["total_qdisc_drops_l2"]
    assert flow["total_retransmissions_l4"] >= dropped
    assert (flow["total_retransmissions_l4"] > dropped) == taken_for_lost


@pytest.mark.parametrize("cc", ["TcpNewReno", "TcpDctcp"])
def test_an_incast_that_fits_the_port_is_over_when_its_bytes_and_three_round_trips_are(
    cc: str,
) -> None:
    """Eight answers of 14 segments: ten of each in the first window are 80 of the port's 250, so
    nothing is lost. The port idles while the last one to hear connects, and while the rest of its
    answer waits for an ACK: one round trip for each of these, and one for the way of the last
    packet and of its acknowledgement. A round trip has a frame's time at each of four links."""
    result = run("incast", cc, n=8, size="20kB", stop_time="5s")
    completions = result.recording.completions
    assert completions is not None
    assert result.recording.links.array("qdisc_dropped").sum() == 0
    frame = FRAME_BITS / 10e9
    round_trip = 4 * (10e-6 + frame)
    took = (max(completions.array("end_ns")) - min(completions.array("start_ns"))) / 1e9
    assert took <= 20e-6 + 3 * round_trip + 8 * 14 * frame


@pytest.mark.parametrize("on", ["200ms", "1s"])
def test_all_that_an_application_wrote_is_there_before_it_writes_again(on: str) -> None:
    """It writes 30 Mbps for `on`, of which a link of 20 Mbps has a third left to do, and is silent
    for two seconds: half a second for that at most, and a second and a half for a timeout and slow
    start. So at the end of each silence all has come that was written, up to the last write of
    each period."""
    off = "2s"
    result = run("application_limited", on=on, off=off)
    samples = result.recording.flow_samples
    times, received = samples.array("time_ns"), samples.array("received_bytes")
    on_ns, off_ns = _native.parse_time(on), _native.parse_time(off)
    cycles = range(1, 15 * 10**9 // (on_ns + off_ns))
    assert cycles
    for cycle in cycles:
        # It begins with a silence: this is just before it writes for the next time.
        row = np.searchsorted(times, cycle * (on_ns + off_ns) + off_ns, side="right") - 1
        written = cycle * 30e6 / 8 * on_ns / 1e9
        assert written - cycle * 1448 <= received[row] <= written
