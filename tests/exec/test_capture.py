"""Captures: what Wireshark's own dissectors make of a run, against what the engine recorded."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import ccperf
from ccperf.cli.app import invoke
from ccperf.experiments import catalogue
from ccperf.runs import flow_monitor
from ccperf.scenario import Scenario

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(
    TSHARK is None, reason="needs tshark (Debian: apt install tshark)"
)


def fields(capture: Path, display: str, *names: str) -> list[list[str]]:
    """Return the fields of all packets that the display filter lets through."""
    command = [str(TSHARK), "-r", str(capture), "-Y", display, "-T", "fields", "-E", "separator=;"]
    for name in names:
        command += ["-e", name]
    shown = subprocess.run(
        [*command, "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "malformed" not in shown.stdout.lower()
    return [line.split(";") for line in shown.stdout.splitlines()]


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ccperf.Result]:
    """Two flows of CUBIC with marks."""
    path = tmp_path_factory.mktemp("capture") / "run.pcapng"
    scenario = catalogue.get("ecn").scenario("TcpCubic", k="2", ce_threshold="1ms", stop_time="2s")
    return path, ccperf.simulate(scenario, packets=path)


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ccperf.Result]:
    """Two flows of CUBIC with losses."""
    path = tmp_path_factory.mktemp("capture") / "lossy.pcapng"
    scenario = catalogue.get("aqm").scenario(
        "TcpCubic", k="2", qdisc="FifoQueueDisc", stop_time="3s"
    )
    return path, ccperf.simulate(scenario, packets=path)


@needs_tshark
def test_every_packet_of_every_flow_is_there_and_sound(
    capture: tuple[Path, ccperf.Result],
) -> None:
    path, result = capture
    rows = fields(
        path,
        "tcp",
        "ip.src", "tcp.srcport", "frame.time_relative", "tcp.len", "ip.checksum.status",
        "tcp.hdr_len", "ip.len",
    )  # fmt: skip
    flows = result.scenario.canonical()["flows"]
    for flow in flows:
        assert any(row[1] == str(flow["source_port"]) for row in rows)
    times = [float(row[2]) for row in rows]
    assert times == sorted(times)
    assert {row[4] for row in rows} <= {"1", "Good"}
    for row in rows:
        assert int(row[6]) == 20 + int(row[5]) + int(row[3])
    interfaces = fields(path, "tcp", "frame.interface_name")
    assert {row[0] for row in interfaces} == {"src_0_forward", "src_1_forward"}


@needs_tshark
def test_wireshark_finds_the_retransmissions_that_were_recorded(
    lossy: tuple[Path, ccperf.Result],
) -> None:
    path, result = lossy
    again = sum(flow["total_retransmissions_l4"] for flow in result.flow_metrics.values())
    assert again > 0
    found = fields(
        path,
        "tcp.analysis.retransmission || tcp.analysis.fast_retransmission"
        " || tcp.analysis.spurious_retransmission || tcp.analysis.out_of_order",
        "tcp.seq",
    )
    assert len(found) == again


@needs_tshark
def test_options_and_ecn_are_read(capture: tuple[Path, ccperf.Result]) -> None:
    path, _ = capture
    syn = fields(
        path,
        "tcp.flags.syn == 1",
        "tcp.options.wscale.shift", "tcp.options.sack_perm", "tcp.options.timestamp.tsval",
    )  # fmt: skip
    assert len(syn) == 4  # SYN and SYN-ACK of two flows
    assert all(all(row) for row in syn)
    assert {row[0] for row in fields(path, "tcp.len > 0", "ip.dsfield.ecn")} == {"2"}  # ECT(0)
    assert fields(path, "tcp.flags.ece == 1 && tcp.flags.syn == 0", "tcp.ack")
    assert fields(path, "tcp.flags.cwr == 1 && tcp.flags.syn == 0", "tcp.seq")


@needs_tshark
def test_sack_blocks_are_read(lossy: tuple[Path, ccperf.Result]) -> None:
    sacks = fields(
        lossy[0], "tcp.options.sack.count > 0", "tcp.options.sack_le", "tcp.options.sack_re"
    )
    assert sacks
    for left, right in sacks:
        edges = zip(left.split(","), right.split(","), strict=True)
        assert all(int(a) < int(b) for a, b in edges)


@needs_tshark
def test_the_sent_bytes_are_those_of_the_recording(lossy: tuple[Path, ccperf.Result]) -> None:
    path, result = lossy
    samples = result.recording.flow_samples
    lowered = json.loads(result.scenario.lowered())
    sent = np.asarray(samples["sent_bytes"]).reshape(-1, len(lowered["flows"]))[-1]
    end = float(np.asarray(samples["time_ns"])[-1]) / 1e9
    for flow, described in enumerate(lowered["flows"]):
        rows = fields(
            path,
            f"ip.src == {described['source_address']} && tcp.len > 0 && frame.time_epoch <= {end}",
            "tcp.len",
        )
        # What the device still holds has been sent by the socket only.
        waiting = sent[flow] - sum(int(row[0]) for row in rows)
        assert 0 <= waiting <= 30 * 1448


@needs_tshark
def test_pings_are_echo_requests_and_replies(tmp_path: Path) -> None:
    scenario = Scenario.model_validate(
        {
            "stop_time": "1s",
            "nodes": ["a", "b"],
            "links": [{"name": "l", "ends": ["a", "b"], "rate": "1Mbps", "delay": "5ms"}],
            "flows": [{"source": "a", "destination": "b", "cc": "TcpNewReno", "start": "900ms"}],
            "pings": [{"source": "a", "destination": "b", "interval": "200ms"}],
        }
    )
    ccperf.simulate(scenario, packets=tmp_path / "pings.pcapng")
    rows = fields(tmp_path / "pings.pcapng", "icmp", "icmp.type", "icmp.seq", "icmp.resp_to")
    assert [row[0] for row in rows[:4]] == ["8", "0", "8", "0"]
    assert all(row[2] for row in rows if row[0] == "0")


@needs_tshark
@pytest.mark.parametrize(("transport", "protocol"), [("dctcp", "6"), ("ndp", "17")])
def test_transfers_are_of_their_transport_s_protocol(
    transport: str, protocol: str, tmp_path: Path
) -> None:
    """In a capture, and in what a flow monitor classifies by."""
    small = {"leaves": "2", "spines": "2", "servers": "2", "data": "100kB", "stop_time": "100ms"}
    scenario = catalogue.get("all_reduce").scenario("ecmp", transport=transport, **small)
    recording = ccperf.simulate(
        flow_monitor.asked(scenario), packets=tmp_path / "run.pcapng"
    ).recording
    seen = fields(tmp_path / "run.pcapng", "ip", "ip.proto")
    assert {row[0] for row in seen} == {protocol}
    flow_monitor.write(scenario, recording, tmp_path / "flows.xml")
    monitored = flow_monitor.read(tmp_path / "flows.xml")
    assert {str(flow.protocol) for flow in monitored} == {protocol}


def test_a_capture_is_of_the_native_engine_and_over_nothing_else(tmp_path: Path) -> None:
    words = ["run", "aqm", "--cc", "newreno", "--k", "1", "--qdisc", "codel", "--stop-time", "1s"]
    words += ["--db", str(tmp_path / "runs.db"), "--packets", str(tmp_path / "run.pcapng")]
    assert invoke([*words, "--backend", "ns3"]) == 2
    assert not list(tmp_path.iterdir())
    (tmp_path / "run.pcapng").write_text("my thesis")
    assert invoke(words) == 2
    (tmp_path / "run.pcapng").unlink()
    assert invoke(words) == 0
    assert invoke(words) == 0  # over one of ours
    assert (tmp_path / "run.pcapng").read_bytes().startswith(b"\x0a\x0d\x0d\x0a")


@needs_tshark
def test_accurate_ecn_is_read(tmp_path: Path) -> None:
    """RFC 9768: the counts of the SYN-ACK are 1, 0 and 1;
    and where nothing is lost, what came with ECT(1) and with CE is all that is acknowledged.
    """
    path = tmp_path / "run.pcapng"
    scenario = catalogue.get("l4s").scenario("TcpPrague", mix="1:0", stop_time="3s")
    result = ccperf.simulate(scenario, packets=path)
    assert result.recording.flows["retransmissions"][0] == 0
    names = ("tcp.options.acc_ecn.ee1b", "tcp.options.acc_ecn.eceb", "tcp.options.acc_ecn.ee0b")
    assert fields(path, "tcp.flags.syn == 1 && tcp.flags.ack == 0", "tcp.flags.ae") == [["1"]]
    assert fields(path, "tcp.flags.syn == 1 && tcp.flags.ack == 1", *names) == [["1", "0", "1"]]
    rows = fields(path, "tcp.options.acc_ecn && tcp.srcport == 5001", "tcp.ack", *names, "ip.len")
    assert len(rows) > 100
    marked = 0
    for ack, ect1, ce, ect0, size in rows[1:]:
        marked = int(ce)
        assert (int(ect1) - 1 + marked) % 2**24 == (int(ack) - 1) % 2**24
        assert (int(ect0), int(size)) == (1, 20 + 20 + 12 + 12)
    assert marked > 0
