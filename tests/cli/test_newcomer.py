"""What helps to find one's way: examples, completion, what differs, what surprises."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import types
from pathlib import Path
from typing import Any

import pytest

import ccperf.runs.recording
from ccperf.cli.app import invoke
from ccperf.cli.commands import COMMANDS
from ccperf.cli.examples import EXAMPLES
from ccperf.cli.things import KINDS
from ccperf.cli.whole import app
from ccperf.runs.backends.ns3 import Ns3Aborted
from ccperf.store import Store
from user_scenarios import ROOT

AQM = ["run", "aqm", "--cc", "cubic", "--k", "1", "--qdisc", "codel"]

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_examples(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert invoke([command, "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for example in EXAMPLES[command]:
        assert " ".join(example.split())[:60] in shown


@pytest.mark.parametrize("command", sorted({*COMMANDS} - {"completion"}))
def test_every_command_has_json(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert invoke([command, "--help"]) == 0
    assert "--json" in capsys.readouterr().out


def test_a_dry_run_of_bench_is_json_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "cubic", "--experiments", "aqm", "--stop-time", "1s", "-n"]
    assert invoke(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert invoke([*words, "--json"]) == 0
    assert [run["command"] for run in json.loads(capsys.readouterr().out)] == lines


def test_help_is_a_command_too_and_knows_experiments(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert invoke(["help"]) == 0
    assert "Usage: ccperf COMMAND" in capsys.readouterr().out
    assert invoke(["help", "run"]) == 0
    shown = capsys.readouterr().out
    assert "Usage: ccperf run" in shown
    assert '[default: ""]' not in shown
    assert "[default: native]" in " ".join(shown.replace("│", " ").split())
    assert invoke(["run", "aqm", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Parameters of aqm:" in shown
    assert {"k", "qdisc"} <= {line.split()[0] for line in shown.splitlines() if line.strip()}


@pytest.mark.parametrize(
    "example", [example for several in EXAMPLES.values() for example in several]
)
def test_examples_are_commands_with_options_that_there_are(example: str) -> None:
    import shlex

    words = shlex.split(example.partition("#")[0].replace('"$(', "").replace(')"', ""))
    words = words[words.index("ccperf") + 1 :]
    words = words[: words.index("|")] if "|" in words else words
    if words[0] not in ("exec", "run"):
        app.parse_args(words, exit_on_error=False, print_error=False)
    assert words[0] in COMMANDS


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [("ru", {"run", "runs"}), ("export --for", {"--format"}), ("export --format pc", {"pcapng"})],
)
def test_bash_completes(
    capsys: pytest.CaptureFixture[str], words: str, completed: set[str]
) -> None:
    assert invoke(["completion", "bash"]) == 0
    Path("completion").write_text(capsys.readouterr().out)
    count = len(words.split())
    script = (
        f"source ./completion; COMP_WORDS=(ccperf {words}); COMP_CWORD={count}; _ccperf; "
        'echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == completed


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_scripts_too(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    assert invoke(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "ccperf" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_what_is_listed_can_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """The tutorial said so of topologies, figures and backends."""
    kinds = {"topology": "topologies", "workload": "workloads", "figure": "figures"}
    for kind, several in {**kinds, "backend": "backends"}.items():
        for thing in KINDS[several]():
            assert invoke(["show", kind, thing.name]) == 0
            assert capsys.readouterr().out.startswith(thing.name)
    assert invoke(["show", "topology", "dumbell"]) == 2
    assert "did you mean `dumbbell`?" in capsys.readouterr().err


def test_runs_that_look_alike_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    for options in (["60ms"], ["70ms"], ["70ms", "--recovery", "TcpPrrRecovery"]):
        assert invoke([*AQM, "--stop-time", *options, "--db", "x.db"]) == 0
    other = [word.replace("codel", "fifo") for word in AQM]
    assert invoke([*other, "--stop-time", "60ms", "--db", "x.db"]) == 0
    capsys.readouterr()
    assert invoke(["runs", "--db", "x.db"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert "differs in" in head
    assert [re.findall(r"(?:stop_time|recovery)=\w+", line) for line in lines] == [
        ["stop_time=60ms", "recovery=PrrRfc6937"],
        ["stop_time=70ms", "recovery=PrrRfc6937"],
        ["stop_time=70ms", "recovery=TcpPrrRecovery"],
        [],
    ]


def test_runs_of_which_one_link_differs_show_that_link_s_value(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for rate in ("5Mbps", "50Mbps"):
        links = [
            {"name": name, "ends": ends, "rate": given, "delay": "1ms"}
            for name, ends, given in (
                ("dsl", ["home", "isp"], rate),
                ("up", ["isp", "net"], "20Mbps"),
            )
        ]
        flows = [{"source": "home", "destination": "net", "cc": {"type": "TcpCubic"}}]
        scenario = {"nodes": ["home", "isp", "net"], "links": links, "flows": flows}
        Path("two.json").write_text(json.dumps({**scenario, "stop_time": "100ms"}))
        assert invoke(["run", "two.json", "--db", "x.db"]) == 0
    capsys.readouterr()
    assert invoke(["runs", "--db", "x.db"]) == 0
    _, *lines = capsys.readouterr().out.splitlines()
    assert [re.findall(r"rate=\S+", line) for line in lines] == [["rate=5Mbps"], ["rate=50Mbps"]]


def test_tables_of_runs_that_look_alike_tell_them_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What a command prints of several runs, and the heading of a comparison, as the list does."""
    Path("plan.toml").write_text(
        'cc = "cubic"\n'
        + "".join(
            f'[[experiments]]\nexperiment = "aqm"\nstop_time = "{length}"\n'
            'parameters = { k = 1, qdisc = "codel" }\n'
            for length in ("60ms", "70ms")
        )
    )
    assert invoke(["run", "plan.toml", "--db", "x.db"]) == 0
    shown = capsys.readouterr().out
    assert re.findall(r"stop_time=\w+", shown) == ["stop_time=60ms", "stop_time=70ms"]
    with Store("x.db", "r") as store:
        ids = store.ids()
    assert invoke(["compare", *ids, "--db", "x.db"]) == 0
    heading = capsys.readouterr().out.splitlines()[:2]
    assert sorted(line.rpartition("  ")[2].split()[0] for line in heading) == [
        "stop_time=60ms",
        "stop_time=70ms",
    ]


def test_parameters_name_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody has to copy an id to say which run is meant."""
    grid = [*AQM[:4], "--k", "1,2", "--qdisc", "codel,fifo", "--stop-time", "60ms"]
    assert invoke(grid) == 0
    capsys.readouterr()

    def printed(*words: str) -> Any:
        assert invoke([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    one = ("--cc", "cubic", "--k", "1", "--qdisc", "codel")
    shown = printed("show", *one)
    assert shown["parameters"] == {"aut": "TcpCubic", "k": "1", "qdisc": "CoDelQueueDisc"}
    assert [row["run"] for row in printed("runs", "--k", "1", "--qdisc", "codel")] == [shown["run"]]
    assert len(printed("runs", "--k", "1..2")) == 4
    assert shown["parameters"]["k"] in printed("cite", *one)["paragraph"]
    exported = printed("export", *one, "--format", "csv")
    assert [Path(path).name for path in exported] == ["runs.csv", "metrics.csv"]
    assert len(Path("export/runs.csv").read_text().splitlines()) == 2
    assert invoke(["diff", "--cc", "cubic", "--k", "1"]) == 1
    assert "CoDelQueueDisc" in capsys.readouterr().out


def test_what_is_under_test_has_the_option_that_ran_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--qdisc", "SP,DWRR", "--short", "5", "--db", "x.db"]
    assert invoke(["run", "schedulers", *words]) == 0
    capsys.readouterr()
    for choice in (["--qdisc", "SP"], ["--at", "qdisc=SP"], ["--cc", "SP"]):
        assert invoke(["runs", *choice, "--db", "x.db", "--json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)
        assert row["parameters"]["aut"] == "StrictPriorityQueueDisc"
    assert invoke(["plot", "--qdisc", "SP", "--db", "x.db", "--figure", "completion_times"]) == 0
    assert invoke(["runs", "--routing", "ecmp", "--db", "x.db"]) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["show", "--cc", "cubic"], "1 run must be named, not 4: "),
        (
            ["show", "--kk", "1"],
            "--kk: unknown parameter `kk` (did you mean `k`?)",
        ),
        (["show", "cubic", "--k", "1"], "choose a run by --cc, --k and the like alone"),
        (["show", "--k", "9"], "--k: unknown value of k `9`; known: 1, 2"),
        (["show", "--k", "1", "--seed", "9"], "there is none of that choice"),
        (["diff", "--k", "1", "--qdisc", "codel"], "2 runs must be named, not 1: "),
        (["diff"], "2 runs must be named, not 0; `ccperf runs` lists them"),
        (["export", "latest", "--k", "1"], "not both"),
        (["plot", "--figur", "time_series"], "--figur: unknown parameter `figur`"),
        (["runs", "--k", "5..1"], "--k: `5..1` must ascend"),
    ],
)
def test_a_choice_that_is_none_is_said(
    capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert invoke([*AQM[:4], "--k", "1,2", "--qdisc", "codel,fifo", "--stop-time", "60ms"]) == 0
    capsys.readouterr()
    assert invoke(words) == 2
    assert says in capsys.readouterr().err


def test_a_database_that_is_named_twice_has_its_runs_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert invoke([*AQM, "--stop-time", "60ms", "--db", "x.db"]) == 0
    capsys.readouterr()
    assert invoke(["runs", "--db", "x.db", "--db", "./x.db", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 1


def test_points_that_are_one_run_are_counted_once(capsys: pytest.CaptureFixture[str]) -> None:
    """A set has points of its own beside those of the catalogue, some of them the same."""
    assert invoke(["bench", "--set", "rfc9743", "cubic", "-n"]) == 0
    said = capsys.readouterr().err
    found = re.search(r"^(\d+) points are (\d+) runs: ", said, re.MULTILINE)
    assert found, said
    points, runs = map(int, found.groups())
    assert runs < points
    assert f"\n{runs} runs: about" in said


def test_the_run_is_named_where_results_are(capsys: pytest.CaptureFixture[str]) -> None:
    """`ccperf run ... | grep '^run '` was empty; one of several was named there all along."""
    assert invoke([*AQM, "--stop-time", "60ms"]) == 0
    assert re.search(r"^run [0-9a-f]{16}$", capsys.readouterr().out, re.MULTILINE)


#: What counts things that people count.
COUNTED = r"\b1 (runs|flows|links|rows|columns|points|scenarios|values|entries|seeds|experiments)\b"


def test_one_is_not_several(capsys: pytest.CaptureFixture[str]) -> None:
    """`1 runs of 1 experiment` was on pages, and in a third of what is printed."""
    run = [*AQM, "--stop-time", "60ms", "--db", "x.db"]
    for words in (
        [*run, "-n"],
        run,
        run,
        ["runs", "--db", "x.db"],
        ["doctor", "--db", "x.db"],
        ["show", "latest", "--db", "x.db"],
        ["cite", "latest", "--db", "x.db"],
        ["site", "build", "--db", "x.db"],
    ):
        assert invoke(words) == 0
        said = "".join(capsys.readouterr())
        assert not re.findall(COUNTED, said), said
    for page in Path("site").rglob("*.html"):
        assert not re.findall(COUNTED, re.sub(r"<[^>]*>", "", page.read_text("utf-8"))), page
    assert "<h1>TcpCubic</h1>" in Path("site/index.html").read_text("utf-8")
    with Store("x.db", "r") as store:
        result = store.load(store.ids()[0])
    assert repr(result).endswith(", 1 flow>")
    assert repr(result.recording.flows).startswith("<Table flows: 1 row x ")


def test_seeds_that_change_nothing_are_said_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*AQM, "--stop-time", "60ms", "--seed", "1..3"]) == 0
    assert "another seed changes nothing there" in capsys.readouterr().err


def test_tables_become_data_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, Any] = {}
    module = types.SimpleNamespace(DataFrame=lambda table: made.setdefault("table", table))
    monkeypatch.setattr(ccperf.base.libraries, "import_module", lambda _: module)
    table = ccperf.run("aqm", cc="cubic", k=1, stop_time="60ms").recording.flows
    # The one takes a `dict` for columns, the other what has Arrow's interface.
    assert table.to_pandas() is table
    assert isinstance(table, dict)
    made.clear()
    assert table.to_polars().column_names == list(table)


def test_an_abort_without_a_word_says_when() -> None:
    error = Ns3Aborted("", 0.25)
    assert (
        str(error) == "ns-3 aborted: abort() was called after 25 % of the run, and nothing printed"
    )


def test_a_value_that_is_ns_3_s_doing_is_explained_where_it_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A mean window of 3,425,225 segments, and nothing told the user why."""
    says = "its congestion window stands at 4,294,967,295 B, as in ns-3"
    path = ["--path", "static.aws_korea_to_china", "--stop-time", "3s"]
    words = ["run", "steady_state_single_flow", "--cc", "bbr", *path]
    for again in (words, ["show", "latest"], ["compare", "latest", "latest"]):
        assert invoke(again) == 0
        assert says in capsys.readouterr().err
    assert invoke([*AQM, "--stop-time", "60ms"]) == 0
    assert says not in capsys.readouterr().err


def test_the_page_on_ns3_names_what_ends_it() -> None:
    page = (ROOT / "docs" / "what-ns3-does.md").read_text("utf-8")
    for word in ("4,294,967,295", "third band", "TbfQueueDisc", "stays closed", "no SYN", "no ECT"):
        assert word in page


def test_no_bar_is_drawn_into_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*AQM, "--stop-time", "60ms"]) == 0
    assert "━" not in capsys.readouterr().err
