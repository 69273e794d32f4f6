"""The engine for browsers records what the native one does, byte for byte, on the scenarios that
are compared with ns-3, on random ones, and on what ns-3 does not have: the profile `linux`, L4S,
BBRv3, handovers, RoCE over links that pause. It runs under Node, which takes no browser."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packed import pack

import lossless_scenarios
import profile_scenarios
from ccperf import _native
from ccperf.experiments import catalogue
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.verify import matrix
from ccperf.verify.fuzz import draws

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ccperf.scenario import Scenario
    from ccperf.verify.fuzz import Drawn

NODE = shutil.which("node")
PROGRAM = Path(__file__).with_name("simulate.mjs")
MODULE = Path(str(files("ccperf") / "data" / "engine.wasm"))
HAS_MODULE = MODULE.is_file() and MODULE.stat().st_size > 0

pytestmark = [
    pytest.mark.skipif(NODE is None, reason="needs Node: apt-get install nodejs"),
    pytest.mark.skipif(not HAS_MODULE, reason="needs the engine for browsers: make wasm"),
]

#: The matrix and the random scenarios are compared in so many parts, side by side.
PARTS = 8
RANDOM = 1_000


class Node:
    """The engine for browsers in one process: what Node compiles of it serves all tests."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [str(NODE), str(PROGRAM), str(MODULE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def differences(self, scenarios: Sequence[Scenario]) -> list[str]:
        """Name the scenarios whose tables differ, with what the engine for browsers says of them.

        It simulates each while the native one does.
        """
        given, answers = self._process.stdin, self._process.stdout
        assert given is not None
        assert answers is not None
        found = []
        for scenario in scenarios:
            given.write(json.dumps(scenario.canonical()) + "\n")
            given.flush()
            ours = native(scenario)
            answer = answers.readline()
            assert answer.endswith("\n"), "Node has ended"
            if answer[:-1] != ours:
                found.append(f"{scenario.label}: {answer[:-1]}")
        return found

    def close(self) -> None:
        self._process.communicate(timeout=60)
        assert self._process.returncode == 0


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    process = Node()
    yield process
    process.close()


@cache
def drawn() -> tuple[Drawn, ...]:
    """The random scenarios, drawn once for all parts: that takes a second."""
    return tuple(islice(draws(20261124), RANDOM))


def native(scenario: Scenario) -> str:
    """The SHA-256 of the tables of the native engine."""
    return hashlib.sha256(pack(_native.Simulation(scenario.lowered()).finish())).hexdigest()


def test_a_run_of_minutes_needs_no_files(node: Node) -> None:
    """Long tables lie in a file after 105 s, where there are files."""
    scenario = dumbbell(rate="1Mbps", rtts="15ms", qlen="20p", cc="TcpCubic", stop_time="150s")
    assert node.differences([scenario]) == []


def test_a_slice_of_the_matrix_is_recorded_alike(node: Node) -> None:
    chosen = [case.scenario for case in matrix.representative()[::12]]
    assert len(chosen) > 40
    assert node.differences(chosen) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_the_whole_matrix_is_recorded_alike(node: Node, part: int) -> None:
    assert node.differences([case.scenario for case in matrix.cases()[part::PARTS]]) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_random_scenarios_are_recorded_alike(node: Node, part: int) -> None:
    chosen = drawn()[part::PARTS]
    assert node.differences([one.scenario(f"random/{part}") for one in chosen]) == []


@pytest.mark.parametrize("part", range(profile_scenarios.PARTS))
def test_the_profile_linux_and_l4s_are_recorded_alike(node: Node, part: int) -> None:
    assert node.differences(profile_scenarios.scenarios(part)) == []


@pytest.mark.parametrize("part", range(lossless_scenarios.PARTS))
def test_links_that_pause_and_laws_of_roce_are_recorded_alike(node: Node, part: int) -> None:
    assert node.differences(lossless_scenarios.scenarios(part)) == []


@pytest.mark.parametrize("name", list(catalogue.LOSSLESS))
def test_experiments_on_lossless_fabrics_are_recorded_alike(node: Node, name: str) -> None:
    points = catalogue.get(name)
    (transports,) = (p.words for p in points.parameters if p.name == "transport")
    given = {"stop_time": "3ms"}
    assert (
        node.differences([points.scenario("TcpDctcp", transport=t, **given) for t in transports])
        == []
    )


@pytest.mark.parametrize(
    ("experiment", "cc", "given"),
    [
        ("l4s", "TcpPrague", {"mix": "3:3"}),
        ("l4s", "TcpDctcp", {}),
        ("handover", "TcpBbr3", {}),
        ("handover", "TcpCubic", {}),
        ("bbr_draft", "TcpBbr3", {}),
        ("competition", "TcpBbr3", {}),
    ],
)
def test_experiments_that_ns3_does_not_have_are_recorded_alike(
    node: Node, experiment: str, cc: str, given: dict[str, str]
) -> None:
    points = catalogue.get(experiment)
    assert node.differences([points.scenario(cc, seed=seed, **given) for seed in (1, 2)]) == []
