"""Command lines of the simulator of Hermes: what they describe, print and leave behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ccperf.cli.app import invoke
from ccperf.experiments.programs import PROGRAMS
from ccperf.experiments.programs.load_balance.run_modes import RUN_MODES
from program_lines import canonical, execute, refusal, run_of, warnings

LARGE = "conga-simulation-large --cdfFileName=DCTCP_CDF.txt --load=0.5 --randomSeed=3"
SHORT = (
    f"{LARGE} --leafCount=2 --spineCount=2 --serverCount=4 --FlowLaunchEndTime=0.005 --EndTime=0.1"
)
TREE = "fattree-simulation --randomSeed=3"
README_HERMES = (
    " --runMode=TLB --transportProt=DcTcp --TLBMinRTT=60 --TLBHighRTT=180 --TLBBetterPathRTT=100"
    " --TLBT1=60 --TLBRunMode=12 --TLBProbingEnable=true --TLBProbingInterval=200"
    " --TLBSmooth=true --TLBRerouting=true --TLBS=600000"
)

ONE_SERVER = "--blackHoleSrcAddr=10.1.4.4 --blackHoleSrcMask=255.255.255.255"


def routing(line: str) -> tuple[str, dict[str, str]]:
    found = canonical(line)["routing"]
    return found["type"], {k: v for k, v in found["attributes"].items() if k != "Seed"}


def files(line: str) -> list[str]:
    return [file.name for file in run_of(line).files()]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("Conga", ("conga", {"DreInterval": "30us", "FlowletTimeout": "500us"})),
        ("Conga-flow", ("conga", {"DreInterval": "30us", "FlowletTimeout": "13ms"})),
        ("Conga-ECMP", ("ecmp", {})),
        ("Presto", ("presto", {"FlowcellSize": "14000"})),
        ("DRB", ("drb", {})),
        ("FlowBender", ("flowbender", {"Threshold": "0.05", "Rounds": "1"})),
        ("ECMP", ("ecmp", {})),
        (
            "Clove",
            (
                "clove",
                {"FlowletTimeout": "500us", "RelayInterval": "40us", "Mode": "edge-flowlet"},
            ),
        ),
        ("DRILL", ("drill", {})),
        ("LetFlow", ("letflow", {"FlowletTimeout": "500us"})),
    ],
)
def test_a_run_mode_is_a_scheme(mode: str, expected: tuple[str, dict[str, str]]) -> None:
    assert routing(f"{LARGE} --transportProt=DcTcp --runMode={mode}") == expected


def test_every_run_mode_is_tested() -> None:
    seen = {"Conga", "Conga-flow", "Conga-ECMP", "Presto", "DRB", "FlowBender", "ECMP", "Clove"}
    assert set(RUN_MODES) == {*seen, "DRILL", "LetFlow", "TLB", "Weighted-Presto"}


def test_tlb_is_hermes_with_thresholds_beyond_the_propagation() -> None:
    scheme, attributes = routing(LARGE + README_HERMES)
    assert scheme == "hermes"
    assert attributes == {
        "RttLow": "20us",
        "RttHigh": "140us",
        "BetterRtt": "100us",
        "EcnThreshold": "0.1",
        "Probing": "true",
        "ProbeInterval": "200us",
        "Rerouting": "true",
        "MinSent": "600000",
        "DelayStep": "10us",
    }
    assert routing(f"{LARGE} --runMode=TLB")[1].get("DelayStep", "0s") == "0s"
    assert routing(f"{TREE} --runMode=TLB --TLBRunMode=11")[1]["DelayStep"] == "10us"
    said = warnings(LARGE + README_HERMES)
    assert "--TLBT1 has no effect with --TLBSmooth=true" in said
    assert "-bible.txt" in said
    assert "the authors advise 60" not in said
    assert "the authors advise 60" in warnings(f"{LARGE} --runMode=TLB")


def test_weighted_presto_goes_by_rates_where_links_are_slow() -> None:
    line = f"{LARGE} --runMode=Weighted-Presto --asymCapacity2=true"
    assert routing(line) == ("presto", {"FlowcellSize": "14000", "Weighted": "true"})


def test_flags_set_what_their_mode_has() -> None:
    assert routing(f"{LARGE} --congaFlowletTimeout=150")[1]["FlowletTimeout"] == "150us"
    clove = f"{LARGE} --runMode=Clove --cloveRunMode=1 --cloveFlowletTimeout=40 --cloveHalfRTT=50"
    assert routing(clove)[1] == {
        "FlowletTimeout": "40us",
        "RelayInterval": "50us",
        "Mode": "ecn",
    }
    bender = f"{LARGE} --runMode=FlowBender --transportProt=DcTcp --flowBenderT=0.1 --flowBenderN=4"
    assert routing(bender)[1] == {"Threshold": "0.1", "Rounds": "4"}


def test_a_scheme_of_ours_is_a_run_mode_as_well() -> None:
    assert routing(f"{LARGE} --runMode=adaptive")[0] == "adaptive"


def test_the_fabric_is_that_of_the_original() -> None:
    scenario = canonical(f"{LARGE} --transportProt=DcTcp --linkCount=2 --spineLeafCapacity=40")
    links = scenario["links"]
    assert len(links) == 32 + 4 * 4 * 2
    assert {link["rate"] for link in links[32:]} == {"40Gbps"}
    assert {
        (side["qdisc"]["type"], *sorted(side["qdisc"]["attributes"].items()))
        for link in links
        for side in (link["forward"], link["reverse"])
    } == {("StepRedQueueDisc", ("MarkingThreshold", "91000B"), ("MaxSize", "840000B"))}
    (flows,) = scenario["workloads"]
    assert flows["arrivals"]["capacity"] == "1280Gbps"
    assert len(flows["apart"]) == 4


def test_tcp_has_a_fifo_and_newreno() -> None:
    scenario = canonical(LARGE)
    port = scenario["links"][0]["forward"]["qdisc"]
    assert (port["type"], port["attributes"]["MaxSize"]) == ("FifoQueueDisc", "600p")
    assert scenario["stacks"][0]["cc"]["type"] == "TcpNewReno"


def test_switches_of_tcp_are_set() -> None:
    line = (
        f"{LARGE} --enableLargeDupAck=true --enableLargeSynRetries=true"
        " --enableLargeDataRetries=true --enableFastReConnection=true"
    )
    tcp = canonical(line)["stacks"][0]["tcp"]
    assert (tcp["ReTxThreshold"], tcp["ConnCount"], tcp["DataRetries"]) == (
        "1000",
        "10000",
        "10000",
    )
    assert tcp["ConnTimeout"] == "40us"


def test_a_re_sequencing_buffer_holds_what_comes_out_of_order() -> None:
    line = f"{LARGE} --runMode=DRB --resequenceBuffer=true --resequenceOutOrderTimer=500"
    assert canonical(line)["stacks"][0]["tcp"]["ResequencingTimeout"] == "500us"
    assert "-3-rb-100-5-500b600.xml" in files(line)[0]
    assert canonical(LARGE)["stacks"][0]["tcp"].get("ResequencingTimeout", "0s") == "0s"
    tree = canonical(f"{TREE} --runMode=Presto --resequenceBuffer=true")
    assert tree["stacks"][0]["tcp"]["ResequencingTimeout"] == "250us"


def slow(line: str) -> set[str]:
    return {link["name"] for link in canonical(line)["links"] if link["rate"] == "2Gbps"}


def test_slow_links_are_drawn_by_the_seed() -> None:
    drawn = [slow(f"{LARGE} --asymCapacity=true --randomSeed={seed}") for seed in range(1, 41)]
    assert len({frozenset(each) for each in drawn}) > 30
    # 16 links, 40 % of them: 6.4 on average, with a standard error of 0.31.
    assert sum(map(len, drawn)) / 40 == pytest.approx(6.4, abs=1)
    assert slow(LARGE) == set()
    assert slow(f"{LARGE} --asymCapacity2=true --linkCount=2") == {
        "leaf_0_spine_0",
        "leaf_0_spine_0_1",
    }


def test_the_first_spine_loses() -> None:
    drops = canonical(f"{LARGE} --enableRandomDrop=true --randomDropRate=0.02")["faults"]
    assert [(fault["node"], fault["loss"]) for fault in drops] == [("spine_0", 0.02)]


@pytest.mark.parametrize(
    ("flags", "sources", "destinations"),
    [
        ("--blackHoleMode=1", range(8), None),
        ("--blackHoleMode=2", None, range(8, 16)),
        ("--blackHoleMode=3", range(8), range(8, 16)),
        ("--blackHoleMode=3 --blackHoleSrcMask=255.255.255.240", range(7), range(8, 16)),
        (f"{ONE_SERVER} --blackHoleMode=1", [25], None),
    ],
)
def test_a_black_hole_is_for_addresses_of_the_original(
    flags: str, sources: range | list[int] | None, destinations: range | None
) -> None:
    def named(hosts: range | list[int] | None) -> list[str] | None:
        return None if hosts is None else [f"h_{i // 8}_{i % 8}" for i in hosts]

    (hole,) = canonical(f"{LARGE} --transportProt=DcTcp {flags}")["faults"]
    assert (hole["node"], hole.get("loss", 1)) == ("spine_0", 1)
    assert (hole.get("sources"), hole.get("destinations")) == (named(sources), named(destinations))


def test_the_fat_tree_has_eight_servers_at_each_edge_switch() -> None:
    scenario = canonical(TREE)
    hosts = [node for node in scenario["nodes"] if node.startswith("h_")]
    assert len(hosts) == 64
    assert len(scenario["links"]) == 64 + 16 + 16
    (flows,) = scenario["workloads"]
    # A quarter of the servers' links, as the core is oversubscribed four times.
    assert flows["arrivals"]["capacity"] == "160Gbps"
    assert flows["arrivals"]["load"] == 0.5
    assert [len(pod) for pod in flows["apart"]] == [16] * 4
    assert {host[:3] for host in flows["apart"][1]} == {"h_1"}
    assert flows["sizes"]["type"] == "DataMining"


@pytest.mark.parametrize(
    ("mode", "scheme"),
    [("ECMP", "ecmp"), ("DRB", "drb"), ("Presto", "presto"), ("TLB", "hermes"), ("conga", "conga")],
)
def test_the_fat_tree_s_run_modes(mode: str, scheme: str) -> None:
    assert routing(f"{TREE} --runMode={mode}")[0] == scheme


def test_presto_s_unit_in_the_fat_tree() -> None:
    assert routing(f"{TREE} --runMode=Presto")[1]["FlowcellSize"] == "89600"
    line = f"{TREE} --runMode=Presto --PrestoK=10"
    assert routing(line)[1]["FlowcellSize"] == "14000"
    assert "--PrestoK has no effect with --runMode=ECMP" in warnings(f"{TREE} --PrestoK=10")


def test_files_have_the_originals_names() -> None:
    assert files(SHORT) == [
        "0-1-large-load-2X2-0.5-Tcp-conga-simulation-500-3-b600.xml",
        "0-1-large-load-2X2-0.5-Tcp-conga-simulation-500-3-b600-link-utility.out",
    ]
    wrong = (
        " --ID=a --runMode=LetFlow --transportProt=DcTcp --asymCapacity=true --blackHoleMode=3"
        " --enableRandomDrop=true --randomDropRate=0.02"
    )
    assert files(LARGE + wrong)[0] == (
        "a-1-large-load-4X4-0.5-DcTcp-letflow-simulation-500-3-capacity-asym-random-drop-0.02-"
        "black-hole-3-b600.xml"
    )
    assert files(LARGE + README_HERMES)[0] == (
        "0-1-large-load-4X4-0.5-DcTcp-tlb-180-60-100-50-600000-60-200-1-1-10-3-b600.xml"
    )
    assert files(f"{TREE} --load=0.6") == ["0-fattree-4-0.6-1-ecmp-simulation-3.xml"]
    assert files(f"{TREE} --runMode=TLB --enableDcTcp=false") == [
        "0-fattree-4-0.5-0-tlb-simulation-0-40-1-50-0.1-100-50-1-1-3.xml"
    ]


def test_the_program_prints_and_leaves_what_the_original_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = f'./waf --run "{SHORT} --transportProt=DcTcp --runMode=LetFlow"'
    said = execute(line, capsys).splitlines()
    assert [text.partition(":")[0] for text in said] == [
        "AVG FCT",
        "AVG Large flow FCT",
        "AVG Small flow FCT",
        "AVG Small flow 99 FCT",
        "Total Flow",
        "Unfinished Flow",
    ]
    assert said[-1] == "Unfinished Flow: 0"
    name = "0-1-large-load-2X2-0.5-DcTcp-letflow-simulation-500-3-b600"
    parsed = execute(f"fct_parser.py {name}.xml", capsys).splitlines()
    means = [float(text.split()[-1]) for text in (said[0], parsed[-7])]
    assert means[1] == pytest.approx(means[0], rel=0.02)
    monitor = (tmp_path / f"{name}-link-utility.out").read_text(encoding="utf-8")
    switches = re.findall(r"^(\w+ \d): \(contain: (\d) ports\)$", monitor, re.MULTILINE)
    assert switches == [("Spine 0", "2"), ("Spine 1", "2"), ("Leaf 0", "6"), ("Leaf 1", "6")]
    ports = re.findall(r"^\tPort: \d \(contain 9 entries\)\n\t\t(.*)$", monitor, re.MULTILINE)
    assert len(ports) == 16
    records = [[record.split("/") for record in port.split("\t")[:-1]] for port in ports]
    assert all(len(port) == 9 and len(record) == 5 for port in records for record in port)
    shares = [float(record[0]) for port in records for record in port]
    assert 0.1 < max(shares) <= 1
    # It is written over, and by nothing else than ccperf.
    execute(line, capsys)
    (tmp_path / f"{name}-link-utility.out").write_text("mine\n")
    assert invoke(["exec", "--", line]) == 2


def test_the_fat_tree_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = f"{TREE} --cdfFileName=DCTCP_CDF.txt --FlowLaunchEndTime=0.005 --EndTime=0.05"
    flows = {mode: execute(f"{line} --runMode={mode}", capsys) for mode in ("ECMP", "TLB")}
    assert len({said.splitlines()[4] for said in flows.values()}) == 1
    file = (tmp_path / "0-fattree-4-0.5-1-ecmp-simulation-3.xml").read_text()
    hosts = {f"10.1.{edge}.{2 * j}" for edge in range(1, 9) for j in range(1, 9)}
    found = set(re.findall(r'sourceAddress="([\d.]+)"', file))
    assert found <= hosts
    assert len(found) > 32


def test_flows_stay_in_the_black_hole_with_ecmp_and_none_does_with_hermes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = f"{SHORT} --transportProt=DcTcp --blackHoleMode=3 --EndTime=0.3"
    ecmp, hermes = (
        execute(f"{line} {mode}", capsys).splitlines()[-1]
        for mode in ("--runMode=ECMP", README_HERMES)
    )
    assert int(ecmp.split()[-1]) > 0
    assert hermes == "Unfinished Flow: 0"


@pytest.mark.parametrize(
    ("flags", "note"),
    [
        ("--id=a --endTime=0.3", "--id is read as --ID"),
        ("--letflowFlowletTimeout=1", "--letflowFlowletTimeout is read as --letFlow"),
        ("--letFlowFlowletTimeout=1", "no effect with --runMode=Conga"),
        ("--asymCapacityPoss=20", "no effect without --asymCapacity"),
        ("--randomDropRate=0.1", "no effect without --enableRandomDrop"),
        ("--blackHoleMode=2 --blackHoleSrcAddr=10.1.1.2", "no effect with --blackHoleMode=2"),
        ("--blackHoleMode=2", "with --transportProt=DcTcp only"),
        ("--runMode=TLB --quantifyRTTBase=20", "no effect without --TLBRunMode=12"),
        ("--runMode=Conga-ECMP", "forwards each packet twice"),
        ("--runMode=Clove --cloveRunMode=1", "--cloveDisToUncongestedPath"),
    ],
)
def test_what_is_different_is_said(flags: str, note: str) -> None:
    assert note in warnings(f"{LARGE} {flags}")


@pytest.mark.parametrize(
    ("line", "field", "says"),
    [
        ("conga-simulation-large --load=0.5", "--cdfFileName", "DCTCP_CDF.txt"),
        (f"{LARGE} --load=0", "--load", "between 0 and 1"),
        (f"{LARGE} --runMode=Congo", "--runMode", "Conga"),
        (f"{LARGE} --runMode=TLB --TLBRunMode=7", "--TLBRunMode", "12"),
        (f"{LARGE} --runMode=TLB --TLBSmooth=false --TLBT1=0", "--TLBT1", "above 0"),
        (f"{LARGE} --runMode=TLB --TLBBetterPathRTT=0", "--TLBBetterPathRTT", "0"),
        (f"{LARGE} --runMode=TLB --TcpPause=true", "--TcpPause", "loses all that a flow"),
        (
            f"{LARGE} --applicationPauseThresh=5 --applicationPauseTime=0",
            "--applicationPauseTime",
            "no pause",
        ),
        (
            f"{LARGE} --applicationPauseThresh=200000",
            "--applicationPauseThresh",
            "never fits in the send buffer",
        ),
        (f"{LARGE} --runMode=FlowBender", "--transportProt", "DcTcp"),
        (f"{LARGE} --runMode=Weighted-Presto", "--runMode", "--asymCapacity"),
        (f"{LARGE} --runMode=Clove --cloveRunMode=3", "--cloveRunMode", "INT"),
        (f"{LARGE} --congaFlowletTimeout=0", "--congaFlowletTimeout", "above 0"),
        (f"{LARGE} --asymCapacity=true --asymCapacityPoss=101", "--asymCapacityPoss", "100"),
        (f"{LARGE} --enableRandomDrop=true --randomDropRate=0", "--randomDropRate", "above 0"),
        (f"{LARGE} --blackHoleMode=4", "--blackHoleMode", "none of"),
        (f"{LARGE} --blackHoleMode=1 --blackHoleSrcAddr=10.9.0.0", "--blackHoleSrcAddr", "10.1.1"),
        (f"{LARGE} --blackHoleMode=1 --blackHoleSrcMask=24", "--blackHoleSrcMask", "address"),
        (f"{LARGE} --leafCount=1", "--leafCount", "2 to 1000"),
        (f"{LARGE} --congaFlowletTime=3", "--congaFlowletTime", "`congaFlowletTimeout`"),
        (f"{TREE} --runMode=Presto --PrestoK=0", "--PrestoK", "above 0"),
        (f"{TREE} --load=1.5", "--load", "between 0 and 1"),
        (
            f"{LARGE} --runMode=FlowBender --transportProt=DcTcp --flowBenderT=2",
            "--flowBenderT",
            "2",
        ),
    ],
)
def test_bad_input_names_the_option_and_the_fix(line: str, field: str, says: str) -> None:
    error = refusal(line)
    assert (error.field, says in error.message) == (field, True), error


def test_what_is_not_there_ends_with_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["exec", "--", f"{LARGE} --runMode=TLB --TcpPause=1"]) == 2
    assert "leave it out" in capsys.readouterr().err


def test_a_sender_pauses_after_one_packet_more_than_the_threshold() -> None:
    """The original counts the packets that it has written, and pauses when they are more."""
    line = f"{SHORT} --applicationPauseThresh=9 --applicationPauseTime=700"
    (workload,) = canonical(line)["workloads"]
    assert (workload["write"], workload["gap"]) == ("14kB", "700us")
    assert any("-3-p9-700-b600.xml" in name for name in files(line))
    (workload,) = canonical(SHORT)["workloads"]
    assert "gap" not in workload


@pytest.mark.parametrize(
    ("flags", "attribute", "value"),
    [
        ("--runMode=TLB --TLBRunMode=1", "Choice", "least-delay"),
        ("--runMode=TLB --TLBRunMode=2", "Choice", "random"),
        ("--runMode=TLB --TLBSmooth=false --TLBT1=60", "Window", "60us"),
        ("--asymCapacity2=true --congaAwareAsym=false", "LinkRate", "10Gbps"),
    ],
)
def test_every_choice_of_the_originals_runs(flags: str, attribute: str, value: str) -> None:
    assert routing(f"{LARGE} {flags}")[1][attribute] == value


def test_the_programs_are_known() -> None:
    assert {"conga-simulation-large", "fattree-simulation"} <= set(PROGRAMS)
