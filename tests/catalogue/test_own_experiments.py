"""A scenario file that declares parameters is an experiment: grids, seeds, comparisons, pages."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import ccperf
from ccperf.algorithms import roles
from ccperf.cli import run
from ccperf.cli.app import invoke
from ccperf.cli.options import Running
from ccperf.errors import UsageError
from ccperf.experiments.catalogue import own as own_experiments
from ccperf.present.exporters.tidy import AFTER, BEFORE
from ccperf.store import Store

Captured = pytest.CaptureFixture[str]
FILE = """
stop_time = "1s"

[parameters]
rate = ["10Mbps", "20Mbps"]
tos = [0, 16]

[[flows]]
source = "a"
destination = "b"
cc = "$cc"
tos = "$tos"

[[flows]]
source = "a"
destination = "b"
cc = "bbr"
start = "100ms"

[[links]]
name = "wire"
ends = ["a", "b"]
rate = "$rate"
delay = "5ms"
forward = { qdisc = "codel" }
"""
SCENARIO = FILE.replace("\n[parameters]", '\nnodes = ["a", "b"]\n[parameters]')
SHORTHAND = """
stop_time = "1s"
[parameters]
rate = ["10Mbps", "20Mbps", "40Mbps"]
qdisc = ["codel", "fifo"]
[dumbbell]
rate = "$rate"
qlen = "20p"
qdisc = "$qdisc"
rtts = ["15ms", "30ms"]
cc = "$cc"
"""


#: What a parameter may not be called.
TAKEN = {
    *BEFORE,
    *AFTER,
    roles.LABELS[roles.UNDER_TEST],
    *(
        name
        for function in (run.command, Running, ccperf.run, ccperf.grid)
        for name in inspect.signature(function).parameters
    ),
} - {"what", "running", "parameters", "cc"}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SCENARIO)


def planned(capsys: Captured, *words: str) -> list[dict[str, dict[str, str]]]:
    assert invoke(["run", "mine.toml", *words, "-n", "--json"]) == 0
    found: list[dict[str, dict[str, str]]] = json.loads(capsys.readouterr().out)
    return found


def test_the_whole_grid_of_the_file_or_what_the_command_line_says(capsys: Captured) -> None:
    assert len(planned(capsys, "--cc", "cubic,newreno")) == 8
    (run,) = planned(capsys, "--cc", "cubic:Beta=0.5", "--rate", "30Mbps", "--tos", "16")
    assert run["parameters"] == {"aut": "TcpCubic(Beta=0.5)", "rate": "30Mbps", "tos": "16"}
    assert len(planned(capsys, "--rate", "30Mbps", "--seed", "1..3")) == 2 * 3


@pytest.mark.parametrize("name", ["aqm", "dumbbell", "testbed"])
def test_a_file_does_not_pass_as_an_experiment_of_the_catalogue(
    capsys: Captured, name: str
) -> None:
    Path("mine.toml").rename(f"{name}.toml")
    assert invoke(["run", f"{name}.toml", "--db", "a.db"]) == 2
    assert f"{name}.toml: declares an experiment called `{name}`, as the" in capsys.readouterr().err
    assert not Path("a.db").exists()


@pytest.mark.parametrize("name", ["my mine", "größe", "a" * 101, ".toml"])
def test_a_file_whose_name_no_experiment_may_have_is_refused_before_a_database_is_there(
    capsys: Captured, name: str
) -> None:
    Path("mine.toml").rename(f"{name}.toml")
    assert invoke(["run", f"./{name}.toml"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"error: {name}.toml: the file names an experiment, and `{name[:100]}`")
    assert [path.name for path in Path().iterdir()] == [f"{name}.toml"]
    # What is proposed is one.
    advised = err.rpartition("e.g. ")[2].strip()
    Path(f"{name}.toml").rename(advised)
    assert invoke(["run", advised, "-n"]) == 0


def test_what_is_promised_of_a_command_that_makes_a_run_again_comes(capsys: Captured) -> None:
    """A run of a file has no command of its own, and no more has one with other settings."""
    aqm = ["aqm", "--k", "1,2", "--qdisc", "codel", "--stop-time", "200ms"]
    for line in (["mine.toml"], aqm, [*aqm, "--what-if", "rtt=50ms"]):
        assert invoke(["run", *line, "--db", "a.db"]) == 0
        promise = capsys.readouterr().err.splitlines()[-1]
        if "`ccperf show RUN --db FILE`" in promise:
            assert line == aqm
            assert invoke(["show", "latest", "--db", "a.db"]) == 0
            assert "\nagain: ccperf run aqm " in capsys.readouterr().out
        else:
            assert "each run again: the same line with -n prints its command" in promise
            assert invoke(["run", *line, "-n"]) == 0
            assert f"ccperf run {line[0]} --cc TcpNewReno " in capsys.readouterr().out


def test_the_command_of_a_run_makes_it_again(capsys: Captured) -> None:
    assert invoke(["run", "mine.toml", "--cc", "cubic", "--json", "--db", "a.db"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert len({run["run"] for run in made}) == 4
    import shlex

    words = shlex.split(made[2]["command"])
    assert words[:3] == ["ccperf", "run", "mine.toml"]
    assert invoke([*words[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["run"] == made[2]["run"]


def test_its_runs_are_points_that_compare_plot_and_the_site_know(capsys: Captured) -> None:
    Path("mine.toml").write_text(SHORTHAND)
    assert invoke(["run", "mine.toml", "--cc", "cubic,bbr", "--db", "a.db"]) == 0
    with Store("a.db", "r") as store:
        assert {row.experiment for row in store.runs()} == {"mine"}
        assert {row.parameters["qdisc"] for row in store.runs()} == {
            "CoDelQueueDisc",
            "FifoQueueDisc",
        }
    capsys.readouterr()
    words = ["compare", "cubic", "bbr", "--experiment", "mine", "--db", "a.db", "--json"]
    assert invoke(words) == 0
    assert {row["points"] for row in json.loads(capsys.readouterr().out)["rows"]} == {6}
    sweep = ["--sweep", "rate", "--metric", "mean_srtt_l4", "--at", "qdisc=codel"]
    assert invoke(["plot", *sweep, "--db", "a.db", "--format", "svg"]) == 0
    assert invoke(["site", "build", "--db", "a.db", "-o", "site"]) == 0
    assert "mine" in Path("site/experiments/mine.html").read_text()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"$rate"', '"$rat"', "$rat: unknown parameter `rat` (did you mean `rate`?)"),
        ('"$rate"', '"10Mbps"', 'mine.toml:6: parameters.rate: is not used; write "$rate"'),
        ('"$cc"', '"cubic"', "exactly one of $cc, $qdisc and $routing"),
        ("tos = [0, 16]", 'tos = [0, "16"]', "must all be texts, or all numbers"),
        ("tos = [0, 16]", "tos = []", "is empty"),
        ('rate = ["10Mbps", "20Mbps"]', 'rate = ["10Mbps", "fast"]', "`fast`"),
        ('stop_time = "1s"', "", "stop_time: is missing"),
        ("tos = [0, 16]", "tos = 0\nto-s = 0", "mine.toml:8: parameters.to-s: is no name"),
    ],
)
def test_a_mistake_is_said_before_anything_runs(
    capsys: Captured, old: str, new: str, says: str
) -> None:
    assert old in SCENARIO
    Path("mine.toml").write_text(SCENARIO.replace(old, new))
    assert invoke(["run", "mine.toml", "--db", "a.db"]) == 2
    assert says in capsys.readouterr().err
    assert not Path("a.db").exists()


@pytest.mark.parametrize("name", sorted(TAKEN))
def test_a_parameter_is_called_as_no_column_option_or_argument_is(
    name: str, capsys: Captured
) -> None:
    """Its values would stand in that column, or be taken for the option."""
    Path("mine.toml").write_text(
        SCENARIO.replace("rate =", f"{name} =", 1).replace("$rate", f"${name}")
    )
    assert invoke(["run", "mine.toml", "--db", "a.db"]) == 2
    assert f"parameters.{name}: is a column of tables, or an option" in capsys.readouterr().err
    assert not Path("a.db").exists()


def test_whole_numbers_beside_others_are_numbers(capsys: Captured) -> None:
    lossy = SHORTHAND.replace('"$rate"', '"$rate"\nloss = "$loss"')
    Path("mine.toml").write_text(lossy.replace("[parameters]", "[parameters]\nloss = [0, 0.5]"))
    run = ["run", "mine.toml", "--cc", "cubic", "--rate", "10Mbps", "--db", "a.db"]
    assert invoke(run) == 0
    capsys.readouterr()
    assert invoke(["runs", "--loss", "0", "--rate", "10mbit", "--db", "a.db", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {run["parameters"]["loss"] for run in found} == {"0.0"}


def test_one_value_in_other_units_is_one_point(capsys: Captured) -> None:
    """Else one run would count several times in a comparison."""
    line = ["run", "mine.toml", "--tos", "0", "--db", "runs.db"]
    for cc in ("cubic", "bbr"):
        assert invoke([*line, "--cc", cc, "--rate", "10Mbps,10000kbps,0.01Gbps,30000kbps"]) == 0
    capsys.readouterr()
    with Store("runs.db", "r") as store:
        points = [row.parameters["rate"] for row in store.runs()]
    assert sorted(points) == ["10Mbps", "10Mbps", "30Mbps", "30Mbps"]
    assert invoke(["compare", "cubic", "bbr", "--db", "runs.db"]) == 0
    assert "mine, 2 points" in capsys.readouterr().out


def test_a_value_of_another_type_is_refused(capsys: Captured) -> None:
    assert invoke(["run", "mine.toml", "--tos", "low"]) == 2
    assert "--tos: `low` is not a whole number" in capsys.readouterr().err


def test_code_that_the_command_line_names_needs_no_trust_but_the_files_does(
    capsys: Captured,
) -> None:
    assert invoke(["new", "cc", "own.py"]) == 0
    run = ["run", "mine.toml", "--rate", "10Mbps", "--tos", "0", "--db", "a.db"]
    assert invoke([*run, "--cc", "./own.py:Own:beta=0.5"]) == 0
    Path("mine.toml").write_text(SCENARIO.replace('cc = "bbr"', 'cc = "./own.py:Own"'))
    assert invoke(run) == 2
    assert "--trust" in capsys.readouterr().err


def test_a_limit_of_the_discipline_comes_before_that_of_the_file(tmp_path: Path) -> None:
    """But not before a parameter: two values of it would be one."""
    file = tmp_path / "mine.toml"
    file.write_text(SHORTHAND)
    mine = own_experiments.read(file)
    for qdisc, limit in (("codel:MaxSize=7p", "7p"), ("codel", "20p")):
        links = mine.scenario("cubic", qdisc=qdisc).canonical()["links"]
        assert links[0]["forward"]["qdisc"]["attributes"]["MaxSize"] == limit
    sizes = 'qdisc = ["codel", "fifo"]\nsize = ["10p", "20p"]'
    file.write_text(
        SHORTHAND.replace('qdisc = ["codel", "fifo"]', sizes).replace(
            '"20p"\nqdisc', '"$size"\nqdisc'
        )
    )
    with pytest.raises(UsageError, match=r"`10p`, and .* has a limit, too"):
        own_experiments.read(file).scenario("cubic", qdisc="codel:MaxSize=7p")


@pytest.mark.parametrize("name", ["other", "against"])
def test_code_is_named_from_where_it_is_written(name: str, capsys: Captured) -> None:
    """In the file from there, on the command line from the working directory."""
    assert invoke(["new", "cc", "Mine", "-o", "there"]) == 0
    assert invoke(["new", "cc", "Yours"]) == 0
    Path("there/two.toml").write_text(
        f'stop_time = "60ms"\n[parameters]\n{name} = ["./mine.py:Mine"]\n'
        '[dumbbell]\nrate = "16Mbps"\nqlen = "20p"\nrtts = ["15ms", "30ms"]\n'
        f'cc = ["$cc", "${name}"]\n'
    )
    made = ["run", "there/two.toml", "--cc", "cubic", "--db", "a.db"]
    assert invoke([*made, "--trust"]) == 0
    # Whoever types it trusts it.
    assert invoke([*made, f"--{name}", "./yours.py:Yours"]) == 0
    assert invoke([*made, f"--{name}", "there/mine.py:Mine"]) == 0  # the run that is there
    with Store("a.db") as store:
        given = [run.parameters[name] for run in store.runs()]
    assert given == ["mine.py:Mine", "yours.py:Yours"]
    capsys.readouterr()
    assert invoke([*made, f"--{name}", "./mine.py:Mine"]) == 2
    gone = Path("mine.py").absolute()
    assert f"--{name}: `{gone}:Mine`: there is no file {gone}" in capsys.readouterr().err
