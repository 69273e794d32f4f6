"""Command lines of the simulator of ECN#: what they describe, print and leave behind."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ccperf.cli.app import invoke
from ccperf.experiments import programs
from ccperf.experiments.programs import PROGRAMS
from ccperf.runs import backends
from ccperf.runs.metrics import compute
from program_lines import canonical, execute, refusal, run_of, warnings

SHORT_FABRIC = (
    "large-scale --leafCount=2 --spineCount=2 --serverCount=4 --load=0.6 --randomSeed=3"
    " --FlowLaunchEndTime=0.02 --EndTime=0.1"
)
THEIRS = """<?xml version="1.0" ?>
<FlowMonitor>
  <FlowStats>
    <Flow flowId="1" timeFirstTxPacket="+1000000.0ns" timeFirstRxPacket="+1100000.0ns"
     timeLastTxPacket="+2400000.0ns" timeLastRxPacket="+2500000.0ns" delaySum="+9.0ns"
     jitterSum="+9.0ns" lastDelay="+9.0ns" txBytes="29432" rxBytes="28000" txPackets="22"
     rxPackets="21" lostPackets="1" timesForwarded="21" />
    <Flow flowId="2" timeFirstTxPacket="+1100000.0ns" timeFirstRxPacket="+1200000.0ns"
     timeLastTxPacket="+2500000.0ns" timeLastRxPacket="+2600000.0ns" delaySum="+9.0ns"
     jitterSum="+9.0ns" lastDelay="+9.0ns" txBytes="1148" rxBytes="1148" txPackets="22"
     rxPackets="22" lostPackets="0" timesForwarded="22" />
    <Flow flowId="3" timeFirstTxPacket="+1000000.0ns" timeFirstRxPacket="+0.0ns"
     timeLastTxPacket="+2400000.0ns" timeLastRxPacket="+0.0ns" delaySum="+0.0ns"
     jitterSum="+0.0ns" lastDelay="+0.0ns" txBytes="2904" rxBytes="0" txPackets="2"
     rxPackets="0" lostPackets="2" timesForwarded="0" />
  </FlowStats>
  <Ipv4FlowClassifier>
    <Flow flowId="1" sourceAddress="10.0.0.1" destinationAddress="10.0.0.2" protocol="6"
     sourcePort="49153" destinationPort="1000" />
    <Flow flowId="2" sourceAddress="10.0.0.2" destinationAddress="10.0.0.1" protocol="6"
     sourcePort="1000" destinationPort="49153" />
    <Flow flowId="3" sourceAddress="10.0.0.1" destinationAddress="10.0.0.2" protocol="6"
     sourcePort="49154" destinationPort="1001" />
  </Ipv4FlowClassifier>
</FlowMonitor>
"""
SHORT_TRACK = "queue-track --endTime=0.05 --simEndTime=0.06 --randomSeed=3"


def sources(file: str) -> set[str]:
    """The addresses of the flows in a file of the flow monitor."""
    return set(re.findall(r'sourceAddress="([\d.]+)"', Path(file).read_text()))


def test_a_word_in_another_case_is_another_discipline_and_a_note_says_so() -> None:
    """CoDel with ns-3's defaults drops after 5 ms where the program's marks after 10 us."""
    for word, is_said in (("CoDel", True), ("codel", True), ("CODEL", False), ("red", True)):
        assert (f"--AQM={word} is" in warnings(f"{SHORT_TRACK} --AQM={word}")) == is_said
    said = "--AQM=CoDel is CoDelQueueDisc; the program's word is CODEL, for MarkingCoDelQueueDisc"
    assert said in warnings(f"{SHORT_TRACK} --AQM=CoDel")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("form", ["{}", "./waf --run '{}'", './waf --run "{} --help"'])
def test_every_form_is_read(name: str, form: str) -> None:
    words = [form.format(name)]
    if "--help" in form:
        with pytest.raises(programs.HelpRequested) as asked:
            programs.parse(words)
        assert all(f"--{option}=" in asked.value.message for option in PROGRAMS[name].options)
    else:
        programs.parse(words)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_clock_is_never_the_seed(name: str) -> None:
    options = PROGRAMS[name].options
    line = f"{name} --load=0.5" if "load" in options else name
    if "cdfFileName" in options:
        line += " --cdfFileName=VL2_CDF.txt"
    assert canonical(line)["seed"] == 1
    assert "--randomSeed=0" in warnings(line)
    assert canonical(f"{line} --randomSeed=7")["seed"] == 7
    assert "--randomSeed" not in warnings(f"{line} --randomSeed=7")


def test_mq_is_three_classes_behind_a_scheduler() -> None:
    scenario = canonical("mq --AQM=ECNSharp --randomSeed=1")
    port = next(link for link in scenario["links"] if link["name"] == "h_5")["reverse"]
    assert port["qdisc"]["attributes"] == {"Quanta": "3000 1500 1500"}
    (inner,) = port["qdisc"]["children"]
    assert inner["type"] == "ECNSharpQueueDisc"
    assert inner["attributes"] == {
        "MaxSize": "600p",
        "InstantaneousMarkingThreshold": "150us",
        "PersistentMarkingTarget": "10us",
        "PersistentMarkingInterval": "200us",
    }
    flows = scenario["flows"]
    assert [(flow["start"], flow.get("dscp", 0)) for flow in flows[:3]] == [
        ("0s", 0),
        ("100ms", 1),
        ("200ms", 2),
    ]
    assert len(flows) == 103
    assert {flow.get("dscp", 0) for flow in flows[3:]} == {0, 1, 2}
    assert {flow["application"]["bytes"] for flow in flows[3:]} == {"28kB"}


@pytest.mark.parametrize("aqm", ["TCN", "ECNSharp"])
def test_mq_keeps_the_shares_of_the_classes(
    aqm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """9.63 Gbps of payload: all, then 2/3 and 1/3, then 1/2, 1/4 and 1/4, within 2 %."""
    monkeypatch.chdir(tmp_path)
    out = execute(f"mq --AQM={aqm} --randomSeed=233", capsys)
    said = re.findall(r"^Flow: (\d), throughput \(Gbps\): (\S+)$", out, re.MULTILINE)
    windows = np.array([float(value) for _, value in said]).reshape(-1, 3)
    for first, last, shares in ((2, 5, (1, 0, 0)), (7, 10, (2 / 3, 1 / 3, 0))):
        assert windows[first:last].mean(axis=0) == pytest.approx(
            [9.63 * share for share in shares], rel=0.02
        )
    assert windows[12:].mean(axis=0) == pytest.approx([4.815, 2.4075, 2.4075], rel=0.02)


def test_queue_track_is_a_star_with_bursts() -> None:
    scenario = canonical("queue-track --AQM=RED --numOfSenders=7 --bufferSize=600 --randomSeed=1")
    delays = [link["delay"] for link in scenario["links"]]
    assert delays == ["10us", "20us", "35us", "50us", "90us", "10us", "20us", "5us"]
    assert {
        (side["qdisc"]["type"], tuple(side["qdisc"]["attributes"].items()), side["device_queue"])
        for link in scenario["links"]
        for side in (link["forward"], link["reverse"])
    } == {("StepRedQueueDisc", (("MarkingThreshold", "40p"), ("MaxSize", "600p")), "5p")}
    background, query = scenario["workloads"]
    assert background["arrivals"]["load"] == 0.9
    assert background["arrivals"]["count"] == 994  # 1000 // 7 of each
    assert background["sizes"]["type"] == "DataMining"
    assert query["arrivals"]["times"][:2] == ["100ms", "200ms"]
    assert len(query["arrivals"]["times"]) == 9


def test_queue_track_leaves_its_samples_as_a_script_for_gnuplot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    out = execute(f"{SHORT_TRACK} --id=mine", capsys)
    assert "AVG Small flow FCT: 0.0" in out
    script = tmp_path / "Queue_Track_ECNSharp_mine_Queue.plt"
    lines = script.read_text().splitlines()
    rows = [line.split() for line in lines if re.match(r"\d", line)]
    assert len(rows) == 6000
    assert rows[1][0] == "1e-05"
    assert lines[-1] == "e"
    if shutil.which("gnuplot"):
        subprocess.run(["gnuplot", script.name], check=True)
        assert (tmp_path / "Queue_Track_ECNSharp_mine_Queue.png").stat().st_size > 0


def test_large_scale_is_a_leaf_spine_with_five_delays() -> None:
    scenario = canonical(
        "large-scale --randomSeed=233 --load=0.6 --AQM=TCN --TCNThreshold=70 --linkCount=2"
        " --spineLeafCapacity=40"
    )
    links = scenario["links"]
    assert len(links) == 32 + 4 * 4 * 2
    assert {link["delay"] for link in links} == {"10us"}
    assert {link["rate"] for link in links[:32]} == {"10Gbps"}
    assert {link["rate"] for link in links[32:]} == {"40Gbps"}
    port = {"MaxSize": "250p", "Threshold": "70us"}
    assert all(link["reverse"]["qdisc"]["attributes"] == port for link in links)
    assert links[0]["forward"]["qdisc"]["type"] == "FqCoDelQueueDisc"
    (flows,) = scenario["workloads"]
    assert flows["arrivals"]["capacity"] == "1280Gbps"  # the leaves' uplinks
    assert flows["added_delay"]["delays"] == ["1us", "20us", "50us", "80us", "160us"]
    assert len(flows["apart"]) == 4
    assert scenario["routing"]["type"] == "ecmp"


def test_large_scale_pias_demotes_flows_into_classes_of_strict_priority() -> None:
    scenario = canonical("large-scale-pias --randomSeed=1 --load=0.6 --AQM=TCN --TCNThreshold=70")
    (stack,) = scenario["stacks"]
    assert stack["pias"] == ["140kB", "280kB", "420kB"]
    port = scenario["links"][0]["reverse"]["qdisc"]
    assert (port["type"], port["attributes"]) == (
        "StrictPriorityQueueDisc",
        {"Priorities": "10 8 6 0"},
    )
    (inner,) = port["children"]
    assert inner == {"type": "TcnQueueDisc", "attributes": {"MaxSize": "250p", "Threshold": "70us"}}


def test_what_flows_send_first_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options = SHORT_FABRIC.partition(" ")[2].replace("0.6", "0.8")
    small = [
        float(execute(f"{program} {options}", capsys).splitlines()[2].split()[-1])
        for program in ("large-scale", "large-scale-pias")
    ]
    assert small[1] < small[0]
    # In `large-scale` alone servers are the first ends of their links.
    name = "_undefined_2X2_ECNSharp_DcTcp_0.8.xml"
    assert sources(f"Large_Scale{name}") == {f"10.1.{i}.{j}" for i in (1, 2) for j in (1, 3, 5, 7)}
    assert sources(f"Large_Scale_PIAS{name}") == {
        f"10.1.{i}.{j}" for i in (1, 2) for j in (2, 4, 6, 8)
    }


@pytest.mark.parametrize(("line", "senders"), [("mq", 5), (f"{SHORT_TRACK} --numOfSenders=3", 3)])
def test_a_star_has_the_originals_addresses(line: str, senders: int) -> None:
    *links, last = canonical(line)["links"]
    assert [link["addresses"] for link in links] == [
        [f"10.1.{i}.1", f"10.1.{i}.2"] for i in range(1, senders + 1)
    ]
    # The receiver is the second end of its link there.
    assert last["ends"][1] == "switch"
    assert last["addresses"] == [f"10.1.{senders + 1}.2", f"10.1.{senders + 1}.1"]


def test_more_senders_than_networks_have_addresses_of_ours() -> None:
    links = canonical(f"{SHORT_TRACK} --numOfSenders=255")["links"]
    assert links[0]["addresses"] == ["10.0.0.1", "10.0.0.2"]


def test_the_readme_s_misspelt_options_are_read_with_a_note() -> None:
    line = (
        "large-scale --randomSeed=233 --load=0.6 --AQM=ECNSharp --ECNShaprInterval=70"
        " --ECNSharpTarget=10 --ECNShaprMarkingThreshold=70"
    )
    attributes = canonical(line)["links"][0]["reverse"]["qdisc"]["attributes"]
    assert attributes == {
        "MaxSize": "250p",
        "InstantaneousMarkingThreshold": "70us",
        "PersistentMarkingTarget": "10us",
        "PersistentMarkingInterval": "70us",
    }
    assert "--ECNShaprInterval is read as --ECNSharpInterval" in warnings(line)


def test_large_scale_prints_the_parser_s_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = execute(SHORT_FABRIC, capsys).splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "AVG FCT",
        "AVG Large flow FCT",
        "AVG Small flow FCT",
        "AVG Small flow 99 FCT",
        "Total Flow",
        "Unfinished Flow",
    ]
    assert lines[-1] == "Unfinished Flow: 0"


def test_the_parser_finds_in_the_file_what_the_program_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = execute(f"{SHORT_FABRIC} --ID=mine", capsys).splitlines()
    name = "Large_Scale_mine_2X2_ECNSharp_DcTcp_0.6.xml"
    parsed = execute(f"python examples/rtt-variations/fct_parser.py {name}", capsys).splitlines()
    flows = [line for line in parsed if re.fullmatch(r"Flow \d+: \d+ B, FCT \d\.\d{6}", line)]
    assert f"Total Flow: {len(flows)}" in parsed
    # The parser leaves out flows of one packet.
    assert 0 <= int(printed[4].split()[-1]) - len(flows) <= 2
    means = [[float(line.split()[-1]) for line in lines[:4]] for lines in (printed, parsed[-7:])]
    assert means[1] == pytest.approx(means[0], rel=0.02, nan_ok=True)


def test_the_parser_reads_files_of_ns_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # A flow of data, its acknowledgements, and one that never arrived.
    (tmp_path / "theirs.xml").write_text(THEIRS)
    for words in ("python2 fct_parser.py *.xml", "./fct_parser.py theirs.xml"):
        out = execute(words, capsys).splitlines()
        assert out == [
            "Flow 1: 29432 B, FCT 0.001500",
            "AVG FCT: 0.001500",
            "AVG Large flow FCT: nan",
            "AVG Small flow FCT: 0.001500",
            "AVG Small flow 99 FCT: 0.001500",
            "Total Flow: 1",
            "Total TX: 22",
            "Total RX: 21",
        ]


@pytest.mark.parametrize(
    ("text", "says"),
    [(None, "is not there"), ("<FlowMonitor", "not XML"), ("<Other/>", "root is <Other>")],
)
def test_the_parser_names_a_file_that_is_none(
    text: str | None,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if text:
        (tmp_path / "x.xml").write_text(text)
    assert invoke(["exec", "--", "fct_parser.py", "x.xml"]) in (1, 2)
    assert says in capsys.readouterr().err


def test_what_the_end_cuts_off_is_no_completion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = execute(SHORT_FABRIC, capsys).splitlines()
    cut = execute(f"{SHORT_FABRIC} --EndTime=0.021", capsys).splitlines()
    assert cut[4] == whole[4]
    assert int(cut[5].rpartition(" ")[2]) > 0


def test_a_file_that_is_not_ours_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "Queue_Track_ECNSharp_mine_Queue.plt"
    script.write_text("my own notes\n")
    assert invoke(["exec", "--", f"{SHORT_TRACK} --id=mine"]) == 2
    assert "Queue_Track_ECNSharp_mine_Queue.plt" in capsys.readouterr().err
    assert script.read_text() == "my own notes\n"
    assert list(tmp_path.iterdir()) == [script]


def test_an_id_cannot_lead_out_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke(["exec", "--", f"{SHORT_TRACK} --id=/../../x"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_other_disciplines_and_congestion_controls_do_as_well() -> None:
    scenario = canonical(
        "queue-track --AQM=fq_codel --transportProt=cubic --randomSeed=1"
        " --ns3::FqCoDelQueueDisc::Target=100us"
    )
    assert scenario["stacks"][0]["cc"]["type"] == "TcpCubic"
    qdisc = scenario["links"][0]["forward"]["qdisc"]
    assert qdisc["type"] == "FqCoDelQueueDisc"
    assert qdisc["attributes"]["Target"] == "100us"


def test_what_has_no_effect_is_said() -> None:
    said = warnings("mq --AQM=TCN --ECNSharpTarget=20 --TCNThreshold=100")
    assert "--ECNSharpTarget has no effect with --AQM=TCN" in said
    assert "--TCNThreshold" not in said


def test_names_that_the_programs_spell_in_different_ways_are_all_read() -> None:
    run = run_of("mq --ID=a --EndTime=0.3")
    assert (run.values["id"], run.values["endTime"]) == ("a", 300_000_000)
    assert "--ID is read as --id" in warnings("mq --ID=a")


def test_a_recovery_is_that_of_all_transfers() -> None:
    scenario = run_of(SHORT_TRACK).with_recovery("TcpPrrRecovery").scenario()[0]
    assert {stack.recovery for stack in scenario.stacks} == {"TcpPrrRecovery"}


def test_the_seed_draws_the_same_flows_for_every_discipline() -> None:
    native = backends.get("native")
    lines = [f"{SHORT_TRACK} --AQM={aqm}" for aqm in ("ECNSharp", "RED")]
    first, second = (native.simulate(run_of(line).scenario()[0]) for line in lines)
    starts = [
        sorted(
            zip(
                completions.array("start_ns").tolist(),
                completions.array("size_bytes").tolist(),
                strict=True,
            )
        )
        for completions in (first.completions, second.completions)
        if completions is not None
    ]
    assert starts[0] == starts[1]
    assert len(starts[0]) > 100


def test_marks_make_a_sender_wait_for_its_timer_where_nothing_is_lost() -> None:
    """ns-3's DCTCP has no least window: below a segment, with nothing in flight, 5 ms go by."""
    line = (
        "large-scale --leafCount=2 --spineCount=2 --serverCount=4 --load=0.6 --randomSeed=4"
        " --FlowLaunchEndTime=0.06 --EndTime=0.02 --AQM=TCN --TCNThreshold=30"
    )
    scenario = run_of(line).scenario()[0]
    recording = backends.get("native").simulate(scenario)
    assert int(recording.links.array("qdisc_dropped").sum()) == 0
    found = compute(scenario, recording).classes["all"]
    assert found["total_timeouts_l4"] == found["total_idle_timeouts_l4"] > 0


@pytest.mark.parametrize(
    ("line", "field", "says"),
    [
        ("mq --AQM=ECNSarp", "--AQM", "ECNSharp"),
        ("mq --transportProt=DCTPC", "--transportProt", "DcTcp"),
        ("mq --TCNThreshold=0", "--TCNThreshold", "above 0"),
        ("mq --bufferSize=0", "--bufferSize", "1p"),
        ("mq --endTime=0.1", "--endTime", "0.2 s"),
        ("mq --TCNTreshold=3", "--TCNTreshold", "`TCNThreshold`"),
        ("large-scale", "--load", "between 0 and 1"),
        ("large-scale --load=0.6 --leafCount=1", "--leafCount", "2 to 1000"),
        ("large-scale --load=0.6 --spineLeafCapacity=0", "--spineLeafCapacity", "1 to 1000"),
        ("queue-track --load=1.5", "--load", "between 0 and 1"),
        ("queue-track --load=0", "--load", "between 0 and 1"),
        ("queue-track --cdfFileName=missing.txt", "--cdfFileName", "VL2_CDF.txt"),
        ("queue-track --numOfSenders=0", "--numOfSenders", "1 to 10000"),
        ("queue-track --endTime=3 --simEndTime=2", "--endTime", "stop"),
    ],
)
def test_bad_input_names_the_option_and_the_fix(line: str, field: str, says: str) -> None:
    error = refusal(line)
    assert (error.field, says in error.message) == (field, True), error


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0 0\n10 0.5\n5 1\n", "neither may fall"),
        ("0 0\n10 0.5\n", "1"),
        ("", "point"),
        ("0 0\nten 1\n", "two numbers"),
    ],
)
def test_a_bad_cdf_file_is_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "sizes.txt"
    path.write_text(text)
    error = refusal(f"queue-track --cdfFileName={path}")
    assert error.field == "--cdfFileName"
    assert says in error.message


def test_a_binary_cdf_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "sizes.txt"
    path.write_bytes(b"\x80\x00\xff")
    assert "cannot be read as text" in refusal(f"queue-track --cdfFileName={path}").message


def test_the_page_lists_every_option_with_its_default() -> None:
    docs = Path(__file__).parents[2] / "docs"
    pages = (docs / name for name in ("datacentre.md", "load-balancing.md"))
    page = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    for program in PROGRAMS.values():
        section = page.partition(f"## {program.name}\n")[2].partition("\n## ")[0]
        listed = re.findall(r"^\| `--(\w+)` \| `?([^|`]*)`? \| (.*) \|$", section, re.MULTILINE)
        expected = [(n, str(o.default), o.help) for n, o in program.options.items()]
        assert [tuple(cell.strip() for cell in row) for row in listed] == expected
