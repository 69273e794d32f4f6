"""The tutorial does what it says: its code and its commands are taken from the page and run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ccperf.runs.backends import get
from ccperf.store import Store
from user_scenarios import EXAMPLES, ROOT, balanced, environment

PAGE = (ROOT / "docs" / "bring-your-own.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def run(commands: str, folder: Path, runs: int = 2) -> None:
    """As typed into a shell where `ccperf` and `python` are those of the tests."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "python").symlink_to(sys.executable)
    (programs / "ccperf").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ccperf "$@"\n')
    (programs / "ccperf").chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    shortened = re.sub(
        r"^(?!ccperf (?:plot|compare))(.*)--db", r"\1--stop-time 1s --db", commands, flags=re.M
    )
    done = subprocess.run(
        ["sh", "-e", "-c", shortened],
        cwd=folder,
        env={**environment(), "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    with Store(*folder.glob("*.db"), "r") as store:
        assert len(store.runs()) == runs


def command(beginning: str) -> str:
    (found,) = [block for block in blocks("sh") if beginning in block and "--db" in block]
    return found


@pytest.mark.parametrize(
    ("end", "runs"), [("--db", 2), ("--seed 1..3", 4)], ids=["one seed", "as many as differ"]
)
def test_python(end: str, runs: int, tmp_path: Path) -> None:
    (source,) = [block for block in blocks("python") if "class MyCca" in block]
    (tmp_path / "mycca.py").write_text(source)
    run(command(f"MyCca,TcpCubic --k 1 --qdisc codel {end}"), tmp_path, runs)


def test_copa(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "python" / "copa.py", tmp_path)
    commands = command("--db copa.db")
    assert "--overlay" in commands  # what draws the figure of the page
    run(commands, tmp_path)
    assert [path.name for path in tmp_path.glob("*.svg")] == [
        "dumbbell_rate-20Mbps_rtt-40ms_buffer-100p_seed-42_TcpCubic_copa.py-Copa_time_series.svg"
    ]


def test_queue_discipline(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "python" / "myqdisc.py", tmp_path)
    run(command("--qdisc ./myqdisc.py:MyQueue"), tmp_path)


def test_load_balancer(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "python" / "mybalancer.py", tmp_path)
    run(command("--db balancers.db"), tmp_path)


def test_the_shortest_queue_of_the_page(tmp_path: Path) -> None:
    (source,) = [block for block in blocks("python") if "class ShortestQueue" in block]
    (tmp_path / "shortest.py").write_text(source)
    recording = get("native").simulate(balanced(f"{tmp_path}/shortest.py:ShortestQueue"))
    assert all(recording.flows["segments_sent"])


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_c(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "c" / "mycca.c", tmp_path)
    run(command("--cc ./libmycca.so"), tmp_path)


def test_rust(tmp_path: Path, rust_library: str) -> None:
    """The crate is built once for all tests, so only the command is the page's."""
    _, line = command("cargo build").splitlines()
    run(line.replace("target/release/libmycca.so", rust_library), tmp_path)


@pytest.mark.parametrize("link", re.findall(r"\]\(\.\./([^)]*)\)", PAGE))
def test_links(link: str) -> None:
    assert (ROOT / link).exists()
