"""The steady state beside the whole run, and how flows answer to what happens: closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ccperf
from ccperf.errors import ScenarioError
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs.metrics import METRICS, STEADY, STEADY_PREFIX, metric_named
from ccperf.runs.metrics.windows import phases
from ccperf.scenario import Scenario
from ccperf.store.metric_text import reduced
from recordings import Dumbbell

#: A grid of tenths of a second, 30 s long.
TENTHS: dict[str, Any] = {"points": 300, "interval_ns": 100_000_000}
#: Bytes that an interval of a tenth of a second has at 1 Mbps.
MBPS = 12_500


def received(*parts: tuple[int, float]) -> np.ndarray:
    """A counter of bytes: so many intervals at so many Mbps, one part after the other."""
    steps = np.concatenate([np.full(count, int(rate * MBPS)) for count, rate in parts])
    return np.concatenate([[0], np.cumsum(steps)])


def flow(made: Dumbbell, name: str = "flow_1") -> dict[str, float]:
    return made.metrics().flow[name]


def network(made: Dumbbell) -> dict[str, float]:
    return made.metrics().network["net"]


def test_every_metric_of_the_grid_but_those_of_an_answer_has_one_of_the_steady_state() -> None:
    for name, metric in METRICS.items():
        of_answer = "the event" in metric.formula or "start of the last" in metric.formula
        sampled = "t_k = k x interval" in metric.definition and not of_answer
        if metric.window == "whole":
            assert (STEADY_PREFIX + name in METRICS) == sampled, name
        else:
            whole = METRICS[name.removeprefix(STEADY_PREFIX)]
            assert metric.definition == f"{whole.definition}\n\n{STEADY}"
            assert (metric.unit, metric.better, metric.scope) == (
                whole.unit,
                whole.better,
                whole.scope,
            )


def test_the_steady_state_is_what_is_left_after_a_third() -> None:
    made = Dumbbell(**TENTHS, samples={"received_bytes": received((100, 1), (199, 4))})
    found = flow(made)
    assert found["steady_mean_throughput_l4"] == pytest.approx(4)
    assert found["mean_throughput_l4"] == pytest.approx((100 * 1 + 199 * 4) / 299)
    assert found["steady_cov_throughput_l4"] == pytest.approx(0)


@pytest.mark.parametrize(
    ("times_s", "changes", "disturbance"),
    [([0, 15], [], 15), ([15], ["15s"], 15), ([3, 6, 9], [], 0), ([3, 6, 9], ["15s"], 0)],
)
def test_a_link_that_a_schedule_changes_once_changes_once(
    times_s: list[int], changes: list[str], disturbance: int
) -> None:
    parsed = Dumbbell(**TENTHS, changes=changes).scenario().parsed
    schedule = {"direction": "both", "times_ns": [second * 10**9 for second in times_s]}
    parsed["links"][0]["schedules"] = [schedule]
    assert phases(parsed).disturbance_ns == disturbance * 10**9


def test_links_have_a_steady_state_where_no_flow_is_sampled() -> None:
    scenario = dumbbell(rate="10Mbps", qlen="50p", rtts=["20ms"], cc="cubic", stop_time="6s")
    links = []
    for flows in ("all", "none"):
        recording = scenario.recording.model_copy(update={"flows": flows})
        found = ccperf.simulate(scenario.model_copy(update={"recording": recording}))
        links.append(found.link_metrics["btl_forward"])
    sampled, unsampled = links
    assert unsampled == sampled
    assert unsampled["steady_mean_utilization_l1"] > unsampled["mean_utilization_l1"]


def test_a_warm_up_that_is_declared_counts() -> None:
    samples = {"received_bytes": received((250, 1), (49, 4))}
    early = flow(Dumbbell(**TENTHS, samples=samples, warm_up="24.9s"))
    late = flow(Dumbbell(**TENTHS, samples=samples, warm_up="25s"))
    assert early["steady_mean_throughput_l4"] == pytest.approx((1 + 49 * 4) / 50)
    assert late["steady_mean_throughput_l4"] == pytest.approx(4)


@pytest.mark.parametrize(
    ("starts", "changes", "disturbance", "warm_up"),
    [
        (["0s"], [], 0, 10),
        (["0s", "6s"], [], 6, 14),
        (["0s", "0s"], ["15s"], 15, 20),
        (["0s", "18s"], ["15s"], 18, 22),
        # A path that keeps changing has no steady state to wait for.
        (["0s", "0s"], ["3s", "6s", "9s"], 0, 10),
        # That at the beginning is its first level.
        (["0s", "0s"], ["0s", "15s"], 15, 20),
    ],
)
def test_without_one_it_follows_the_last_event(
    starts: list[str], changes: list[str], disturbance: int, warm_up: int
) -> None:
    made = Dumbbell(**TENTHS, flows=len(starts), starts=starts, changes=changes)
    found = phases(made.scenario().parsed)
    assert found.disturbance_ns == disturbance * 10**9
    assert found.warm_up_ns == warm_up * 10**9


def test_a_warm_up_after_the_end_is_refused() -> None:
    settings = {"rate": "16Mbps", "qlen": "20p", "rtts": "15ms", "cc": "TcpCubic"}
    declared = dumbbell(**settings, recording={"warm_up": "4000ms"})
    assert declared.canonical()["recording"]["warm_up"] == "4s"
    with pytest.raises(ScenarioError, match=r"recording\.warm_up.*not before the end"):
        dumbbell(**settings, stop_time="4s", recording={"warm_up": "4s"})


def test_a_run_without_grid_points_after_the_warm_up_has_no_metrics_of_it() -> None:
    made = Dumbbell(points=4, samples={"received_bytes": [0, 1, 2, 3]}, warm_up="119ms")
    found = flow(made)
    assert "mean_throughput_l4" in found
    assert not [name for name in found if name.startswith(STEADY_PREFIX)]


def test_percentiles_are_values_of_the_samples() -> None:
    srtt = np.r_[np.nan, np.arange(1, 201)] * 1e6  # 1 to 200 ms
    found = flow(Dumbbell(points=201, samples={"srtt_ns": srtt}))
    assert (found["p50_srtt_l4"], found["p95_srtt_l4"], found["p99_srtt_l4"]) == (100, 190, 198)
    late = np.r_[np.full(101, np.nan), np.arange(1, 101)] * 1e6
    found = flow(Dumbbell(points=201, samples={"srtt_ns": late}))
    assert (found["p50_srtt_l4"], found["p95_srtt_l4"], found["p99_srtt_l4"]) == (50, 95, 99)


def test_sojourn_times_have_percentiles() -> None:
    sojourn = np.stack([np.arange(201), np.zeros(201)], axis=1) * 1e3  # 1 to 200 us, forward
    sent = np.stack([np.arange(201), np.zeros(201, dtype=int)], axis=1) * 1500
    made = Dumbbell(points=201, link_samples={"sojourn_ns": sojourn, "tx_bytes": sent})
    found = made.metrics().link["btl_forward"]
    assert found["p95_sojourn_l2"] == pytest.approx(190)


def test_a_sojourn_time_counts_where_the_link_sends() -> None:
    """One packet of 5 ms before a silence of 100 intervals was the 95th percentile of all."""
    of_forward = np.r_[np.arange(101), np.full(100, 5000)] * 1e3
    sojourn = np.stack([of_forward, np.zeros(201)], axis=1)
    of_forward = np.minimum(np.arange(201), 100) * 1500
    sent = np.stack([of_forward, np.zeros(201, dtype=int)], axis=1)
    made = Dumbbell(points=201, link_samples={"sojourn_ns": sojourn, "tx_bytes": sent})
    found = made.metrics().link["btl_forward"]
    assert found["p95_sojourn_l2"] == pytest.approx(95)
    assert found["mean_sojourn_l2"] == pytest.approx(50.5)
    assert found["mean_qdisc_delay_l2"] == pytest.approx(100 * 5 / 200)  # as published: each sample


def test_a_step_is_answered_when_the_last_second_is_near_the_steady_state() -> None:
    """The rate doubles at 15 s: a mean over ten tenths is beyond 0.8 x 8 Mbps after 6 of them."""
    made = Dumbbell(
        **TENTHS, changes=["15s"], samples={"received_bytes": received((150, 4), (149, 8))}
    )
    found = flow(made)
    assert found["response_time_l4"] == pytest.approx(0.6)
    assert found["settling_time_l4"] == pytest.approx(0.6)


def test_what_swings_out_again_is_near_before_it_stays_near() -> None:
    parts = received((150, 8), (20, 4), (10, 8), (20, 4), (99, 8))
    found = flow(Dumbbell(**TENTHS, changes=["15s"], samples={"received_bytes": parts}))
    # At 15 s nothing has been answered yet.
    assert found["response_time_l4"] == pytest.approx(0.1)
    assert found["settling_time_l4"] == pytest.approx(5.6)


def test_what_is_not_near_at_the_end_has_not_settled() -> None:
    parts = received((250, 8), (49, 1))
    found = flow(Dumbbell(**TENTHS, samples={"received_bytes": parts}))
    assert "settling_time_l4" not in found


def test_a_flow_that_starts_late_answers_as_soon_as_one_that_starts_with_the_run() -> None:
    """The seconds before its start are no part of the last second: they made 0.8 s of 0.1."""
    late = Dumbbell(
        **TENTHS,
        starts=["10s"],
        samples={"received_bytes": received((100, 0), (199, 8))},
        counters={"start_ns": [10 * 10**9]},
    )
    for made in (Dumbbell(**TENTHS, samples={"received_bytes": received((299, 8))}), late):
        assert flow(made)["response_time_l4"] == pytest.approx(0.1)
        assert flow(made)["settling_time_l4"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    "ended", [{"counters": {"stop_ns": [12 * 10**9]}}, {"size": "40MB"}], ids=["stopped", "finite"]
)
def test_what_does_not_stay_has_no_steady_state_to_answer_in(ended: dict[str, Any]) -> None:
    """Over a steady state from 10 s on, its mean is of a silence, and its peak 14 times as much."""
    of_time = np.r_[np.full(120, 40), np.full(180, 0)] * 1448
    samples = {"in_flight_bytes": of_time, "received_bytes": received((120, 8), (179, 0))}
    found = flow(Dumbbell(**TENTHS, samples=samples, **ended))
    assert "steady_mean_in_flight_l4" in found
    answers = {"response_time_l4", "settling_time_l4", "overshoot_in_flight_l4"}
    assert not answers & found.keys()


def test_a_run_in_which_some_flow_never_settles_has_no_mean_of_the_others() -> None:
    both = np.stack([received((299, 8)), received((250, 8), (49, 1))], axis=1)
    made = Dumbbell(**TENTHS, flows=2, samples={"received_bytes": both, "in_flight_bytes": 1448})
    columns = made.metrics().flow
    settling = METRICS["settling_time_l4"]
    assert settling.name in columns["flow_1"]
    assert settling.name not in columns["flow_2"]
    assert settling.of_run(columns) is None
    assert settling.without_value(columns.values()) == "never"
    stored = dict(reduced(columns))
    assert settling.name not in stored
    assert settling.is_never(stored)
    assert stored["response_time_l4"] == METRICS["response_time_l4"].of_run(columns)
    # What a run has says nothing of a group of flows, which may not be there.
    of_group = metric_named(f"one.{settling.name}")
    assert not of_group.is_never(stored)
    assert of_group.is_never({f"one.{settling.asked_with}": 50.0})


def test_overshoot_is_the_peak_over_the_steady_mean() -> None:
    in_flight = np.r_[np.full(150, 40), np.full(20, 30), np.full(130, 20)] * 1448
    made = Dumbbell(**TENTHS, changes=["15s"], samples={"in_flight_bytes": in_flight})
    assert flow(made)["overshoot_in_flight_l4"] == pytest.approx(50)


def test_harm_is_what_is_missing_of_a_link_of_ones_own() -> None:
    """1448 of 1502 B on the wire are payload; half of that is half the harm."""
    alone = 16 * 1448 / 1502
    samples = {"received_bytes": received((299, alone / 2)), "read_bytes": received((299, alone))}
    found = flow(Dumbbell(**TENTHS, samples=samples))
    assert found["harm_throughput_l4"] == pytest.approx(0.5, abs=1e-4)
    assert found["mean_goodput_share_l7"] == pytest.approx(100, abs=1e-2)


def test_a_flow_that_starts_late_is_harmed_from_then_on_only() -> None:
    """It has its fair half of a link from 10 s of 30 on; before it there was none of it."""
    half = 8 * 1448 / 1502
    late = {"start_ns": [10 * 10**9]}
    made = Dumbbell(
        **TENTHS, samples={"received_bytes": received((100, 0), (199, half))}, counters=late
    )
    assert flow(made)["harm_throughput_l4"] == pytest.approx(0.5, abs=1e-4)


def test_loss_and_marks_are_shares_of_packets() -> None:
    counters = {
        "qdisc_dropped": [10, 0],
        "loss_dropped": [30, 0],
        "qdisc_marked": [19, 0],
        "tx_packets": [190, 0],
    }
    made = Dumbbell(link_counters=counters)
    found = made.metrics().link["btl_forward"]
    assert found["loss_rate_l2"] == pytest.approx(100 * 40 / 200)
    assert found["mark_rate_l2"] == pytest.approx(10)
    assert network(made)["total_packet_hops_l1"] == 190


def test_what_a_failure_drops_was_offered() -> None:
    """A link of 1 Mbps is offered 1250 datagrams of 1 kB in a second, of 1030 B on the wire, and
    goes down then with a queue that is full: it has sent 121 of them."""
    datagrams = {"type": "CBR", "rate": "10Mbps", "write": "1kB"}
    scenario = Scenario(
        stop_time="3s",
        nodes=["a", "b"],
        links=[{"name": "btl", "ends": ["a", "b"], "rate": "1Mbps", "delay": "1ms"}],
        failures=[{"link": "btl", "down": "1s", "up": "2s"}],
        flows=[
            {
                "source": "a",
                "destination": "b",
                "transport": "UDP",
                "application": datagrams,
                "stop": "1s",
            }
        ],
    )
    lost = ccperf.simulate(scenario).link_metrics["btl_forward"]["loss_rate_l2"]
    assert lost == pytest.approx(100 * 1129 / 1250, abs=0.2)


def test_segments_sent_again_are_a_share_of_the_payload_sent() -> None:
    sent = np.arange(101) * 14_480
    made = Dumbbell(points=101, samples={"sent_bytes": sent, "retransmissions": np.arange(101)})
    # Rates are rounded down to whole bit/s.
    assert flow(made)["retransmission_rate_l4"] == pytest.approx(10, rel=1e-5)


def test_what_depends_on_the_unit_or_the_number_of_flows_ranks_nothing() -> None:
    from ccperf.site.scores import CRITERIA

    assert {m.better for m in METRICS.values() if "product_fairness" in m.name} == {None}
    ranked = {metric_named(name) for criterion in CRITERIA for name in criterion.metrics}
    assert not [m.name for m in ranked if "^n" in m.unit or "ln(" in m.unit or "1/Mbps" in m.unit]


def test_what_a_flow_measures_exists_to_the_end_of_the_interval_in_which_it_ends() -> None:
    """Until 1.05 s of tenths: the 11th sample, at 1.1 s, is its last."""
    samples = {"srtt_ns": np.r_[np.nan, np.full(10, 20), np.full(289, 40)] * 1e6}
    counters = {"completion_ns": [1.05e9]}
    found = flow(Dumbbell(**TENTHS, size="1MB", samples=samples, counters=counters))
    assert found["mean_srtt_l4"] == pytest.approx((10 * 20 + 40) / 11)
    assert "the end of the interval in which it ends" in METRICS["mean_srtt_l4"].definition


def test_a_timer_that_backs_off_puts_the_sender_into_loss_once() -> None:
    """Nothing passes from 1 to 20 s: the timer expires four times, and its value doubles."""
    wire = {"name": "wire", "ends": ["a", "b"], "rate": "1Mbps", "delay": "10ms"}
    scenario = Scenario(
        stop_time="25s",
        nodes=["a", "b"],
        links=[wire],
        flows=[{"source": "a", "destination": "b", "cc": "newreno"}],
        changes=[{"time": t, "link": "wire", "loss": p} for t, p in (("1s", 1.0), ("20s", 0.0))],
        recording={"changes": True},
    )
    result = ccperf.simulate(scenario)
    changes = result.recording.changes
    assert changes is not None
    timers = changes.array("value")[np.array(changes.strings("name")) == "rto_ns"]
    assert sum(timers[1:] == 2 * timers[:-1]) >= 4
    assert result.flow_metrics["flow_1"]["total_rtos_l4"] == 1
    for name in ("total_rtos_l4", "total_timeouts_l4"):
        assert "backoff" in METRICS[name].definition.lower()


def test_definitions_say_of_which_flows_they_are() -> None:
    flows: list[dict[str, Any]] = [
        {"source": "a", "destination": "b", "cc": "newreno"},
        {"source": "a", "destination": "b", "cc": "newreno", "application": {"type": "CBR"}},
        {"source": "a", "destination": "b", "transport": "UDP", "application": {"type": "CBR"}},
    ]
    flows[1]["application"]["rate"] = flows[2]["application"]["rate"] = "1Mbps"
    wire = {"name": "wire", "ends": ["a", "b"], "rate": "8Mbps", "delay": "5ms"}
    recording = {"completions": True}
    scenario = Scenario(
        stop_time="2s", nodes=["a", "b"], links=[wire], flows=flows, recording=recording
    )
    result = ccperf.simulate(scenario)
    harm = "harm_throughput_l4"
    assert [harm in found for found in result.flow_metrics.values()] == [True, False, False]
    assert "always have something to send" in METRICS[harm].definition
    acked = result.recording.completions
    assert acked is not None
    goodputs = acked.array("acked_bytes") * 8e-6 / 2
    assert goodputs.size == 2
    assert result.network_metrics["net"]["mean_goodput_l4"] == pytest.approx(goodputs.mean())
    assert "over UDP" in METRICS["mean_goodput_l4"].definition


def test_jain_s_index_of_the_grid_counts_flows_that_have_not_started() -> None:
    """Alone for 10 s of 30, then in halves: 1/2 for a third of the time. Of seconds it is 1."""
    both = np.stack([received((100, 8), (199, 4)), received((100, 0), (199, 4))], axis=1)
    counters = {"start_ns": [0, 10 * 10**9]}
    made = Dumbbell(**TENTHS, flows=2, samples={"received_bytes": both}, counters=counters)
    found = network(made)
    name = "mean_jains_fairness_throughput_l4"
    assert found[name] == pytest.approx((100 * 0.5 + 199) / 299)
    assert found["mean_jains_fairness_1s_l4"] == pytest.approx(1)
    assert "before\nits start" in METRICS[name].definition
