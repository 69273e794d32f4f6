"""Command lines of ns-3's own examples, against what the real programs send.

`ns3_examples.json`, made by `tools/ns3_examples.py`, holds the number and the SHA-256 of the packet
events of the real programs, compiled unchanged against the wheel of ns-3 with the trace of
`tools/ns3_example_trace.h`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ccperf.experiments import programs
from ccperf.experiments.programs import EXAMPLES, ProgramRun
from ccperf.experiments.programs.program import float32, ns_of
from ccperf.runs import backends
from program_lines import canonical, refusal, run_of

GOLDEN = json.loads(Path(__file__).with_name("ns3_examples.json").read_text())


_COLUMNS = "time_ns,link,event,flow,seq,ack,payload_bytes,wire_bytes,flags,ecn,reason\n"


def networks(scenario: dict[str, Any]) -> list[list[str]]:
    """Nodes with a way to each other; a program that simulates twice has two such networks here."""
    of = {name: [name] for name in scenario["nodes"]}
    for link in scenario["links"]:
        one, other = (of[node] for node in link["ends"])
        if one is not other:
            one += other
            of.update(dict.fromkeys(other, one))
    return [
        sorted(one, key=scenario["nodes"].index) for one in {id(n): n for n in of.values()}.values()
    ]


def packet_lines(scenario: dict[str, Any], trace: Path) -> Iterator[str]:
    """The lines that the trace of the real program has, of one network after another."""
    nodes = {name: i for network in networks(scenario) for i, name in enumerate(network)}
    network_of = {name: i for i, network in enumerate(networks(scenario)) for name in network}
    devices = dict.fromkeys(nodes, 0)
    ends: dict[str, list[str]] = {}
    where: dict[str, int] = {}
    for link in scenario["links"]:
        both = [f"{nodes[node]},{devices[node]}" for node in link["ends"]]
        for direction, of in (("forward", both), ("reverse", both[::-1])):
            ends[f"{link['name']}_{direction}"] = of
            where[f"{link['name']}_{direction}"] = network_of[link["ends"][0]]
        for node in link["ends"]:
            devices[node] += 1
    # Real datagrams have the 16 bits of IP's identification instead of a number.
    datagrams = {flow["name"] for flow in scenario["flows"] if flow.get("transport") == "UDP"}
    for network in range(len(networks(scenario))):
        with trace.open() as file:
            assert next(file) == _COLUMNS
            for row in file:
                time, link, event, flow, number, rest = row.split(",", 5)
                rest, reason = rest.rstrip("\n").rsplit(",", 1)
                event = "lost" if reason == "Link loss" else event
                if event not in ("tx", "rx", "lost") or where[link] != network:
                    continue
                if flow in datagrams:
                    number = str(int(number) % 2**16)
                yield f"{time},{ends[link][event != 'tx']},{event},{number},{rest}\n"


@pytest.mark.parametrize("golden", GOLDEN, ids=[golden["line"] for golden in GOLDEN])
def test_packets_are_those_of_the_real_program(golden: dict[str, Any], tmp_path: Path) -> None:
    scenario, _ = run_of(golden["line"]).scenario()
    backends.get("native").simulate(scenario, packets=tmp_path / "packets.csv")
    rows, digest = 0, hashlib.sha256()
    for line in packet_lines(scenario.canonical(), tmp_path / "packets.csv"):
        rows += 1
        digest.update(line.encode())
    assert rows == golden["rows"]
    assert digest.hexdigest() == golden["sha256"]


@pytest.mark.parametrize(
    "words",
    [
        ["tcp-validation", "--stopTime=20s"],
        ["tcp-validation --stopTime=20s"],
        ["ns3.44-tcp-validation-default", "--stopTime=20s"],
        ["./build/examples/tcp/ns3-dev-tcp-validation-optimized", "-stopTime=20s"],
        ["./ns3", "run", "tcp-validation --stopTime=20s"],
        ["./ns3 run 'tcp-validation --stopTime=20s'"],
        ["./ns3", "run", "tcp-validation", "--", "--stopTime=20s"],
        ["./ns3", "run", "--no-build", "examples/tcp/tcp-validation --stopTime=20s"],
        ["./waf", "--run", "tcp-validation --stopTime=20s"],
        ["./waf", "--run=tcp-validation --stopTime=20s"],
    ],
)
def test_every_form_that_people_type(words: list[str]) -> None:
    run = programs.parse(words)
    assert isinstance(run, ProgramRun)
    assert run.values["stopTime"] == 20_000_000_000
    assert run.reproduce() == "ccperf exec -- tcp-validation --stopTime=20s"


def test_defaults_are_those_of_the_programs() -> None:
    variants = canonical("tcp-variants-comparison")
    assert (variants["stop_time"], variants["seed"]) == ("100.1s", 0)
    flow = variants["flows"][0]
    assert flow["cc"]["type"] == "TcpWestwoodPlus"
    assert flow["recovery"] == "TcpClassicRecovery"
    assert flow["tcp"]["SegmentSize"] == "340"
    assert flow["stop"] == "97.1s"
    validation = canonical("tcp-validation")
    assert validation["stop_time"] == "70s"
    assert validation["links"][3]["delay"] == "40ms"
    assert validation["flows"][0]["cc"]["attributes"] == {"TcpFriendliness": "false"}
    benchmark = canonical("queue-discs-benchmark")
    assert benchmark["stop_time"] == "60099998474ns"
    assert benchmark["flows"][1]["application"]["rate"] == "20Mbps"


def test_the_last_of_two_options_counts_and_a_lone_boolean_is_switched() -> None:
    run = run_of("tcp-validation --baseRtt=10ms --baseRtt=0.02 --queueUseEcn")
    assert run.values["baseRtt"] == 20_000_000
    assert run.values["queueUseEcn"] is True


def test_attributes_are_defaults_that_the_program_overrides() -> None:
    line = (
        "tcp-variants-comparison --ns3::TcpSocket::DelAckCount=1 --ns3::TcpSocket::SegmentSize=500"
    )
    assert canonical(line)["flows"][0]["tcp"]["DelAckCount"] == "1"
    assert canonical(line)["flows"][0]["tcp"]["SegmentSize"] == "340"
    _, warnings = run_of("tcp-validation --ns3::TcpVegas::Alpha=3").scenario()
    assert any("--ns3::TcpVegas::Alpha" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("line", "attribute"),
    [
        ("tcp-variants-comparison", "RttMeanDeviation::Alpha=0.5"),
        ("tcp-bulk-send", "RttEstimator::InitialEstimation=2s"),
        ("tcp-large-transfer", "TcpL4Protocol::SocketType=ns3::TcpBbr"),
        ("queue-discs-benchmark", "OnOffApplication::MaxBytes=900"),
        ("traffic-control-example", "PointToPointNetDevice::Mtu=600"),
        ("star", "QueueDisc::Quota=1"),
        ("star", "CoDelQueueDisc::MinBytes=1"),
        ("star", "TcpCongestionOps::Anything=1"),
        ("tcp-pacing", "WifiMac::Ssid=x"),
    ],
)
def test_an_attribute_that_cannot_be_set_here_is_refused(line: str, attribute: str) -> None:
    """It would have an effect in ns-3, or may have one: no other run takes its place."""
    error = refusal(f"{line} --ns3::{attribute}")
    assert error.field == f"--ns3::{attribute.partition('=')[0]}"
    assert "leave it out" in error.message or "has no such attribute" in error.message


def test_an_attribute_that_has_no_effect_in_the_program_either_is_named() -> None:
    said = "\n".join(run_of("red-vs-ared --ns3::OnOffApplication::PacketSize=9").scenario()[1])
    assert "--ns3::OnOffApplication::PacketSize has no effect: red-vs-ared sets it itself" in said


def test_files_that_are_not_written_are_named_once() -> None:
    _, warnings = run_of("tcp-variants-comparison --tracing=1 --pcap_tracing=1").scenario()
    assert len(warnings) == 1
    assert "--tracing" in warnings[0]
    assert "--packets" in warnings[0]
    assert run_of("tcp-variants-comparison").scenario()[1] == []
    assert ".dat" in run_of("tcp-validation").scenario()[1][0]


def test_the_recovery_can_be_set() -> None:
    run = run_of("tcp-validation").with_recovery("TcpClassicRecovery")
    assert run.scenario()[0].flows[0].recovery == "TcpClassicRecovery"
    assert "--recovery TcpClassicRecovery" in run.reproduce()


@pytest.mark.parametrize(
    ("line", "field", "says"),
    [
        ("tcp-variants-comparison --help", "--help", "--transport_prot=TcpWestwoodPlus"),
        ("tcp-variants-comparison --transport_port=x", "--transport_port", "`transport_prot`"),
        ("tcp-variants-comparison --transport_prot=TcpCubik", "--transport_prot", "`TcpCubic`"),
        ("tcp-variants-comparison --recovery=ns3::TcpPrr", "--recovery", "TcpPrrRecovery"),
        ("tcp-variants-comparison --queue_disc_type=codel", "--queue_disc_type", "CoDelQueueDisc"),
        ("tcp-variants-comparison --duration=2", "--duration", "raise it"),
        ("tcp-variants-comparison --num_flows=0", "--num_flows", "1 to 250"),
        ("tcp-variants-comparison --num_flows=x", "--num_flows", "whole number"),
        ("tcp-variants-comparison --error_p=2", "--error_p", "probability"),
        ("tcp-variants-comparison --mtu=60", "--mtu", "at least 61"),
        ("tcp-variants-comparison --mtu=65600 --bandwidth=1Gbps", "--mtu", "at most"),
        ("tcp-variants-comparison --bandwidth=1bps", "--bandwidth", "drop everything"),
        ("tcp-variants-comparison --bandwidth=0Mbps", "--bandwidth", "above 0"),
        ("tcp-variants-comparison --bandwidth=fast", "--bandwidth", "fast"),
        ("tcp-variants-comparison --duration=long", "--duration", "not a number"),
        ("tcp-variants-comparison --duration", "--duration", "has no value"),
        ("tcp-variants-comparison --sack=maybe", "--sack", "neither true nor false"),
        ("tcp-variants-comparison duration=3", "command line", "--name=value"),
        ("tcp-variants-comparison --ns3::TcpSocket::Mss=3", "--ns3::TcpSocket::Mss", "SegmentSize"),
        ("tcp-validation --firstTcpType=bbr", "--firstTcpType", "cubic"),
        ("tcp-validation --secondTcpType=bbr", "--secondTcpType", "cubic"),
        ("tcp-validation --queueType=fifo", "--queueType", "codel"),
        ("tcp-validation --stopTime=6s", "--stopTime", "starts at 5 s"),
        ("tcp-validation --validate=x", "--validate", "dctcp-10ms"),
        ("queue-discs-benchmark --queueDiscType=RED", "--queueDiscType", "ARED"),
        ("queue-discs-benchmark --queueDiscSize=0", "--queueDiscSize", "1p"),
        ("queue-discs-benchmark --netdevicesQueueSize=0", "--netdevicesQueueSize", "1p"),
        ("queue-discs-benchmark --simDuration=0.1", "--simDuration", "no time"),
        ("queue-discs-benchmark --flowsPacketsSize=65484", "--flowsPacketsSize", "at most"),
        ("queue-discs-benchmark --RngRun=-1", "--RngRun", "whole number"),
        ("codel-vs-pfifo-basic-test --pktSize=65484", "--pktSize", "65483"),
        ("codel-vs-pfifo-basic-test --pktSize=100 --simDuration=2", "--simDuration", "3 s less"),
        ("codel-vs-pfifo-asymmetric --pktSize=0", "--pktSize", "1 to 65483"),
        ("codel-vs-pfifo-asymmetric --pktSize=9 --simDuration=1", "--simDuration", "3 s less"),
        (
            "codel-vs-pfifo-asymmetric --pktSize=9 --numOfUpLoadBulkFlows=1001",
            *("--numOfUpLoadBulkFlows", "more than 1000"),
        ),
        ("cobalt-vs-codel --RngRun=2", "--RngRun", "does not look at its command line"),
        ("cobalt-vs-codel --help", "--help", "without options"),
        ("fqcodel-l4s-example --scenarioNum=10", "--scenarioNum", "0 to 9"),
        ("fqcodel-l4s-example --scenarioNum=9 --stopTime=16s", "--stopTime", "starts at 15 s"),
        ("star --ns3::OnOffApplication::DataRate=fast", "flows[0].application.rate", "fast"),
        ("fqcodel-l4s-example --n0TcpType=cubic", "--n0TcpType", "bic"),
        ("fqcodel-l4s-example --bottleneckQueueType=red", "--bottleneckQueueType", "codel"),
        ("red-vs-ared --queueDiscType=NLRED", "--queueDiscType", "ARED"),
        ("red-vs-nlred --nLeaf=0", "--nLeaf", "1 to 250"),
        ("pfifo-vs-red --maxPackets=0", "--maxPackets", "1p"),
        ("red-tests --testNumber=2", "--testNumber", "1, 3, 4 or 5"),
        ("adaptive-red-tests --testNumber=5", "--testNumber", "not one of"),
        ("star --nSpokes=0", "--nSpokes", "0 spokes"),
        ("tcp-star-server --nNodes=1", "--nNodes", "0 spokes"),
        ("tcp-bbr-example --tcpTypeId=Bbr", "--tcpTypeId", "TcpBbr"),
        ("tcp-bbr-example --stopTime=50ms", "--stopTime", "start"),
        ("tcp-linux-reno --segmentSize=65484", "--segmentSize", "at most"),
        ("tbf-example --rate=0bps", "--rate", "above 0"),
        ("tcp-pacing --simulationEndTime=0.1ms", "--simulationEndTime", "start"),
    ],
)
def test_bad_input_names_the_option_and_the_fix(line: str, field: str, says: str) -> None:
    error = refusal(line)
    assert error.field == field
    assert says in error.message


def test_numbers_are_rounded_as_in_the_programs() -> None:
    assert ns_of(0.1 + 100) == 100_100_000_000
    assert ns_of(float32(float32(0.1) + float32(60))) == 60_099_998_474


def test_the_page_lists_every_option_with_its_default() -> None:
    page = (Path(__file__).parents[2] / "docs" / "ns3-examples.md").read_text(encoding="utf-8")
    for program in EXAMPLES.values():
        section = page.partition(f"## {program.name}\n")[2].partition("\n## ")[0]
        listed = re.findall(r"^\| `--(\w+)` \| `?([^|`]*)`? \| (.*) \|$", section, re.MULTILINE)
        assert [name for name, _, _ in listed] == list(program.options)
        for name, default, note in listed:
            option = program.options[name]
            words = {True: "true", False: "false"}
            shown = words[option.default] if option.kind == "bool" else str(option.default)
            assert default.strip() == shown, name
            assert note.startswith(option.help), name


def test_every_program_is_compared_with_the_real_one() -> None:
    lines = Counter(golden["line"].partition(" ")[0] for golden in GOLDEN)
    assert set(lines) == set(EXAMPLES)
    # Without options there is but one line.
    one = {program.name for program in EXAMPLES.values() if not program.reads_words}
    assert one == {"cobalt-vs-codel"}
    assert {name for name, count in lines.items() if count < 3} == one
    assert sum(lines.values()) >= 100
