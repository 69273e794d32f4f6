"""Flows over UDP, from the scenario to the metrics."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import ccperf
from ccperf.errors import ScenarioError
from ccperf.runs.backends import get
from ccperf.scenario import Scenario


def scenario(*flows: dict[str, Any], **direction: Any) -> Scenario:
    return Scenario.model_validate(
        {
            "stop_time": "1s",
            "nodes": ["a", "b"],
            "links": [
                {
                    "name": "wire",
                    "ends": ["a", "b"],
                    "rate": "8Mbps",
                    "delay": "5ms",
                    "forward": direction,
                }
            ],
            "flows": [{"source": "a", "destination": "b", **flow} for flow in flows],
        }
    )


def udp(**fields: Any) -> dict[str, Any]:
    application = {"type": "CBR", "rate": "4Mbps", "write": "1000B"}
    return {"transport": "UDP", "application": application, **fields}


def rows(run: Scenario, tmp_path: Path, link: str = "wire_forward") -> list[dict[str, str]]:
    path = tmp_path / "packets.csv"
    get("native").simulate(run, packets=path)
    with path.open() as file:
        return [row for row in csv.DictReader(file) if row["link"] == link]


def test_datagrams_of_a_constant_bit_rate_leave_at_exact_times(tmp_path: Path) -> None:
    trace = rows(scenario(udp(start="10ms")), tmp_path)
    sent = [row for row in trace if row["event"] == "tx"]
    # 8000 bits at 4 Mbps are 2 ms; the first one is due a gap after the start.
    assert [int(row["time_ns"]) for row in sent] == [
        10_000_000 + 2_000_000 * i for i in range(1, len(sent) + 1)
    ]
    assert len(sent) == 494
    assert [int(row["seq"]) for row in sent] == list(range(len(sent)))
    assert {(row["payload_bytes"], row["wire_bytes"], row["ecn"]) for row in sent} == {
        ("1000", "1030", "NotECT")
    }
    received = [int(row["time_ns"]) for row in trace if row["event"] == "rx"]
    # 1030 B at 8 Mbps and the propagation.
    assert received[0] == 12_000_000 + 1_030_000 + 5_000_000


def test_metrics_that_need_tcp_are_absent_and_the_others_are_exact() -> None:
    result = ccperf.simulate(scenario(udp(), {"cc": "newreno"}))
    over_udp, over_tcp = result.flow_metrics["flow_1"], result.flow_metrics["flow_2"]
    of_tcp = {
        "mean_cwnd_l4",
        "cov_in_flight_l4",
        "mean_in_flight_l4",
        "mean_srtt_l4",
        "mean_est_qdelay_l4",
        "mean_network_power_l4",
        "mean_delivery_rate_l4",
        "mean_utilization_bdp_l4",
        "flow_completion_time_l4",
        "total_retransmissions_l4",
        "total_rtos_l4",
    }
    assert of_tcp <= over_tcp.keys()
    assert not of_tcp & over_udp.keys()
    assert over_udp["mean_sending_rate_l4"] == pytest.approx(4, rel=0.01)
    assert {"mean_throughput_l4", "mean_one_way_delay_l7", "mean_idt_ewma_l4"} <= over_udp.keys()
    table = result.recording.flow_samples
    mine = table.array("flow") == 0
    assert not table.array("cwnd_bytes")[mine].any()
    assert (table.array("written_bytes") == table.array("sent_bytes"))[mine].all()


def test_the_delay_of_a_datagram_does_not_depend_on_those_that_are_lost() -> None:
    result = ccperf.simulate(scenario(udp(), loss=0.3))
    delays = result.recording.flow_samples.array("one_way_delay_ns")[1:]
    assert set(delays) == {6_030_000.0}
    assert 0 < result.recording.links.array("loss_dropped")[0] < 250


def test_a_tcp_flow_is_written_as_before_and_a_udp_flow_without_what_is_tcps() -> None:
    first, second = scenario({"cc": "newreno"}, udp(tos=2)).canonical()["flows"]
    assert "transport" not in first
    assert second["transport"] == "UDP"
    assert "cc" not in second


def test_what_tcp_has_and_udp_has_not_is_refused() -> None:
    with pytest.raises(ScenarioError, match="nothing holds UDP back"):
        scenario({"transport": "UDP"}).canonical()
    with pytest.raises(ScenarioError, match=r"flows\[0\].cc: is missing"):
        scenario({}).canonical()
