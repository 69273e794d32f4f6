"""The known departures from ns-3 (`ccperf.verify.departures`): what the engine does there, and
that ns-3 does not get there.

Two more are pinned beside the code: `tbf.rs`
(`a_wait_that_rounds_to_nothing_takes_a_nanosecond`) and `westwood.rs`
(`an_ack_on_the_nanosecond_of_a_sample_counts_for_the_next`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.errors import RunError, ScenarioError
from ccperf.runs import backends
from ccperf.runs.backends.ns3 import Ns3
from ccperf.scenario import Scenario
from ccperf.verify.case import case
from program_lines import canonical, run_of

NATIVE, NS3 = backends.get("native"), backends.get("ns3")


def trace(scenario: Scenario, folder: Path, suffix: str = ".csv") -> list[dict[str, str]]:
    """The engine's packet trace."""
    path = folder / f"packets{suffix}"
    NATIVE.simulate(scenario, packets=path)
    head, *rows = path.read_text().splitlines()
    return [dict(zip(head.split(","), row.split(","), strict=True)) for row in rows]


def prio(band: int) -> Scenario:
    attributes = {"Priomap": " ".join([str(band)] * 16)}
    return case(
        "prio", qdisc="PrioQueueDisc", qlen=None, qdisc_attributes=attributes, packets=1_000
    ).scenario


def codel_emptied() -> Scenario:
    """The queue is a packet or two long, and slow enough that it stands."""
    return case(
        "codel",
        rate="100kbps",
        qdisc="CoDelQueueDisc",
        qdisc_attributes={"MinBytes": "0", "Target": "1ms", "Interval": "10ms"},
        tcp={"SndBufSize": 4 * 1448},
        stop="20s",
    ).scenario


def closed_window() -> Scenario:
    tcp = {"MaxWindowSize": 0, "PersistTimeout": "1s"}
    return case("window", tcp=tcp, stop="10s").scenario


def reset_without_syn() -> Scenario:
    return case("reset", stops="5ms", drop=[0], stop="10s").scenario


def no_limited_transmit() -> Scenario:
    """An application below the window writes after the first duplicate ACK."""
    tcp = {"Sack": "false", "LimitedTransmit": "false"}
    steady = {"type": "CBR", "rate": "4Mbps"}
    return case("limited-transmit", loss=0.03, applications=steady, tcp=tcp).scenario


def no_duplicates_needed() -> Scenario:
    return case("threshold", loss=0.03, tcp={"ReTxThreshold": 0}).scenario


def no_connection() -> Scenario:
    """A SYN and its one repetition are lost; a greedy source only ends."""
    tcp = {"ConnCount": 1, "ConnTimeout": "10ms"}
    steady = {"type": "CBR", "rate": "4Mbps"}
    return case("connection", drop=[0, 1], applications=steady, tcp=tcp, stop="1s").scenario


def two_ways(label: str, seed: int, ways: list[dict[str, Any]], **flow: Any) -> Scenario:
    """A flow whose packets take one of two ways each, at random."""
    sides = ("a", "left"), ("right", "b")
    fast = [{"name": n, "ends": (n, m), "rate": "1Gbps", "delay": "1us"} for n, m in sides]
    between = [{"name": f"way_{i}", "ends": ("left", "right"), **way} for i, way in enumerate(ways)]
    return Scenario.model_validate(
        {
            "label": label,
            "stop_time": "1s",
            "seed": seed,
            "nodes": ("a", "b", "left", "right"),
            "links": [fast[0], *between, fast[1]],
            "routing": "random",
            "flows": [{"source": "a", "destination": "b", "cc": "TcpNewReno", **flow}],
        }
    )


def overtaken_acknowledgement() -> Scenario:
    """Packets take two ways of unlike lengths at random; the FIN is out when an ACK comes late."""
    ways = [{"rate": "100Mbps", "delay": delay} for delay in ("1ms", "4ms")]
    return two_ways("overtaken", 3, ways, application={"type": "Greedy", "bytes": "12000B"})


def duplicates_when_a_reduction_ends() -> Scenario:
    """Packets overtake each other while the window is reduced for a mark, and when that ends."""
    codel = {"type": "CoDelQueueDisc", "attributes": {"UseEcn": "true", "CeThreshold": "500us"}}
    forward = {"qdisc": codel, "device_queue": "1p"}
    ways = [{"rate": "20Mbps", "delay": delay, "forward": forward} for delay in ("1ms", "4ms")]
    return two_ways("reduction", 5, ways, tcp={"UseEcn": "On"})


def ping_after_a_failure() -> Scenario:
    """Requests 20 to 49 find no way; the answer to request 50 is the first after that."""
    return Scenario.model_validate(
        {
            "label": "ping",
            "stop_time": "1s",
            "nodes": ("a", "switch", "b"),
            "links": [
                {"name": end, "ends": (end, "switch"), "rate": "1Gbps", "delay": "1ms"}
                for end in ("a", "b")
            ],
            "routing": "static",
            "flows": [{"source": "a", "destination": "b", "cc": "TcpNewReno", "start": "900ms"}],
            "failures": [{"link": "a", "down": "195ms", "up": "495ms"}],
            "pings": [{"source": "a", "destination": "b", "interval": "10ms"}],
        }
    )


def wrapped_pacing() -> Scenario:
    """2^30 bytes, the bits of which are 0 in 32 bits."""
    tcp = {"EnablePacing": "true", "PaceInitialWindow": "true"}
    return case("pacing", mss=1024, initial_cwnd=2**20, tcp=tcp, packets=1_000).scenario


def test_prio_third_band(tmp_path: Path) -> None:
    """The band that ns-3 does not make is the last one that it does make."""
    rows = trace(prio(2), tmp_path)
    assert len(rows) > 1_000
    assert rows == trace(prio(1), tmp_path)


def test_codel_min_bytes_0_with_the_queue_emptied_by_drops(tmp_path: Path) -> None:
    """Drops may take the last packet; then nothing leaves, until the next arrives."""
    queued, emptied = 0, 0
    sent = 0
    for row in trace(codel_emptied(), tmp_path):
        if row["link"] != "btl_forward":
            continue
        # What waits in the discipline: the device takes one when it begins to send the one before.
        queued += {"enqueue": 1, "drop": -1}.get(row["event"], 0)
        if row["event"] == "tx":
            sent += 1
        emptied += row["event"] == "drop" and queued - sent <= 0
    assert emptied > 0


def test_closed_window_is_probed(tmp_path: Path) -> None:
    """One byte at growing intervals (RFC 9293 section 3.8.6.1), which the receiver takes."""
    rows = trace(closed_window(), tmp_path)
    probes = [
        int(row["time_ns"])
        for row in rows
        if (row["link"], row["event"]) == ("src_0_forward", "tx") and row["payload_bytes"] != "0"
    ]
    assert len(probes) >= 3
    gaps = [(later - earlier) / 1e9 for earlier, later in pairwise(probes)]
    assert [round(gap) for gap in gaps[:2]] == [2, 4]


def test_reset_at_a_port_that_has_seen_no_syn(tmp_path: Path) -> None:
    """It changes nothing."""
    rows = trace(reset_without_syn(), tmp_path)
    assert {row["flags"] for row in rows} == {"SYN", "RST"}
    assert max(int(row["time_ns"]) for row in rows) < 20_000_000


def test_an_acknowledgement_that_comes_after_a_later_one(tmp_path: Path) -> None:
    """It tells nothing new: the transfer ends with everything acknowledged."""
    rows = trace(overtaken_acknowledgement(), tmp_path)
    arrived = [row for row in rows if (row["link"], row["event"]) == ("a_reverse", "rx")]
    acked = [int(row["ack"]) for row in arrived]
    assert any(later < earlier for earlier, later in pairwise(acked))
    assert max(acked) == 12_002
    completed = NATIVE.simulate(overtaken_acknowledgement()).flows["completion_ns"]
    assert completed[0] > 0


def test_pacing_rate_that_wraps_to_0(tmp_path: Path) -> None:
    """It is 0 then, and nothing waits."""
    rows = trace(wrapped_pacing(), tmp_path)
    first = [
        int(row["time_ns"])
        for row in rows
        if (row["link"], row["event"], row["seq"] != "0") == ("src_0_forward", "enqueue", True)
    ][:10]
    assert first[-1] - first[0] < 1_000_000


def test_pings_that_found_no_way_are_lost_and_those_after_them_are_not() -> None:
    """A round trip is that of the request which was answered."""
    rtt = NATIVE.simulate(ping_after_a_failure()).tables["pings"].array("rtt_ns")
    assert np.isnan(rtt[20:50]).all()
    answered = np.delete(rtt, slice(20, 50))
    assert len(answered) == 70
    assert answered[:-1].max() < 4_100_000


def test_a_ping_keeps_its_source_address_when_its_way_fails(tmp_path: Path) -> None:
    """So that answers come to that address, over the link that is left."""
    ends = ("a", "b")
    links = [{"name": n, "ends": ends, "rate": "1Mbps", "delay": "1ms"} for n in ("one", "other")]
    scenario = Scenario.model_validate(
        {
            "stop_time": "1s",
            "nodes": ends,
            "links": links,
            "flows": [{"source": "a", "destination": "b", "cc": "newreno", "start": "900ms"}],
            "failures": [{"link": "one", "down": "550ms"}],
            "pings": [{"source": "a", "destination": "b", "interval": "100ms"}],
        }
    )
    requests = [
        row
        for row in trace(scenario, tmp_path, ".headers.csv")
        if (row["flow"], row["event"]) == ("ping_1", "tx") and row["link"].endswith("forward")
    ]
    assert {row["link"] for row in requests} == {"one_forward", "other_forward"}
    assert len({row["source"] for row in requests}) == 1
    assert not np.isnan(NATIVE.simulate(scenario).tables["pings"].array("rtt_ns")).any()


def test_rates_are_what_they_say_but_for_programs_of_ns3() -> None:
    """These are what ns-3 3.44's `DataRate` makes of the texts."""
    for text, bps in {"8.03Mbps": 8_029_999, "4.1Mbps": 4_099_999, "1.001MB/s": 8_007_999}.items():
        assert _native.parse_rate(text) == bps + 1
        assert run_of(f"tcp-variants-comparison --bandwidth={text}").values["bandwidth"] == bps
        of_sources = canonical(f"star --ns3::OnOffApplication::DataRate={text}")
        assert of_sources["flows"][0]["application"]["rate"] == f"{bps}bps"


@pytest.mark.ns3
@pytest.mark.skipif(NS3.available() is not None, reason=str(NS3.available()))
@pytest.mark.parametrize(
    "scenario",
    [
        prio(2),
        codel_emptied(),
        closed_window(),
        reset_without_syn(),
        no_limited_transmit(),
        no_duplicates_needed(),
        no_connection(),
        wrapped_pacing(),
        overtaken_acknowledgement(),
        duplicates_when_a_reduction_ends(),
        ping_after_a_failure(),
    ],
    ids=lambda scenario: scenario.label,
)
def test_ns3_ends_there(scenario: Scenario) -> None:
    NATIVE.simulate(scenario)
    with pytest.raises(RunError, match=r"ns-3 (aborted|ended by SIG(SEGV|FPE|ABRT))"):
        NS3.simulate(scenario)


@pytest.mark.ns3
@pytest.mark.skipif(NS3.available() is not None, reason=str(NS3.available()))
def test_ns3_does_not_return_from_a_wait_of_the_token_bucket() -> None:
    """Two SYNs of 56 B in one nanosecond, tokens for 111 B: the second waits 0.08 ns."""
    attributes = {"Rate": "100Gbps", "Burst": "111"}
    scenario = case("tbf", flows=2, qdisc="TbfQueueDisc", qdisc_attributes=attributes, stop="5ms")
    NATIVE.simulate(scenario.scenario)
    with pytest.raises(RunError, match="hangs"):
        Ns3(cpu_limit_s=2).simulate(scenario.scenario)


@pytest.mark.ns3
@pytest.mark.skipif(NS3.available() is not None, reason=str(NS3.available()))
def test_ns3_does_not_return_from_cubic_with_a_tiny_window() -> None:
    """The ACKs after which Reno would have grown by one segment come to 0 in whole numbers."""
    cubic = {"type": "TcpCubic", "attributes": {"Beta": "0.1"}}
    tcp = {"InitialSlowStartThreshold": 1448}
    scenario = case("cubic", cc=cubic, initial_cwnd=1, tcp=tcp, stop="1s").scenario
    NATIVE.simulate(scenario)
    with pytest.raises(RunError, match="hangs"):
        Ns3(cpu_limit_s=2).simulate(scenario)


def outside(param: Mapping[str, Any]) -> str | None:
    """The nearest value that is refused, although ns-3 may take it; None if there is none."""
    zeros = {
        "period": "0s",
        "rate": "0bps",
        "queue_size": "0p",
        "marking_length": "0p",
        "packet_limit": "0p",
    }
    if param["kind"] in zeros:
        return zeros[param["kind"]]
    if param["kind"] == "uint" and param["min"]:
        return str(param["min"] - 1)
    if param["kind"] == "real" and param["min"] is not None:
        return str(param["min"] - 0.001)
    return None


def narrower() -> Iterator[tuple[str, str, str, str]]:
    """Kind, algorithm, attribute and value."""
    yield "cc", "TcpCubic", "Beta", "1"
    for kind in ("cc", "qdisc"):
        for name, spec in registry.algorithms(kind).items():
            for param in spec["params"]:
                if value := outside(param):
                    yield kind, name, param["ns3"], value
    for param in registry.tables()["socket"]["params"]:
        if value := outside(param):
            yield "socket", "", param["ns3"], value


@pytest.mark.parametrize(("kind", "name", "attribute", "value"), [*narrower()])
def test_narrower_bounds_of_attributes(kind: str, name: str, attribute: str, value: str) -> None:
    """Values with which ns-3 divides by zero, hangs or sends nothing are mistakes, and those that
    mean nothing."""
    given = {attribute: value}
    settings: dict[str, Any] = {
        "cc": {"cc": {"type": name, "attributes": given}},
        "qdisc": {"qdisc": name, "qlen": None, "qdisc_attributes": given},
        "socket": {"tcp": given},
    }[kind]
    with pytest.raises(ScenarioError) as refused:
        case("bounds", **settings).scenario.lowered()
    assert any(problem.path.endswith(f".{attribute}") for problem in refused.value.problems)
