"""Published command lines: what they mean, and that they survive shells and copying."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ccperf.errors import UsageError
from ccperf.experiments import programs
from ccperf.experiments.catalogue import REGISTRY
from ccperf.experiments.programs.attributes import ns3_classes
from ccperf.experiments.published import Published, published

PAGES = published()


def page(experiment: str) -> Published:
    return next(p for p in PAGES if p.experiment == experiment)


def words(experiment: str = "aqm", **changes: str | None) -> list[str]:
    """A published line as a shell hands it over, with options changed or (None) left out."""
    line = shlex.split(page(experiment).command)
    for name, value in changes.items():
        option = f"--{name.replace('_', '-')}="
        line = [word for word in line if not word.startswith(option)]
        if value is not None:
            line.append(option + value)
    return line


def canonical(line: Sequence[str]) -> dict[str, Any]:
    scenario, warnings = programs.scenario(programs.parse(line))
    assert warnings == []
    return scenario.canonical()


def refusal(line: Sequence[str]) -> UsageError:
    with pytest.raises(UsageError) as caught:
        programs.scenario(programs.parse(line))
    return caught.value


@pytest.mark.parametrize("published_page", PAGES, ids=lambda p: p.experiment)
def test_a_published_line_is_written_again_letter_by_letter(published_page: Published) -> None:
    line = programs.parse([published_page.command])
    leading = REGISTRY[published_page.experiment].leading
    assert line.command(first=leading) == published_page.command


@pytest.mark.parametrize("published_page", PAGES, ids=lambda p: p.experiment)
def test_one_text_and_a_list_of_words_mean_the_same(published_page: Published) -> None:
    in_one = programs.parse([published_page.command])
    assert programs.parse(shlex.split(published_page.command)) == in_one
    # Copied with the quotes and handed over word by word.
    assert programs.parse(published_page.command.split(" ")) == in_one


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_shell_that_expands_the_braces_does_no_harm() -> None:
    for parameters in ("{aut:TcpNewReno,k:1}", "{k:1}", "{a:[0s,1.87s],b:x}", "{}"):
        done = subprocess.run(
            ["bash", "-c", f"printf '%s\\n' --parameters={parameters}"],
            capture_output=True,
            text=True,
            check=True,
        )
        unquoted = words(parameters=None) + done.stdout.split()
        assert programs.parse(unquoted) == programs.parse(words(parameters=parameters))


def test_settings_of_the_published_runs() -> None:
    s = canonical(words())
    assert s["stop_time"] == "15s"
    assert s["seed"] == 42
    links = {link["name"]: link for link in s["links"]}
    assert s["links"][0]["name"] == "btl"
    bottleneck = links["btl"]
    assert (bottleneck["rate"], bottleneck["delay"]) == ("80Mbps", "5.5ms")
    assert bottleneck["addresses"] == ["10.255.255.1", "10.255.255.2"]
    assert bottleneck["forward"]["qdisc"]["type"] == "FqCoDelQueueDisc"
    assert bottleneck["forward"]["qdisc"]["attributes"]["MaxSize"] == "100p"
    assert bottleneck["forward"]["device_queue"] == "1p"
    assert bottleneck["reverse"]["qdisc"]["attributes"]["MaxSize"] == "10000p"
    for i in range(5):
        source, destination = links[f"src_{i}"], links[f"dst_{i}"]
        assert (source["rate"], source["delay"]) == ("8Gbps", "1ms")
        assert source["addresses"] == [f"10.0.0.{4 * i + 1}", f"10.0.0.{4 * i + 2}"]
        assert destination["delay"] == "1ms"
        assert set(destination["addresses"]) == {f"20.0.0.{4 * i + 1}", f"20.0.0.{4 * i + 2}"}
    for flow in s["flows"]:
        assert (flow["source_port"], flow["destination_port"]) == (49152, 5001)
        assert flow["recovery"] == "PrrRfc6937"
        assert flow["application"] == {"type": "Greedy", "bytes": "0B", "write": "512B"}
        for name, value in {
            "SegmentSize": "1448",
            "InitialCwnd": "10",
            "DelAckCount": "1",
            "SndBufSize": "4000000",
            "RcvBufSize": "4000000",
        }.items():
            assert flow["tcp"][name] == value


def test_the_rate_is_set_again_at_each_time_of_the_series() -> None:
    s = canonical(words("scalability"))
    assert s["links"][0]["rate"] == "16Mbps"
    assert [(c["time"], c["rate"], c["direction"]) for c in s["changes"]] == [
        ("0s", "16Mbps", "both"),
        ("3.75s", "256Mbps", "both"),
    ]
    assert all(change["delay"] is None and change["loss"] is None for change in s["changes"])


def test_delay_and_loss_series() -> None:
    s = canonical(words("scalability", rtt_series="15ms,25ms", loss_series="0.0,0.02"))
    assert [(c["time"], c["delay"]) for c in s["changes"] if c["rate"]] == [
        ("0s", "5.5ms"),
        ("3.75s", "10.5ms"),
    ]
    assert [
        (c["time"], c["loss"], c["direction"]) for c in s["changes"] if c["loss"] is not None
    ] == [
        ("0s", 0.0, "forward"),
        ("3.75s", 0.02, "forward"),
    ]


def test_the_way_back_of_the_ack_compressing_link() -> None:
    reverse = canonical(words("ack_compression"))["links"][0]["reverse"]
    assert reverse["rate"] == "1Gbps"
    assert reverse["qdisc"]["type"] == "BurstReleaseQueueDisc"
    assert reverse["qdisc"]["attributes"]["Interval"] == "5ms"
    assert reverse["qdisc"]["attributes"]["Quota"] == "10"
    assert reverse["device_queue"] == "1000p"


def test_loss_is_on_the_way_there_only() -> None:
    bottleneck = canonical(words(loss="0.02"))["links"][0]
    assert bottleneck["forward"]["loss"] == 0.02
    assert bottleneck["reverse"]["loss"] == 0.0


def test_ecn_attributes_reach_socket_and_discipline() -> None:
    s = canonical(words("ecn"))
    assert s["flows"][0]["tcp"]["UseEcn"] == "On"
    attributes = s["links"][0]["forward"]["qdisc"]["attributes"]
    assert attributes["UseEcn"] == "true"
    assert attributes["CeThreshold"] == "1ms"


def test_unequal_round_trips_share_the_bottleneck() -> None:
    s = canonical(words(rtts="19ms,33ms,41ms,49ms,10ms"))
    links = {link["name"]: link["delay"] for link in s["links"]}
    assert links["btl"] == "3ms"
    assert [links[f"dst_{i}"] for i in range(5)] == ["5.5ms", "12.5ms", "16.5ms", "20.5ms", "1ms"]


def test_optional_options_have_the_published_values() -> None:
    short = words(
        loss=None,
        sources=None,
        destinations=None,
        protocols=None,
        recoveries=None,
        start_times=None,
        stop_times=None,
        traffic_models=None,
        seed=None,
    )
    assert canonical(short) == canonical(words())


def test_names_are_accepted_as_linux_has_them() -> None:
    linux = words(qdisc="fq_codel", algs="newreno,reno,ns3::TcpNewReno,TcpNewReno,newreno")
    flows = canonical(linux)["flows"]
    assert [flow["cc"]["type"] for flow in flows][:3] == [
        "TcpNewReno",
        "TcpLinuxReno",
        "TcpNewReno",
    ]


def test_finite_transfers_and_late_starts() -> None:
    s = canonical(
        words(
            "ecn",
            traffic_models="Greedy(bytes=100000)",
            start_times="1.87s",
            stop_times="10s",
        )
    )
    assert s["flows"][0]["application"]["bytes"] in ("100kB", "100000B")
    assert (s["flows"][0]["start"], s["flows"][0]["stop"]) == ("1.87s", "10s")


def test_every_traffic_model_is_read_and_written_again() -> None:
    models = (
        "Greedy(bytes=0)",
        "Greedy(bytes=5000,write=1000)",
        "Poisson(bytes=0,rate=5Mbps)",
        "CBR(bytes=1000000,rate=2Mbps)",
        "OnOff(rate=2Mbps,on_time=Exponential(mean=1s,bound=3s),off_time=500ms)",
    )
    line = words("aqm", traffic_models=",".join(models))
    run = programs.parse(line)
    assert f"--traffic-models={','.join(models)}" in shlex.split(run.command())
    assert programs.parse(shlex.split(run.command())) == run
    flows = canonical(line)["flows"]
    assert [flow["application"]["type"] for flow in flows] == [m.partition("(")[0] for m in models]
    assert flows[3]["application"] == {
        "type": "CBR",
        "bytes": "1MB",
        "rate": "2Mbps",
        "write": "512B",
    }
    assert flows[4]["application"]["on_time"] == "Exponential(mean=1s,bound=3s)"


@pytest.mark.parametrize(
    ("experiment", "changes", "field", "says"),
    [
        ("ecn", {"algs": "TcpNewRno"}, "--algs", "TcpNewReno"),
        ("ecn", {"aut": "TcpNewRno"}, "--aut", "TcpNewReno"),
        ("ecn", {"algs": ""}, "--algs", "empty"),
        ("ecn", {"bw": "16"}, "--bw", "16Mbps"),
        ("ecn", {"bw": "16mbps"}, "--bw", "bytes"),
        ("ecn", {"bw": "0Mbps"}, "--bw", "above 0"),
        ("ecn", {"bw": "-1Mbps"}, "--bw", "negative"),
        ("ecn", {"bw": None}, "--bw", "missing"),
        ("ecn", {"qlen": "0p"}, "--qlen", "1p"),
        ("ecn", {"qlen": "20"}, "--qlen", "unit"),
        ("ecn", {"qdisc": "CodelQueDisc"}, "--qdisc", "CoDelQueueDisc"),
        ("ecn", {"rtts": "-15ms"}, "--rtts", "negative"),
        ("ecn", {"rtts": "3ms"}, "--rtts", "4 ms"),
        ("ecn", {"rtts": "15"}, "--rtts", "15ms"),
        ("aqm", {"rtts": "15ms"}, "--rtts", "--algs"),
        ("aqm", {"sources": "src_0,src_1"}, "--sources", "--algs"),
        ("aqm", {"rtts": "15ms,,15ms,15ms,15ms"}, "--rtts", "empty entry"),
        ("ecn", {"stop_times": "1s", "start_times": "2s"}, "--stop-times", "after its start"),
        ("ecn", {"stop_times": "2s", "start_times": "2s"}, "--stop-times", "after its start"),
        ("ecn", {"stop_time": "0s"}, "--stop-time", "15s"),
        ("ecn", {"loss": "1.5"}, "--loss", "0 to 1"),
        ("ecn", {"loss": "nan"}, "--loss", "0 to 1"),
        ("ecn", {"seed": "x"}, "--seed", "whole number"),
        ("ecn", {"seed": "0"}, "--seed", "between"),
        ("ecn", {"protocols": "SCTP"}, "--protocols", "is not a protocol; write TCP or UDP"),
        ("ecn", {"protocols": "UDP"}, "--traffic-models", "nothing holds UDP back"),
        ("ecn", {"traffic_models": "Poison(rate=1Mbps)"}, "--traffic-models", "`Poisson`"),
        ("ecn", {"traffic_models": "Poisson(bytes=0)"}, "--traffic-models", "lacks rate"),
        ("ecn", {"traffic_models": "CBR(rate=5)"}, "--traffic-models", "no unit"),
        ("ecn", {"traffic_models": "CBR(rate=1Mbps,bites=0)"}, "--traffic-models", "`bytes`"),
        ("ecn", {"traffic_models": "CBR(rate=1Mbps,bytes=1MB)"}, "--traffic-models", "number of b"),
        ("ecn", {"traffic_models": "CBR(rate=1Mbps,bytes)"}, "--traffic-models", "name=value"),
        ("ecn", {"traffic_models": "OnOff(on_time=0s)"}, "--traffic-models", "never send"),
        ("ecn", {"traffic_models": "Greedy"}, "--traffic-models", "Greedy(bytes=0)"),
        ("ecn", {"traffic_models": "Greedy(bytes=0"}, "--traffic-models", "bracket"),
        ("ecn", {"recoveries": "TcpPrrRecovry"}, "--recoveries", "TcpPrrRecovery"),
        ("ecn", {"destinations": "src_0"}, "--destinations", "source as well"),
        ("ecn", {"sources": "left"}, "--sources", "gateway"),
        ("ecn", {"parameters": "{aut:TcpNewReno"}, "--parameters", "braces"),
        ("ecn", {"parameters": "{aut}"}, "--parameters", "name:value"),
        ("ecn", {"parameters": "aut:TcpNewReno"}, "--parameters", "braces"),
        ("ecn", {"parameters": "{a:[1,2}"}, "--parameters", "bracket"),
        ("ecn", {"parameters": "{a:1,a:2}"}, "--parameters", "twice"),
        ("ecn", {"quota": "3"}, "--quota", "ack-compression"),
        ("ecn", {"bww": "16Mbps"}, "--bww", "`bw`"),
        ("ack_compression", {"quota": "0"}, "--quota", "between 1"),
        ("ack_compression", {"quota": None}, "--quota", "missing"),
        ("ack_compression", {"interval": "0ms"}, "--interval", "5ms"),
        ("scalability", {"rate_series": "16Mbps"}, "--rate-series", "--time-series"),
        ("scalability", {"time_series": "3.75s,0s"}, "--time-series", "ascend"),
        ("scalability", {"rtt_series": "15ms,3ms"}, "--rtt-series", "4 ms"),
        ("scalability", {"time_series": None}, "--time-series", "missing"),
    ],
)
def test_bad_input_names_the_option_and_the_fix(
    experiment: str, changes: dict[str, str | None], field: str, says: str
) -> None:
    error = refusal(words(experiment, **changes))
    assert error.field == field
    assert says in error.message


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("--ns3::TcpSocketBase::UseEnc=On", "`UseEcn`"),
        ("--ns3::TcpSoketBase::UseEcn=On", "`TcpSocketBase`"),
        ("--ns3::TcpSocketBase::SndBufSize=1", "--ns3::TcpSocket::SndBufSize"),
        ("--ns3::UseEcn=On", "--ns3::Class::Attribute=value"),
        ("--ns3::TcpSocketBase::UseEcn=Onn", "Onn"),
        ("--ns3::CoDelQueueDisc::CeThreshold=1", "unit"),
        ("--bw 16Mbps", "--bw=VALUE"),
        ("bw=16Mbps", "not an option"),
        ("--loss=0.1", "twice"),
    ],
)
def test_bad_words(word: str, says: str) -> None:
    line = words("ecn")
    if "=" in word:
        name = word.split("=")[0]
        line = [w for w in line if not (name.startswith("--ns3") and w.startswith(name + "="))]
    line += word.split(" ")
    error = refusal(line)
    assert says in str(error)


def test_values_of_attributes_are_checked_under_their_option() -> None:
    line = [w for w in words("ecn") if "TcpSocketBase" not in w]
    error = refusal([*line, "--ns3::TcpSocketBase::UseEcn=Onn"])
    assert error.field == "--ns3::TcpSocketBase::UseEcn"
    line = [w for w in words("ecn") if "CeThreshold" not in w]
    error = refusal([*line, "--ns3::CoDelQueueDisc::CeThreshold=soon"])
    assert error.field == "--ns3::CoDelQueueDisc::CeThreshold"


@pytest.mark.parametrize(
    "word",
    [
        "--ns3::TcpCubic::Beta=0.5",  # no flow uses it
        "--ns3::FifoQueueDisc::MaxSize=5p",  # not at the bottleneck
        "--ns3::CoDelQueueDisc::MaxSize=5p",  # --qlen sets it
        "--ns3::TcpL4Protocol::SocketType=ns3::TcpCubic",  # --algs sets it
    ],
)
def test_an_attribute_without_effect_is_a_warning(word: str) -> None:
    plain, _ = programs.scenario(programs.parse(words("ecn")))
    scenario, warnings = programs.scenario(programs.parse([*words("ecn"), word]))
    assert scenario.hash == plain.hash
    assert len(warnings) == 1
    assert word.split("=")[0] in warnings[0]


@pytest.mark.parametrize(
    "word", ["--ns3::RttMeanDeviation::Alpha=0.5", "--ns3::PointToPointNetDevice::Mtu=600"]
)
def test_an_attribute_that_cannot_be_set_here_is_refused(word: str) -> None:
    error = refusal([*words("ecn"), word])
    assert error.field == word.split("=")[0]
    assert "leave it out" in error.message


def test_an_attribute_of_a_controller_in_use_has_its_effect() -> None:
    line = [*words("ecn", algs="TcpCubic"), "--ns3::TcpCubic::Beta=0.5"]
    assert canonical(line)["flows"][0]["cc"]["attributes"]["Beta"] == "0.5"


def test_the_command_line_wins_over_the_programs_settings() -> None:
    line = [*words("ecn"), "--ns3::TcpSocket::SegmentSize=536"]
    assert canonical(line)["flows"][0]["tcp"]["SegmentSize"] == "536"


def test_a_program_of_which_no_line_was_published_names_its_experiment() -> None:
    error = refusal(["ns3-dev-ccperf-random-walk-default", *words()[1:]])
    assert error.field == "program"
    assert "`ccperf run random_walk` runs it" in error.message


REPLAY = [
    "ns3-dev-ccperf-replay-rate-trace-default",
    "--stop-time=2s --bw=1Gbps --loss=0.0477 --qlen=14p --rtts=56ms --algs=TcpNewReno",
]


def replay(*options: str) -> list[str]:
    return [REPLAY[0], *REPLAY[1].split(), *options]


def test_a_trace_in_somebody_elses_folder_is_taken_from_the_package() -> None:
    line = replay("--trace-file=0.57mbps-poisson.trace")
    here, nothing = programs.scenario(programs.parse(line))
    assert nothing == []
    foreign = [*line, "--trace-dir=/home/somebody/ccperf/resources/traces"]
    scenario, (warning,) = programs.scenario(programs.parse(foreign))
    assert scenario == here
    assert warning.startswith("--trace-dir: there is no /home/somebody")
    assert programs.parse(shlex.split(programs.parse(foreign).command())) == programs.parse(foreign)
    (schedule,) = scenario.links[0].schedules
    assert schedule.direction == "forward"
    assert len(schedule.times_ns) > 50


def test_a_trace_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.trace").write_text("1000\n")
    line = replay("--trace-file=mine.trace", f"--trace-dir={tmp_path}")
    scenario, warnings = programs.scenario(programs.parse(line))
    assert warnings == []
    assert scenario.links[0].schedules[0].times_ns == (0, 1_000_000_000)
    assert scenario.links[0].schedules[0].rates_bps == (12_016, 12_016)
    assert refusal(replay()).field == "--trace-file"
    assert refusal(replay("--trace-file=no.trace")).field == "--trace-file"
    (tmp_path / "mine.trace").write_text("soon\n")
    assert "line 1" in refusal(line).message
    assert refusal([*words("ecn"), "--trace-file=x"]).field == "--trace-file"


def test_an_unknown_program_is_refused() -> None:
    error = refusal(["ns3-dev-ccperf-static-dumbell-default", *words()[1:]])
    assert "ns3-dev-ccperf-static-dumbbell-default" in error.message
    assert refusal([]).field == "command line"
    assert refusal([" "]).field == "command line"
    assert refusal(["ns3-dev 'x"]).field == "command line"


def test_programs_may_have_a_path() -> None:
    line = words()
    line[0] = f"./build/scratch/{line[0]}"
    assert canonical(line) == canonical(words())


def test_reproducing_keeps_the_meaning_of_every_recovery() -> None:
    line = programs.parse(words("ecn"))
    assert "--recovery" not in line.reproduce()
    released = line.with_recovery("TcpPrrRecovery")
    assert released.reproduce("ns3").startswith(
        "ccperf exec --backend ns3 --recovery TcpPrrRecovery -- ns3-dev-"
    )
    classic = line.with_recovery("TcpClassicRecovery")
    again = programs.parse([classic.reproduce().removeprefix("ccperf exec -- ")])
    assert replace(again, db_path=classic.db_path) == classic


def test_the_list_of_attributes_is_the_whole_registry_of_ns3() -> None:
    classes = ns3_classes()
    assert len(classes) > 700
    assert classes["TcpSocketBase"][0] == "TcpSocket"
    assert "CeThreshold" in classes["CoDelQueueDisc"][1]
    assert all(parent == "" or parent in classes for parent, _ in classes.values())
