"""The programs that replay calls on a class: the engine's, and the same linked against ns-3."""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from disciplines import Make, Queue

from ccperf.runs.backends.cache import cache_directory

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def built(example: str) -> Path:
    """An example that links the engine as `make setup` and `make tests-built` have compiled it.

    The binding is named so that what both depend on has the same features.
    """
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    command = ["cargo", "build", "--quiet", "--locked", "--release", "--example", example]
    command += ["--package", "ccperf-engine", "--package", "ccperf-py"]
    subprocess.run(command, cwd=ROOT, check=True)
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    return Path(metadata["target_directory"], "release", "examples", example)


def linked(driver: str) -> Path:
    """A driver of this folder, compiled against the wheel of ns-3 where that is not done yet."""
    found = importlib.util.find_spec("ns3")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the wheel of ns-3 is not installed (pip install 'ccperf[ns3]')")
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is not installed")
    ns3, source = Path(next(iter(found.submodule_search_locations))), HERE / f"{driver}.cc"
    flags = ["-std=c++20", "-O1", f"-I{ns3 / 'include'}"]
    libraries = [f"-L{ns3 / 'lib64'}", f"-Wl,-rpath,{ns3 / 'lib64'}"]
    modules = ["point-to-point", "internet", "bridge", "traffic-control", "network", "stats"]
    libraries += [f"-lns3.44-{module}" for module in (*modules, "core")]
    version = subprocess.run([compiler, "--version"], check=True, capture_output=True).stdout
    # Headers of ours, should it include one, stand beside it.
    content = [
        version,
        *(file.read_bytes() for file in sorted(HERE.glob("*.h"))),
        source.read_bytes(),
    ]
    key = hashlib.sha256(b"\n".join([*content, *map(str.encode, (*flags, *libraries))])).hexdigest()
    program = cache_directory("ns3") / "replays" / f"{driver}-{key[:24]}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        new = program.with_suffix(f".{os.getpid()}")
        subprocess.run([compiler, *flags, str(source), "-o", str(new), *libraries], check=True)
        new.replace(program)
    return program


@pytest.fixture(scope="session")
def our_cc() -> Path:
    """The engine's replay of calls on a congestion control."""
    return built("cc_replay")


@pytest.fixture(scope="session")
def ns3_cc() -> Path:
    """The same on ns-3's class."""
    return linked("cc_driver")


@pytest.fixture(scope="session")
def our_qdisc() -> Path:
    """The engine's replay of arrivals and departures at a queue discipline."""
    return built("replay_qdisc")


@pytest.fixture(scope="session")
def ns3_qdisc() -> Path:
    """The same on ns-3's class."""
    return linked("qdisc_driver")


@pytest.fixture
def queue(our_qdisc: Path, tmp_path: Path) -> Make:
    # ns-3 numbers the streams of its objects in the order of creation, from 2^63 below those that
    # are given by number.
    streams = itertools.count(1 << 63)

    def make(kind: str, stream: int | None = None, **attributes: object) -> Queue:
        number = next(streams) if stream is None else stream
        return Queue(our_qdisc, tmp_path, kind, number, **attributes)

    return make
