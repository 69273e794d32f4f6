"""`cubic(Beta=0.5)`: an algorithm with parameters of its own, wherever an algorithm is named."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import ccperf
from ccperf.algorithms import registry
from ccperf.algorithms.user_code import names
from ccperf.base import expression
from ccperf.cli.app import invoke
from ccperf.errors import ScenarioError, UsageError
from ccperf.experiments import catalogue
from ccperf.experiments.topologies import written
from ccperf.experiments.topologies.shorthand import dumbbell

Captured = pytest.CaptureFixture[str]

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.parametrize(
    ("kind", "text", "canonical"),
    [
        ("cc", "cubic(Beta=0.50)", "TcpCubic(Beta=0.5)"),
        ("cc", "cubic(beta=0.5)", "TcpCubic(Beta=0.5)"),
        ("cc", "ns3::TcpCubic:BETA=0.5", "TcpCubic(Beta=0.5)"),
        ("cc", "cubic:beta=0.5:hystart=false", "TcpCubic(Beta=0.5,HyStart=false)"),
        ("cc", "cubic()", "TcpCubic"),
        # As ns-3 prints an object, and as it names a default.
        ("cc", "ns3::TcpCubic[Beta=0.50|HyStart=false]", "TcpCubic(Beta=0.5,HyStart=false)"),
        ("cc", "ns3::TcpCubic::Beta=0.5", "TcpCubic(Beta=0.5)"),
        ("cc", "TcpCubic(ns3::TcpCubic::Beta=0.5)", "TcpCubic(Beta=0.5)"),
        ("qdisc", "codel( target = 1000us )", "CoDelQueueDisc(Target=1ms)"),
        ("qdisc", "codel:limit=50p:ecn=true", "CoDelQueueDisc(MaxSize=50p,UseEcn=true)"),
        # tc's `adaptive` leaves min and max as they are, which ns-3's ARED does not.
        ("qdisc", "red(adaptive=true)", "RedQueueDisc(AdaptMaxP=true)"),
        ("routing", "letflow:flowlettimeout=100us", "letflow(FlowletTimeout=100us)"),
    ],
)
def test_all_spellings_become_one(kind: registry.Kind, text: str, canonical: str) -> None:
    assert registry.resolve(kind, text) == canonical
    assert registry.resolve(kind, canonical) == canonical


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cubic(Bta=0.5)", "did you mean `Beta`?"),
        ("cubic:Beta=many", "`many` is not a number"),
        ("cubic(0.5)", "write cubic(Name=value)"),
        ("cubic(Beta=0.5,Beta=0.6)", "given twice"),
        ("newreno(Beta=0.5)", "has no attribute `Beta`"),
        ("cubik(Beta=0.5)", "did you mean `TcpCubic`?"),
        ("cubic(ns3::TcpBic::Beta=0.5)", "has no attribute `ns3::TcpBic::Beta`"),
        ("TcpReno", "did you mean `TcpLinuxReno`?"),
    ],
)
def test_a_wrong_parameter_is_said_with_what_is_meant(
    capsys: Captured, text: str, says: str
) -> None:
    assert invoke(["run", "aqm", "--cc", text, "-n"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: --cc: ")
    assert says in err


@pytest.mark.parametrize(
    "text", ["codel limit 30 ecn", "codel(target=5ms", "CoDelQueueDisc[Target=5ms", "codel:"]
)
def test_parameters_as_tc_or_ns3_has_them_are_told_how_to_be_written(text: str) -> None:
    Path("file.toml").write_text(
        f'stop_time = "1s"\n[dumbbell]\nrate = "16Mbps"\nqdisc = "{text}"\nrtts = ["15ms"]\n'
        'qlen = "20p"\ncc = ["cubic"]\n'
    )
    name = "CoDelQueueDisc" if "[" in text else "codel"
    with pytest.raises(ScenarioError) as from_file:
        written.read(Path("file.toml")).check()
    with pytest.raises(ValueError, match="write parameters") as from_line:
        registry.resolve("qdisc", text)
    for error in (from_file, from_line):
        assert f"`{text}`: write parameters as {name}(Name=value)" in str(error.value)
        assert (f"linux:{text}" in str(error.value)) == ("limit" in text)


def test_several_values_are_several_algorithms_in_both_spellings() -> None:
    expected = ["cubic(Beta=0.5)", "cubic(Beta=0.7)"]
    assert expression.each("cubic:Beta=0.5/0.7") == expected
    assert expression.each("cubic(Beta=0.5|0.7)") == expected
    assert len(expression.each("x(A=1|2,B=1|2|3)")) == 6
    assert expression.each("[97ms,76ms]") == ["[97ms,76ms]"]
    # In ns-3's brackets they are parameters.
    one = "ns3::TcpCubic[Beta=0.5|HyStart=false]"
    assert expression.split(f"{one},bbr") == [one, "bbr"]
    assert expression.each(one) == [one]


def planned(capsys: Captured, *words: str) -> list[dict[str, Any]]:
    assert invoke([*words, "-n", "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_a_grid_over_parameters_is_part_of_id_label_and_command(capsys: Captured) -> None:
    runs = planned(
        capsys,
        *("run", "aqm", "--k", "1", "--cc", "cubic:Beta=0.5/0.7,bbr"),
        *("--qdisc", "codel(Target=1ms|5ms,Interval=50ms)"),
    )
    assert [run["parameters"]["aut"] for run in runs[::2]] == [
        "TcpCubic(Beta=0.5)",
        "TcpCubic(Beta=0.7)",
        "TcpBbr",
    ]
    assert len({run["scenario"] for run in runs}) == 6
    assert "'TcpCubic(Beta=0.5)'" in runs[0]["command"]
    assert "'CoDelQueueDisc(Interval=50ms,Target=1ms)'" in runs[0]["command"]


def test_the_engine_gets_the_parameters() -> None:
    scenario = catalogue.get("aqm").scenario("cubic:Beta=0.5", k=1, qdisc="codel:Target=1ms")
    canonical = scenario.canonical()
    assert canonical["flows"][0]["cc"]["attributes"]["Beta"] == "0.5"
    queue = next(link for link in canonical["links"] if link["name"] == "btl")["forward"]["qdisc"]
    assert queue["attributes"] == {"MaxSize": "20p", "Target": "1ms"}


def test_every_experiment_takes_parameters_of_what_it_tests() -> None:
    given = {"cc": "cubic:Beta=0.5", "qdisc": "TCN:Threshold=7us", "routing": "conga:DreFactor=0.3"}
    for experiment in catalogue.EXPERIMENTS.values():
        name = (
            experiment.resolve(given[experiment.kind]) if experiment.takes("TcnQueueDisc") else ""
        )
        if not name:
            continue
        value = expression.parse(name)[1]
        (wanted,) = value.values()
        assert f'"{wanted}"' in json.dumps(experiment.scenario(name).canonical()), experiment.name


def test_a_named_scheme_keeps_its_name_and_takes_the_parameter() -> None:
    experiment = catalogue.get("testbed")
    scheme = experiment.resolve("red-tail:K=80p")
    assert scheme == "RED-tail(MarkingThreshold=80p)"
    assert '"MarkingThreshold": "80p"' in json.dumps(experiment.scenario(scheme).canonical())


def test_runs_are_compared_drawn_and_chosen_under_these_names(capsys: Captured) -> None:
    made = ["run", "aqm", "--k", "1", "--qdisc", "codel", "--stop-time", "2s", "--db", "a.db"]
    assert invoke([*made, "--cc", "cubic:Beta=0.5/0.9"]) == 0
    capsys.readouterr()
    words = ["compare", "cubic(beta=0.9)", "cubic:Beta=0.5", "--db", "a.db", "--json"]
    assert invoke(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["base"], document["sides"]) == ("TcpCubic(Beta=0.9)", ["TcpCubic(Beta=0.5)"])
    assert invoke(["compare", "cubic:Beta=0.5/0.9", "--db", "a.db", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["base"] == "TcpCubic(Beta=0.5)"
    assert invoke(["runs", "--cc", "cubic:Beta=0.5/0.9", "--db", "a.db", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
    assert invoke(["show", "--cc", "cubic:Beta=0.9", "--db", "a.db"]) == 0
    assert "--cc 'TcpCubic(Beta=0.9)'" in capsys.readouterr().out
    assert invoke(["compare", "cubic", "cubic:Beta=0.5", "--db", "a.db"]) == 2
    assert "there are TcpCubic(Beta=0.5), TcpCubic(Beta=0.9)" in capsys.readouterr().err


def test_python_and_plans_take_them(capsys: Captured) -> None:
    result = ccperf.run("aqm", cc="cubic(beta=0.5)", k=1, qdisc="codel", stop_time="200ms")
    assert result.parameters["aut"] == "TcpCubic(Beta=0.5)"
    Path("plan.toml").write_text(
        'experiment = "aqm"\ncc = ["cubic:Beta=0.5/0.7"]\n'
        '[parameters]\nk = 1\nqdisc = ["codel(Target=1ms|5ms)", "fifo"]\n'
    )
    assert len(planned(capsys, "run", "plan.toml")) == 6


def test_scenario_files_take_them() -> None:
    text = """
stop_time = "1s"
nodes = ["a", "b"]
[[links]]
name = "wire"
ends = ["a", "b"]
rate = "10Mbps"
delay = "5ms"
forward = { qdisc = "codel(Target=1ms)" }
[[flows]]
source = "a"
destination = "b"
cc = "cubic(Beta=0.5)"
"""
    Path("mine.toml").write_text(text)
    canonical = written.read(Path("mine.toml")).canonical()
    assert canonical["flows"][0]["cc"] == {"type": "TcpCubic", "attributes": {"Beta": "0.5"}}
    assert canonical["links"][0]["forward"]["qdisc"]["attributes"] == {"Target": "1ms"}
    Path("mine.toml").write_text(text.replace("Beta=", "Bta="))
    with pytest.raises(ScenarioError, match="did you mean `Beta`"):
        written.read(Path("mine.toml")).check()


def test_user_code_gets_them_as_keyword_arguments() -> None:
    Path("mine.py").write_text(
        "import ccperf\n\n\nclass Mine(ccperf.CongestionControl):\n"
        "    def __init__(self, gain=1.0):\n        self.gain = gain\n\n"
        "    def ssthresh(self, tcb, in_flight):\n"
        "        return max(int(self.gain * in_flight), 2 * tcb.segment_size)\n"
    )
    made = ["run", "aqm", "--k", "1", "--qdisc", "codel", "--stop-time", "2s", "--db", "a.db"]
    assert invoke([*made, "--cc", "./mine.py:Mine:gain=0.3/0.9"]) == 0
    assert invoke(["compare", "Mine:gain=0.3", "./mine.py:Mine:gain=0.9", "--db", "a.db"]) == 0
    name = registry.resolve("cc", "./mine.py:Mine:gain=0.3")
    assert names.label(name) == "mine.py:Mine(gain=0.3)"
    assert names.short(name) == "Mine"


def test_one_value_of_a_parameter_of_one_s_own_is_one_algorithm(capsys: Captured) -> None:
    assert invoke(["new", "cc", "Mine"]) == 0
    made = ["run", "aqm", "--k", "1", "--qdisc", "fifo", "--stop-time", "60ms", "--cc"]
    assert invoke([*made, "./mine.py:Mine:beta=.7"]) == 0
    for same in ("0.70", "0.7", "7e-1", "+0.7"):
        capsys.readouterr()
        assert invoke([*made, f"./mine.py:Mine:beta={same}"]) == 0
        said = capsys.readouterr()
        assert "aut=mine.py:Mine(beta=0.7)" in said.out
        assert "0 runs made, 1 in" in said.err
    assert invoke([*made, "./mine.py:Mine:beta=1/1.0", "-n"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2  # a whole number may mean another thing
    for one in (".70", 0.7):
        cc = {"type": "./mine.py:Mine", "attributes": {"beta": one}}
        scenario = dumbbell(rate="16Mbps", rtts=["15ms"], qlen="20p", cc=[cc], stop_time="1s")
        assert scenario.flows[0].cc is not None
        assert scenario.flows[0].cc.attributes == {"beta": "0.7"}


@pytest.mark.parametrize("text", ["7", "007", "1.2.3", "0.5ms", "1e999", "nan", "e5", ".", "1_0.5"])
def test_what_is_no_decimal_fraction_stays_as_it_is(text: str) -> None:
    assert expression.number(text) == text


def test_a_comma_in_the_path_of_a_file_that_is_there_separates_nothing(capsys: Captured) -> None:
    folder = Path("Doe, Ann")
    folder.mkdir()
    assert invoke(["new", "cc", "Mine", "-o", str(folder)]) == 0
    made = ["run", "aqm", "--k", "1", "--qdisc", "fifo", "--stop-time", "60ms", "--cc"]
    capsys.readouterr()
    assert invoke([*made, "./Doe, Ann/mine.py:Mine:beta=0.5/0.6, cubic", "-n"]) == 0
    lines = capsys.readouterr().out.splitlines()
    whole = folder.absolute() / "mine.py:Mine"
    assert [shlex.split(line)[4] for line in lines] == [
        f"{whole}(beta=0.5)",
        f"{whole}(beta=0.6)",
        "TcpCubic",
    ]
    assert invoke(shlex.split(lines[0])[1:]) == 0  # what is printed runs
    assert names.entries("./a.py:A,./b.py:B,cubic(Beta=0.5)") == [
        "./a.py:A",
        "./b.py:B",
        "cubic(Beta=0.5)",
    ]


def test_a_file_whose_name_has_a_comma_is_refused(capsys: Captured) -> None:
    assert invoke(["new", "cc", "Mine"]) == 0
    Path("mine.py").rename("mi,ne.py")
    says = "`mi,ne.py:Mine`: commas separate algorithms; rename mi,ne.py without one"
    capsys.readouterr()
    assert invoke(["run", "aqm", "--cc", "./mi,ne.py:Mine"]) == 2
    assert f"--cc: {says}" in capsys.readouterr().err
    with pytest.raises(UsageError, match=says):
        ccperf.run("aqm", cc="./mi,ne.py:Mine", stop_time="60ms")


def test_a_page_of_a_built_in_algorithm_with_parameters_says_how_it_was_validated() -> None:
    made = ["run", "aqm", "--k", "1", "--qdisc", "codel", "--stop-time", "1s", "--db", "a.db"]
    assert invoke([*made, "--cc", "cubic:Beta=0.5,cubic"]) == 0
    assert invoke(["site", "build", "--db", "a.db", "-o", "site"]) == 0
    (page,) = Path("site/algorithms").glob("TcpCubic_Beta*.html")
    text = page.read_text()
    assert "TcpCubic(Beta=0.5)" in text
    assert "It is of one's own" not in text
