"""The flow monitor's XML: written and read back, ns-3's own file, and what is none."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from ccperf.errors import RunError, UsageError
from ccperf.experiments.topologies import star
from ccperf.experiments.topologies.fabric import FabricLink, SwitchPort
from ccperf.runs import backends, flow_monitor
from ccperf.runs.recording import Recording
from ccperf.scenario import Scenario

FILES = Path(__file__).parent / "files"
#: `src/flow-monitor/examples/flowmon-parse-results.py` of ns-3's sources, under the GPL and so not
#: here.
PROGRAM = os.environ.get("NS3_FLOWMON_PARSE_RESULTS", "")


def scenario() -> Scenario:
    port = SwitchPort({"type": "FifoQueueDisc", "attributes": {"MaxSize": "5p"}})
    fabric = star(3, FabricLink("1Gbps", "10us"), port=port)
    greedy = {"type": "Greedy", "bytes": "60000B"}
    tcp = {"MinRto": "5ms"}
    flows = [
        {"source": source, "destination": "h_2", "cc": "newreno", "application": greedy, "tcp": tcp}
        for source in ("h_0", "h_1")
    ]
    return flow_monitor.asked(fabric.scenario(flows, stop_time="200ms"))


@pytest.fixture(scope="module")
def run() -> tuple[Scenario, Recording]:
    of = scenario()
    return of, backends.get("native").simulate(of)


def test_what_is_written_is_read_back(run: tuple[Scenario, Recording], tmp_path: Path) -> None:
    path = tmp_path / "flows.xml"
    flow_monitor.write(*run, path)
    found = flow_monitor.read(path)
    table = run[1].flow_monitor
    assert table is not None
    assert [flow.id for flow in found] == [1, 2, 3, 4]
    for name in ("first_tx_ns", "last_rx_ns", "delay_sum_ns", "tx_bytes", "lost_packets"):
        assert [getattr(flow, name) for flow in found] == table.array(name).tolist()
    assert {flow.destination_port for flow in found} == {5001, 5002, 49152}
    assert sum(flow.lost_packets for flow in found) > 0


def test_packets_are_lost_in_queues_or_received(run: tuple[Scenario, Recording]) -> None:
    table = run[1].flow_monitor
    assert table is not None
    lost = table.array("tx_packets") - table.array("rx_packets")
    assert (lost == table.array("qdisc_packets")).all()
    assert int(lost.sum()) == run[1].links.array("qdisc_dropped").sum()


def test_the_file_of_ns3_itself_is_read() -> None:
    data, acks = flow_monitor.read(FILES / "ns3-flow-monitor.xml")
    assert (data.source, data.destination, data.protocol) == ("10.0.0.1", "10.0.0.2", 6)
    assert (data.tx_packets, data.rx_bytes, data.lost_packets) == (41, 22_136, 0)
    assert (data.first_tx_ns, acks.jitter_sum_ns) == (1e8, 232_000)


def test_ours_has_the_elements_of_ns3_s_own(
    run: tuple[Scenario, Recording], tmp_path: Path
) -> None:
    def shape(path: Path) -> tuple[list[str], list[list[str]]]:
        root = ET.parse(path).getroot()
        flow = root.find("FlowStats/Flow")
        ends = root.find("Ipv4FlowClassifier/Flow")
        assert flow is not None
        assert ends is not None
        return [child.tag for child in root], [list(flow.attrib), list(ends.attrib)]

    flow_monitor.write(*run, tmp_path / "ours.xml")
    assert shape(tmp_path / "ours.xml") == shape(FILES / "ns3-flow-monitor.xml")


COLUMNS = ("first_tx_ns", "last_tx_ns", "first_rx_ns", "last_rx_ns", "delay_sum_ns")
COLUMNS += ("tx_bytes", "rx_bytes", "lost_packets")


def reported(run: tuple[Scenario, Recording]) -> list[str]:
    """What ns-3's own program prints of a file, flow by flow: the bit rates between first and last
    packet, the mean delay, and the share of lost packets among lost and received ones."""
    table = run[1].flow_monitor
    assert table is not None
    lines = []
    for row, found in enumerate(table.array("rx_packets")):
        value = {name: float(table.array(name)[row]) for name in COLUMNS}
        sent = value["last_tx_ns"] - value["first_tx_ns"]
        received = value["last_rx_ns"] - value["first_rx_ns"]
        lost = value["lost_packets"]
        lines += [
            f"TX bitrate: {value['tx_bytes'] * 8e6 / sent:.2f} kbit/s",
            f"RX bitrate: {value['rx_bytes'] * 8e6 / received:.2f} kbit/s",
            f"Mean Delay: {value['delay_sum_ns'] / found / 1e6:.2f} ms",
            f"Packet Loss Ratio: {lost / (found + lost) * 100:.2f} %",
        ]
    return lines


@pytest.mark.skipif(not PROGRAM, reason="needs ns-3's program: NS3_FLOWMON_PARSE_RESULTS=PATH")
def test_ns3_s_own_program_reads_it(run: tuple[Scenario, Recording], tmp_path: Path) -> None:
    flow_monitor.write(*run, tmp_path / "ours.xml")
    done = subprocess.run(
        [sys.executable, PROGRAM, tmp_path / "ours.xml"], capture_output=True, text=True, check=True
    )
    printed = [line.strip() for line in done.stdout.splitlines()]
    assert [line for line in printed if line.partition(":")[0] != "FlowID"][1:] == reported(run)
    assert "FlowID: 1 (TCP 10.0.0.1/49152 --> 10.0.0.9/5001)" in printed


def test_what_ns3_s_own_program_looks_for_is_there(
    run: tuple[Scenario, Recording], tmp_path: Path
) -> None:
    """One classifier for IPv4 with the five fields of each flow, times that end in ns, counts, and
    the bins of the interruptions; the program itself runs where ns-3's sources are."""
    flow_monitor.write(*run, tmp_path / "ours.xml")
    root = ET.parse(tmp_path / "ours.xml").getroot()
    (classifier,) = root.findall("Ipv4FlowClassifier")
    flows = {flow.attrib["flowId"]: flow.attrib for flow in classifier.findall("Flow")}
    statistics = root.findall("FlowStats/Flow")
    assert [flow.attrib["flowId"] for flow in statistics] == list(flows)
    for flow in statistics:
        for name in ("timeLastTxPacket", "timeLastRxPacket", "delaySum"):
            assert flow.attrib[name].endswith("ns")
            assert float(flow.attrib[name].removesuffix("ns")) > 0
        for name in ("txBytes", "rxBytes", "txPackets", "rxPackets", "lostPackets"):
            assert int(flow.attrib[name]) >= 0
        histogram = flow.find("flowInterruptionsHistogram")
        assert histogram is not None
        for each in histogram.findall("bin"):
            assert float(each.attrib["width"]) > 0
            assert float(each.attrib["start"]) >= 0
            assert int(each.attrib["count"]) > 0
    for ends in flows.values():
        assert int(ends["protocol"]) in (6, 17)
        assert int(ends["sourcePort"]) != int(ends["destinationPort"])
        assert ends["sourceAddress"] != ends["destinationAddress"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "is not XML"),
        ("<Scenario/>", "its root is <Scenario>"),
        (
            "<FlowMonitor><FlowStats><Flow flowId='1'/></FlowStats></FlowMonitor>",
            "lacks or misspells '1'",
        ),
    ],
)
def test_what_is_no_such_file_is_said(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "file.xml").write_text(text)
    with pytest.raises(RunError, match=message):
        flow_monitor.read(tmp_path / "file.xml")


def test_a_run_without_a_monitor_has_no_file(tmp_path: Path) -> None:
    plain = scenario().model_copy(update={"recording": Scenario.model_fields["recording"].default})
    recording = backends.get("native").simulate(plain)
    assert recording.flow_monitor is None
    with pytest.raises(UsageError, match="no flow monitor"):
        flow_monitor.write(plain, recording, tmp_path / "file.xml")
