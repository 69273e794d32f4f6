"""The message of `make` on a machine that lacks something."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def needed() -> str:
    found = re.search(r'^rust-version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert found
    return found[1]


@pytest.mark.parametrize("version", ["cargo 1.85.1 (d73d2caf9 2024-12-31)", "", "cargo 0.99.0"])
def test_cargo_that_is_absent_or_older(tmp_path: Path, version: str) -> None:
    cargo = tmp_path / "cargo"
    cargo.write_text(f"#!/bin/sh\necho '{version}'\n" if version else "#!/bin/sh\nexit 127\n")
    cargo.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    tools = tmp_path / "venv" / ".tools"
    done = subprocess.run(
        ["make", "-C", str(ROOT), f"VENV={tools.parent}", str(tools)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode != 0
    assert re.search(rf"cargo >= {re.escape(needed())} +absent or older", done.stderr)
    assert not tools.exists()


def test_this_cargo_is_new_enough(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            "make",
            "-C",
            str(ROOT),
            f"VENV={tmp_path}/venv",
            "PYTHON=false",
            f"{tmp_path}/venv/.tools",
        ],
        capture_output=True,
        text=True,
    )
    assert "Python >= 3.10" in done.stderr
    assert "cargo >=" not in done.stderr


def program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("has_tool", "pgo_works", "says"),
    [
        (True, True, "guided by a profile"),
        (True, False, "Building without a profile"),
        (False, True, "No llvm-tools"),
    ],
)
def test_without_a_profile_the_build_is_the_plain_one(
    tmp_path: Path, has_tool: bool, pgo_works: bool, says: str
) -> None:
    venv, sysroot, calls = tmp_path / "venv", tmp_path / "sysroot", tmp_path / "calls"
    program(tmp_path / "bin" / "rustc", f"echo {sysroot}")
    program(tmp_path / "bin" / "rustup", "exit 1")
    if has_tool:
        program(sysroot / "lib/rustlib/host/bin/llvm-profdata", "")
    refuse = "" if pgo_works else 'case "$*" in *--pgo*) exit 1; esac'
    program(venv / "bin" / "maturin", f'echo "$*" >> {calls}\n{refuse}')
    for stamp in (".tools", ".python"):
        (venv / stamp).touch()
    done = subprocess.run(
        ["make", "-C", str(ROOT), f"VENV={venv}", f"{venv}/.optimised"],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stderr
    assert says in done.stdout
    assert ["--pgo" in call for call in calls.read_text().splitlines()] == (
        [has_tool] if pgo_works else [True, False]
    )
    assert (venv / ".native").exists()


@pytest.mark.parametrize("target", [".native", ".optimised"])
def test_an_edit_while_the_engine_is_built_is_built_the_next_time(
    tmp_path: Path, target: str
) -> None:
    source, venv, calls = tmp_path / "source.rs", tmp_path / "venv", tmp_path / "calls"
    # The first build is edited under its hands.
    program(
        venv / "bin" / "maturin",
        f"[ -e {calls} ] || {{ sleep 0.1; touch {source}; sleep 0.1; }}\necho >> {calls}",
    )
    source.touch()
    for stamp in (".tools", ".python"):
        (venv / stamp).touch()
    line = ["make", "-C", str(ROOT), f"VENV={venv}", f"RUST_SOURCES={source}", f"{venv}/{target}"]
    for builds in (1, 2, 2):
        subprocess.run(line, capture_output=True, check=True)
        assert len(calls.read_text().splitlines()) == builds
