"""The command line: what it prints, where it writes, how it ends."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ccperf.cli import things
from ccperf.cli.app import invoke
from ccperf.cli.commands import COMMANDS
from ccperf.experiments.catalogue import REGISTRY
from ccperf.present.figures import FIGURES, OF_RECORDINGS
from ccperf.runs.metrics import METRICS
from ccperf.site import Built
from program_lines import SHORT

SCENARIO = """
stop_time = "1s"
nodes = ["a", "r", "b"]

[[links]]
name = "left"
ends = ["a", "r"]
rate = "100Mbps"
delay = "1ms"

[[links]]
name = "right"
ends = ["r", "b"]
rate = "10Mbps"
delay = "5ms"
forward = { qdisc = { type = "fifo", attributes = { limit = "20p" } }, device_queue = "1p" }

[[flows]]
source = "a"
destination = "b"
cc = "newreno"
"""


SCALABILITY = ["--experiments", "scalability", "--stop-time", "100ms"]

pytestmark = pytest.mark.usefixtures("own_folder")


# --- wrong usage ---


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["exec", "--", SHORT.replace("bw=16Mbps", "bw=16")], "--bw"),
        (["exec", "--", SHORT.replace("algs=TcpNewReno", "algs=TcpNewRno")], "TcpNewReno"),
        (["exec", "--", SHORT + " --ns3::TcpSocketBase::UseEnc=On"], "UseEcn"),
        (["exec", "--", SHORT.replace("{aut", "aut")], "--parameters"),
        (["exec", "--recovery", "Pr", "--", SHORT], "--recovery"),
        (["exec", "--backend", "ns2", "--", SHORT], "--backend"),
        (["exec", "--db", "no/folder/x.db", "--", SHORT], "no/folder"),
        (["exec", "--packets", "no/folder/x.csv", "--", SHORT], "--packets"),
        (["exec", "--packets", "x.pcap", "--", SHORT], "--packets: `x.pcap`"),
        (["exec", "--", SHORT + " --experiment-name=../x"], "--experiment-name"),
        (["exec"], "command line"),
        (["run", "aqn", "--cc", "TcpNewReno"], "aqm"),
        (["run", "aqm", "--cc", "TcpNewRno"], "--cc"),
        (["run", "aqm", "--cc", "TcpNewReno", "--k", "1,,2"], "--k"),
        (["run", "aqm", "--cc", "TcpNewReno", "--k", "5..1"], "--k"),
        (["run", "aqm", "--cc", "TcpNewReno", "--kk", "1"], "--kk"),
        (["run", "aqm", "--cc", "TcpNewReno", "--seed", "0"], "--seed"),
        (["run", "aqm", "--cc", "TcpNewReno", "--jobs=-1", "--k", "1"], "--jobs"),
        (["run", "aqm", "--cc", "TcpNewReno", "--jobs", "1.5", "--k", "1"], "1.5"),
        (["run", "aqm", "--cc", "TcpNewReno", "--packets", "p.csv"], "--packets"),
        (["run", "aqm", "--cc", "TcpNewReno", "--stop-time", "1"], "--stop-time"),
        (["run", "aqm", "--cc", "TcpNewReno", "--k", "1", "--stop-time", "0s"], "stop"),
        (["run", "dumbbell", "--qdisc", "prio"], "PrioQueueDisc has no limit of its own"),
        (
            ["exec", "--", re.sub("--qdisc=[A-Za-z]+", "--qdisc=PrioQueueDisc", SHORT)],
            "--qdisc: PrioQueueDisc has no limit",
        ),
        (["run", "nothing.toml"], "nothing.toml"),
        (["bench", "TcpNewRno"], "TcpNewReno"),
        (["bench", "TcpNewReno", "--experiments", "aqn"], "aqm"),
        (["bench", "TcpNewReno", "-o", "/proc/x"], "--output"),
        (["list", "experiment"], "experiments"),
        (["show", "cubik"], "TcpCubic"),
        (["show", "metric"], "`metric` is a kind"),
        (["show", "metric", "mean_srtt"], "mean_srtt_l4"),
        (["show", "run", "1234"], "--db"),
        (["runs", "--db", "none.db"], "none.db"),
        (["runs"], "--db"),
        (["bensh", "TcpNewReno"], "bench"),
        (["run", "aqm", "--cc", "TcpNewReno", "--k"], "--k"),
        (["site", "build"], "--db"),
        (["verify", "sedes"], "seeds"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_wrong_usage_exits_2_names_the_field_and_writes_nothing(
    ccperf: Any, words: list[str], says: str
) -> None:
    outcome = ccperf(*words)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert says in outcome.err
    assert "Traceback" not in outcome.err
    assert os.listdir() == []


def test_a_database_of_somebody_else_is_left_alone(ccperf: Any) -> None:
    with sqlite3.connect("theirs.db") as db:
        db.execute("CREATE TABLE precious (x)")
    db.close()
    Path("text.db").write_text("no database at all")
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    for name in before:
        for words in (
            ["exec", "--db", name, "--", SHORT],
            ["run", "aqm", "--cc", "TcpNewReno", "--k", "1", "--stop-time", "1s", "--db", name],
            ["bench", "TcpNewReno", "--db", name, "--stop-time", "1s"],
            ["runs", "--db", name],
        ):
            outcome = ccperf(*words)
            assert outcome.status == 2
            assert name in outcome.err
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before


# --- run ---

AQM = ["run", "aqm", "--cc", "newreno", "--stop-time", "1s"]


def test_a_grid_prints_a_list_of_objects_in_its_order(ccperf: Any) -> None:
    runs = ccperf(*AQM, "--k", "1..2", "--qdisc", "codel,pfifo", "--json").json
    assert [(run["parameters"]["k"], run["parameters"]["qdisc"]) for run in runs] == [
        ("1", "CoDelQueueDisc"),
        ("1", "FifoQueueDisc"),
        ("2", "CoDelQueueDisc"),
        ("2", "FifoQueueDisc"),
    ]
    assert len({run["run"] for run in runs}) == 4
    assert all(run["scenario"]["flows"][0]["recovery"] == "PrrRfc6937" for run in runs)


def test_a_second_call_makes_only_what_is_missing(ccperf: Any) -> None:
    first = ccperf(*AQM, "--k", "1", "--qdisc", "codel", "--json")
    assert "1 run made, 0 in" in first.err
    second = ccperf(*AQM, "--k", "1,2", "--qdisc", "codel", "--json")
    assert "1 run made, 1 in" in second.err
    assert second.json[0] == first.json[0]


@pytest.mark.parametrize("option", ["--ce-threshold", "--ce_threshold"])
def test_parameters_are_options_in_both_spellings(ccperf: Any, option: str) -> None:
    (entry,) = ccperf("run", "ecn", "--cc", "reno", "--k", "2", option, "2ms", "-n", "--json").json
    assert entry["parameters"] == {"aut": "TcpLinuxReno", "k": "2", "ce_threshold": "2ms"}


def test_seeds_and_several_algorithms(ccperf: Any) -> None:
    """CUBIC draws nothing, so that another seed is not worth a run; BBR does."""
    outcome = ccperf(
        *["run", "aqm", "--cc", "bbr,cubic", "--k", "1", "--qdisc", "fifo"],
        *["--stop-time", "1s", "--seed", "1..3", "--json"],
    )
    assert [(r["parameters"]["aut"], r["scenario"]["seed"]) for r in outcome.json] == [
        ("TcpBbr", 1),
        ("TcpBbr", 2),
        ("TcpBbr", 3),
        ("TcpCubic", 1),
    ]
    assert "2 runs not repeated: another seed changes nothing there" in outcome.err
    assert sorted(os.listdir()) == ["benchmark_TcpBbr.db", "benchmark_TcpCubic.db"]
    compared = ccperf("compare", "bbr", "cubic", "--metric", "mean_throughput_l4", "--json").json
    assert [row["seeds"] for row in compared["rows"]] == [3]


def test_algorithms_that_draw_nothing_differ_exactly(ccperf: Any) -> None:
    line = ["run", "aqm", "--cc", "newreno,cubic", "--k", "1", "--qdisc", "fifo"]
    ccperf(*line, "--stop-time", "1s", "--seed", "1..3")
    compared = ccperf("compare", "newreno", "cubic", "--metric", "mean_cwnd_l4", "--json").json
    assert [(row["exact"], row["shown"], row["points"]) for row in compared["rows"]] == [(1, 1, 1)]
    assert [row["verdict"] for row in compared["rows"]] in (["higher"], ["lower"])


def test_every_command_of_a_dry_run_makes_its_run(ccperf: Any) -> None:
    plan = ccperf(*AQM, "--k", "1", "--recovery", "TcpPrrRecovery", "-n", "--json").json
    assert os.listdir() == []
    runs = ccperf(*AQM, "--k", "1", "--recovery", "TcpPrrRecovery", "--json").json
    assert len(plan) == len(runs) == 3
    for entry, run in zip(plan, runs, strict=True):
        words = shlex.split(entry["command"])
        (again,) = ccperf(*words[1:], "--json", "--db", "again.db").json
        assert again["run"] == run["run"]
        assert again["scenario"] == run["scenario"]


def test_a_scenario_of_ones_own(ccperf: Any) -> None:
    Path("my.toml").write_text(SCENARIO)
    (run,) = ccperf("run", "my.toml", "--json", "--packets", "p.csv").json
    assert run["scenario"]["label"] == "my"
    assert run["link_metrics"].keys() == {"right_forward"}
    assert run["experiment"] is None
    assert Path("p.csv").read_text().startswith("time_ns,")
    assert sorted(os.listdir()) == ["ccperf.db", "my.toml", "p.csv"]
    (seeded,) = ccperf("run", "my.toml", "--json", "--seed", "5", "--db", "x.db").json
    assert seeded["scenario"]["seed"] == 5
    assert ccperf("runs", "--db", "x.db", "--json").json[0]["label"] == "my"


def test_every_seed_of_a_scenario_runs_again(ccperf: Any) -> None:
    """Experiments have the seeds of ns-3's programs, from 1 to 2^32 - 1; scenarios have more."""
    for seed in (0, 2**63 - 1):
        Path("my.toml").write_text(f"seed = {seed}\n{SCENARIO}")
        (run,) = ccperf("run", "my.toml", "--json").json
        (again,) = ccperf(*shlex.split(run["command"])[1:], "--json").json
        assert (again["run"], again["scenario"]["seed"]) == (run["run"], seed)
    Path("my.toml").write_text(f"seed = {2**63}\n{SCENARIO}")
    assert "my.toml:1: seed: input should be less than" in ccperf("run", "my.toml").err


def test_a_run_whose_file_is_gone_runs_again_from_its_database(ccperf: Any) -> None:
    """Who has the database alone is told how."""
    Path("my.toml").write_text(SCENARIO)
    (run,) = ccperf("run", "my.toml", "--json", "--db", "x.db").json
    Path("my.toml").unlink()
    shown = ccperf("show", run["run"], "--db", "x.db")
    said = "again: ccperf run " + run["run"] + ".json, a file of what `--json` prints\n"
    assert said in shown.out
    Path(f"{run['run']}.json").write_text(ccperf("show", run["run"], "--db", "x.db", "--json").out)
    (again,) = ccperf("run", f"{run['run']}.json", "--db", "y.db", "--json").json
    assert again["run"] == run["run"]


def test_a_mistake_in_a_file_has_its_line(ccperf: Any) -> None:
    Path("my.toml").write_text(SCENARIO.replace('"10Mbps"', '"10mbps"'))
    outcome = ccperf("run", "my.toml")
    assert outcome.status == 2
    assert "my.toml:14: links[1].rate" in outcome.err
    Path("plan.toml").write_text('experiment = "aqm"\ncc = "newreno"\n[parameters]\nk = 0\n')
    outcome = ccperf("run", "plan.toml")
    assert outcome.status == 2
    assert "plan.toml" in outcome.err
    assert "from 1 to" in outcome.err


def test_a_plan(ccperf: Any) -> None:
    Path("plan.toml").write_text(
        'experiment = "aqm"\ncc = ["bbr"]\nseed = "1..2"\nstop_time = "1s"\n'
        '[parameters]\nk = [1, 2]\nqdisc = "codel"\n'
    )
    runs = ccperf("run", "plan.toml", "--json").json
    assert [(r["parameters"]["k"], r["scenario"]["seed"]) for r in runs] == [
        ("1", 1),
        ("1", 2),
        ("2", 1),
        ("2", 2),
    ]
    Path("plan.toml").write_text('experiment = "aqm"\n')
    assert "cc" in ccperf("run", "plan.toml").err
    Path("plan.toml").write_text('experiment = "aqm"\ncc = "newreno"\nseeds = 3\n')
    assert "did you mean `seed`" in ccperf("run", "plan.toml").err


# --- what is there ---


@pytest.mark.parametrize("kind", list(things.KINDS))
def test_everything_listed_has_a_name_and_a_summary(ccperf: Any, kind: str) -> None:
    entries = ccperf("list", kind, "--json").json
    assert entries
    assert all(entry["name"] and entry["summary"] for entry in entries)
    lines = ccperf("list", kind).out.splitlines()
    begun = [line.split()[0] for line in lines[1:] if line[0] != " "]
    assert begun == [entry["name"] for entry in entries]


@pytest.mark.parametrize("kind", ["cc", "qdisc", "recovery", "metric", "experiment"])
def test_everything_listed_can_be_shown(ccperf: Any, kind: str) -> None:
    plural = {"metric": "metrics", "experiment": "experiments"}.get(kind, kind)
    for entry in ccperf("list", plural, "--json").json:
        by_kind = ccperf("show", kind, entry["name"])
        assert by_kind.status == 0
        assert entry["name"] in by_kind.out
        assert ccperf("show", entry["name"], "--json").json


def test_show_explains_a_figure_as_pages_do(ccperf: Any) -> None:
    assert "ticks are intervals" in " ".join(ccperf("show", "figure", "window").out.split())
    for kinds in (FIGURES, OF_RECORDINGS):
        for name, kind in kinds.items():
            shown = ccperf("show", "figure", name)
            assert kind.caption
            assert kind.caption in " ".join(shown.out.split())


@pytest.mark.parametrize(
    ("metric", "how"),
    [
        ("mean_srtt_l4", "mean over the flows"),
        ("total_rtos_l4", "sum over the flows"),
        ("used_capacity_l1", "largest over the links"),
    ],
)
def test_show_says_what_of_its_flows_a_run_has(ccperf: Any, metric: str, how: str) -> None:
    assert f"a run has the {how} that have one" in ccperf("show", "metric", metric).out
    assert (
        ccperf("show", "metric", metric, "--json").json["over_flows"] == METRICS[metric].over_flows
    )


def test_show_puts_both_names_side_by_side(ccperf: Any) -> None:
    out = ccperf("show", "qdisc", "fq_codel").out
    line = next(line for line in out.splitlines() if line.startswith("MaxSize"))
    assert line.split()[:2] == ["MaxSize", "limit"]


def test_compare_diff_and_show_of_stored_runs(ccperf: Any) -> None:
    fifo, codel = (
        run["run"] for run in ccperf(*AQM, "--k", "1", "--qdisc", "fifo,codel", "--json").json
    )
    db = ["--db", "benchmark_TcpNewReno.db"]
    compared = ccperf("compare", fifo, codel, *db, "--json").json
    assert compared["mean_srtt_l4"].keys() == {fifo, codel}
    assert " <" in ccperf("compare", fifo, codel, *db).out
    differing = ccperf("diff", fifo, codel, *db)
    assert differing.status == 1
    assert "links[0].forward.qdisc.type" in differing.out
    assert ccperf("diff", fifo, fifo, *db).status == 0
    # Another name of what does the same.
    base = [word.replace("newreno", "ccperf:CongestionControl") for word in AQM]
    (own,) = ccperf(*base, "--k", "1", "--qdisc", "fifo", *db, "--json").json
    same = ccperf("diff", fifo, own["run"], *db)
    assert same.status == 1
    assert same.out.splitlines()[-1] == "alike but for that: same metrics, same samples"
    shown = ccperf("show", "run", fifo[:6], *db, "--json").json
    assert shown["run"] == fifo
    words = shlex.split(shown["command"])
    assert ccperf(*words[1:], "--json").json[0]["run"] == fifo
    assert ccperf("show", "run", "zzzz", *db).status == 2


def test_export(ccperf: Any) -> None:
    ccperf("exec", "--db", "x.db", "--", SHORT)
    assert ccperf("export", "--db", "x.db", "-o", "out", "--format", "json").status == 0
    (run,) = json.loads(Path("out/runs.json").read_text())
    assert run["experiment"] == "ecn"


@pytest.mark.parametrize(
    "words", [["--help"], ["list"], ["bench", "--help"], ["run", "--help"], ["--version"]]
)
def test_help_and_list_load_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys\nfrom ccperf.cli.app import invoke\n"
        f"try:\n    invoke({words!r})\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'matplotlib', 'arro3', 'pydantic', 'jinja2'} & sys.modules.keys()\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_help_of_list_names_all_that_it_lists() -> None:
    from ccperf.cli import list as listing

    said = str(listing.command.__doc__)
    assert [kind for kind in things.KINDS if not re.search(rf"\b{kind}\b", said)] == []


#: Of the programs of the published ccperf.
PARTS = ("build", "options", "parse", "run", "traffic")


def test_one_run_loads_what_it_takes_and_no_more(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from ccperf.cli import main\n"
        "sys.argv = 'ccperf run ecn --k 1 --ce-threshold 1ms'.split()\n"
        "try:\n"
        "    main()\n"
        "except SystemExit:\n"
        "    pass\n"
        "import os; print(os.environ.get('OPENBLAS_NUM_THREADS'), *sys.modules, file=sys.stderr)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    threads, *loaded = result.stderr.splitlines()[-1].split()
    assert threads == "1"
    foreign = {"rich", "matplotlib", "jinja2", "arro3.io", "urllib.request", "xml.etree"}
    assert not foreign & {*loaded}
    own = {name.removeprefix("ccperf.") for name in loaded if name.startswith("ccperf.")}
    ecn = {"experiment", "parameter", "answer", "published", "ecn"}
    ecn |= {"datacentre", "balancing", "lossless"}  # their lists
    programs = {"attributes", "published", *(f"published.{part}" for part in PARTS)}
    for unit, needed in (
        ("experiments.catalogue", ecn),
        ("experiments.programs", programs),
        ("present.exporters", set()),
    ):
        assert {name for name in own if name.startswith(f"{unit}.")} == {
            f"{unit}.{part}" for part in needed
        }
    heavy = {f"present.{part}" for part in ("figures", "citation", "notebook", "exporters")}
    heavy |= {"site", "verify", "evidence", "scenario.toml", "runs.backends.sandbox"}
    assert not heavy & own


def test_several_databases(ccperf: Any) -> None:
    """`bench A,B` makes one database each; the commands that read take both at once."""
    assert ccperf("bench", "newreno,cubic", *SCALABILITY, "--no-site").status == 0
    names = ["benchmark_TcpNewReno.db", "benchmark_TcpCubic.db"]
    listed = [ccperf("runs", "--db", name, "--json").json for name in names]
    assert [len(rows) for rows in listed] == [10, 10]
    runs = [rows[0]["run"] for rows in listed]
    db = [word for name in names for word in ("--db", name)]
    assert ccperf("compare", *runs, *db, "--json").json["mean_srtt_l4"].keys() == set(runs)
    drawn = ccperf("plot", *runs, *db, "--figure", "time_series", "-o", "figures")
    files = drawn.out.split()
    assert [name.split("_")[-3] for name in files] == [run[:8] for run in runs]
    assert all(name.startswith("figures/scalability_Tcp") for name in files)
    assert all(Path(name).is_file() for name in drawn.out.split())
    missing = ccperf("plot", "zzzz", *db)
    assert missing.status == 2
    assert ", ".join(names) in missing.err
    # Of 20 ids in hexadecimal digits two begin alike.
    digits = [row["run"][0] for rows in listed for row in rows]
    twice = next(digit for digit in digits if digits.count(digit) > 1)
    assert "the beginning of several runs" in ccperf("compare", twice, runs[0], *db).err


def test_help_shows_patterns_and_defaults_as_they_are_typed(ccperf: Any) -> None:
    out = ccperf("verify", "--help").out
    assert "loss/*,drop/*" in out
    assert "0: one per core. [default: 0]" in " ".join(out.split())


def test_every_command_has_help(ccperf: Any) -> None:
    out = ccperf("--help").out
    for name, text in COMMANDS.items():
        assert name in out
        assert text.split(",")[0][:30] in out
        assert ccperf(name, "--help").status == 0


# --- bench ---


def test_bench_does_everything_once(ccperf: Any) -> None:
    words = ["bench", "TcpNewReno", "--stop-time", "300ms", "--json", "--no-site"]
    first = ccperf(*words).json
    points = sum(1 for experiment in REGISTRY.values() for _ in experiment.grid())
    assert first == {
        "ok": True,
        "databases": ["benchmark_TcpNewReno.db"],
        "runs": points,
        "site": None,
    }
    rows = ccperf("runs", "--db", "benchmark_TcpNewReno.db", "--json").json
    assert len(rows) == points
    second = ccperf(*words)
    assert second.status == 0
    assert "0 runs made" in second.err


def test_bench_ends_with_a_site(ccperf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Any] = []

    def build(databases: list[Path], output: Path) -> Built:
        built.append((databases, output))
        return Built(output, 0, 0, 0, 0)

    monkeypatch.setattr("ccperf.cli.site.build_site", build)
    outcome = ccperf("bench", "newreno,cubic", *SCALABILITY, "-o", "pages", "-j", "1")
    assert outcome.status == 0
    databases = [Path("benchmark_TcpNewReno.db"), Path("benchmark_TcpCubic.db")]
    assert built == [(databases, Path("pages"))]
    named = [*map(str, databases)]
    assert ccperf("site", "build", "-o", "pages", "--db", *named).status == 0
    assert ccperf("site", "build", *named, "-o", "pages").status == 0
    assert ccperf("site", *named, "-o", "pages").status == 0
    assert ccperf("site", "-o", "pages").status == 0
    assert [(set(files), folder) for files, folder in built] == 5 * [(set(databases), built[0][1])]
    assert ccperf("site", "biuld").err == "error: --db: there is no database `biuld`\n"
    assert "site: pages" in outcome.out


def test_site_build(ccperf: Any) -> None:
    run = ccperf("exec", "--json", "--", SHORT).json["run"]
    outcome = ccperf("site", "build", "-o", "pages")
    assert outcome.status == 0
    assert outcome.out.strip() == "pages/index.html"
    assert run in Path("pages/runs", run, "index.html").read_text()
    said = ccperf("site", "build", "-o", "pages", "--json").json
    assert (said["index"], said["runs"], said["written"]) == ("pages/index.html", 1, 0)
    assert said["unchanged"] > 10


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_bench_goes_on_where_it_was(ccperf: Any, sent: signal.Signals) -> None:
    words = ["bench", "TcpNewReno", "--no-site", "--experiments", "scalability", "-j", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ccperf", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    database = Path("benchmark_TcpNewReno.db")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if database.is_file() and len(stored(database)) >= 2:
            process.send_signal(sent)
            break
        time.sleep(0.01)
    _, err = process.communicate(timeout=60)
    assert process.returncode in ((1, 130) if sent is signal.SIGINT else (-sent,)), err
    before = stored(database)
    assert 2 <= len(before) < 10
    rest = ccperf(*words)
    assert rest.status == 0
    assert f"{10 - len(before)} runs made, {len(before)} in" in rest.err
    # Nothing that was finished is made again, and the numbers are those of an undisturbed bench.
    uninterrupted = ccperf(*words, "--db", "other.db")
    assert uninterrupted.status == 0
    assert stored(database) == stored(Path("other.db"))


def stored(path: Path) -> dict[str, Any]:
    """The metrics of every run in a database."""
    from ccperf.store import Store, StoreError

    try:
        with Store(path, "r") as store:
            return {
                row.id: (t := store.metrics(row.id)) and (t.flow, t.link, t.network)
                for row in store.runs()
            }
    except StoreError:  # being created
        return {}


def test_a_run_is_shown_by_its_id_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the databases of the folder; its id is what `run` prints."""
    monkeypatch.chdir(tmp_path)
    line = ["run", "dumbbell", "--cc", "cubic", "--stop-time", "300ms", "--json"]
    assert invoke(line) == 0
    (made,) = json.loads(capsys.readouterr().out)
    for name in (made["run"], made["run"][:6]):
        assert invoke(["show", name, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["run"] == made["run"]
    assert invoke(["show", "beefbeefbeefbeef"]) == 2
    assert "no run `beefbeefbeefbeef`" in capsys.readouterr().err
