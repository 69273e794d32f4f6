"""Outputs never destroy: what is in the way of one is left alone, and said before anything runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ccperf.base.outputs import FIGURES, file_name, several, whole
from ccperf.cli.app import invoke
from ccperf.errors import UsageError
from user_scenarios import AQM, LINE, SCENARIO

pytestmark = pytest.mark.usefixtures("own_folder")


def files() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def refuses(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The message of a command that changes nothing at all."""
    before = files()
    assert invoke(words) == 2
    assert files() == before
    return capsys.readouterr().err


@pytest.fixture
def run(own_folder: Path) -> str:
    """The id of a run in `x.db`."""
    from ccperf.store import Store

    assert invoke([*AQM, "--db", "x.db"]) == 0
    with Store(own_folder / "x.db", "r") as store:
        return store.runs()[0].id


@pytest.mark.parametrize("command", [AQM, ["run", "s.toml"], ["exec", "--", LINE]])
@pytest.mark.parametrize("target", ["x.db", "s.toml", "notes.txt", "link.csv", "new.db"])
@pytest.mark.usefixtures("run")
def test_a_packet_trace_replaces_nothing_but_a_trace(
    capsys: pytest.CaptureFixture[str], command: list[str], target: str
) -> None:
    """The database in use, another one, the input, somebody's notes, a link to them."""
    Path("s.toml").write_text(SCENARIO)
    Path("notes.txt").write_text("time_ns,link,event\nprecious\n")
    Path("link.csv").symlink_to("notes.txt")
    name, *rest = command
    for database in ["new.db"] if target == "new.db" else ["x.db", "new.db"]:
        text = refuses(capsys, name, "--packets", target, "--db", database, *rest)
        assert text.startswith(f"error: --packets: `{target}` is ")


@pytest.mark.parametrize("name", ["p.csv", "p.headers.csv", "p.pcapng"])
def test_a_packet_trace_replaces_a_trace(tmp_path: Path, name: str) -> None:
    Path(name).touch()
    assert invoke([*AQM, "--packets", name]) == 0
    first = (tmp_path / name).read_bytes()
    assert invoke([*AQM, "--packets", name, "--cc", "cubic"]) == 0
    assert (tmp_path / name).read_bytes()[:40] == first[:40]
    assert invoke([*AQM, "--packets", "/dev/null"]) == 0


def test_python_refuses_as_well() -> None:
    import ccperf

    Path("notes.txt").write_text("precious")
    with pytest.raises(UsageError, match=r"packets: `notes\.txt` is there and is no packet trace"):
        ccperf.run("aqm", cc="cubic", k=1, stop_time="60ms", packets="notes.txt")
    assert Path("notes.txt").read_text() == "precious"


@pytest.mark.parametrize("suffix", FIGURES)
def test_a_figure_replaces_a_figure_only(
    capsys: pytest.CaptureFixture[str], run: str, suffix: str
) -> None:
    pytest.importorskip("matplotlib")
    plot = ["plot", run, "--db", "x.db", "--figure", "time_series", "--format", suffix]
    assert invoke(plot) == 0
    assert invoke(plot) == 0
    (drawn,) = Path().glob(f"*_{run[:8]}_time_series.{suffix}")
    drawn.write_bytes(drawn.read_bytes()[:4] + b" of somebody else")
    assert "is no figure of ccperf" in refuses(capsys, *plot)


@pytest.mark.parametrize("format", ["parquet", "csv", "json"])
def test_an_export_replaces_an_export_only(
    capsys: pytest.CaptureFixture[str], run: str, format: str
) -> None:
    export = ["export", "--db", "x.db", "--format", format, "--series", "-o", "out"]
    assert invoke(export) == 0
    assert invoke(export) == 0
    capsys.readouterr()
    for name in ("runs", "metrics", f"series/{run}/flows"):
        path = Path(f"out/{name}.{format}")
        ours = path.read_bytes()
        path.write_bytes(b"id,name\n1,Ann\n")
        assert f"is no table of ccperf ({format})" in refuses(capsys, *export)
        path.write_bytes(ours)
    # Another table of an export is not this one.
    Path(f"out/runs.{format}").write_bytes(Path(f"out/metrics.{format}").read_bytes())
    if format != "json":
        refuses(capsys, *export)


def test_a_record_replaces_a_record_only(capsys: pytest.CaptureFixture[str]) -> None:
    from ccperf.verify import record

    Path("notes.json").write_text('{"precious": 1}')
    words = ["verify", "ns3", "--pattern", "drop/single-nosack", "--record"]
    text = refuses(capsys, *words, "notes.json")
    assert text.startswith("error: --record: `notes.json` is there and is no record of `ccperf")
    record.write(record.last(), Path("old.json"))
    assert record.KIND.recognises(Path("old.json"))


def test_an_export_finds_the_databases_here(capsys: pytest.CaptureFixture[str]) -> None:
    """A run that is in two of them is exported once."""
    import csv
    import shutil

    Path("s.toml").write_text(SCENARIO)
    for words in (AQM, [*AQM, "--cc", "cubic"], ["run", "s.toml"]):
        assert invoke(words) == 0
    shutil.copy("benchmark_TcpCubic.db", "benchmark_Copy.db")
    capsys.readouterr()
    for format, name in {"csv": "runs.csv", "tidy": "tidy.csv"}.items():
        assert invoke(["export", "--format", format, "-o", "out"]) == 0
        with Path("out", name).open(newline="") as file:
            runs = [row["run"] for row in csv.DictReader(file)]
        assert len(set(runs)) == 3
        assert format == "tidy" or len(runs) == 3
    assert invoke(["export", "--format", "flent", "-o", "flent"]) == 0
    assert len(list(Path("flent").iterdir())) == 3


def test_compare_finds_the_databases_here(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of `run FILE.toml` and `exec`, too."""
    for cc in ("TcpCubic", "TcpVegas"):
        assert invoke(["exec", "--", LINE.replace("TcpCubic", cc)]) == 0
    assert [str(path) for path in Path().glob("*.db")] == ["ccperf.db"]
    capsys.readouterr()
    assert invoke(["compare", "--each"]) == 0
    assert {"TcpCubic", "TcpVegas"} <= set(capsys.readouterr().out.split())


def test_a_draft_takes_the_place_when_all_went_well(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_text("old")

    def half() -> None:
        with whole(target) as draft:
            draft.write_text("half")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        half()
    assert target.read_text() == "old"
    with whole(target) as draft:
        draft.write_text("new")
    assert target.read_text() == "new"
    assert os.listdir(tmp_path) == ["x"]


def test_two_processes_may_write_the_same_file(tmp_path: Path) -> None:
    target = tmp_path / "x"
    other = (
        "import sys, pathlib; from ccperf.base.outputs import whole\n"
        "with whole(pathlib.Path(sys.argv[1])) as draft: draft.write_text('other')"
    )
    with whole(target) as draft:
        draft.write_text("mine")
        subprocess.run([sys.executable, "-c", other, str(target)], check=True)
        assert target.read_text() == "other"
    assert target.read_text() == "mine"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_leaves_no_half_figure(
    run: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A draft on a device without room stands for it."""
    mpl: Any = pytest.importorskip("ccperf.present.figures.mpl")
    from contextlib import contextmanager

    @contextmanager
    def full(_path: Path) -> Any:
        yield Path("/dev/full")

    monkeypatch.setattr(mpl, "whole", full)
    for suffix in FIGURES:
        plot = ["plot", run, "--db", "x.db", "--figure", "time_series", "--format", suffix]
        assert invoke(plot) == 1
        assert "cannot be written" in capsys.readouterr().err
    assert not list(Path().glob("*time_series*"))


def test_long_names_of_files_differ_where_their_middle_does() -> None:
    names = [file_name(["a" * 100, middle * 90, "window"]) for middle in "xy"]
    assert len({*names}) == 2
    assert all(len(name) <= 180 and name.endswith("_window") for name in names)
    assert file_name(["aqm", "k=1", "window"]) == "aqm_k-1_window"


def test_many_algorithms_have_a_short_name_that_tells_them_from_others() -> None:
    four = ["TcpCubic", "TcpBbr", "TcpVegas", "TcpBic"]
    assert several(four) == four
    (*first, more), (*_, other) = several([*four, "TcpHtcp"]), several([*four, "TcpLp"])
    assert first == four[:3]
    assert more.startswith("and-2-more-")
    assert more != other
