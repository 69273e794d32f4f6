"""The examples of the tutorial, built as it says."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ccperf.include import get_include
from user_scenarios import EXAMPLES, ROOT


@pytest.fixture(scope="session")
def compile_c(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """A function that makes a shared library of a C file."""

    def build(source: Path) -> Path:
        library = tmp_path_factory.mktemp("c") / f"lib{source.stem}.so"
        flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O2"]
        command = ["cc", *flags, f"-I{get_include()}", "-o", str(library), str(source)]
        subprocess.run(command, check=True)
        return library

    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    return build


@pytest.fixture(scope="session")
def c_library(compile_c: Callable[[Path], Path]) -> str:
    return str(compile_c(EXAMPLES / "c" / "mycca.c"))


@pytest.fixture(scope="session")
def c_queue(compile_c: Callable[[Path], Path]) -> str:
    return str(compile_c(EXAMPLES / "c" / "myqdisc.c"))


@pytest.fixture(scope="session")
def c_balancer(compile_c: Callable[[Path], Path]) -> str:
    return str(compile_c(EXAMPLES / "c" / "mybalancer.c"))


@pytest.fixture(scope="session")
def rust_library() -> str:
    """Against the engine that `make setup` has compiled, which is used where all is asked for as it
    was then: by the same packages, for each may want features of what they share, and with the same
    interpreter."""
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo")
    command = ["cargo", "build", "--quiet", "--locked", "--release"]
    asked = {**os.environ}
    for file in (ROOT / "target" / "maturin").glob("pyo3-config-*.txt"):
        asked["PYO3_CONFIG_FILE"] = str(file)
    packages = ["--package", "mycca", "--package", "ccperf-py"]
    subprocess.run([*command, *packages], cwd=ROOT, env=asked, check=True)
    return str(ROOT / "target" / "release" / "libmycca.so")


@pytest.fixture
def short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCPERF_CALL_LIMIT", "1")
