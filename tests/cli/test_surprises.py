"""What a newcomer runs into: every slip has one line, and nothing that was made is thrown away."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ccperf.cli.app import invoke
from ccperf.store import Store
from user_scenarios import AQM, LINE, SCENARIO, environment

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "scalability", "--stop-time", "10"], "stop-time"),
        (["bench", "cubic", "--experiments", "scalability", "--stop-time", "nan"], "stop"),
        (["run", "a" * 5000], "File name too long"),
        (["export", "--db", "a" * 5000], "File name too long"),
        (["run", "nested.toml"], "nested.toml: is nested too deeply"),
        ([*AQM, "--cc", "./mine.py"], "add the class in it: ./mine.py:ClassName"),
        ([*AQM, "--cc", "./mine.c"], "build a shared library"),
        ([*AQM, "--cc", "dcqcn"], "; `transport` takes it in experiments as pfc_incast"),
        (["runs"], "there is no benchmark_*.db or ccperf.db here"),
        (["show", "latest"], "there is no benchmark_*.db or ccperf.db here"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else "",
)
def test_a_slip_has_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    Path("nested.toml").write_text("x = " + "[" * 5000)
    assert invoke(words) == 2
    err = capsys.readouterr().err
    assert says in err
    assert len(err.splitlines()) == 1
    assert os.listdir() == ["nested.toml"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["list", "cc"], ["show", "cubic"], ["doctor", "--json"]])
def test_a_full_disk_behind_stdout(words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ccperf", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
    assert done.returncode == 1
    assert done.stderr == "error: No space left on device\n"


def test_a_full_disk_leaves_nothing_of_a_new_algorithm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write = Path.write_text

    def fills(path: Path, text: str) -> int:
        if "test_" in path.name:
            write(path, text[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, text)

    with monkeypatch.context() as full:
        full.setattr(Path, "write_text", fills)
        assert invoke(["new", "cc", "Mine"]) == 1
    assert capsys.readouterr().err == (
        "error: test_mine.py: cannot be written: No space left on device\n"
    )
    assert os.listdir() == []
    assert invoke(["new", "cc", "Mine"]) == 0


@pytest.mark.parametrize("words", [[*AQM, "--json"], ["exec", "--json", "--", LINE]])
def test_a_closed_pipe_is_said_and_costs_nothing_that_was_made(
    tmp_path: Path, words: list[str]
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "ccperf", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait() == 1
    assert "what was finished is stored, the same command makes the rest" in err
    assert "Traceback" not in err
    (database,) = tmp_path.glob("*.db")
    with Store(database, "r") as store:
        assert len(store.ids()) == 1


@pytest.mark.parametrize(
    ("words", "status"),
    [
        # As SIGPIPE ends what only prints.
        (["list", "cc"], 141),
        (["bench", "cubic,vegas", "--experiments", "aqm", "--stop-time", "60ms"], 1),
    ],
)
def test_a_pipe_that_is_closed_for_both_is_no_success(words: list[str], status: int) -> None:
    """`ccperf bench ... 2>&1 | head`: what was skipped must not look done."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "ccperf", *words], stdout=writer, stderr=writer, env=environment()
    )
    os.close(writer)
    assert done.returncode == status


def test_what_was_made_is_kept_and_found_again(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.toml").write_text(SCENARIO)
    for words in (AQM, ["run", "s.toml"], ["exec", "--", LINE]):
        assert invoke(words) == 0
    assert sorted(path.name for path in Path().glob("*.db")) == [
        "benchmark_TcpNewReno.db",
        "ccperf.db",
    ]
    capsys.readouterr()
    assert invoke(["runs", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 3
    with Store("ccperf.db", "r") as store:
        last = store.ids()[-1]
    assert invoke(["show", "latest", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"] == last
    assert invoke(["diff", "latest", last[:12]]) == 0


@pytest.mark.parametrize("command", ["bench", "run"])
def test_help_names_the_database(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert invoke([command, "--help"]) == 0
    assert "benchmark_ALGORITHM.db" in "".join(capsys.readouterr().out.split())


def test_a_killed_site_has_no_index_unless_it_is_whole(tmp_path: Path) -> None:
    """What has an index was finished; the next build makes it so."""
    points = ["--cc", "cubic", "--seed", "1..20", "--db", "x.db"]
    assert invoke([*AQM, *points]) == 0
    whole = tmp_path / "whole"
    assert invoke(["site", "build", "--db", "x.db", "-o", str(whole)]) == 0
    expected = {str(path.relative_to(whole)) for path in whole.rglob("*") if path.is_file()}
    halves = 0
    for milliseconds in range(300, 1500, 200):
        process = subprocess.Popen(
            [sys.executable, "-m", "ccperf", "site", "build", "--db", "x.db", "-o", "site"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
        time.sleep(milliseconds / 1000)
        process.send_signal(signal.SIGKILL)
        process.wait()
        site = Path("site")
        found = {str(path.relative_to(site)) for path in site.rglob("*") if path.is_file()}
        if "index.html" in found:
            assert found >= expected
            break
        halves += bool(found)
        for path in site.rglob("*.svg"):
            if not path.name.startswith("."):
                assert path.read_bytes() == (whole / path.relative_to(site)).read_bytes()
    assert invoke(["site", "build", "--db", "x.db", "-o", "site"]) == 0
    for name in expected:
        assert (Path("site") / name).read_bytes() == (whole / name).read_bytes()
