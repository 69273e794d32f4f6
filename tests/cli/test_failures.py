"""A broken algorithm costs one line and its own runs; the command that is printed is right."""

from __future__ import annotations

import re
import shlex
import tempfile
from pathlib import Path

import pytest

from ccperf.cli import _own_mistake, main
from ccperf.cli.app import invoke
from ccperf.store import Store

SHORT = ["--experiments", "aqm", "--stop-time", "100ms", "--no-site", "-j", "1"]
pytestmark = pytest.mark.usefixtures("beside_mycca")


def broken(body: str) -> None:
    Path("bad.py").write_text(
        "import os\nimport ccperf\n\nclass Bad(ccperf.CongestionControl):\n"
        f"    def cong_avoid(self, tcb, segments_acked):\n        {body}\n"
    )


def test_bench_goes_on_with_the_others_and_says_what_was_skipped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    broken("1 / 0")
    assert invoke(["bench", "./bad.py:Bad,cubic", *SHORT]) == 1
    out, err = capsys.readouterr()
    assert err.count("ZeroDivisionError") == 1
    # Three failures alike are enough; one more run may be under way by then.
    failed = 1 + int(re.findall(r"\(and (\d+) more like it\)", err)[0])
    assert failed in (3, 4)
    (again,) = [line for line in err.splitlines() if "again: ccperf run aqm" in line]
    # The longest runs begin.
    assert f"--cc {Path.cwd()}/bad.py:Bad --k 10 --qdisc FifoQueueDisc" in again
    assert again.endswith("--stop-time 100ms --db benchmark_Bad.db")
    assert f"{12 - failed} runs not begun: the first {failed} all failed alike" in err
    assert "bad.py:Bad: no run finished, nothing stored" in out
    assert "TcpCubic: benchmark_TcpCubic.db" in out
    with Store("benchmark_TcpCubic.db", "r") as store:
        assert len(store.ids()) == 12


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def broken(:\n", "SyntaxError"),
        ("class Other: pass\n", "bad.py has no class Bad; it has Other"),
        ("import ccperf\nclass Bad(ccperf.QueueDisc): pass\n", "does not derive from"),
        ("raise OSError('no licence')\n", "OSError: no licence"),
        ("import os\nos._exit(0)\n", "its process ended with status 0"),
    ],
)
@pytest.mark.parametrize("command", ["bench", "run"])
def test_what_cannot_be_loaded_is_wrong_usage(
    capsys: pytest.CaptureFixture[str], command: str, text: str, says: str
) -> None:
    Path("bad.py").write_text(text)
    words = {
        "bench": ["bench", "cubic,./bad.py:Bad", *SHORT],
        "run": ["run", "aqm", "--cc", "./bad.py:Bad", "--k", "1", "--stop-time", "100ms"],
    }
    assert invoke(words[command]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert len(err.splitlines()) == 1
    assert list(Path().glob("*.db")) == []


def test_a_process_that_ends_itself_well_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    broken("os._exit(0)")
    options = ["--k", "1", "--qdisc", "codel", "--stop-time", "1s"]
    assert invoke(["run", "aqm", "--cc", "./bad.py:Bad", *options]) == 1
    err = capsys.readouterr().err
    assert "its process ended with status 0 (in cong_avoid)" in err
    assert "Traceback" not in err


def test_an_error_does_not_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    broken("raise ValueError('\\x1b[2J\\x1b]0;title\\x07')")
    options = ["--k", "1", "--qdisc", "codel", "--stop-time", "1s"]
    assert invoke(["run", "aqm", "--cc", "./bad.py:Bad", *options]) == 1
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert r"\x1b[2J" in err


def test_code_that_does_not_repeat_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--k", "1", "--qdisc", "codel", "--stop-time", "1s"]
    assert invoke(["run", "aqm", "--cc", "./mycca.py:MyCca", *options]) == 0
    assert "made twice" not in capsys.readouterr().err
    broken("tcb.cwnd += 1448 + os.urandom(1)[0]")
    assert invoke(["run", "aqm", "--cc", "./bad.py:Bad", *options]) == 0
    err = capsys.readouterr().err
    assert "warning: aqm aut=bad.py:Bad k=1 qdisc=CoDelQueueDisc: made twice, it came out" in err


def again(err: str) -> list[str]:
    (line,) = [line for line in err.splitlines() if line.startswith("again: ")]
    return shlex.split(line.removeprefix("again: ccperf "))


@pytest.mark.parametrize(
    "words",
    [
        ["run", "aqm", "--cc", "cubic", "--k", "1", "--qdisc", "codel", "--stop-time", "80ms"],
        ["run", "aqm", "--cc", "./mycca.py:MyCca", "--k", "1", "--qdisc", "codel", "--stop-time",
         "80ms", "--recovery", "TcpPrrRecovery", "--seed", "3"],
        ["run", "s d.toml", "--seed", "5"],
    ],
)  # fmt: skip
def test_again_makes_the_same_run_in_the_same_database(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    Path("s d.toml").write_text(
        'stop_time = "60ms"\nnodes = ["a", "b"]\n'
        '[[links]]\nname = "wire"\nends = ["a", "b"]\nrate = "10Mbps"\ndelay = "5ms"\n'
        '[[flows]]\nsource = "a"\ndestination = "b"\ncc = "cubic"\n'
    )
    assert invoke([*words, "--db", "own.db"]) == 0
    repeat = again(capsys.readouterr().err)
    with Store("own.db", "r") as store:
        (run,) = store.ids()
    assert invoke(repeat) == 0
    assert "0 runs made, 1 in own.db before" in capsys.readouterr().err
    with Store("own.db", "r") as store:
        assert store.ids() == [run]


def test_again_of_bench_has_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "bench",
        "cubic",
        *SHORT,
        "--seed",
        "1..2",
        "--db",
        "x y.db",
        "--recovery",
        "PrrRfc6937",
    ]
    assert invoke(words) == 0
    assert again(capsys.readouterr().err) == words


def test_what_nobody_has_foreseen_is_a_line_and_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise KeyError("what is\nmissing")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("ccperf.cli.app.invoke", fail)
    for start in ("base.interruption.watch", "base.process.start_lightly"):
        monkeypatch.setattr(f"ccperf.{start}", lambda: None)
    with pytest.raises(SystemExit) as end:
        main(["runs"])
    assert end.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    (file,) = tmp_path.glob("ccperf-error-*")
    assert line.startswith("error: a mistake in ccperf: KeyError: 'what is\\nmissing'; send its ")
    assert str(file) in line
    assert "Traceback" in file.read_text()


def test_a_terminal_does_not_obey_what_nobody_has_foreseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    _own_mistake(ValueError("a label of a stranger's: \x1b[2J"))
    assert "stranger's: \\x1b[2J;" in capsys.readouterr().err
