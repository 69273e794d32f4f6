"""Terminals that are narrow, or not UTF-8: all can be read, none of it is a traceback."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from ccperf.cli.app import invoke
from ccperf.store import Store
from user_scenarios import environment

CLASS = """
import ccperf
class {name}(ccperf.CongestionControl):
    pass
"""

pytestmark = pytest.mark.usefixtures("own_folder")


def ccperf(*words: str, **variables: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "ccperf", *words],
        env={**environment(), **variables},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode("latin-1"), done.stderr.decode("latin-1")


def in_terminal(width: int, *words: str) -> list[str]:
    """The lines that a command prints to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "ccperf", *words],
        # Which has precedence over the terminal's own size, and which xdist sets.
        env={k: v for k, v in environment().items() if k not in ("COLUMNS", "LINES")}
        | {"PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    shown = b""
    try:
        while found := os.read(ours, 65536):
            shown += found
    except OSError:  # nobody writes there any more
        pass
    os.close(ours)
    assert process.wait() == 0
    return shown.decode().splitlines()


@pytest.mark.parametrize(
    "words",
    [
        ("run", "aqm", "--cc", "cubic,newreno", "--k", "2,5", "--qdisc", "codel", "--seed", "1"),
        ("compare", "cubic", "newreno", "--each"),
        ("compare", "cubic", "newreno"),
        ("runs",),
        ("score", "cubic", "--against", "newreno", "--experiments", "aqm"),
    ],
    ids=lambda words: " ".join((words[0], words[-1])),
)
def test_rows_that_a_terminal_is_too_narrow_for_go_on_below_their_column(
    words: tuple[str, ...],
) -> None:
    line = ["run", "aqm", "--cc", "cubic,newreno", "--k", "2,5", "--qdisc", "codel"]
    assert invoke([*line, "--stop-time", "1s", "--seed", "1", "--db", "ccperf.db"]) == 0
    more = ["--stop-time", "1s"] if words[0] in ("run", "score") else []
    words = (*words, "--db", "ccperf.db", *more)
    piped = ccperf(*words, PYTHONIOENCODING="utf-8")[0].encode("latin-1").decode().splitlines()
    width = 80 if words[0] != "score" else 50
    assert max(map(len, piped)) > width
    # What goes elsewhere has a line a row; a terminal with room for that has the same.
    assert in_terminal(200, *words) == piped
    narrow = in_terminal(width, *words)
    assert max(map(len, narrow)) <= width
    assert len(narrow) > len(piped)

    def parts(lines: list[str]) -> list[str]:
        return sorted("".join(lines).replace(" ", ""))

    assert parts(narrow) == parts(piped)


def test_what_latin_1_lacks_is_written_otherwise() -> None:
    line = ["run", "aqm", "--cc", "cubic,newreno", "--k", "5", "--qdisc", "codel"]
    assert invoke([*line, "--stop-time", "1s", "--seed", "1..2", "--db", "x.db"]) == 0
    words = ("compare", "cubic", "newreno", "--db", "x.db", "--metric", "all")
    utf, _ = ccperf(*words, PYTHONIOENCODING="utf-8")
    latin, _ = ccperf(*words, PYTHONIOENCODING="latin-1")
    assert "−" in utf.encode("latin-1").decode()
    assert latin == utf.encode("latin-1").decode().replace("−", "-")


def test_a_name_that_ascii_lacks_is_shown_as_python_writes_it() -> None:
    Path("mine.py").write_text(CLASS.format(name="Äther"), encoding="utf-8")
    assert invoke(["run", "aqm", "--cc", "./mine.py:Äther", "--k", "1", "--db", "x.db"]) == 0
    plain = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    out, _ = ccperf("runs", "--db", "x.db", **plain)
    assert r"mine.py:\xc4ther" in out
    assert "mine.py:Äther" in ccperf("runs", "--db", "x.db", PYTHONIOENCODING="latin-1")[0]


@pytest.mark.parametrize("width", ["0", "1", "2", "5"])
@pytest.mark.parametrize("words", [["--help"], ["list", "--help"]], ids=len)
def test_help_ends_in_a_terminal_without_columns(width: str, words: list[str]) -> None:
    shown, _ = ccperf(*words, COLUMNS=width)
    assert "Usage" in shown


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_run_is_made_though_nobody_has_its_streams_open(closed: str) -> None:
    """Nor does what is printed end up in the file that has a closed stream's number."""
    line = "-m ccperf run dumbbell --cc cubic --time 1s --db x.db"
    command = f'exec "{sys.executable}" {line} {closed}'
    done = subprocess.run(["sh", "-c", command], env=environment(), capture_output=True)
    assert done.returncode == 0, done.stderr
    assert ("throughput" in done.stdout.decode()) == (closed == "2>&-")
    with Store("x.db", "r") as store:
        assert len(store.ids()) == 1
