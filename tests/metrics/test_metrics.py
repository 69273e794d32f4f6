"""Metrics against closed forms, and the properties that hold for any samples."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import ccperf
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.metrics import METRICS, compute
from ccperf.runs.metrics.link_series import LinkSeries
from recordings import INTERVAL_NS, Dumbbell


def flow(dumbbell: Dumbbell, name: str = "flow_1") -> dict[str, float]:
    return dumbbell.metrics().flow[name]


def network(dumbbell: Dumbbell) -> dict[str, float]:
    return dumbbell.metrics().network["net"]


def link(dumbbell: Dumbbell) -> dict[str, float]:
    return dumbbell.metrics().link["btl_forward"]


def counter(per_interval: object, points: int) -> np.ndarray:
    """Return a counter that starts at 0 and grows by `per_interval` from point to point."""
    steps = np.broadcast_to(np.asarray(per_interval, dtype=np.int64), (points - 1,))
    return np.concatenate([[0], np.cumsum(steps)])


# The registry.


def test_every_metric_explains_itself() -> None:
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.layer in {"l1", "l2", "l3", "l4", "l7"}
        assert metric.unit
        assert metric.formula in metric.definition
        assert metric.better in {"higher", "lower", None}
        # A sampled metric explains the grid, a counter does not.
        assert ("t_k" in metric.formula) == ("t_k = k x interval" in metric.definition)


def test_the_scopes_have_the_published_tables_metrics() -> None:
    """And ours beside them."""
    scopes = Counter(metric.scope for metric in METRICS.values() if metric.window == "whole")
    assert scopes == {"flow": 31, "link": 14, "network": 18, "class": 28}


# Closed forms.


def test_constant_rates_and_states() -> None:
    points = 500
    # 60,000 B in 30 ms are 16 Mbps.
    dumbbell = Dumbbell(
        points=points,
        rate_bps=32_000_000,
        samples={
            "received_bytes": counter(60_000, points),
            "read_bytes": counter(30_000, points),
            "sent_bytes": counter(66_000, points),
            "written_bytes": counter(120_000, points),
            "acked_bytes": counter(45_000, points),
            "cwnd_bytes": 14_480,
            "in_flight_bytes": 7_240,
            "srtt_ns": 20_000_000,
            "idt_ewma_ns": 750_000,
            "one_way_delay_ns": 1_250_000,
        },
        counters={
            "retransmissions": [7],
            "rtos": [2],
            "recovery_episodes": [4],
            "recovery_time_ns": [100_000_000],
        },
    )
    expected = {
        "mean_throughput_l4": 16,
        "cov_throughput_l4": 0,
        "mean_throughput_l7": 8,
        "mean_sending_rate_l4": 17.6,
        "mean_sending_rate_l7": 32,
        "mean_delivery_rate_l4": 12,
        "mean_cwnd_l4": 10,
        "mean_in_flight_l4": 5,
        "cov_in_flight_l4": 0,
        "mean_srtt_l4": 20,
        "mean_est_qdelay_l4": 5,
        "mean_network_power_l4": 800,
        "mean_utility_pf_l4": math.log(16),
        "mean_utility_mpdf_l4": -1 / 16,
        "mean_utilization_bw_l4": 0.5,
        # 5 x 1560 B over 32 Mbps x 15 ms = 60,000 B.
        "mean_utilization_bdp_l4": 5 * 1560 / 60_000,
        "mean_idt_ewma_l4": 0.75,
        "mean_one_way_delay_l7": 1.25,
        "mean_recovery_time_l4": 25,
        "flow_completion_time_l4": 15,
        "total_retransmissions_l4": 7,
        "total_rtos_l4": 2,
    }
    found = flow(dumbbell)
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    expected = {
        "mean_agg_throughput_l4": 16,
        "mean_agg_in_flight_l4": 5,
        "mean_agg_utilization_bw_l4": 0.5,
        "mean_agg_utilization_bdp_l4": 0.13,
        "mean_agg_utility_pf_l4": math.log(16),
        "mean_agg_utility_mpdf_l4": -1 / 16,
        "mean_jains_fairness_throughput_l4": 1,
        "mean_entropy_fairness_throughput_l4": 0,
        "mean_product_fairness_throughput_l4": 16,
    }
    found = network(dumbbell)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_a_sawtooth_has_the_moments_of_a_uniform_distribution() -> None:
    # AIMD between W/2 and W in whole segments: mean 3W/4; n values of equal step have the
    # sample variance step^2 n (n + 1) / 12.
    teeth, low, high = 10, 20, 40
    tooth = np.arange(low, high)
    window = np.concatenate([[0], np.tile(tooth, teeth)]) * 1448
    metrics = flow(Dumbbell(points=len(window), samples={"in_flight_bytes": window}))
    n, k = len(tooth), teeth
    squares = k * n * (n * n - 1) / 12
    mean = (low + high - 1) / 2
    assert metrics["mean_in_flight_l4"] == pytest.approx(mean)
    assert metrics["cov_in_flight_l4"] == pytest.approx(math.sqrt(squares / (k * n - 1)) / mean)


def test_point_0_is_no_sample() -> None:
    points = 3
    dumbbell = Dumbbell(
        points=points,
        samples={"cwnd_bytes": [1_000_000, 1448, 2896], "srtt_ns": [1e9, 2e6, 4e6]},
        link_samples={"qdisc_packets": [1000, 1, 3], "sojourn_ns": [1e9, 1e6, 3e6]},
    )
    assert flow(dumbbell)["mean_cwnd_l4"] == 1.5
    assert flow(dumbbell)["mean_srtt_l4"] == 3
    assert link(dumbbell)["mean_qdisc_length_l2"] == 2
    assert link(dumbbell)["mean_qdisc_delay_l2"] == 2


def test_rates_are_rounded_down_to_whole_bits_per_second() -> None:
    # 1 B in 30 ms is 266.67 bit/s.
    dumbbell = Dumbbell(points=2, samples={"received_bytes": [0, 1]})
    assert flow(dumbbell)["mean_throughput_l4"] == 266 / 1e6


@given(st.integers(0, 2**33), st.sampled_from([1_000, 7_919, 30_000_000, 10**9, 10**9 + 7, 10**10]))
def test_the_rounding_is_exact_for_any_interval(step: int, interval_ns: int) -> None:
    dumbbell = Dumbbell(points=2, interval_ns=interval_ns, samples={"read_bytes": [0, step]})
    assert flow(dumbbell)["mean_throughput_l7"] == (step * 8 * 10**9 // interval_ns) / 1e6


def test_srtt_is_rounded_to_whole_microseconds_and_sojourn_down_to_milliseconds() -> None:
    dumbbell = Dumbbell(
        points=2, samples={"srtt_ns": 16_000_500}, link_samples={"sojourn_ns": 5_999_999}
    )
    assert flow(dumbbell)["mean_srtt_l4"] == 16.001
    assert link(dumbbell)["mean_qdisc_delay_l2"] == 5


def test_a_rate_step_counts_from_the_interval_after_it() -> None:
    # The table's rate at a grid point is already that of the interval which ends there.
    rates = [16_000_000, 16_000_000, 32_000_000]
    dumbbell = Dumbbell(
        points=3,
        rate_bps=rates,
        samples={"received_bytes": counter(60_000, 3), "in_flight_bytes": 14_480},
    )
    assert flow(dumbbell)["mean_utilization_bw_l4"] == pytest.approx((1 + 0.5) / 2)
    assert flow(dumbbell)["mean_utilization_bdp_l4"] == pytest.approx(
        (15_600 / 30_000 + 15_600 / 60_000) / 2
    )


def test_a_bdp_counts_112_bytes_on_top_of_any_segment() -> None:
    dumbbell = Dumbbell(points=2, segment=8948, samples={"in_flight_bytes": 8948 * 3})
    assert flow(dumbbell)["mean_utilization_bdp_l4"] == pytest.approx(3 * 9060 / 30_000)


def test_the_segment_size_defaults_to_ns3_s() -> None:
    dumbbell = Dumbbell(points=2, samples={"cwnd_bytes": 5360})
    scenario = dumbbell.scenario()
    scenario.flows[0]["tcp"] = {}
    metrics = compute(scenario, dumbbell.recording())
    assert metrics.flow["flow_1"]["mean_cwnd_l4"] == 10


def test_power_is_the_mean_of_ratios() -> None:
    dumbbell = Dumbbell(
        points=3,
        samples={"received_bytes": [0, 60_000, 90_000], "srtt_ns": [math.nan, 20e6, 40e6]},
    )
    assert flow(dumbbell)["mean_network_power_l4"] == pytest.approx((16 / 0.02 + 8 / 0.04) / 2)


def test_there_is_no_power_over_a_round_trip_that_rounds_to_nothing() -> None:
    """Below half a microsecond: hosts side by side, and a clock in ns."""
    received = counter([3_750_000] * 2, 3)
    srtt = [np.nan, 400.0, 2_000.0]
    found = flow(Dumbbell(points=3, samples={"received_bytes": received, "srtt_ns": srtt}))
    assert found["mean_network_power_l4"] == pytest.approx(1000 / 2e-6)
    srtt = [np.nan, 400.0, 400.0]
    found = flow(Dumbbell(points=3, samples={"received_bytes": received, "srtt_ns": srtt}))
    assert "mean_network_power_l4" not in found


def test_a_product_beyond_all_doubles_is_absent() -> None:
    """256 senders of an incast made no run at all: a metric of it was infinite."""
    name = "mean_product_fairness_throughput_l4"

    def product(flows: int, idle: int = 0) -> float | None:
        each = [counter(0 if i < idle else 60_000, 4) for i in range(flows)]
        dumbbell = Dumbbell(
            flows=flows, points=4, samples={"received_bytes": np.stack(each, axis=1)}
        )
        return network(dumbbell).get(name)

    assert product(200) == pytest.approx(16.0**200)
    assert product(250) is None
    assert product(300) is None
    # Nobody is first to be multiplied: the others' product is infinite when it is their turn.
    assert product(300, idle=1) == 0


def test_two_unequal_flows() -> None:
    # Shares 3:1 in every interval.
    samples = np.stack([counter(45_000, 9), counter(15_000, 9)], axis=1)
    metrics = network(Dumbbell(flows=2, points=9, samples={"received_bytes": samples}))
    assert metrics["mean_jains_fairness_throughput_l4"] == pytest.approx(16 / (2 * 10))
    assert metrics["mean_entropy_fairness_throughput_l4"] == pytest.approx(
        -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    )
    assert metrics["mean_product_fairness_throughput_l4"] == pytest.approx(12 * 4)
    assert metrics["mean_agg_utility_pf_l4"] == pytest.approx(math.log(12) + math.log(4))
    assert metrics["mean_agg_utility_mpdf_l4"] == pytest.approx(-1 / 12 - 1 / 4)


# Values that do not exist.


def test_a_metric_without_samples_is_absent() -> None:
    metrics = flow(Dumbbell(points=10))
    for name in (
        "mean_srtt_l4",
        "mean_est_qdelay_l4",
        "mean_network_power_l4",
        "mean_utility_pf_l4",
        "mean_utility_mpdf_l4",
        "mean_idt_ewma_l4",
        "mean_one_way_delay_l7",
        "mean_recovery_time_l4",
        "cov_throughput_l4",
        "cov_in_flight_l4",
    ):
        assert name not in metrics
    assert metrics["mean_throughput_l4"] == 0
    assert "mean_jains_fairness_throughput_l4" not in network(Dumbbell(flows=2, points=10))


def test_states_before_the_first_value_are_left_out_of_the_mean() -> None:
    dumbbell = Dumbbell(points=4, samples={"srtt_ns": [math.nan, math.nan, 20e6, 30e6]})
    assert flow(dumbbell)["mean_srtt_l4"] == 25


def test_a_link_without_queue_discipline_has_no_queue_metrics() -> None:
    dumbbell = Dumbbell(points=4, qdisc=False, link_samples={"tx_bytes": counter(60_000, 4)})
    found = {name: value for name, value in link(dumbbell).items() if "steady" not in name}
    assert found == {"mean_sending_rate_l1": 16, "mean_utilization_l1": 100, "used_capacity_l1": 0}


def test_only_the_flows_bottlenecks_have_link_metrics() -> None:
    dumbbell = Dumbbell(points=4)
    assert list(dumbbell.metrics().link) == ["btl_forward"]


@pytest.mark.parametrize("points", [1, 2])
def test_the_shortest_recordings(points: int) -> None:
    dumbbell = Dumbbell(points=points, samples={"received_bytes": counter(60_000, points)})
    metrics = flow(dumbbell)
    assert ("mean_throughput_l4" in metrics) == (points == 2)
    assert "cov_throughput_l4" not in metrics
    assert metrics["total_rtos_l4"] == 0


# Flows that start late, stop early or finish.


def test_a_late_flow_s_means_are_over_the_whole_run() -> None:
    # Absent for the first half, 16 Mbps in the second.
    received = counter([0] * 10 + [60_000] * 10, 21)
    dumbbell = Dumbbell(
        points=21,
        samples={"received_bytes": received},
        counters={"start_ns": [10 * INTERVAL_NS]},
    )
    metrics = flow(dumbbell)
    assert metrics["mean_throughput_l4"] == 8
    assert metrics["mean_utility_pf_l4"] == pytest.approx(math.log(16))
    assert metrics["flow_completion_time_l4"] == pytest.approx(11 * 0.03)


def test_fairness_while_one_of_two_flows_is_absent() -> None:
    samples = np.stack([counter(60_000, 5), counter([0, 0, 60_000, 60_000], 5)], axis=1)
    metrics = network(Dumbbell(flows=2, points=5, samples={"received_bytes": samples}))
    assert metrics["mean_jains_fairness_throughput_l4"] == pytest.approx((0.5 + 1) / 2)
    assert metrics["mean_entropy_fairness_throughput_l4"] == pytest.approx(math.log(2) / 2)
    assert metrics["mean_agg_throughput_l4"] == pytest.approx((16 + 32) / 2)
    assert metrics["mean_agg_utility_pf_l4"] == pytest.approx(1.5 * math.log(16))


def test_what_a_flow_measured_last_does_not_count_once_it_has_ended() -> None:
    """Else 200 ms would count for the 12 s in which nothing is measured."""
    # 100 ms for the first second, then 200 ms; it ends after 3 s of 15.
    rtt = np.where(np.arange(500) * INTERVAL_NS <= 10**9, 100_000_000, 200_000_000)
    living = {"srtt_ns": rtt, "idt_ewma_ns": rtt, "one_way_delay_ns": rtt}
    metrics = flow(Dumbbell(samples=living, counters={"completion_ns": [3e9]}))
    mean = (33 * 100 + 67 * 200) / 100
    assert metrics["mean_srtt_l4"] == pytest.approx(mean)
    assert metrics["mean_est_qdelay_l4"] == pytest.approx(mean - 15)
    assert metrics["mean_idt_ewma_l4"] == pytest.approx(mean)
    assert metrics["mean_one_way_delay_l7"] == pytest.approx(mean)
    assert metrics["p50_srtt_l4"] == 200
    assert "steady_mean_srtt_l4" not in metrics


def test_a_flow_that_ends_within_its_first_interval_has_its_round_trip() -> None:
    samples = {"srtt_ns": 20_000_000}
    metrics = flow(Dumbbell(samples=samples, counters={"completion_ns": [25e6]}))
    assert metrics["mean_srtt_l4"] == metrics["p99_srtt_l4"] == 20


def test_a_finished_transfer_ends_at_its_completion() -> None:
    dumbbell = Dumbbell(
        flows=3,
        points=500,
        counters={
            "start_ns": [0, 10**9, 2 * 10**9],
            "stop_ns": [15 * 10**9, 5 * 10**9, 15 * 10**9],
            "completion_ns": [math.nan, math.nan, 3.25e9],
        },
    )
    times = [
        flow(dumbbell, name)["flow_completion_time_l4"] for name in ("flow_1", "flow_2", "flow_3")
    ]
    assert times == [15, 4, 1.25]


# Properties.

steps = hnp.arrays(
    np.int64,
    st.tuples(st.integers(1, 12), st.integers(1, 6)),
    elements=st.integers(0, 10**9),
)


@given(steps)
def test_fairness_stays_within_its_bounds(steps: np.ndarray) -> None:
    n = steps.shape[1]
    received = np.concatenate([np.zeros((1, n), dtype=np.int64), np.cumsum(steps, axis=0)])
    dumbbell = Dumbbell(flows=n, points=len(received), samples={"received_bytes": received})
    tables = dumbbell.metrics()
    metrics = tables.network["net"]
    if steps.any():
        assert 1 / n - 1e-9 <= metrics["mean_jains_fairness_throughput_l4"] <= 1 + 1e-9
        assert -1e-9 <= metrics["mean_entropy_fairness_throughput_l4"] <= math.log(n) + 1e-9
    # The aggregate is the sum of the flows.
    assert metrics["mean_agg_throughput_l4"] == pytest.approx(
        sum(values["mean_throughput_l4"] for values in tables.flow.values())
    )
    # No NaN and no infinity anywhere.
    json.dumps([tables.flow, tables.link, tables.network], allow_nan=False)


@given(steps, st.randoms())
def test_the_network_does_not_depend_on_the_order_of_the_flows(
    steps: np.ndarray, random: object
) -> None:
    n = steps.shape[1]
    received = np.concatenate([np.zeros((1, n), dtype=np.int64), np.cumsum(steps, axis=0)])
    order = list(range(n))
    random.shuffle(order)  # type: ignore[attr-defined]
    ours, theirs = (
        network(Dumbbell(flows=n, points=len(received), samples={"received_bytes": bytes_}))
        for bytes_ in (received, received[:, order])
    )
    assert ours == pytest.approx(theirs)


def test_one_flow_alone_is_perfectly_fair() -> None:
    metrics = network(Dumbbell(points=5, samples={"received_bytes": counter(12_345, 5)}))
    assert metrics["mean_jains_fairness_throughput_l4"] == 1
    entropy = metrics["mean_entropy_fairness_throughput_l4"]
    assert entropy == 0
    assert math.copysign(1, entropy) == 1


def test_a_recording_of_another_scenario_is_refused() -> None:
    with pytest.raises(ValueError, match="are not the scenario's"):
        compute(Dumbbell(flows=2).scenario(), Dumbbell(flows=3).recording())


def test_a_direction_s_series_are_the_same_to_the_last_bit_with_and_without_the_others() -> None:
    engine = backends.get("native")
    scenario = catalogue.get("aqm").scenario("TcpNewReno", k="5", stop_time="5s")
    recording = engine.simulate(scenario)
    every = LinkSeries(scenario, recording)
    one = LinkSeries(scenario, recording, {"btl_forward"})
    assert "btl_forward" in one.names
    assert len(one.names) < len(every.names)
    for metric in METRICS.values():
        if metric.scope == "link":
            alone = dict(zip(one.names, metric.compute(one).tolist(), strict=True))
            among = dict(zip(every.names, metric.compute(every).tolist(), strict=True))
            # Links that have none beside them have no imbalance.
            both = alone["btl_forward"], among["btl_forward"]
            assert np.array_equal(*both, equal_nan=True), metric.name


def shared(first: float, then: float, at: int, points: int = 300) -> Dumbbell:
    """Two flows of 60 kB an interval together: the share of the first one, and from `at` on."""
    share = np.where(np.arange(points) < at, first, then)
    bytes_ = np.stack([share * 60_000, (1 - share) * 60_000], axis=1).round().astype(int)
    return Dumbbell(flows=2, points=points, samples={"received_bytes": np.cumsum(bytes_, axis=0)})


def convergence(dumbbell: Dumbbell) -> float | None:
    return network(dumbbell).get("convergence_time_l4")


def test_convergence_ends_with_the_first_second_that_is_fair() -> None:
    # A second is 33 intervals of 30 ms here, the first of which begins at 0.
    assert convergence(shared(0.5, 0.5, 0)) == pytest.approx(33 * 0.03)
    # 2 to 1 is where Jain's index is 0.9: 1 / (2 (4/9 + 1/9)).
    assert convergence(shared(0.66, 0.66, 0)) == pytest.approx(33 * 0.03)
    never = network(shared(0.67, 0.67, 0))
    metric = METRICS["convergence_time_l4"]
    assert metric.name not in never
    assert metric.is_never(never)
    assert not metric.is_never(network(shared(0.66, 0.66, 0)))
    # From 100 s on fair, from 0 unfair: of 33 intervals so many must be of the second kind that
    # the first flow has at most two thirds: 0.9 (1 - a) + 0.5 a <= 2/3, a >= 7/12, 20 of 33.
    assert convergence(shared(0.9, 0.5, 100)) == pytest.approx((99 - 13 + 33) * 0.03)


def test_convergence_is_counted_from_the_last_start_and_while_all_send() -> None:
    late = replace(shared(0.5, 0.5, 0), counters={"start_ns": [0, 3_000_000_000]})
    assert convergence(late) == pytest.approx(33 * 0.03)
    short = replace(shared(0.5, 0.5, 0), counters={"stop_ns": [9_000_000_000, 2_900_000_000]})
    assert convergence(short) is None


@pytest.mark.filterwarnings("error")
def test_where_no_second_of_the_grid_is_within_what_all_send_nothing_converges() -> None:
    """A grid of 1.9 s, and three seconds that begin and end between its points."""
    both = {"start_ns": [100_000_000] * 2, "stop_ns": [3_100_000_000] * 2}
    coarse = replace(shared(0.5, 0.5, 0), points=4, interval_ns=1_900_000_000, counters=both)
    samples = {"received_bytes": np.stack([counter(60_000, 4)] * 2, axis=1)}
    assert convergence(replace(coarse, samples=samples)) is None
    assert fairness_of_seconds(replace(coarse, samples=samples)) is None


def test_one_flow_and_flows_that_end_by_themselves_do_not_converge() -> None:
    alone = network(Dumbbell(flows=1, points=300))
    assert "convergence_time_l4" not in alone
    assert not METRICS["convergence_time_l4"].is_never(alone)
    ended = replace(shared(0.5, 0.5, 0), counters={"completion_ns": [math.nan, 1e9]})
    assert convergence(ended) is None


@pytest.mark.parametrize(("size", "is_there"), [("100kB", False), ("0B", True)])
def test_datagrams_that_all_are_sent_end_a_flow_by_itself(size: str, is_there: bool) -> None:
    """Nobody acknowledges them: 100 kB at 1 Mbps are sent after 0.8 s."""
    application = {"type": "CBR", "rate": "1Mbps", "write": "1000B", "bytes": size}
    scenario = ccperf.Scenario(
        stop_time="5s",
        nodes=["a", "b"],
        links=[{"name": "wire", "ends": ["a", "b"], "rate": "10Mbps", "delay": "5ms"}],
        flows=[
            {"source": "a", "destination": "b", "cc": "cubic"},
            {"source": "a", "destination": "b", "transport": "UDP", "application": application},
        ],
    )
    found = ccperf.simulate(scenario).network_metrics["net"]
    assert ("mean_jains_fairness_1s_l4" in found) == is_there


def fairness_of_seconds(dumbbell: Dumbbell) -> float | None:
    return network(dumbbell).get("mean_jains_fairness_1s_l4")


@pytest.mark.parametrize("share", [0.5, 0.75, 1.0])
def test_fairness_of_seconds_is_jain_s_index_of_lasting_shares(share: float) -> None:
    index = 1 / (2 * (share**2 + (1 - share) ** 2))
    assert fairness_of_seconds(shared(share, share, 0)) == pytest.approx(index)


def test_flows_that_take_turns_within_a_second_share_it() -> None:
    """The mean over samples calls them as unfair as can be."""
    turns = np.cumsum(np.eye(2, dtype=int)[np.arange(300) % 2] * 60_000, axis=0)
    taking_turns = Dumbbell(flows=2, points=300, samples={"received_bytes": turns})
    assert network(taking_turns)["mean_jains_fairness_throughput_l4"] == pytest.approx(0.5)
    # 17 intervals of 33 for one, 16 for the other.
    assert fairness_of_seconds(taking_turns) == pytest.approx(33**2 / (2 * (17**2 + 16**2)))


def test_fairness_of_seconds_is_of_those_in_which_all_flows_send() -> None:
    first_alone = shared(1.0, 0.5, 100)
    late = replace(first_alone, counters={"start_ns": [0, 2_970_000_000]})
    assert fairness_of_seconds(late) == pytest.approx(1, abs=1e-3)
    assert fairness_of_seconds(first_alone) < 0.9  # type: ignore[operator]
    assert fairness_of_seconds(Dumbbell(flows=1, points=300)) is None
