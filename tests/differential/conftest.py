"""The programs that replay calls on a class: the engine's, and the same linked against ns-3."""

from __future__ import annotations

import importlib.util
import itertools
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from disciplines import Make, Queue

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def built(example: str) -> Path:
    """An example of the engine, built now."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    command = ["cargo", "build", "--quiet", "-p", "ccperf-engine", "--example", example]
    subprocess.run(command, cwd=ROOT, check=True)
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    return Path(metadata["target_directory"], "debug", "examples", example)


def linked(driver: str, folder: Path) -> Path:
    """A driver of this folder, compiled now against the wheel of ns-3."""
    found = importlib.util.find_spec("ns3")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the wheel of ns-3 is not installed (pip install 'ccperf[ns3]')")
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is not installed")
    ns3 = Path(next(iter(found.submodule_search_locations)))
    program = folder / driver
    command = [compiler, "-std=c++20", "-O1", f"-I{ns3 / 'include'}", str(HERE / f"{driver}.cc")]
    command += ["-o", str(program), f"-L{ns3 / 'lib64'}", f"-Wl,-rpath,{ns3 / 'lib64'}"]
    modules = ["point-to-point", "internet", "bridge", "traffic-control", "network", "stats"]
    modules.append("core")
    subprocess.run(command + [f"-lns3.44-{module}" for module in modules], check=True)
    return program


@pytest.fixture(scope="session")
def our_cc() -> Path:
    """The engine's replay of calls on a congestion control."""
    return built("cc_replay")


@pytest.fixture(scope="session")
def ns3_cc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same on ns-3's class."""
    return linked("cc_driver", tmp_path_factory.mktemp("ns3"))


@pytest.fixture(scope="session")
def our_qdisc() -> Path:
    """The engine's replay of arrivals and departures at a queue discipline."""
    return built("replay_qdisc")


@pytest.fixture(scope="session")
def ns3_qdisc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same on ns-3's class."""
    return linked("qdisc_driver", tmp_path_factory.mktemp("ns3"))


@pytest.fixture
def queue(our_qdisc: Path, tmp_path: Path) -> Make:
    # ns-3 numbers the streams of its objects in the order of creation, from 2^63 below those that
    # are given by number.
    streams = itertools.count(1 << 63)

    def make(kind: str, stream: int | None = None, **attributes: object) -> Queue:
        number = next(streams) if stream is None else stream
        return Queue(our_qdisc, tmp_path, kind, number, **attributes)

    return make
