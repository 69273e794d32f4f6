"""What must come out of an experiment, by theory, where the algorithm's behaviour is known."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import pytest

from catalogue.runs import FRAME_BITS, NATIVE, SEGMENT_BITS, goodput, run
from ccperf import _native, campaign
from ccperf.experiments.catalogue import REGISTRY
from ccperf.experiments.topologies.shorthand import dumbbell


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


def test_a_late_flow_ends_up_with_the_share_of_the_first() -> None:
    """As above: who is ahead is half as far ahead after each loss that both hear, and after a
    minute of them by less than a segment, of windows of 20 segments at least: half of what pipe
    and queue hold, 40 packets each, for two. On average over starts within a round trip, for a
    drop-tail queue need not let both hear each loss."""
    ahead = []
    for seed in range(1, 6):
        result = run("steady_state_start_time_fairness", stop_time="120s", jitter="15ms", seed=seed)
        received = result.recording.flow_samples.array("received_bytes").reshape(-1, 2)
        first, second = received[-1] - received[len(received) // 2]
        ahead.append(abs(first - second) / (first + second))
    assert fmean(ahead) <= 1 / 20 / 2


def test_where_flows_start_far_apart_nobody_gets_more_than_twice_as_much() -> None:
    """With the published starts; how far one may be ahead over two minutes is a judgement."""
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
    long_one, *short_ones = parking_lot(n)
    capacity = 20 * SEGMENT_BITS / FRAME_BITS
    for short in short_ones:
        assert 0 < long_one < short
        assert short + long_one <= capacity


def parking_lot(n: int) -> list[float]:
    """Goodput of the long flow and of the short ones, in Mbps."""
    result = run("parking_lot", n=n, stop_time="120s")
    return [flow["mean_throughput_l7"] for flow in result.flow_metrics.values()]


def test_what_the_long_flow_of_a_parking_lot_leaves_is_used() -> None:
    """How nearly all of it is a judgement: a buffer of one product keeps a link busy but for the
    start and timeouts, for which a tenth is left."""
    long_one, *short_ones = parking_lot(3)
    for short in short_ones:
        assert short + long_one >= 0.9 * 20 * SEGMENT_BITS / FRAME_BITS


@pytest.mark.parametrize("size", ["20kB", "200kB"])
def test_no_answer_of_an_incast_is_sooner_than_its_bytes(size: str) -> None:
    """The last one cannot be sooner than all bytes over the asker's link, plus the path."""
    result = run("incast", "TcpDctcp", n=32, size=size, stop_time="5s")
    completions = result.recording.completions
    bits = 32 * int(size.removesuffix("kB")) * 8000
    last = max(completions.array("end_ns")) - min(completions.array("start_ns"))
    assert last >= bits / 10e9 * 1e9
    assert completions.rows == 32


def test_a_detour_shorter_than_three_packets_costs_new_reno_nothing_and_a_longer_one_does() -> None:
    """Fewer than three packets of 0.75 ms fit into it, so that no three duplicate ACKs come; more
    fit into a longer one, and then each late packet is a signal that halves the window."""
    untouched = 16 * SEGMENT_BITS / FRAME_BITS
    soon = run("reordering", late=0.001, detour="1ms")
    dropped = soon.link_metrics["btl_forward"]["total_qdisc_drops_l2"]
    assert soon.flow_metrics["flow_1"]["total_retransmissions_l4"] == dropped
    rarely, often = (run("reordering", late=late, detour="20ms") for late in (0.001, 0.01))
    assert goodput(often) < goodput(rarely) < untouched
    lost = often.link_metrics["btl_forward"]
    assert lost["total_qdisc_drops_l2"] == 0


def test_late_packets_are_as_losses_to_new_reno() -> None:
    """A packet that is late by more than three is taken for a lost one, so the window follows the
    law of the square root of their probability (Ott et al., see above) from above; below, Padhye's
    with timeouts. Three standard errors over the seeds."""
    p = 0.01
    runs = [run("reordering", late=p, detour="20ms", stop_time="60s", seed=n) for n in (1, 2, 3, 4)]
    measured = [goodput(result) * 1e6 / SEGMENT_BITS for result in runs]
    rtt = fmean(result.flow_metrics["flow_1"]["mean_srtt_l4"] for result in runs) / 1000
    timeouts = min(1, 3 * sqrt(3 * p / 8)) * p * (1 + 32 * p**2)
    below = 1 / (rtt * sqrt(2 * p / 3) + timeouts)
    error = 3 * stdev(measured) / sqrt(len(measured))
    assert below - error <= fmean(measured) <= 1.3098 / sqrt(p) / rtt + error


@pytest.mark.parametrize("order", ["kept", "free"])
def test_packets_overtake_where_they_may(tmp_path: Path, order: str) -> None:
    scenario = REGISTRY["jitter"].scenario("TcpNewReno", spread="20ms", order=order, stop_time="5s")
    trace = tmp_path / "packets.csv"
    NATIVE.simulate(scenario, packets=trace)
    rows = [line.split(",") for line in trace.read_text().splitlines()]
    bottleneck = [row for row in rows if row[1] == "btl_forward"]
    sent = [row[4] for row in bottleneck if row[2] == "tx"]
    came = [row[4] for row in bottleneck if row[2] == "rx"]
    assert (came == sent[: len(came)]) == (order == "kept")


@pytest.mark.parametrize("burst", [1, 5, 20])
def test_bursts_lose_what_they_are_to_lose(burst: int) -> None:
    """The share of a two-state chain in n packets has the variance of n p (1 - p) (1 + r) / (1 - r)
    over n squared, r being the correlation of neighbours; four standard deviations of it."""
    loss = 0.02
    result = run("bursty_loss", "TcpBbr", loss=loss, burst=burst, stop_time="60s")
    links = result.recording.links
    forward = links["name"].index("btl_forward")
    packets, lost = links["tx_packets"][forward], links["loss_dropped"][forward]
    correlation = 1 - 1 / burst - loss / (1 - loss) / burst
    spread = sqrt(loss * (1 - loss) * (1 + correlation) / (1 - correlation) / packets)
    assert lost / packets == pytest.approx(loss, abs=4 * spread)


def test_the_same_loss_in_longer_bursts_costs_new_reno_less() -> None:
    """A burst within a round trip is one signal: with bursts of 5 packets there are a fifth of the
    signals, and a rate is as the root of that (RFC 5348 section 3.1), less where bursts last
    longer.
    """
    single, bursts = (
        fmean(goodput(run("bursty_loss", loss=0.005, burst=b, seed=s)) for s in range(1, 6))
        for b in (1, 5)
    )
    assert 0.8 * sqrt(5) < bursts / single < sqrt(5)


@pytest.mark.parametrize("rate", ["4Mbps", "16Mbps"])
@pytest.mark.parametrize("cc", ["TcpNewReno", "TcpCubic", "TcpBbr"])
def test_nobody_gets_more_through_a_policer_than_its_bucket_lets(cc: str, rate: str) -> None:
    """What passes in a time t is at most burst + rate t, exactly."""
    result = run("policer", cc, rate=rate, burst="30ms")
    bits = int(rate.removesuffix("Mbps")) * 1e6
    received = result.recording.flow_samples.array("received_bytes")
    passed = received[-1] * 8 * 1500 / 1448
    assert passed <= bits * (15 + 0.03)
    assert result.link_metrics["btl_forward"]["total_qdisc_drops_l2"] > 0


@pytest.mark.parametrize("cc", ["TcpNewReno", "TcpCubic", "TcpBbr"])
def test_a_policer_starves_nobody(cc: str) -> None:
    """That a tenth of its rate is enough is a judgement: theory has no bound for a bucket this
    small."""
    assert goodput(run("policer", cc, rate="4Mbps", burst="30ms")) >= 0.4


def test_datagrams_take_what_they_send_and_tcp_no_more_than_they_leave() -> None:
    """The source is on for half of the time: its mean over N exponential periods of either kind has
    a relative standard deviation of at most 1 / sqrt(N); four of them."""
    runs = [run("cross_traffic", load=0.4, stop_time="60s", seed=seed) for seed in range(1, 5)]
    sent = [goodput(result, "flow_2") for result in runs]
    offered = 0.4 * 20
    periods = 4 * 60 / 1.0
    assert fmean(sent) <= offered * (1 + 4 / sqrt(periods))
    # What does not come was dropped by the queue, and some of what was dropped were datagrams.
    dropped = fmean(one.link_metrics["btl_forward"]["total_qdisc_drops_l2"] for one in runs)
    assert fmean(sent) >= offered * (1 - 4 / sqrt(periods)) - dropped * 1200 * 8 / 60e6
    for result, datagrams in zip(runs, sent, strict=True):
        left = 20 - datagrams * 1230 / 1200
        assert 0 < goodput(result) <= left * SEGMENT_BITS / FRAME_BITS


def test_tcp_the_other_way_costs_no_packet_of_its_own_direction() -> None:
    """ACKs take 54 B for 1502 B the other way, so that both directions could be full; that each is
    at least half full is a judgement: ACKs that wait behind data make bursts, which cost."""
    result = run("cross_traffic", load=0.1, reverse="tcp", stop_time="30s")
    assert goodput(result, "flow_3") > 0.5 * 20 * SEGMENT_BITS / FRAME_BITS
    assert goodput(result, "flow_1") > 0.5 * 18 * SEGMENT_BITS / FRAME_BITS


@pytest.mark.parametrize("p", [0.0005, 0.001, 0.002])
def test_cubic_under_random_loss_follows_its_response_function(p: float) -> None:
    """RFC 9438, section 5, figure 6: the mean window in segments is that of the cubic region,
    (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4), with C = 0.4 and beta = 0.7
    1.054 (RTT / p)^(3/4), or of the Reno-friendly region, 1.22 / sqrt(p), whichever is larger:
    the latter at this round trip (`test_theory_of_cubic.py` has the former). The
    model loses a packet at equal distances 1 / p; Poisson
    losses change the mean window by a factor between that of Reno, 1.3098 / 1.2247, up and
    down, to which three standard errors over the seeds come. Beyond the link's capacity nothing
    grows."""
    runs = [
        run("loss_resilience", "TcpCubic", loss=p, stop_time="60s", seed=seed)
        for seed in range(1, 6)
    ]
    flows = [result.flow_metrics["flow_1"] for result in runs]
    rtt = fmean(flow["mean_srtt_l4"] for flow in flows) / 1000
    windows = [flow["mean_throughput_l7"] * 1e6 / SEGMENT_BITS * rtt for flow in flows]
    cubic = (0.4 * (3 + 0.7) / (4 * (1 - 0.7))) ** 0.25 * rtt**0.75 / p**0.75
    theory = max(cubic, sqrt(1.5) / sqrt(p))
    capacity = 16e6 / FRAME_BITS * rtt
    error = 3 * stdev(windows) / sqrt(len(windows))
    poisson = 1.3098 / sqrt(1.5)
    low = min(theory / poisson, capacity * 0.9)
    assert low - error <= fmean(windows) <= min(theory * poisson, capacity) + error


def test_under_equal_random_losses_new_reno_shares_by_round_trips() -> None:
    """T. V. Lakshman, U. Madhow, "The performance of TCP/IP for networks with high
    bandwidth-delay products and random loss", 1997: with losses that come to each packet alike,
    shares are as 1 / RTT; timeouts, as long for both, draw them together (Padhye et al., see
    above). Three standard errors over the seeds."""
    p, near, far = 0.01, 0.02, 0.08
    ratios = []
    for seed in range(1, 9):
        scenario = dumbbell(
            rate="1Gbps",
            qlen="1000p",
            rtts=["20ms", "80ms"],
            cc=["TcpNewReno"] * 2,
            loss=p,
            seed=seed,
            stop_time="60s",
        )
        flows = campaign.simulate(campaign.Point(scenario), NATIVE).flow_metrics
        ratios.append(flows["flow_1"]["mean_throughput_l7"] / flows["flow_2"]["mean_throughput_l7"])
    timeouts = min(1, 3 * sqrt(3 * p / 8)) * p * (1 + 32 * p**2)
    law = sqrt(2 * p / 3)
    error = 3 * stdev(ratios) / sqrt(len(ratios))
    least = (far * law + timeouts) / (near * law + timeouts)
    assert least - error <= fmean(ratios) <= far / near + error


def test_new_reno_prefers_the_shorter_round_trip_by_its_square_at_most() -> None:
    """Lakshman and Madhow, see above: 2 is the exponent where all flows hear of each loss. A tail
    of a queue that flows reach in phase may favour one of them beyond any such law (S. Floyd,
    V. Jacobson, "On traffic phase effects in packet-switched gateways", 1991): no more is asked."""
    given = {"k": 2, "rtts": "[20ms,80ms]", "path": "static.default", "stop_time": "120s"}
    result = run("steady_state_rtt_fairness", **given)
    near, far = (result.flow_metrics[f"flow_{i}"] for i in (1, 2))
    ratio = far["mean_srtt_l4"] / near["mean_srtt_l4"]
    assert 1 < near["mean_throughput_l7"] / far["mean_throughput_l7"] <= ratio**2


@pytest.mark.parametrize("name", REGISTRY)
def test_nothing_is_faster_than_its_link_or_sooner_than_light(name: str) -> None:
    """What a link of constant rate sends in a time t is at most rate t and the packet that has
    begun; no smoothed round trip is below propagation. For every experiment, whatever it does."""
    result = run(name)
    recording, scenario = result.recording, result.scenario
    names = recording.links["name"]
    sent = recording.links["tx_bytes"]
    stop = _native.parse_time(scenario.stop_time) / 1e9
    for link in scenario.links:
        changes = [change for change in scenario.changes if change.link == link.name]
        rates = [link.rate, *(change.rate for change in changes if change.rate)]
        fastest = max(
            [_native.parse_rate(rate) for rate in rates]
            + [rate for schedule in link.schedules for rate in schedule.rates_bps or ()]
        )
        for word in ("forward", "reverse"):
            assert sent[names.index(f"{link.name}_{word}")] * 8 <= fastest * stop + FRAME_BITS
    if any(change.delay for change in scenario.changes) or scenario.links[0].schedules:
        return  # the path has become shorter or longer
    for flow, srtt in result.flow_metrics.items():
        if "min_srtt_l4" in srtt:
            position = recording.flows["name"].index(flow)
            assert srtt["min_srtt_l4"] * 1e6 >= recording.flows["base_rtt_ns"][position]


@pytest.mark.parametrize("k", [1, 2])
def test_codel_keeps_the_standing_queue_at_its_target(k: int) -> None:
    """RFC 8289, section 3: the least sojourn time of an interval (100 ms) is to be below the target
    (5 ms): it is, but for the intervals in which drops begin to act, each time that NewReno's
    sawtooth has come up. So it is above in no more of them than under FIFO, which does nothing."""
    assert standing(k, "codel") <= standing(k, "fifo")


@pytest.mark.parametrize("k", [1, 2])
def test_under_codel_a_queue_stands_less_than_half_of_the_time(k: int) -> None:
    """How often drops have to begin to act again is a judgement."""
    assert standing(k, "codel") < 0.5


def standing(k: int, qdisc: str) -> float:
    """The share of intervals of 100 ms in which every packet waited for more than 5 ms."""
    scenario = REGISTRY["aqm"].scenario("TcpNewReno", k=k, qdisc=qdisc, stop_time="30s")
    samples = {"links": ["btl"], "interval": "1ms"}
    recorded = scenario.model_validate(
        {**scenario.model_dump(), "recording": {"interval": "30ms", "queues": samples}}
    )
    recording = NATIVE.simulate(recorded)
    forward = recording.links["name"].index("btl_forward")
    queue = recording.queue_samples
    sojourn = queue.array("sojourn_ns")[queue.array("link") == forward] / 1e6
    idle = queue.array("qdisc_packets")[queue.array("link") == forward] == 0
    sojourn = np.where(idle, 0.0, sojourn)[len(sojourn) // 6 :]
    intervals = sojourn[: len(sojourn) // 100 * 100].reshape(-1, 100).min(axis=1)
    return float(np.mean(intervals > 5))


@pytest.mark.parametrize(("on", "off"), [("200ms", "500ms"), ("1s", "2s")])
def test_an_application_gets_no_more_than_it_writes(on: str, off: str) -> None:
    """On for a share of the time, at 30 Mbps, beginning with a silence; TCP carries at most the
    link's 20 Mbps, and what the pauses leave to be made up for."""
    result = run("application_limited", on=on, off=off)
    on_s, off_s = (_native.parse_time(text) / 1e9 for text in (on, off))
    cycles = np.ceil(15 / (on_s + off_s))
    assert 0 < goodput(result) <= min(cycles * on_s * 30 / 15, 20)


def test_bbr_keeps_two_bandwidth_delay_products_in_flight_at_most() -> None:
    """N. Cardwell et al., "BBR: congestion-based congestion control", 2016: beyond start-up what is
    in flight is at most cwnd_gain 2 times the estimated product; the bandwidth is estimated no
    higher than the link's, the round trip no lower than the path's, and some packets of quanta
    come on top (three segments of send quantum, and ns-3 rounds up by as many)."""
    result = run("buffer_sizing", "TcpBbr", buffer=10, k=1, stop_time="30s")
    samples = result.recording.flow_samples
    in_flight = samples.array("in_flight_bytes") / 1448
    later = in_flight[len(in_flight) // 2 :]
    product = 50e6 * 0.04 / FRAME_BITS
    assert later.max() <= 2 * product + 2 * 3
    assert result.link_metrics["btl_forward"]["total_qdisc_drops_l2"] == 0


def test_many_flows_fill_the_queue_and_are_alike_whoever_came_first() -> None:
    """1,000 flows are more than pipe and queue have packets for two of each: the link is never
    idle, and nobody waits for longer than a full queue takes. Flows that differ in nothing but
    when they start within a second share alike on average: two halves of them within five
    standard errors."""
    result = run("many_flows", k=1000)
    link = result.link_metrics["btl_forward"]
    queue = round(500e6 * 0.04 / 12_000)
    assert link["p99_sojourn_l2"] <= queue * FRAME_BITS / 500e6 * 1e6
    assert link["steady_mean_utilization_l1"] >= 100 * (1 - FRAME_BITS / 500e6 / 0.03)
    flows = [flow["mean_throughput_l7"] for flow in result.flow_metrics.values()]
    half = len(flows) // 2  # of those that are sampled
    one, other = flows[:half], flows[half:]
    error = sqrt((stdev(one) ** 2 + stdev(other) ** 2) / half)
    assert abs(fmean(one) - fmean(other)) <= 5 * error


def test_many_flows_lose_what_their_number_makes_them_lose() -> None:
    """R. Morris, "Scalable TCP congestion control", 2000: N flows on a pipe of S packets, queue
    included, have S / N of window each, and by the square root law lose at least (0.87 N / S)^2 of
    their packets (0.76 N^2 / S^2, RFC 7928, 8.2.1); they fill the pipe, so lose some. A law for the
    mean without timeouts is right within a factor, here taken as 4: a judgement."""
    result = run("many_flows", k=380)
    projected = 0.76 * (380 / (2 * 500e6 * 0.04 / 12_000)) ** 2
    loss = result.link_metrics["btl_forward"]["loss_rate_l2"] / 100
    assert projected / 4 <= loss <= 4 * projected


@pytest.mark.parametrize(("direction", "rate"), [("up", 16), ("down", 4)])
def test_after_a_step_of_the_rate_new_reno_uses_the_new_one(direction: str, rate: int) -> None:
    """A buffer of a bandwidth-delay product or more keeps the link busy through each halving; what
    is lost is a round trip of recovery in a cycle, of W / 2 = 10 round trips at least. What is in
    flight afterwards is what link and queue hold at most."""
    result = run("responsiveness_step", target="rate", direction=direction, stop_time="60s")
    steady = result.flow_metrics["flow_1"]
    assert 100 * (1 - 1 / 10) <= steady["steady_mean_goodput_share_l7"] <= 100 * (1 + 1e-3)
    product = rate * 1e6 * 0.015 / FRAME_BITS
    assert steady["steady_mean_in_flight_l4"] <= product + 20 + 2
    assert steady["response_time_l4"] <= steady["settling_time_l4"]


def test_a_longer_round_trip_is_filled_as_fast_as_a_window_grows() -> None:
    """The rate stays at 16 Mbps while the round trip alternates between 15 and 60 ms, 2.5 s each.
    20 packets of queue are a product of the short one, so that a halved window keeps the link busy
    there: it swings between 20 packets and 40, and one that stands there when the path becomes
    longer. Then 80 fit, and it grows by one in each of 42 round trips without ever reaching 100.
    A round trip of recovery a wave is left."""
    result = run("responsiveness_pulse_wave", target="rtt", stop_time="60s")
    share = result.flow_metrics["flow_1"]["steady_mean_goodput_share_l7"] / 100
    product, grows, recovery = 16e6 * 0.06 / FRAME_BITS, 2.5 / 0.06, 0.06 / 5
    least, most = ((begin + grows / 2) / product for begin in (20, 41))
    assert (1 + least) / 2 - recovery <= share <= (1 + most) / 2 + recovery


@pytest.mark.parametrize("bw", ["32Mbps", "64Mbps"])
def test_under_codel_a_long_fat_pipe_is_filled_by_three_quarters_at_least(bw: str) -> None:
    """Whatever CoDel makes of the queue, NewReno's window swings between W / 2 and W with a mean of
    3 W / 4, and W is no less than the product, or nothing would wait and be dropped. Of W / 2 round
    trips between two losses one is recovery."""
    result = run("scalability", bw=bw, rtt="15ms", stop_time="60s")
    product = _native.parse_rate(bw) * 0.015 / FRAME_BITS
    least = 75 * (1 - 1 / (product / 2))
    assert result.flow_metrics["flow_1"]["steady_mean_goodput_share_l7"] >= least


@pytest.mark.parametrize("trace", ["0.57mbps-poisson.trace", "lte-like.csv"])
def test_nothing_gets_through_a_trace_that_it_does_not_let(trace: str) -> None:
    """What is sent is no more than the rate's integral; the payload of that is 1448 of 1502 B."""
    result = run("replay_rate_trace", trace_file=trace)
    samples = result.recording.link_samples
    forward = result.recording.links["name"].index("btl_forward")
    rows = samples.array("link") == forward
    allowed = samples.array("rate_bps")[rows].astype(float)
    sent = samples.array("tx_bytes")[rows][-1] * 8
    # A rate stands at each point of the grid for the interval before; within one it may vary.
    assert sent <= allowed.sum() * 0.03 + allowed.max() * 0.03 + FRAME_BITS
    assert result.flow_metrics["flow_1"]["mean_throughput_l7"] <= sent * 1448 / 1502 / 15e6 * 1.001


def test_acks_in_bursts_change_no_mean_but_the_queue() -> None:
    """ACKs wait up to an interval for their slot: a round trip is longer by one at most, so a
    window of product and queue still fills the link as long as they cover it."""
    result = run("ack_compression", interval="5ms", quota=10, stop_time="60s")
    flow = result.flow_metrics["flow_1"]
    assert flow["p50_srtt_l4"] <= 15 + 20 * 1502 * 8 / 16e3 + 5 + 1
    assert flow["steady_mean_goodput_share_l7"] <= 100 * (1 + 1e-3)


def test_marks_cost_new_reno_no_packet() -> None:
    """RFC 3168: a mark halves the window as a loss does, and nothing is sent again for it."""
    result = run("ecn", k=1, ce_threshold="1ms", stop_time="60s")
    queue = result.link_metrics["btl_forward"]
    assert queue["total_qdisc_marks_l2"] > 0
    later = result.flow_metrics["flow_1"]["steady_retransmission_rate_l4"]
    assert later == 0


def test_a_walk_within_bounds_carries_what_its_bounds_allow() -> None:
    result = run("random_walk", stop_time="30s")
    rates = result.recording.link_samples.array("rate_bps")
    assert result.flow_metrics["flow_1"]["mean_throughput_l7"] * 1e6 <= rates.max() * 1448 / 1502


@pytest.mark.parametrize("n", [2, 4])
def test_one_of_a_kind_among_many_has_its_share_of_the_number(n: int) -> None:
    """Flows of one algorithm with one round trip hear losses alike: one against n of its own kind
    has 1 / (n + 1) in the mean over many seeds, by symmetry; five standard errors are allowed."""
    shares = []
    for seed in range(1, 9):
        result = run("n_against_one", against="TcpNewReno", n=n, stop_time="60s", seed=seed)
        flows = [flow["mean_throughput_l7"] for flow in result.flow_metrics.values()]
        shares.append(flows[0] / sum(flows))
    assert len(flows) == n + 1
    error = stdev(shares) / sqrt(len(shares))
    assert abs(fmean(shares) - 1 / (n + 1)) <= 5 * error


def test_two_of_a_kind_do_each_other_half_the_harm() -> None:
    """By symmetry, too: each has half, so the harm is half, give or take the link's idle times."""
    harms = [
        run("competition", against="TcpNewReno", stop_time="60s", seed=seed).flow_metrics
        for seed in range(1, 9)
    ]
    first = [flows["flow_1"]["harm_throughput_l4"] for flows in harms]
    second = [flows["flow_2"]["harm_throughput_l4"] for flows in harms]
    differences = [one - other for one, other in zip(first, second, strict=True)]
    assert abs(fmean(differences)) <= 5 * stdev(differences) / sqrt(len(differences))
    # Both together have no more than the link: their harms add up to 1 at least.
    assert all(one + other >= 1 - 0.02 for one, other in zip(first, second, strict=True))


def test_a_short_flow_takes_as_many_round_trips_as_slow_start_needs() -> None:
    """RFC 6928: an initial window of 10 segments doubles each round trip; so many round trips, and
    one to connect, are the least that a transfer takes."""
    result = run("short_against_long", stop_time="15s")
    completions = result.recording.completions
    assert completions is not None
    sizes = completions.array("size_bytes")
    times = (completions.array("end_ns") - completions.array("start_ns")) / 1e9
    rows = (sizes > 0) & (completions.array("finished") == 1)
    rounds = np.ceil(np.log2(sizes[rows] / (10 * 1448) + 1))
    assert rows.any()
    assert (times[rows] >= (1 + rounds) * 0.040 - 1e-9).all()
