"""Whatever takes a while shows on a terminal that it moves, at least twice a second."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from user_scenarios import HEAVY, environment

pty = pytest.importorskip("pty")

#: So long is looked at, after the first sign.
SECONDS = 2.0


@pytest.mark.parametrize(
    ("words", "moves"),
    [
        (["run", "heavy.toml"], r"([0-9.]+) %"),
        (["run", "heavy.toml", "--packets", "/dev/null"], r"([0-9.]+) %"),
        (["run", "aqm", "--cc", "cubic", "--k", "1..20000", "-n"], r"([0-9]+)/[0-9]+"),
        (["run", "loss_resilience", "--cc", "bbr", "--seed", "1..500", "-j", "1"],
         r"([0-9]+)/[0-9]+"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_terminal_sees_it_move(tmp_path: Path, words: list[str], moves: str) -> None:
    (tmp_path / "heavy.toml").write_text(HEAVY)
    ours, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ccperf", *words],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        env={**environment(), "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(terminal)
    shown: dict[str, float] = {}
    text = ""
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if select.select([ours], [], [], 0.1)[0]:
                text += os.read(ours, 65536).decode(errors="replace")
                for value in re.findall(moves, text)[-3:]:
                    if not shown:
                        until = time.monotonic() + SECONDS
                    shown.setdefault(value, time.monotonic())
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    times = list(shown.values())
    assert len(times) > 2 * SECONDS, text
    assert max(after - before for before, after in pairwise(times)) < 1.0
