"""Terminals that are not UTF-8: all that is printed falls back, none of it is a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ccperf.cli.app import invoke
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
