"""What makes two runs repetitions of one point: seeds and jitter do, an edited file does not."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from ccperf.algorithms import registry, roles
from ccperf.cli.app import invoke
from ccperf.evidence import cells
from ccperf.evidence.compare import compare
from ccperf.experiments import catalogue

METRIC = "mean_srtt_l4"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run, whose row others are made of."""
    path = tmp_path_factory.mktemp("store") / "runs.db"
    assert invoke(["run", "aqm", "--cc", "newreno", "--stop-time", "1s", "--db", str(path)]) == 0
    return path


def test_what_a_balancer_s_paper_gives_hosts_makes_no_other_point(tmp_path: Path) -> None:
    """Presto resequences, REPS is tolerant, and ECMP neither, at the same points; `order` makes
    others."""
    path = tmp_path / "balancers.db"
    schemes = list(registry.algorithms("routing"))
    assert {"static", "ecmp", "drb", "presto", "reps"} < {*schemes}
    line = ["run", "hermes_symmetric", "--routing", ",".join(schemes), "--load", "0.5"]
    small = ["--leaves", "2", "--spines", "2", "--servers", "2", "--arrivals", "1ms"]
    line += ["--workload", "web_search", "--order", "paper,resequenced,tolerant", *small]
    assert invoke([*line, "--seed", "1", "--db", str(path)]) == 0
    points = {
        name: {cell.point for cell in found}
        for name, found in cells.by_algorithm(cells.read([path])).items()
    }
    assert points.keys() == {*schemes}
    assert all(found == points["ecmp"] for found in points.values())
    assert len(points["ecmp"]) == 3


def test_walks_that_a_seed_draws_are_repetitions_and_no_points(tmp_path: Path) -> None:
    path = tmp_path / "walks.db"
    line = ["run", "random_walk", "--cc", "newreno,cubic", "--walks", "rate", "--seed", "1..3"]
    assert invoke([*line, "--stop-time", "2s", "--db", str(path)]) == 0
    found = cells.read([path])
    assert [(cell.algorithm, sorted(cell.metrics)) for cell in found] == [
        ("TcpNewReno", [1, 2, 3]),
        ("TcpCubic", [1, 2, 3]),
    ]
    assert not any(cell.is_deterministic for cell in found)


@pytest.mark.parametrize("jitter", [None, "10ms"])
@pytest.mark.parametrize("name", list(catalogue.NAMED))
def test_another_seed_makes_no_other_point_of_an_experiment(
    database: Path, name: str, jitter: str | None
) -> None:
    """Whatever it draws: sizes, receivers, classes, links."""
    any_row = next(cells.records(database)).row
    experiment = catalogue.get(name)
    algorithm = {"qdisc": "ECNSharpQueueDisc", "routing": "letflow"}.get(
        experiment.kind, "TcpCubic"
    )
    algorithm = "DwrrQueueDisc" if name == "schedulers" else algorithm
    parameters = {roles.LABELS[roles.UNDER_TEST]: algorithm}
    if jitter:
        parameters["jitter"] = jitter
    settings = {
        cells.record(
            replace(
                any_row,
                experiment=name,
                parameters=parameters,
                provenance=replace(any_row.provenance, seed=seed),
            ),
            database,
            scenario.canonical(),
            {},
        ).settings
        for seed in (1, 2)
        for scenario in (experiment.scenario(algorithm, seed=seed, jitter=jitter),)
    }
    assert len(settings) == 1


def test_a_scheduler_that_counts_bytes_is_compared_with_others_over_seeds(tmp_path: Path) -> None:
    """PIAS sets code points and ends of flows, which DWRR does not."""
    path = tmp_path / "schedulers.db"
    line = ["run", "schedulers", "--qdisc", "DwrrQueueDisc,PIAS", "--seed", "1..3"]
    assert invoke([*line, "--short", "9", "--stop-time", "210ms", "--db", str(path)]) == 0
    metrics = list(catalogue.get("schedulers").answer.metrics)
    rows = compare(cells.by_algorithm(cells.read([path])), metrics).rows
    assert [row.metric for row in rows] == metrics
    assert {(row.points, row.seeds) for row in rows} == {(1, 3)}


_FILE = """
stop_time = "1s"
nodes = ["a", "b"]

[parameters]
rate = ["5Mbps"]

[[links]]
name = "wire"
ends = ["a", "b"]
rate = "$rate"
delay = "10ms"

[[flows]]
source = "a"
destination = "b"
cc = "$cc"
start = "START"

[[changes]]
time = "500ms"
link = "wire"
delay = "DELAY"
"""


@pytest.mark.parametrize("more", [[], ["--jitter", "10ms", "--seed", "1,2"]])
@pytest.mark.parametrize("edit", [("START", "200ms"), ("DELAY", "80ms")])
def test_an_edited_file_makes_other_points(
    tmp_path: Path, edit: tuple[str, str], more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Else the algorithms would be told apart by what their networks differ in."""
    file, path = tmp_path / "mine.toml", str(tmp_path / "mine.db")
    for cc, edits in (("cubic", ()), ("newreno", ()), ("bbr", (edit,))):
        body = _FILE
        for name, value in (*edits, ("START", "0s"), ("DELAY", "20ms")):
            body = body.replace(name, value)
        file.write_text(body)
        assert invoke(["run", str(file), "--cc", cc, *more, "--db", path]) == 0
    assert invoke(["compare", "cubic", "newreno", "--db", path]) == 0
    capsys.readouterr()
    assert invoke(["compare", "cubic", "bbr", "--db", path]) == 2
    name, value = edit[0].lower(), edit[1]
    there = {"start": "0s", "delay": "20ms"}[name]
    said = capsys.readouterr().err
    assert f"TcpCubic has mine rate=5Mbps{' jitter=10ms' * bool(more)} {name}={there};" in said
    assert f"TcpBbr has mine rate=5Mbps{' jitter=10ms' * bool(more)} {name}={value}" in said


def test_an_edited_trace_makes_other_points(tmp_path: Path) -> None:
    trace, path = tmp_path / "mine.csv", str(tmp_path / "mine.db")
    line = ["run", "replay_rate_trace", "--trace-file", str(trace), "--stop-time", "1s"]
    for cc, rate in (("cubic", 8), ("newreno", 2)):
        trace.write_text(f"time_s,rate_mbps\n0,4\n0.5,{rate}\n")
        assert invoke([*line, "--cc", cc, "--db", path]) == 0
    assert invoke(["compare", "cubic", "newreno", "--db", path]) == 2
    assert invoke([*line, "--cc", "cubic", "--db", path]) == 0
    assert invoke(["compare", "cubic", "newreno", "--db", path]) == 0


def test_jitter_that_reaches_the_end_of_the_run_makes_no_other_points(tmp_path: Path) -> None:
    """A start there is as early as that of any flow that begins so late."""
    file, path = tmp_path / "mine.toml", str(tmp_path / "mine.db")
    file.write_text(_FILE.replace("START", "990ms").replace("DELAY", "20ms"))
    line = ["run", str(file), "--cc", "cubic", "--jitter", "20ms", "--seed", "1..4", "--db", path]
    assert invoke(line) == 0
    (cell,) = cells.read([path])
    assert sorted(cell.metrics) == [1, 2, 3, 4]


def test_points_with_and_without_jitter_differ_in_jitter_only(tmp_path: Path) -> None:
    file, path = tmp_path / "mine.toml", str(tmp_path / "mine.db")
    file.write_text(_FILE.replace("START", "100ms").replace("DELAY", "20ms"))
    for more in ([], ["--jitter", "20ms", "--seed", "1,2"]):
        assert invoke(["run", str(file), "--cc", "cubic", *more, "--db", path]) == 0
    assert [cell.point.told for cell in cells.read([path])] == [(), ()]


def test_algorithms_are_compared_with_other_settings(tmp_path: Path) -> None:
    """Those of `--what-if` belong to no experiment any more, but to the same point."""
    path = str(tmp_path / "runs.db")
    line = ["run", "aqm", "--cc", "cubic,newreno", "--k", "1", "--qdisc", "codel", "--db", path]
    for rtt in ("30ms", "60ms"):
        assert invoke([*line, "--stop-time", "1s", "--what-if", f"rtt={rtt}"]) == 0
    rows = compare(cells.by_algorithm(cells.read([path])), [METRIC], each=True).rows
    assert [(row.experiment, row.side) for row in rows] == [
        ("aqm k=1 qdisc=CoDelQueueDisc, what if rtt=30ms", "TcpNewReno"),
        ("aqm k=1 qdisc=CoDelQueueDisc, what if rtt=60ms", "TcpNewReno"),
    ]


_MEETING = """
stop_time = "1s"

[parameters]
rate = ["5Mbps"]

[dumbbell]
rate = "$rate"
qlen = "20p"
rtts = ["20ms", "20ms"]
cc = ["$cc", "OTHER"]
"""


def test_an_algorithm_of_a_file_that_is_not_under_test_is_part_of_the_point(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Against NewReno and against BBR are two questions, whatever the file is called."""
    file, path = tmp_path / "mine.toml", str(tmp_path / "mine.db")
    for cc, other in (("cubic", "newreno"), ("newreno", "newreno"), ("westwood", "bbr")):
        file.write_text(_MEETING.replace("OTHER", other))
        assert invoke(["run", str(file), "--cc", cc, "--db", path]) == 0
    assert invoke(["compare", "cubic", "newreno", "--db", path]) == 0
    capsys.readouterr()
    assert invoke(["compare", "cubic", "westwood", "--db", path]) == 2
    said = capsys.readouterr().err
    assert "TcpCubic has mine rate=5Mbps beside=TcpNewReno;" in said
    assert "TcpWestwoodPlus has mine rate=5Mbps beside=TcpBbr" in said


def test_algorithms_of_a_file_s_workloads_are_compared(tmp_path: Path) -> None:
    file, path = tmp_path / "mine.toml", tmp_path / "mine.db"
    file.write_text(
        """
        stop_time = "5ms"

        [parameters]
        load = [0.2]

        [star]
        hosts = 4

        [[stacks]]
        name = "dc"
        profile = "datacentre"
        cc = "$cc"

        [[workloads]]
        name = "web"
        stack = "dc"
        sizes = { type = "Constant", bytes = "20kB" }
        arrivals = { type = "Poisson", load = "$load", until = "2ms" }
        """
    )
    line = ["run", str(file), "--cc", "dctcp,cubic", "--seed", "1,2", "--db", str(path)]
    assert invoke(line) == 0
    (row,) = compare(cells.by_algorithm(cells.read([path])), ["mean_fct_l4"]).rows
    assert (row.side, row.seeds) == ("TcpCubic", 2)


def test_the_order_of_runs_changes_no_label(tmp_path: Path) -> None:
    """The same campaigns in another order called a point `recovery=PrrRfc6937 stop_time=2s`."""
    path = tmp_path / "runs.db"
    line = ["run", "aqm", "--cc", "newreno", "--k", "1", "--qdisc", "codel", "--db", str(path)]
    for words in (["2s"], ["1s"], ["1s", "--recovery", "TcpClassicRecovery"]):
        assert invoke([*line, "--stop-time", *words]) == 0
    found = list(cells.records(path))
    for order in itertools.permutations(found):
        assert sorted(cell.point.text for cell in cells.gather(order)) == [
            "aqm k=1 qdisc=CoDelQueueDisc stop_time=1s recovery=PrrRfc6937",
            "aqm k=1 qdisc=CoDelQueueDisc stop_time=1s recovery=TcpClassicRecovery",
            "aqm k=1 qdisc=CoDelQueueDisc stop_time=2s recovery=PrrRfc6937",
        ]
