"""``ccperf compare``: formats, selection, gates."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

import ccperf
from ccperf.cli.app import invoke
from ccperf.cli.formats import render

Compare: TypeAlias = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "benchmark_all.db"
    made = invoke(
        [
            *("run", "aqm", "--cc", "newreno,cubic,bbr", "--k", "1,2", "--qdisc", "codel"),
            *("--seed", "1..3", "--stop-time", "2s", "--db", str(path)),
        ]
    )
    assert made == 0
    return path


@pytest.fixture
def compare(
    runs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Compare:
    monkeypatch.chdir(tmp_path)
    shutil.copy(runs, "benchmark_all.db")

    def command(*words: str) -> tuple[int, str, str]:
        status = invoke(["compare", *words])
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return command


def test_without_names_all_algorithms_are_compared_with_the_first(compare: Compare) -> None:
    status, out, err = compare()
    assert status == 0
    head = out.splitlines()[0].split()
    assert head[:6] == ["where", "metric", "unit", "TcpNewReno", "side", "its"]
    assert {"TcpCubic", "TcpBbr"} <= set(out.split())
    assert "aqm, 2 points" in out
    assert "a seed changes nothing" in err


def test_what_of_the_catalogue_is_left_out_is_said(compare: Compare) -> None:
    _, out, err = compare("newreno", "cubic")
    assert "points of the catalogue's grids that are here: aqm 2 of 12\n" in err
    assert "runs longer or shorter than the catalogue's: aqm 2s (15s)\n" in err
    _, out, err = compare("newreno", "cubic", "--json")
    assert len(json.loads(out)["left_out"]) == 2
    _, _, err = compare("newreno", "--by", "k")
    assert "catalogue's" not in err


def test_a_whole_grid_of_the_catalogues_length_leaves_nothing_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for cc in ("TcpNewReno", "TcpCubic"):
        made = ["run", "l4s", "--cc", cc, "--seed", "1", "--jitter", "1ms", "--db", "whole.db"]
        assert invoke(made) == 0
    capsys.readouterr()
    assert invoke(["compare", "--db", "whole.db"]) == 0
    assert "catalogue's" not in capsys.readouterr().err


def test_without_names_the_base_is_not_who_ran_first(capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for db, order in (("a.db", "vegas,cubic"), ("b.db", "cubic,vegas")):
        for cc in order.split(","):
            assert invoke(["run", "ecn", "--cc", cc, "--stop-time", "1s", "--db", db]) == 0
        capsys.readouterr()
        assert invoke(["compare", "--db", db]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert said[0].splitlines()[0].split()[3] == "TcpCubic"


def test_one_column_an_algorithm_and_one_row_a_point_and_metric(compare: Compare) -> None:
    _, out, _ = compare(
        "bbr", "cubic", "--each", "--metric", "mean_srtt_l4", "--format", "markdown"
    )
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in out.splitlines()]
    assert lines[0] == [
        *("where", "metric", "unit", "TcpBbr", "TcpCubic", "difference", "shown", "verdict")
    ]
    assert [line[0] for line in lines[2:]] == [
        "aqm k=1 qdisc=CoDelQueueDisc",
        "aqm k=2 qdisc=CoDelQueueDisc",
    ]
    assert "±" in lines[2][3]
    assert re.fullmatch(r"x\d\.\d+ \(\d\.\d+ to \d\.\d+\)", lines[2][5])


def test_a_threshold_says_what_matters(compare: Compare) -> None:
    def words(*more: str) -> set[str]:
        line = ("newreno", "cubic", "--metric", "mean_srtt_l4", "--each", "--json", *more)
        return {row["verdict"] for row in json.loads(compare(*line)[1])["rows"]}

    assert "equal" not in words("--least", "0%")
    assert words("--least", "99%") == {"equal"}
    for wrong in ("5", "5 percent", "-1%", "100%"):
        status, _, err = compare("newreno", "cubic", f"--least={wrong}")
        assert status == 2
        assert "--least" in err


def test_an_interval_over_grids_is_shown_if_asked(compare: Compare) -> None:
    line = ("newreno", "cubic", "--metric", "mean_srtt_l4")
    assert "over grids" not in compare(*line)[1]
    _, out, err = compare(*line, "--over-grids")
    assert "over grids" in out.splitlines()[0]
    assert "drawn at random" in err
    (row,) = json.loads(compare(*line, "--over-grids", "--json")[1])["rows"]
    assert row["grids_low"] < row["value"] < row["grids_high"]


def test_points_are_chosen_by_their_parameters(compare: Compare) -> None:
    document = json.loads(compare("newreno", "bbr", "--at", "k=2", "--json")[1])
    assert (document["cells"], document["deterministic_cells"]) == (2, 1)
    assert {row["point"]["k"] for row in document["rows"]} == {"2"}
    both = json.loads(compare("newreno", "bbr", "--at", "k=1,2", "--json")[1])
    assert both == json.loads(compare("newreno", "bbr", "--at", "k=1..2", "--json")[1])
    assert both["cells"] == 4
    assert compare("newreno", "bbr", "--at", "k")[0] == 2
    assert compare("newreno", "bbr", "--at", "k=99")[0] == 2


def test_csv_has_a_column_for_each_parameter(compare: Compare) -> None:
    rows = list(csv.DictReader(io.StringIO(compare("--each", "--format", "csv")[1])))
    assert {row["k"] for row in rows} == {"1", "2"}
    assert {row["side"] for row in rows} == {"TcpCubic", "TcpBbr"}
    assert all(row["unit"] for row in rows)
    assert all(float(row["mean"]) >= 0 for row in rows)


def test_latex_is_escaped_and_uses_booktabs(compare: Compare) -> None:
    _, out, _ = compare("newreno", "bbr", "--format", "latex", "--metric", "mean_srtt_l4")
    assert out.startswith(r"\begin{tabular}")
    assert r"mean\_srtt\_l4" in out
    assert "±" not in out


def test_two_versions_of_a_database_pass_a_gate_if_nothing_changed(compare: Compare) -> None:
    shutil.copy("benchmark_all.db", "new.db")
    status, out, _ = compare("benchmark_all.db", "new.db", "--fail-on", "mean_srtt_l4>0.01%")
    assert status == 0
    assert out == "passed: 0 of 6 comparisons beyond a limit\n"


def test_a_gate_fails_if_the_new_side_has_no_point_of_the_base(compare: Compare) -> None:
    for name, k in (("base.db", "1"), ("new.db", "2")):
        line = ["run", "aqm", "--cc", "newreno", "--k", k, "--qdisc", "codel", "--stop-time", "1s"]
        assert invoke([*line, "--db", name]) == 0
    gate = ("base.db", "new.db", "--fail-on", "mean_srtt_l4>1%")
    status, out, err = compare(*gate)
    assert status == 1
    assert "failed: 0 of 0 comparisons" in out
    assert "new.db has not 1 point of base.db" in err
    status, out, _ = compare(*gate, "--json")
    assert status == 1
    assert json.loads(out)["failed"]
    # Without one there is nothing to say.
    assert compare("base.db", "new.db")[0] == 2


def test_a_metric_that_no_run_has_is_not_said_to_be_a_lack_of_points(compare: Compare) -> None:
    status, _, err = compare("newreno", "bbr", "--metric", "total_timeouts_l4")
    assert status == 2
    assert err == "error: --metric: no run of these has total_timeouts_l4\n"


def test_of_single_runs_what_is_negative_has_differences_and_csv_has_numbers(
    compare: Compare, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["runs", "--db", "benchmark_all.db", "--seed", "1", "--k", "1", "--json"]) == 0
    ids = [run["run"] for run in json.loads(capsys.readouterr().out)]
    words = (*ids[:2], "--metric", "mean_utility_mpdf_l4,mean_srtt_l4")
    document = json.loads(compare(*words, "--json")[1])
    first, other = (document["mean_utility_mpdf_l4"][run] for run in ids[:2])
    assert first < other < 0
    # The share that is better grows; in per cent of what is negative it would fall.
    _, out, _ = compare(*words)
    assert re.search(r"mean_utility_mpdf_l4 .* \(\+0\.00\d+\) <", out)
    assert re.search(r"mean_srtt_l4 .* \([+−]\d+\.\d %\)", out)
    table = list(csv.DictReader(io.StringIO(compare(*words, "--format", "csv")[1])))
    found = {row["metric"]: (row["TcpNewReno"], row["TcpCubic"]) for row in table}
    assert found == {
        name: tuple(str(value) for value in of.values()) for name, of in document.items()
    }


def test_a_gate_shows_what_broke_it_and_exits_with_1(compare: Compare) -> None:
    status, out, _ = compare("newreno", "bbr", "--fail-on", "mean_srtt_l4>1%")
    assert status == 1
    assert "mean_srtt_l4>1%" in out
    assert "k=1" in out
    assert "failed: " in out
    document = json.loads(compare("newreno", "bbr", "--fail-on", "mean_srtt_l4>1%", "--json")[1])
    assert document["failed"] is True
    assert document["broken"]


def test_a_point_that_is_no_longer_there_fails_a_gate(compare: Compare) -> None:
    invoke(
        [
            *("run", "aqm", "--cc", "newreno,cubic,bbr", "--k", "1", "--qdisc", "codel"),
            *("--seed", "1..3", "--stop-time", "2s", "--db", "new.db"),
        ]
    )
    status, out, err = compare("benchmark_all.db", "new.db", "--fail-on", "mean_srtt_l4>1%")
    assert status == 1
    verdict = out.splitlines()[-1]
    assert verdict == "failed: 0 of 3 comparisons beyond a limit; 3 points of the base missing"
    assert "new.db has not 3 points" in err


def test_a_gate_on_a_metric_that_no_run_has_is_wrong_usage(compare: Compare) -> None:
    shutil.copy("benchmark_all.db", "new.db")
    gates = ("--fail-on", "mean_srtt_l4>5%", "--fail-on", "makespan_l4>1%")
    status, out, err = compare("benchmark_all.db", "new.db", *gates)
    assert (status, out) == (2, "")
    assert err.startswith(
        "error: --fail-on: `makespan_l4>1%` checks nothing: no run has makespan_l4; they have "
    )
    assert ", mean_srtt_l4, " in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--experiment", "aqmm"], "--experiment: no runs of `aqmm` in benchmark_all.db (did you"),
        (["--experiment", "aqm,ecn"], "--experiment: no runs of `ecn` in benchmark_all.db; there"),
        (["--at", "kk=1"], "--at: unknown parameter `kk` (did you mean `k`?)"),
        (["--at", "k=7"], "--at: unknown value of k `7`; known: 1, 2"),
        (["--at", "qdisc=codl"], "--at: unknown value of qdisc `codl`"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.parametrize("command", [["compare", "newreno", "bbr"], ["runs"], ["plot"], ["export"]])
def test_a_slip_in_a_choice_is_answered_by_what_there_is(
    compare: Compare,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    words: list[str],
    says: str,
) -> None:
    assert compare()[0] == 0
    assert invoke([*command, *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"error: {says}")
    assert len(shown.err.splitlines()) == 1


@pytest.fixture
def mixed(compare: Compare) -> Compare:
    """Beside the others runs that are twice as long."""
    words = ["run", "aqm", "--cc", "newreno,cubic", "--k", "1,2", "--qdisc", "codel"]
    assert invoke([*words, "--seed", "1", "--stop-time", "4s", "--db", "benchmark_all.db"]) == 0
    compare()
    return compare


def test_what_labels_a_point_selects_it(mixed: Compare, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = mixed("newreno", "cubic", "--each", "--at", "stop_time=4s")
    points = {line.partition("  ")[0] for line in out.splitlines()[1:]}
    assert points == {f"aqm k={k} qdisc=CoDelQueueDisc stop_time=4s" for k in (1, 2)}
    assert mixed("newreno", "cubic", "--each", "--at", "stop_time=4000ms")[1] == out
    found = ccperf.compare("newreno", "cubic", db="benchmark_all.db", stop_time="4s", each=True)
    assert {dict(row.point)["stop_time"] for row in found.rows} == {"4s"}
    assert invoke(["runs", "--at", "stop_time=4s,k=2"]) == 0
    assert capsys.readouterr().out.count("aqm") == 2
    status, out, err = mixed("newreno", "cubic", "--at", "stop_time=7s")
    assert (status, out) == (2, "")
    assert "--at: unknown value of stop_time `7s`; known: 2s, 4s" in err


def test_a_setting_selects_points_that_need_no_label_of_it(compare: Compare) -> None:
    """A discipline that has runs of one length, of one backend, has none in its label."""
    more = ["--seed", "1", "--qdisc", "codel", "--stop-time", "4s"]
    other = ["--seed", "1", "--qdisc", "fifo", "--stop-time", "2s"]
    ns3 = ["--seed", "1", "--qdisc", "codel", "--stop-time", "2s", "--backend", "ns3"]
    for words in (more, other, ns3):
        run = ["run", "aqm", "--cc", "newreno,cubic", "--k", "1", *words]
        assert invoke([*run, "--db", "benchmark_all.db"]) == 0
    compare()

    def points(at: str) -> set[str]:
        _, out, _ = compare("newreno", "cubic", "--each", "--at", at)
        return {line.partition("  ")[0] for line in out.splitlines()[1:]}

    two = {f"aqm k={k} qdisc=CoDelQueueDisc" for k in (1, 2)}
    assert {
        re.sub(" (stop_time|engine|backend)=.*", "", point) for point in points("stop_time=2s")
    } == {
        *two,
        "aqm k=1 qdisc=FifoQueueDisc",
    }
    native = points("backend=native")
    assert "aqm k=1 qdisc=FifoQueueDisc" in native
    assert len(native) == 4
    assert len(points("backend=ns3")) == 1


def test_points_whose_settings_differ_are_not_pooled_without_a_word(mixed: Compare) -> None:
    said = "one row has points of runs with different settings: stop_time (2s, 4s); --at stop_time"
    assert said in mixed("newreno", "cubic")[2]
    for words in (["--each"], ["--at", "stop_time=4s"]):
        assert "different settings" not in mixed("newreno", "cubic", *words)[2]
    (pooled,) = json.loads(mixed("newreno", "cubic", "--json")[1])["pooled"].items()
    assert pooled == ("stop_time", ["2s", "4s"])


@pytest.mark.parametrize(
    ("words", "said", "label"),
    [
        (["--profile", "linux"], "profile (none, linux)", "profile=none"),
        (["--jitter", "10ms"], "jitter (none, 10ms)", "jitter=none"),
        (
            ["--jitter", "10ms", "--stop-time", "1s"],
            "stop_time (1s, 2s), jitter (10ms, none)",
            "stop_time=1s",
        ),
    ],
)
def test_runs_with_a_profile_or_jitter_are_not_pooled_with_others_without_a_word(
    compare: Compare, words: list[str], said: str, label: str
) -> None:
    run = ["run", "aqm", "--cc", "newreno,cubic", "--k", "1,2", "--qdisc", "codel"]
    given = [*words, *([] if "--stop-time" in words else ["--stop-time", "2s"])]
    assert invoke([*run, "--seed", "1..3", *given, "--db", "benchmark_all.db"]) == 0
    compare()
    _, out, err = compare("newreno", "cubic")
    assert "aqm, 4 points" in out
    assert f"different settings: {said}; --at {label} compares some of them" in err
    # And what the line proposes is there.
    _, out, err = compare("newreno", "cubic", "--at", label)
    assert "aqm, 2 points" in out
    assert "different settings" not in err
    name, _, value = label.partition("=")
    found = ccperf.compare("newreno", "cubic", db="benchmark_all.db", **{name: value})
    assert {row.points for row in found.rows} <= {1, 2}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["newreno@native", "cubic"],
            "items: `newreno@native` names a backend, and `cubic` none; write cubic@native, or",
        ),
        (
            ["--cc", "newreno,cubic"],
            "--cc: is for two databases; name what to compare: ccperf compare newreno cubic",
        ),
        (["newreno", "bbr", "--cc", "cubic"], "--cc: is for two databases;"),
        (["newreno@native", "bbr@native", "--versions"], "--versions: compares versions only"),
        (["newreno", "--by", "profile=linux,ns3-3.48", "--versions"], "--versions: compares"),
    ],
)
def test_what_a_comparison_would_not_heed_is_refused(
    compare: Compare, words: list[str], says: str
) -> None:
    status, out, err = compare(*words)
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {says}")


def test_a_choice_that_no_run_fits_is_called_so(compare: Compare) -> None:
    status, out, err = compare("newreno", "bbr", "--at", "aut=TcpNewReno")
    assert (status, out) == (2, "")
    where = "benchmark_all.db with --at aut=TcpNewReno"
    assert err == f"error: items: no runs of `bbr` in {where}; there are TcpNewReno\n"
    words = ["run", "aqm", "--cc", "newreno", "--k", "3", "--qdisc", "fifo", "--stop-time", "60ms"]
    assert invoke([*words, "--db", "benchmark_all.db"]) == 0
    compare()
    status, out, err = compare("newreno", "bbr", "--at", "k=3,qdisc=codel")
    assert (status, out) == (2, "")
    assert "--at: each of these has runs in benchmark_all.db, but no run has all of them" in err


def test_a_gate_on_single_runs_is_wrong_usage(compare: Compare) -> None:
    status, out, err = compare("latest", "latest", "--fail-on", "mean_srtt_l4>1%")
    assert (status, out) == (2, "")
    assert "--fail-on: is for algorithms or databases, not single runs" in err


def test_an_algorithm_that_is_not_there_is_said(compare: Compare) -> None:
    assert compare("newreno", "vegas")[0] == 2
    status, _, err = compare("newreno", "cubicc")
    assert status == 2
    assert "cubic" in err


def test_a_file_of_code_without_its_class_is_no_database(compare: Compare) -> None:
    Path("mine.py").touch()
    status, _, err = compare("mine.py", "cubic")
    assert status == 2
    assert "no runs of `mine.py` in benchmark_all.db" in err


def test_texts_of_users_do_not_break_tables() -> None:
    assert render("markdown", ["a"], [["x|y"]]).splitlines()[2] == r"| x\|y |"
    assert r"50\% \& \_" in render("latex", ["a"], [["50% & _"]])
    of_factor = render("latex", ["a"], [["x1.45 (1.41 to 1.49)", "box2=x1"]])
    assert r"$\times$1.45 (1.41 to 1.49) & box2=x1" in of_factor
    assert render("csv", ["a"], [['x,"y"']]).splitlines()[1] == '"x,""y"""'


@pytest.mark.parametrize(
    "words",
    [
        ["runs"],
        ["compare", "./mine.py:Mine", "--versions"],
        ["export", "--experiment", "aqm", "-o", "files"],
        ["plot", "-o", "figures"],
        ["cite"],
        ["show", "run"],
    ],
    ids=lambda words: words[0],
)
def test_who_names_a_second_database_after_a_blank_is_told_how(
    compare: Compare, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare()[0] == 0
    for name in ("base.db", "new.db"):
        shutil.copy("benchmark_all.db", name)
    assert invoke([*words, "--db", "base.db", "new.db"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    advice = "--db base.db,new.db"
    assert advice in shown.err
    # And that is how.
    assert invoke(["runs", *advice.split(), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2 * 10


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("runs base.db", "runs --db base.db"),
        ("runs base.db new.db", "runs --db base.db,new.db"),
        ("runs --json base.db --db new.db", "runs --json --db new.db,base.db"),
        ("doctor base.db new.db", "doctor --db base.db"),
        ("export base.db -o files", "export -o files --db base.db"),
        ("plot base.db --experiment aqm", "plot --experiment aqm --db base.db"),
        ("show latest base.db", "show latest --db base.db"),
        ("cite latest base.db", "cite latest --db base.db"),
        ("diff latest base.db latest", "diff latest latest --db base.db"),
        ("compare base.db", "compare --db base.db"),
        ("compare cubic bbr base.db", "compare cubic bbr --db base.db"),
        ("score cubic base.db", "score cubic --db base.db"),
        ("run aqm base.db", "run aqm --db base.db"),
    ],
)
def test_a_database_among_other_words_is_answered_with_the_whole_command(
    own_folder: Path, words: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("base.db", "new.db"):
        (own_folder / name).touch()
    assert invoke(words.split()) == 2
    err = capsys.readouterr().err
    assert err.endswith(f"write `ccperf {advice}`\n")
    assert len(err.splitlines()) == 1
    assert not (own_folder / "files").exists()


def test_an_option_of_one_value_is_not_offered_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    for option, values in (("--db", ("a.db", "b.db")), ("--jobs", ("1", "2"))):
        assert invoke(["run", "aqm", option, *values, "-n"]) == 2
        assert f"{option}: takes one value; `{values[1]}` is too much" in capsys.readouterr().err
