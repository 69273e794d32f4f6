"""The flow monitor's XML: written and read back, ns-3's own file, and what is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccperf import backends, flow_monitor
from ccperf.errors import RunError, UsageError
from ccperf.recording import Recording
from ccperf.scenario import Scenario
from ccperf.topologies import star
from ccperf.topologies.fabric import FabricLink, SwitchPort

FILES = Path(__file__).parent / "files"


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
    import xml.etree.ElementTree as ET

    def shape(path: Path) -> tuple[list[str], list[list[str]]]:
        root = ET.parse(path).getroot()
        flow = root.find("FlowStats/Flow")
        ends = root.find("Ipv4FlowClassifier/Flow")
        assert flow is not None
        assert ends is not None
        return [child.tag for child in root], [list(flow.attrib), list(ends.attrib)]

    flow_monitor.write(*run, tmp_path / "ours.xml")
    assert shape(tmp_path / "ours.xml") == shape(FILES / "ns3-flow-monitor.xml")


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
