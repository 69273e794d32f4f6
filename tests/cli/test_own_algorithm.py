"""An author's loop: one name for one's own algorithm in every command, and its versions apart."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from pathlib import Path

import pytest

from ccperf.cli.app import invoke

MINE = """
import ccperf


class MyCca(ccperf.CongestionControl):
    def ssthresh(self, tcb, bytes_in_flight):
        return max(int({beta} * bytes_in_flight), 2 * tcb.segment_size)
"""
RUN = [*("run", "aqm", "--qdisc", "codel", "--stop-time", "1s", "--db", "mine.db")]


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


OLD, NEW = (_sha(MINE.format(beta=beta))[:4] for beta in (0.7, 0.9))


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions of one's own algorithm, and CUBIC, at two points."""
    folder = tmp_path_factory.mktemp("mine")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for beta in (0.7, 0.9):
            Path("mycca.py").write_text(MINE.format(beta=beta))
            assert invoke([*RUN, "--cc", "./mycca.py:MyCca,TcpCubic", "--k", "1,2"]) == 0
    return folder


@pytest.fixture
def mine(_made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(_made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


Captured = pytest.CaptureFixture[str]


def said(capsys: Captured, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = invoke(list(words))
    shown = capsys.readouterr()
    return status, shown.out, shown.err


@pytest.mark.parametrize(
    "name", ["./mycca.py:MyCca", "mycca.py:MyCca", "MyCca", "{}/mycca.py:MyCca"]
)
@pytest.mark.parametrize(
    "words",
    [
        ["compare", "NAME", "TcpCubic", "--json"],
        ["runs", "--cc", "NAME"],
        ["plot", "--cc", "NAME", "--k", "1", "--figure", "time_series", "--format", "svg"],
        ["export", "--cc", "NAME", "--format", "csv"],
        ["show", "--cc", "NAME", "--k", "1"],
        ["cite", "--cc", "NAME", "--k", "1"],
        ["diff", "--cc", "NAME", "--k", "1,2"],
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_a_name_means_the_same_in_every_command(
    mine: Path, capsys: Captured, words: list[str], name: str
) -> None:
    given = [name.format(mine) if word == "NAME" else word for word in words]
    status, out, err = said(capsys, *given, "--db", "mine.db")
    assert status == (1 if words[0] == "diff" else 0), err
    assert out


def test_a_name_means_the_same_from_another_folder(
    mine: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mine / "elsewhere").mkdir()
    monkeypatch.chdir(mine / "elsewhere")
    for name in ("../mycca.py:MyCca", "./mycca.py:MyCca", "/gone/mycca.py:MyCca"):
        status, out, _ = said(capsys, "compare", name, "cubic", "--db", "../mine.db", "--json")
        assert status == 0
        assert json.loads(out)["base"] == f"mycca.py:MyCca@{NEW}"


def test_a_library_is_no_database(mine: Path, capsys: Captured) -> None:
    (mine / "libmycca.so").write_bytes(b"\x7fELF")
    status, _, err = said(capsys, "compare", "./libmycca.so", "TcpCubic", "--db", "mine.db")
    assert status == 2
    assert "no runs of `./libmycca.so` in mine.db; there are mycca.py:MyCca, TcpCubic" in err


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("name", ["TCN", "bbr", "./other.py:Mine"])
def test_an_algorithm_without_runs_is_said_to_have_none(capsys: Captured, name: str) -> None:
    status, _, err = said(capsys, "compare", "cubic", name, "--db", "mine.db")
    assert status == 2
    assert f"no runs of `{name}` in mine.db" in err


@pytest.mark.usefixtures("mine")
def test_versions_have_names_and_the_newest_is_taken_with_a_word(capsys: Captured) -> None:
    status, out, err = said(capsys, "compare", "MyCca", "cubic", "--db", "mine.db", "--json")
    assert status == 0
    assert json.loads(out)["base"] == f"mycca.py:MyCca@{NEW}"
    assert "2 versions, newest taken" in err
    old, new = f"MyCca@{OLD}", f"./mycca.py:MyCca@{NEW}"
    document = json.loads(said(capsys, "compare", old, new, "--db", "mine.db", "--json")[1])
    assert (document["base"], document["sides"]) == (
        f"mycca.py:MyCca@{OLD}",
        [f"mycca.py:MyCca@{NEW}"],
    )


def test_databases_are_compared_by_the_newest_version_of_each(mine: Path, capsys: Captured) -> None:
    """The new one is of a third version, which the base has not."""
    text = (mine / "mycca.py").read_text()
    (mine / "mycca.py").write_text(f"{text}\n# Again.\n")
    line = [*RUN, "--cc", "./mycca.py:MyCca", "--k", "1,2"]
    line[line.index("--db") + 1] = "new.db"
    assert said(capsys, *line)[0] == 0
    gate = ["--fail-on", "mean_srtt_l4>50%"]
    status, out, err = said(capsys, "compare", "mine.db", "new.db", "--cc", "MyCca", *gate)
    assert (status, out) == (0, "passed: 0 of 2 comparisons beyond a limit\n")
    assert f"2 versions, newest taken (mycca.py:MyCca@{NEW})" in err


@pytest.mark.usefixtures("mine")
def test_versions_of_one_algorithm_are_compared_with_the_oldest(capsys: Captured) -> None:
    words = ["compare", "./mycca.py:MyCca", "--versions", "--db", "mine.db", "--json"]
    document = json.loads(said(capsys, *words)[1])
    assert document["base"] == f"mycca.py:MyCca@{OLD}"
    assert document["sides"] == [f"mycca.py:MyCca@{NEW}"]
    assert said(capsys, "compare", "cubic", "--versions", "--db", "mine.db")[0] == 2


def test_a_file_that_went_back_to_an_older_version_is_that_version(
    mine: Path, capsys: Captured
) -> None:
    (mine / "mycca.py").write_text(MINE.format(beta=0.7))
    words = ["compare", "./mycca.py:MyCca", "cubic", "--db", "mine.db", "--json"]
    assert json.loads(said(capsys, *words)[1])["base"] == f"mycca.py:MyCca@{OLD}"
    (mine / "mycca.py").write_text(MINE.format(beta=0.3))
    _, out, err = said(capsys, *words)
    assert json.loads(out)["base"] == f"mycca.py:MyCca@{NEW}"
    assert "has changed since its last run" in err


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ([], 6),
        (["--k", "1,2"], 6),
        (["--k", "1"], 3),
        (["--seed", "42"], 6),
        (["--experiment", "aqm"], 6),
        (["--cc", "MyCca"], 4),
        (["--cc", "./mycca.py:MyCca", "--k", "1"], 2),
        (["--cc", f"MyCca@{OLD}"], 2),
    ],
)
@pytest.mark.usefixtures("mine")
def test_no_filter_hides_a_run(capsys: Captured, filters: list[str], count: int) -> None:
    out = said(capsys, "runs", "--db", "mine.db", *filters, "--json")[1]
    assert len(json.loads(out)) == count


@pytest.mark.usefixtures("mine")
def test_runs_tells_versions_apart_by_their_short_names(capsys: Captured) -> None:
    out = said(capsys, "runs", "--db", "mine.db", "--cc", "MyCca", "--k", "1")[1]
    assert f"code=mycca.py:MyCca@{OLD}" in out
    assert f"code=mycca.py:MyCca@{NEW}" in out


def test_the_diagnosis_names_the_file_that_changed_and_not_the_engine(
    mine: Path, capsys: Captured
) -> None:
    (mine / "mycca.py").write_text(MINE.format(beta=0.3))
    now = _sha(MINE.format(beta=0.3))[:4]
    words = [
        "export",
        "--cc",
        f"MyCca@{NEW}",
        "--k",
        "1",
        "--format",
        "pcapng",
        "--db",
        "mine.db",
        "--trust",
    ]
    status, _, err = said(capsys, *words)
    assert status == 2
    assert f"mycca.py:MyCca has changed since (it was @{NEW}, and is @{now})" in err
    assert "engine" not in err
    (mine / "mycca.py").unlink()
    assert "there is no file" in said(capsys, *words)[2]


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("chosen", [[], ["--k", "1"]])
def test_exported_tables_tell_versions_apart(chosen: list[str]) -> None:
    """Who takes means by the column of the algorithm gets none of two versions."""
    for format in ("tidy", "csv"):
        assert invoke(["export", "--db", "mine.db", *chosen, "--format", format, "-o", "x"]) == 0
    with Path("x/tidy.csv").open(newline="") as file:
        tidy = {row["run"]: row["cca"] for row in csv.DictReader(file)}
    with Path("x/runs.csv").open(newline="") as file:
        runs = {row["run"]: row["under_test"] for row in csv.DictReader(file)}
    assert tidy == runs
    versions = {f"mycca.py:MyCca@{version}" for version in (OLD, NEW)}
    assert set(runs.values()) == {"TcpCubic", *versions}
