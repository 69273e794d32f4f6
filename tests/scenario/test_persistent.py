"""Connections that stay open, writes at equal distances, requests and answers: closed forms on idle
links of 10 Gbps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ccperf
from ccperf import Scenario
from ccperf.errors import ScenarioError, UsageError
from ccperf.experiments.topologies import star
from ccperf.experiments.topologies.fabric import FabricLink
from ccperf.runs import backends
from ccperf.runs.result import Result

#: One way, over the two links.
DELAY_MS = 0.02
#: What a window of 10 segments and no losses leave: propagation and transmission.
TCP = {"InitialCwnd": 10}
SEGMENT = 1448


def wire_ms(payload: int) -> float:
    """What one segment takes on a link of 10 Gbps: with headers of TCP, IP and PPP."""
    return 8 * (payload + 54) / 10e9 * 1e3


#: There and back for a whole segment and its ACK, over two links.
ROUND_MS = 2 * DELAY_MS + 2 * wire_ms(SEGMENT) + 2 * wire_ms(0)
#: The SYN and its answer, with longer options.
CONNECT_MS = 2 * DELAY_MS + 4 * 8 * 62 / 10e9 * 1e3


def scenario(
    workloads: list[dict[str, Any]], hosts: int = 2, tcp: dict[str, Any] = TCP, **fields: Any
) -> Scenario:
    network = star(hosts, FabricLink("10Gbps", "10us"))
    stack = {"name": "dc", "profile": "datacentre", "tcp": {**TCP, **tcp}}
    common = {"stack": "dc", "write": f"{SEGMENT}B"}
    own = {"stop_time": "1s", "recording": {"deliveries": True}, **fields}
    made: Scenario = network.scenario(
        [], stacks=[stack], workloads=[{**common, **each} for each in workloads], **own
    )
    return made


def transfers(
    segments: int, times: list[str], pairs: list[tuple[str, str]] | None = None, **own: Any
) -> dict[str, Any]:
    return {
        "name": "flow",
        "pairs": {"type": "Listed", "pairs": pairs or [("h_0", "h_1")]},
        "sizes": {"type": "Constant", "bytes": f"{segments * SEGMENT}B"},
        "arrivals": {"type": "Times", "times": times},
        **own,
    }


def completions_ms(result: Result) -> list[float]:
    """Of each transfer, in the order of their numbers; NaN without an end."""
    table = result.recording.completions
    assert table is not None
    times = (table.array("end_ns") - table.array("start_ns")) / 1e6
    return [float(each) for each in times[np.argsort(table.array("flow"))]]


def test_only_the_first_of_a_connection_opens_it() -> None:
    first, second = completions_ms(
        ccperf.simulate(scenario([transfers(1, ["0s", "5ms"], connections=1)]))
    )
    assert second == pytest.approx(ROUND_MS, abs=2e-4)
    assert first - second == pytest.approx(CONNECT_MS, abs=2e-4)


def test_a_window_that_has_grown_stays() -> None:
    """Forty segments need rounds of 10, 20 and 10; over the grown window they go at once."""
    of = transfers(40, ["0s", "5ms"])
    first, second = completions_ms(ccperf.simulate(scenario([{**of, "connections": 1}])))
    alone, anew = completions_ms(ccperf.simulate(scenario([of])))
    assert second == pytest.approx(ROUND_MS + 39 * wire_ms(SEGMENT), abs=2e-4)
    assert first == pytest.approx(alone, abs=2e-4)
    assert anew == pytest.approx(alone, abs=2e-4)
    assert first > CONNECT_MS + 3 * ROUND_MS


def test_only_what_opens_a_connection_has_the_handshake_in_its_ideal_time() -> None:
    """With no delay added and with one: each transfer takes its ideal time, and the ACKs."""
    of = transfers(1, ["0s", "5ms", "10ms"], connections=1)
    for more in ({}, {"added_delay": {"type": "Constant", "delay": "300us"}}):
        result = ccperf.simulate(scenario([{**of, **more}]))
        table = result.recording.completions
        assert table is not None
        first, *later = (table.array("ideal_ns")[np.argsort(table.array("flow"))] / 1e6).tolist()
        round_trip = 2 * DELAY_MS + (0.3 if more else 0)
        assert later == pytest.approx([round_trip + 2 * wire_ms(SEGMENT)] * 2, abs=1e-5)
        assert first - later[0] == pytest.approx(round_trip, abs=1e-9)
        assert result.metrics.classes["all"]["p50_slowdown_l4"] >= 1


def test_who_finds_all_busy_waits() -> None:
    of = transfers(40, ["0s", "0s", "0s"])
    [one, then, last] = completions_ms(ccperf.simulate(scenario([{**of, "connections": 1}])))
    alone = ROUND_MS + 39 * wire_ms(SEGMENT)
    assert then - one == pytest.approx(alone, abs=2e-4)
    assert last - then == pytest.approx(alone, abs=2e-4)
    two = completions_ms(ccperf.simulate(scenario([{**of, "connections": 2}])))
    every = completions_ms(ccperf.simulate(scenario([{**of, "connections": 3}])))
    assert two[2] > max(two[:2])
    assert every == completions_ms(ccperf.simulate(scenario([of])))[:3]


def test_connections_are_of_two_hosts_in_one_direction() -> None:
    pairs = [("h_0", "h_1"), ("h_1", "h_0"), ("h_2", "h_1")]
    of = transfers(1, ["0s", "1ms", "2ms", "3ms"], [*pairs, pairs[0]], connections=4)
    *opening, again = completions_ms(ccperf.simulate(scenario([of], 3)))
    assert opening == pytest.approx([CONNECT_MS + ROUND_MS] * 3, abs=4e-4)
    assert again == pytest.approx(ROUND_MS, abs=2e-4)


def test_each_transfer_has_what_it_did_itself() -> None:
    result = ccperf.simulate(scenario([transfers(40, ["0s", "5ms", "10ms"], connections=1)]))
    table, deliveries = result.recording.completions, result.recording.deliveries
    assert table is not None
    assert deliveries is not None
    assert set(table.array("acked_bytes").tolist()) == {40 * SEGMENT}
    assert result.recording.flows.array("segments_sent").tolist() == [40, 40, 40]
    ends = np.sort(table.array("end_ns"))
    last = ends - deliveries.array("last_rx_ns")
    assert last / 1e6 == pytest.approx([DELAY_MS + 2 * wire_ms(0)] * 3, abs=2e-4)


@pytest.mark.parametrize(
    ("segments", "writes", "last"), [(5, 3, 1), (6, 3, 2), (2, 1, 2), (1, 1, 1)]
)
def test_with_a_gap_a_transfer_writes_at_equal_distances(
    segments: int, writes: int, last: int
) -> None:
    """Two segments every 2 ms, the last write what is left: no write waits for another."""
    of = transfers(segments, ["0s"], write=f"{2 * SEGMENT}B", gap="2ms")
    (took,) = completions_ms(ccperf.simulate(scenario([of])))
    alone = CONNECT_MS + ROUND_MS + (last - 1) * wire_ms(SEGMENT)
    assert took == pytest.approx((writes - 1) * 2 + alone, abs=3e-4)


def test_an_added_delay_is_the_transfers_own() -> None:
    of = transfers(1, ["0s", "5ms", "10ms"], connections=1)
    added = {"type": "Cdf", "points": [("0s", 0.0), ("300us", 1.0)]}
    result = ccperf.simulate(scenario([{**of, "added_delay": added}]))
    base = result.recording.flows.array("base_rtt_ns") / 1e6 - 2 * DELAY_MS
    assert len(set(base.tolist())) == 3
    expected = ROUND_MS + base
    assert completions_ms(result)[1:] == pytest.approx(expected[1:], abs=2e-4)


def test_a_connection_that_is_lost_is_opened_anew() -> None:
    """The link is down until the sender gives up: 5, 10 and 20 ms after the last ACK."""
    of = transfers(4000, ["0s", "300ms", "400ms"], connections=1)
    down = {"failures": [{"link": "h_1", "down": "1ms", "up": "200ms"}]}
    result = ccperf.simulate(scenario([of], tcp={"DataRetries": 2}, **down))
    lost, opened, after = completions_ms(result)
    assert np.isnan(lost)
    assert opened - after > 0.9 * CONNECT_MS
    assert after == pytest.approx(ROUND_MS + 3999 * wire_ms(SEGMENT), rel=0.05)


def call(delay: str = "100us", **own: Any) -> list[dict[str, Any]]:
    asks = transfers(1, ["0s", "5ms"], **own)
    answer = {
        "name": "answer",
        "arrivals": {"type": "Answers", "to": "request", "delay": delay},
        "sizes": {"type": "Constant", "bytes": f"{10 * SEGMENT}B"},
        **own,
    }
    return [{**asks, "name": "request"}, answer]


def one_way_ms(segments: int) -> float:
    """From the first segment of a window until the last one has come."""
    return DELAY_MS + (segments + 1) * wire_ms(SEGMENT)


def test_a_remote_call_takes_the_way_there_the_server_and_the_way_back() -> None:
    result = ccperf.simulate(scenario(call()))
    ways = one_way_ms(1) + 0.1 + one_way_ms(10)
    times = result.metrics.classes["answer"]
    assert times["mean_rpc_time_l4"] == pytest.approx(2 * CONNECT_MS + ways, abs=4e-4)
    assert "mean_rpc_time_l4" not in result.metrics.classes["request"]
    answers = result.recording.answers
    assert answers is not None
    assert answers.array("flow").tolist() == [2, 3]
    assert answers.array("request").tolist() == [0, 1]


def test_over_open_connections_it_connects_once() -> None:
    result = ccperf.simulate(scenario(call(connections=1)))
    ways = one_way_ms(1) + 0.1 + one_way_ms(10)
    times = result.metrics.classes["answer"]
    assert times["mean_rpc_time_l4"] == pytest.approx(CONNECT_MS + ways, abs=4e-4)
    assert times["p99_rpc_time_l4"] == pytest.approx(2 * CONNECT_MS + ways, abs=4e-4)


def test_calls_rank_behind_unfinished_ones_and_not_behind_other_transfers() -> None:
    """A download that goes on beside finished calls is none of them; one without answer is."""
    download = transfers(70_000, ["0s"], [("h_2", "h_3")], name="download")
    result = ccperf.simulate(scenario([*call(), download], hosts=4, stop_time="20ms"))
    of_all, of_answers = (result.metrics.classes[name] for name in ("all", "answer"))
    assert of_all["total_unfinished_l4"] == 1
    assert of_all["p99_rpc_time_l4"] == of_answers["p99_rpc_time_l4"]
    late = ccperf.simulate(scenario(call(delay="7ms"), stop_time="10ms"))
    assert late.metrics.classes["answer"]["total_unfinished_l4"] == 1
    assert "mean_rpc_time_l4" in late.metrics.classes["all"]
    assert "p99_rpc_time_l4" not in late.metrics.classes["all"]


def test_answers_that_never_start_are_no_query() -> None:
    """A recording has the end of the run as the start of each."""
    query = transfers(1, ["0s", "0s"], name="query")
    asks = transfers(70_000, ["1ms", "2ms"], [("h_2", "h_3")], name="request")
    _, answer = call()
    result = ccperf.simulate(scenario([query, asks, answer], hosts=4, stop_time="20ms"))
    assert result.metrics.classes["answer"]["total_unfinished_l4"] == 2
    of_all, of_query = (result.metrics.classes[name] for name in ("all", "query"))
    assert of_all["p99_qct_l4"] == of_query["p99_qct_l4"]


def test_who_asks_many_gets_a_burst_when_they_have_been_asked() -> None:
    """Eight answers of ten segments share the link of who asked: the last one is 80 behind."""
    asks = transfers(1, ["0s"] * 8, [("h_8", f"h_{i}") for i in range(8)])
    answer = call("0s")[1]
    result = ccperf.simulate(scenario([{**asks, "name": "request"}, answer], 9))
    answers = result.recording.answers
    assert answers is not None
    spread = np.ptp(answers.array("arrived_ns")) / 1e6
    # The first and the last answer are a link's time of 7 requests, or of 7 x 10 segments, apart.
    assert spread > 0
    last = answers.array("arrived_ns").max() / 1e6
    requests = 8 * wire_ms(SEGMENT) + wire_ms(SEGMENT)
    assert last < 2 * CONNECT_MS + requests + DELAY_MS + one_way_ms(80) + 0.01
    assert last > one_way_ms(80)


def test_bursts_come_from_as_many_senders_as_are_asked_for() -> None:
    of = {
        "name": "burst",
        "pairs": {"type": "Incast", "senders": 3},
        "sizes": {"type": "Constant", "bytes": "500kB"},
        "arrivals": {"type": "Poisson", "load": 0.1, "until": "200ms"},
    }
    lowered = scenario([of], 8).lowered()
    result = ccperf.simulate(scenario([of], 8))
    assert lowered
    table = result.recording.workloads
    assert table is not None
    assert table.array("transfers")[0] % 3 == 0
    assert table.array("realised_load")[0] == pytest.approx(0.1, rel=0.2)
    completions = result.recording.completions
    assert completions is not None
    _, answers = np.unique(completions.array("start_ns"), return_counts=True)
    assert set(answers.tolist()) == {3}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"arrivals": {"type": "Answers", "to": "nobody"}}, "workloads[1].arrivals.to"),
        ({"sources": ["h_0"]}, "workloads[1].pairs"),
        ({"pairs": "AllToAll"}, "workloads[1].pairs"),
        ({"arrivals": {"type": "Answers", "to": "request", "delay": "1"}}, "arrivals.delay"),
    ],
)
def test_answers_name_what_they_answer(changes: dict[str, Any], field: str) -> None:
    request, answer = call()
    with pytest.raises(ScenarioError, match=field.replace("[", r"\[").replace("]", r"\]")):
        ccperf.simulate(scenario([request, {**answer, **changes}]))


def test_pias_counts_the_bytes_of_one_flow() -> None:
    made = scenario([transfers(1, ["0s"], connections=1)]).model_dump()
    made["stacks"][0]["pias"] = ["10kB"]
    with pytest.raises(ScenarioError, match=r"workloads\[0\].connections"):
        ccperf.simulate(Scenario.model_validate(made))


@pytest.mark.parametrize(
    "workloads",
    [call(), [transfers(1, ["0s"], connections=1)], [transfers(1, ["0s"], gap="1ms")]],
)
def test_only_the_native_engine_has_them(workloads: list[dict[str, Any]]) -> None:
    with pytest.raises(UsageError, match="backend native"):
        backends.get("ns3").simulate(scenario(workloads))
