"""What people type first: the spellings of other programs, slips, and what is said of them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path

import pytest

from ccperf.cli import run
from ccperf.cli.app import invoke
from ccperf.cli.commands import COMMANDS
from ccperf.cli.options import Running
from ccperf.cli.things import KINDS
from ccperf.cli.whole import app
from ccperf.experiments import catalogue
from ccperf.experiments.catalogue import (
    BALANCING,
    DATACENTRE,
    EXPERIMENTS,
    NAMED,
    REGISTRY,
    answer,
)
from ccperf.experiments.programs import EXAMPLES, PROGRAMS
from ccperf.runs.backends import native
from ccperf.store import Store
from ccperf.verify import record
from user_scenarios import environment

Captured = pytest.CaptureFixture[str]
AQM = ["run", "aqm", "--k", "1", "--qdisc", "codel"]

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            [*AQM, "--cc", "newreno", "cubic"],
            "--cc: several values have commas between them: --cc newreno,cubic",
        ),
        ([*AQM, "--seed", "1-10"], "write 1..10"),
        (["show", "metric", "srtt"], "`mean_srtt_l4`"),
        (["show", "srtt"], "`mean_srtt_l4`"),
        (["show", "metric", "mean_srt_l4"], "did you mean `mean_srtt_l4`?"),
        (["run", "aqmm"], "did you mean `aqm`?"),
        (["bench", "cubic", "--experiments", "fairness"], "steady_state_rtt_fairness"),
        (["bench", "cubic", "--experiments", "foo"], "`ccperf list experiments` has all"),
        (["bench", "ECNSharp"], "is a queue discipline"),
        (["bench", "ECNSharp"], "with --datacentre"),
        (["bench", "letflow"], "with --loadbalance"),
        (["bench", "RED-tail"], "with --datacentre"),
        (["bench", "cubic", "--datacentre"], "without option"),
        (["plot", "--db", "nofile.db"], "there is no database `nofile.db`"),
        (["compare", "cubic", "bbr", "--db", "nofile.db"], "there is no database `nofile.db`"),
        ([*AQM, "--stop-time", ""], "--stop-time: is empty"),
        ([*AQM, "--seed="], "--seed: is empty"),
        ([*AQM, "--cc", ""], "--cc: is empty"),
        (["bench", "cubic", "--seed", ""], "--seed: is empty"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_slip_is_answered_with_what_to_write(
    capsys: Captured, words: list[str], says: str
) -> None:
    assert invoke([*words, "-n"] if words[0] in ("run", "bench") else words) == 2
    err = capsys.readouterr().err
    assert says in err
    assert len(err.splitlines()) == 1
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("option", ["--stop-time", "--duration", "--time"])
def test_the_length_of_a_run_has_its_usual_names(capsys: Captured, option: str) -> None:
    assert invoke([*AQM, option, "5s", "-n"]) == 0
    assert "--stop-time 5s" in capsys.readouterr().out
    # An error is about what was typed.
    assert invoke([*AQM, option, "5", "-n"]) == 2
    assert invoke([*AQM, f"{option}=5", "-n"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == second
    assert first.startswith(f"error: {option}: `5` has no unit")


def test_on_is_a_value_where_the_experiment_calls_a_parameter_so(capsys: Captured) -> None:
    for value in ("200ms", "200ms,1s"):
        assert invoke(["run", "application_limited", "--on", value, "--off", "2s", "-n"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.count("--on") for line in lines] == [1] * len(value.split(","))
    assert invoke([*AQM, "--on", "200ms"]) == 2
    assert "--on: `200ms` is not dask" in capsys.readouterr().err


def test_no_other_parameter_of_an_experiment_is_hidden_by_an_option() -> None:
    options = {*signature(run.command).parameters, *(each.name for each in fields(Running))}
    hidden = {
        name
        for name, experiment in NAMED.items()
        for parameter in experiment.parameters
        if parameter.name in options - {"on"}
    }
    assert hidden == set()


def test_jobs_and_datacenter_as_elsewhere(capsys: Captured) -> None:
    assert invoke([*AQM, "-j1", "-n"]) == 0
    words = ["bench", "ECNSharp", "--experiments", "testbed", "--datacenter", "-j2", "-n"]
    assert invoke(words) == 0
    assert "run testbed --qdisc ECNSharpQueueDisc" in capsys.readouterr().out


def test_words_behind_the_dashes_are_left_alone(capsys: Captured) -> None:
    line = "ns3-dev-ccperf-static-dumbbell-default --stop-time=1s --bw=1Mbps --qlen= --rtts=15ms"
    assert invoke(["exec", "--", *line.split(), "--algs=TcpCubic"]) == 2
    assert "--qlen" in capsys.readouterr().err


def test_every_program_of_exec_is_named_and_has_help(capsys: Captured) -> None:
    assert invoke(["exec", "ls"]) == 2
    err = capsys.readouterr().err
    assert [line.split(":")[0].strip() for line in err.splitlines()[1:]] == [
        "of ccperf.net",
        "of ns-3",
        "of ns3-ecn-sharp",
        "of ns3-load-balance",
    ]
    published = [
        f"ns3-dev-ccperf-{name}-default"
        for name in ("static-dumbbell", "responsiveness", "ack-compression", "replay-rate-trace")
    ]
    for program in (*EXAMPLES, *PROGRAMS, *published, "fct_parser.py"):
        assert program in err
    for program in (*EXAMPLES, *PROGRAMS, *published):
        assert invoke(["exec", "--", program, "--help"]) == 0, program
        assert capsys.readouterr().out.strip()


def test_the_line_that_everybody_tries_first(capsys: Captured) -> None:
    line = "run dumbbell --cc cubic --rate 100Mbps --rtt 20ms --buffer 1bdp --time 30s -n --json"
    assert invoke(line.split()) == 0
    (planned,) = json.loads(capsys.readouterr().out)
    assert planned["parameters"]["rate"] == "100Mbps"
    words = "run dumbbell --cc cubic,bbr --rate 10Mbps,100Mbps --buffer 0.5bdp --time 500ms"
    assert invoke(words.split()) == 0
    capsys.readouterr()
    assert invoke(["compare", "cubic", "bbr", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"]


@pytest.mark.parametrize(
    ("buffer", "limit"),
    [("1bdp", "167p"), ("0.5BDP", "83p"), ("20p", "20p"), ("30kB", "30000B")],
)
def test_a_buffer_is_a_size_or_bandwidth_delay_products(buffer: str, limit: str) -> None:
    from ccperf.experiments import catalogue

    scenario = catalogue.get("dumbbell").scenario(
        "cubic", rate="100Mbps", rtt="20ms", buffer=buffer
    )
    (link,) = (link for link in scenario.canonical()["links"] if link["name"] == "btl")
    assert link["forward"]["qdisc"]["attributes"]["MaxSize"] == limit


@pytest.mark.parametrize(
    "words",
    [
        [*AQM, "--stop-time", "1s"],
        ["run", "many_flows", "--k", "100", "--qdisc", "fifo", "--stop-time", "1s"],
        [
            "run",
            "testbed",
            "--qdisc",
            "TCN",
            "--load",
            "0.5",
            "--workload",
            "web_search",
            "--flows",
            "50",
        ],
    ],
    ids=["one flow", "100 flows", "classes"],
)
def test_one_run_prints_a_screen_and_all_with_full(capsys: Captured, words: list[str]) -> None:
    assert invoke([*words, "--db", "x.db"]) == 0
    shown = capsys.readouterr()
    short = [*shown.out.splitlines(), *shown.err.splitlines()]
    assert len(short) <= 30
    assert invoke([*words, "--db", "x.db", "--full"]) == 0
    full = capsys.readouterr().out
    with Store("x.db") as store:
        found = store.reduced_metrics()
    (metrics,) = found.values()
    assert all(name.rpartition(".")[2] in full for name in metrics)
    assert len(full.splitlines()) > len(short)


def test_a_run_s_summary_begins_with_its_experiment_s_headlines(capsys: Captured) -> None:
    words = ["--load", "0.5", "--workload", "web_search", "--flows", "20", "--db", "x.db"]
    assert invoke(["run", "testbed", "--qdisc", "codel", *words]) == 0
    _, _, head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["headline", "value", "unit", "metric"]
    headlines = answer("testbed").metrics
    shown = [row.split()[-1] for row in rows[: len(headlines)]]
    assert shown == [name for name in headlines if name in shown]
    assert shown[:2] == list(headlines[:2])
    assert rows[0].startswith("Completion time ")


@pytest.mark.parametrize("kind", KINDS)
def test_lists_fit_80_columns(capsys: Captured, kind: str) -> None:
    assert invoke(["list", kind]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert all(thing.name in out for thing in KINDS[kind]())


def test_the_best_value_of_runs_has_another_sign_than_significance(capsys: Captured) -> None:
    assert invoke([*AQM, "--cc", "newreno,bbr", "--stop-time", "1s", "--db", "x.db", "--json"]) == 0
    ids = [run["run"] for run in json.loads(capsys.readouterr().out)]
    assert invoke(["compare", *ids, "--db", "x.db"]) == 0
    out = capsys.readouterr().out
    assert " <" in out
    assert "*" not in out


def test_a_reader_who_has_seen_enough_ends_a_listing_as_sigpipe_would() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "ccperf", "list", "metrics"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141


@pytest.mark.parametrize("command", COMMANDS)
def test_a_value_that_begins_like_a_negative_number_is_named_not_missed(
    capsys: Captured, command: str
) -> None:
    """Of every option of every command: who reads it says what is wrong with it."""
    arguments = app[command].assemble_argument_collection()
    options = [
        each.name
        for each in arguments
        if each.name.startswith("--") and each.hint not in (bool, None) and "[" not in each.name
    ]
    for option in options:
        # What follows is too much, so that nothing is done even if the value is fine.
        words = [command, option, "-1x", "--no-such-option=1"]
        assert invoke(words) == 2
        err = capsys.readouterr().err
        assert f"{option} requires an argument" not in err, words


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([*AQM, "--stop-time", "-1s", "-n"], "--stop-time: `-1s`"),
        ([*AQM, "--duration", "-1s", "-n"], "--duration: `-1s`"),
        (["run", "dumbbell", "--buffer", "-5p", "-n"], "--buffer: `-5p`"),
        (["run", "aqm", "--k", "-3", "-n"], "--k: `-3`"),
        (["run", "aqm", "--seed", "-1", "-n"], "--seed: `-1`"),
        (["bench", "cubic", "--experiments", "aqm", "--jitter", "-1ms", "-n"], "--jitter: `-1ms`"),
        (["compare", "--least", "-5%"], "--least: `-5%`"),
        (["compare", "nofile.db", "x.db"], "there is no database `nofile.db`"),
        (["doctor", "--db", "nofile.db"], "--db: there is no database `nofile.db`"),
        (["bench", "cubic", "--datacentre", "-n"], "discipline; `ccperf bench` tests cubic"),
        (["bench", "foo", "--datacentre", "-n"], "; or RED-tail"),
        (["bench", "cubic", "--loadbalance", "-n"], "names: `cubic` is a congestion control"),
        (["bench", "cubic", "--against", "nosuch", "-n"], "--against: `nosuch` is not a"),
        ([*AQM, "--backend", "nosuch", "-n"], "--backend: unknown backend `nosuch`"),
        ([*AQM, "--jobs", "1.5", "-n"], "--jobs: `1.5` is not a whole number"),
        (["run", "./", "-n"], "what: `./` is a folder"),
        (["run", "responsiveness_step", "--stop-time", "1ns", "-n"], "--stop-time: `1ns` has no"),
        (["score", "cubic", "--stop-time", "1ns"], "--stop-time: `1ns` has no half"),
        (["verify", "seeds", "--pattern", "x"], "verify seeds: is of all published tables"),
        (["verify", "--full"], "verify seeds: is of all published tables"),
    ],
    ids=" ".join,
)
def test_a_slip_is_one_line_with_the_field_and_the_value(
    capsys: Captured, words: list[str], says: str
) -> None:
    assert invoke(words) == 2
    err = capsys.readouterr().err
    assert says in err
    assert len(err.splitlines()) == 1
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["dumbbell", "--rate", "16Mbs"],
            "--rate: `16Mbs`: `Mbs` is not a unit of a rate; did",
        ),
        (["dumbbell", "--rate", "16Mhz"], "is not a unit of a rate; write it like 16Mbps"),
        (["dumbbell", "--buffer", "50ms"], "queue size; write it like 20p, 30kB or 1bdp"),
        (["dumbbell", "--buffer", "20"], "write a queue size like 20p, 30kB or 1bdp"),
        (["dumbbell", "--buffer", "-1bdp"], "--buffer: `-1bdp` must be a number above 0"),
        (["dumbbell", "--buffer", "xbdp"], "--buffer: `xbdp` must be a number above 0"),
        (["loss_resilience", "--loss", "5%"], "`5%` is not a probability from 0 to 1; write 0.05"),
        (
            ["dumbbell", "--qdisc", "cake"],
            "`cake` is a discipline of Linux's kernel; write linux:c",
        ),
        (
            ["dumbbell", "--qdisc", "SFQ limit 9"],
            "write linux:sfq limit 9, which the backend linux",
        ),
        (["dumbbell", "--qdisc", "linux:sqf"], "the backend linux knows; did you mean `sfq`?"),
        (
            ["dumbbell", "--qdisc", "codel:Target=1ms,Interval=50ms"],
            "`Interval=50ms` is a parameter; separate parameters by colons: name:A=1:B=2",
        ),
        (
            ["dumbbell", "--qdisc", "codel:Target=1ms/Interval=50ms"],
            "`Interval=50ms` is a parameter; separate parameters by colons: codel:A=1:B=2",
        ),
        (["dumbbell", "--cc", "cubic/Beta=0.5"], "separate parameters by colons: cubic:A=1:B=2"),
        (["dumbbell", "--qdisc", "pie:A=-1"], "--qdisc: A: -1 is below 0; write 0 or more"),
        (["dumbbell", "--qdisc", "cobalt:Pdrop=2"], "--qdisc: Pdrop: 2 is not between 0 and 1"),
        (["testbed", "--load", "50%"], "--load: `50%` is not between 0 and 1; write 0.5"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_unit_is_answered_with_the_one_that_is_meant(
    capsys: Captured, words: list[str], says: str
) -> None:
    assert invoke(["run", *words, "-n"]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert len(err.splitlines()) == 1
    assert len(err) < 120


@pytest.mark.parametrize("rate", ["1Gbit/s", "1 Gbit/s", "1000Mbit/s", "1000000kbit/s", "1e9bit/s"])
def test_rates_are_taken_as_data_sheets_write_them(capsys: Captured, rate: str) -> None:
    assert invoke(["run", "dumbbell", "--rate", rate, "-n"]) == 0
    assert "--rate 1Gbps " in capsys.readouterr().out
    # A level may be a rate, a time or a probability.
    step = ["run", "responsiveness_step", "--target", "rate", "--lower", "1Mbps", "-n"]
    assert invoke([*step, "--upper", rate]) == 0
    assert "--upper 1Gbps " in capsys.readouterr().out


@pytest.mark.parametrize("option", ["", "--datacentre", "--loadbalance"])
def test_an_experiment_that_a_benchmark_does_not_have_is_answered_with_what_runs_it(
    capsys: Captured, option: str
) -> None:
    tested = {"": ("cubic", REGISTRY), "--datacentre": ("ECNSharp", DATACENTRE)}
    name, there = tested.get(option, ("ecmp", BALANCING))
    for experiment in NAMED.keys() - there.keys():
        words = ["bench", name, "--experiments", experiment, "-n", *filter(None, [option])]
        assert invoke(words) == 2
        err = capsys.readouterr().err
        assert f"--experiments: {experiment} is " in err
        if experiment in EXPERIMENTS:
            kinds = {"cc": "congestion control", "qdisc": "--datacentre", "routing": "--loadb"}
            assert "is one on " in err
            assert kinds[catalogue.get(experiment).kind] in err
        else:
            assert f"is in no benchmark; `ccperf run {experiment}` runs it" in err


@pytest.mark.parametrize("format", ["hpcc", "htsim"])
def test_a_file_that_is_exported_empty_is_pointed_out(capsys: Captured, format: str) -> None:
    assert invoke(["run", "dumbbell", "--stop-time", "100ms"]) == 0
    assert invoke(["export", "latest", "--format", format, "-o", "files"]) == 0
    (file,) = Path("files").iterdir()
    assert file.stat().st_size == 0
    assert f"is empty: `{format}` has transfers that have ended" in capsys.readouterr().err


@pytest.mark.parametrize("format", ["hpcc", "htsim"])
def test_a_file_without_the_transfers_that_did_not_end_says_so(
    capsys: Captured, format: str
) -> None:
    line = "run load_balancing --routing ecmp --condition black_hole_rack --load 0.8 --leaves 2"
    size = "--spines 2 --servers 3 --arrivals 10ms --workload web_search --stop-time 100ms"
    assert invoke([*line.split(), *size.split(), "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)
    transfers = run["class_metrics"]["all"]
    assert 0 < transfers["total_unfinished_l4"] < transfers["total_transfers_l4"]
    assert invoke(["export", "latest", "--format", format, "-o", "files"]) == 0
    (file,) = Path("files").iterdir()
    ended = transfers["total_transfers_l4"] - transfers["total_unfinished_l4"]
    assert len(file.read_text().splitlines()) == ended
    said = f"lacks {transfers['total_unfinished_l4']:.0f} unfinished transfers: `{format}`"
    assert said in capsys.readouterr().err


def test_a_summary_has_the_queueing_delay_once_and_not_in_whole_milliseconds(
    capsys: Captured,
) -> None:
    assert invoke([*AQM, "--cc", "cubic", "--stop-time", "1s", "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)
    assert invoke([*AQM, "--cc", "cubic", "--stop-time", "1s"]) == 0
    head, row = next(
        part for part in capsys.readouterr().out.split("\n\n") if "link " in part
    ).split("\n")
    assert head.split("  ")[-1].strip() == "marks"
    assert "queueing delay [ms]" in head
    assert "sojourn" not in head
    (link,) = run["link_metrics"].values()
    assert row.split()[1] == f"{link['mean_sojourn_l2'] / 1e3:.4f}"


@pytest.mark.parametrize("words", [["show", "cc", "cubic"], ["doctor"]], ids=" ".join)
def test_a_record_of_another_engine_is_called_so(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    last = record.last()
    for engine, is_said in ((native.Native().version, False), ("0.1.0+0123456789ab", True)):
        changed = replace(last, ccperf=engine)
        monkeypatch.setattr(record, "last", lambda changed=changed: changed)
        assert invoke(words) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert (f"The last record is of ccperf {engine}, and this is" in said) == is_said
