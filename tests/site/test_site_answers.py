"""What pages answer is what `ccperf compare` answers of the same runs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ccperf import site
from ccperf.cli.app import invoke
from ccperf.evidence import cells, compare
from ccperf.evidence.rows import document
from ccperf.experiments.catalogue import answer
from ccperf.site.experiment_data import experiment_data
from ccperf.site.fronts import overviews
from ccperf.site.inventory import inventory
from ccperf.site.loads import LoadOverview
from ccperf.site.memory import Memory
from ccperf.site.scores import CRITERIA, Scores

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_that_draws_nothing_stands_for_every_seed_on_the_site_too(tmp_path: Path) -> None:
    """A campaign makes one run of NewReno and three of BBR; pages compare all three pairs."""
    path = tmp_path / "runs.db"
    line = ["run", "aqm", "--cc", "newreno,bbr", "--k", "1,2", "--qdisc", "codel"]
    assert invoke([*line, "--seed", "1..3", "--stop-time", "2s", "--db", str(path)]) == 0
    with Memory(tmp_path / "memory") as memory:
        remembered = list(memory.records(path))
    assert remembered == list(cells.records(path))
    found = cells.gather(remembered)
    assert sorted(len(cell.metrics) for cell in found) == [1, 1, 3, 3]
    made = Scores(inventory(found, [path.name]))
    assert {row.seeds for row in made.against("TcpNewReno")} == {3}
    assert {row.seeds for row in made.against("TcpBbr")} == {3}


def test_the_front_page_says_which_runs_its_means_leave_out_and_what_they_pool(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.db"
    line = ["run", "aqm", "--cc", "newreno,cubic", "--qdisc", "codel", "--stop-time", "1s"]
    for words in (["--k", "1,2"], ["--k", "1", "--profile", "linux"]):
        assert invoke([*line, *words, "--db", str(path)]) == 0
    found = cells.read([path])
    (plain,) = inventory(found[:2], [path.name]).groups
    assert plain.left_out == plain.pooled == ""
    # As another backend would have made it.
    point = replace(found[0], backend="ns3", engine="3.44+e73/0")
    (group,) = inventory([*found, point], [path.name]).groups
    native = found[0].engine[:8]
    assert (
        group.left_out
        == f"the values are of the runs of native {native}, not of 1 run of ns3 3.44+e73"
    )
    assert group.pooled == "its points are of runs with different settings: profile (none, linux)"
    site.build([path], tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text()
    assert f"Active queue management: {group.pooled}." in page
    assert "the values are of" not in page
    assert "k = 1, profile = none" in page  # beneath the small figure
    assert "--by profile" not in page


def test_the_front_page_of_one_algorithm_says_how_to_compare_its_settings(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    line = ["run", "ecn", "--cc", "cubic", "--k", "1", "--ce_threshold", "1ms", "--stop-time", "1s"]
    for words in ([], ["--profile", "linux"]):
        assert invoke([*line, *words, "--db", str(path)]) == 0
    site.build([path], tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text()
    assert (
        "its points are of runs with different settings: profile (none, linux). "
        "<code>ccperf compare TcpCubic --by profile</code> compares them." in page
    )
    assert invoke(["compare", "TcpCubic", "--by", "profile", "--db", str(path)]) == 0


def test_a_row_of_the_front_page_over_loads_is_of_one_setting(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    line = "run leaf_spine --qdisc RED,CoDel --workload web_search --load 0.3 --window 500"
    line += " --leaves 2 --spines 2 --servers 2"
    for words in ([], ["--profile", "linux"]):
        assert invoke([*line.split(), *words, "--db", str(path)]) == 0
    found = cells.read([path])
    mean = {
        (dict(cell.point.parameters).get("profile", "none"), cell.algorithm): summary.mean
        for cell in found
        if (summary := cell.summary("mean_fct_l4"))
    }
    made = inventory(found, [path.name])
    (front,) = overviews(made, Scores(made))
    assert isinstance(front, LoadOverview)
    names = front.algorithms
    lines = front.lines(front.criteria[0])
    assert [line.title.partition(", ")[2] for line in lines] == [
        "profile = none",
        "profile = linux",
    ]
    for line, profile in zip(lines, ("none", "linux"), strict=True):
        shown = front.cells(names[0], line, line.values[0], names)
        assert [cell.summary and cell.summary.mean for cell in shown] == [
            mean[profile, name] for name in names
        ]


def test_pages_compare_who_sends_as_the_command_does(tmp_path: Path) -> None:
    """DCQCN beside HPCC and TCP, whose points each say their transport."""
    path = tmp_path / "runs.db"
    for words in ("--transport dcqcn,hpcc", "--transport tcp --cc dctcp"):
        line = f"run pfc_incast --n 4,8 --size 100kB {words} --seed 1..2"
        assert invoke([*line.split(), "--db", str(path)]) == 0
    found = cells.read([path])
    made = Scores(inventory(found, [path.name]))
    for base in ("Dcqcn", "TcpDctcp"):
        rows = made.against(base)
        sides = {name: [] for name in ("Dcqcn", "Hpcc", "TcpDctcp") if name != base}
        assert {row.side for row in rows} == set(sides)
        said = compare.compare(
            cells.by_algorithm(found, [base, *sides]), list({row.metric for row in rows})
        )
        texts = {(row.metric, row.side): (row.points, str(row.verdict)) for row in said.rows}
        assert {(row.metric, row.side) for row in rows} == set(texts)
        for row in rows:
            assert (row.points, str(row.verdict)) == texts[row.metric, row.side]
            assert row.points == 2


def test_pages_say_what_compare_says_of_who_leaves_transfers_unfinished(tmp_path: Path) -> None:
    """ECMP strands what meets the black hole; the front page called Hermes slower than that."""
    path = tmp_path / "runs.db"
    line = "run load_balancing --routing ecmp,hermes --condition symmetric,black_hole_rack"
    size = "--leaves 2 --spines 2 --servers 3 --arrivals 10ms --workload web_search"
    more = "--load 0.5,0.8 --seed 1..3 --stop-time 100ms"
    assert invoke([*f"{line} {size} {more}".split(), "--db", str(path)]) == 0
    found = cells.read([path])
    names = [name for each in CRITERIA for name in each.metrics if each.name != "unfinished"]
    said = {
        row.metric: row
        for row in compare.compare(cells.by_algorithm(found, ["ecmp", "hermes"]), names).rows
    }
    made = Scores(inventory(found, [path.name]), lambda _, __, make: json.loads(json.dumps(make())))
    rows = [row for row in made.against("ecmp") if row.metric in said]
    assert {"mean_fct_l4", "small.mean_fct_l4"} <= {row.metric for row in rows}
    for row in rows:
        assert str(row.verdict) == str(said[row.metric].verdict)
        assert row.lacking == (2, 0)
    (row,) = (row for row in made.against("ecmp") if row.metric == "mean_fct_l4")
    for each in row.differences:
        in_the_hole = ("condition", "black_hole_rack") in each.point
        assert row.at(each).lacking == (in_the_hole, 0)
        if in_the_hole:
            assert each.mean > 0
            assert row.at(each).verdict.is_better is None
    site.build([path], tmp_path / "site")
    page = (tmp_path / "site" / "index.html").read_text()
    assert "less finished in the base" in page


def test_factors_over_what_draws_are_those_of_all_its_seeds(tmp_path: Path) -> None:
    """CUBIC draws nothing and has one run; BBR has five, which differ."""
    path = tmp_path / "runs.db"
    line = ["run", "aqm", "--cc", "cubic,bbr", "--k", "2", "--qdisc", "codel", "--seed", "1..5"]
    assert invoke([*line, "--stop-time", "5s", "--db", str(path)]) == 0
    (group,) = inventory(cells.read([path]), [str(path)]).groups
    data = experiment_data(group, {})
    of = {data["algorithms"][page["algorithm"]]: page["ratios"] for page in data["pages"]}
    bbr, cubic = (data["bases"].index(name) for name in ("TcpBbr", "TcpCubic"))
    for there, back in zip(of["TcpBbr"], of["TcpCubic"], strict=True):
        assert there[cubic][0] * back[bbr][0] == pytest.approx(1, rel=1e-5)
    sides = cells.by_algorithm(cells.read([path]), ["TcpBbr", "TcpCubic"])
    srtt, *_ = compare.compare(sides, group.headlines).rows
    assert of["TcpCubic"][0][bbr] == [
        pytest.approx(srtt.size.mean, rel=1e-5),
        pytest.approx(srtt.differences[0].half_width, rel=1e-5),
    ]


def test_pages_correct_as_compare_does_whatever_else_they_ask(tmp_path: Path) -> None:
    """The policer asks for retransmissions, and pages ask `aqm` for them, too: with these among all
    that were corrected, one command and one page had other verdicts of the same runs."""
    path = tmp_path / "runs.db"
    line = ["--cc", "newreno,bbr", "--seed", "1..3", "--stop-time", "1s", "--db", str(path)]
    assert invoke(["run", "aqm", "--k", "1,2", *line]) == 0
    assert invoke(["run", "policer", "--rate", "4Mbps", *line]) == 0
    found = cells.read([path])
    said = compare.compare(
        cells.by_algorithm(found, ["TcpNewReno", "TcpBbr"]), lambda name: answer(name).metrics
    )
    printed = {(row.experiment, row.metric): row for row in said.rows}
    there = {
        (row.experiment, row.metric): row
        for row in Scores(inventory(found, [path.name])).against("TcpNewReno")
    }
    assert set(there) - set(printed) == {("aqm", "retransmission_rate_l4")}
    assert set(printed) <= set(there)
    for of, row in printed.items():
        assert there[of].differences == row.differences
        assert str(there[of].verdict) == str(row.verdict)
        assert document(there[of]) == document(row)
