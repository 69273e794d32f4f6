"""The engine against real ns-3: the representative part of the matrix, packet by packet."""

from __future__ import annotations

import json

import pytest

import matrix_names
from agreed import ANSWERS, assert_identical_to_ns3, is_answered, is_drawn, question
from ccperf.runs import backends
from ccperf.runs.backends.ns3 import release

pytestmark = [
    pytest.mark.ns3,
    pytest.mark.skipif(
        backends.get("ns3").available() is not None, reason=str(backends.get("ns3").available())
    ),
]


@pytest.mark.parametrize("name", matrix_names.representative())
def test_the_packets_are_ns3_s(name: str) -> None:
    """Or ns-3 has answered this very question before, and its answer is the recorded fingerprint,
    which `test_fingerprints.py` holds against the engine. One answer of ten is asked for again.
    """
    scenario = matrix_names.case(name).scenario
    if is_drawn(name) or not is_answered(name, scenario):
        assert_identical_to_ns3(scenario)


def test_what_is_answered_has_a_fingerprint_of_everything() -> None:
    fingerprints = json.loads(matrix_names.RECORD.read_text())["all"]
    assert set(json.loads(ANSWERS.read_text())) <= set(fingerprints)


@pytest.mark.skipif(not release.is_wheel(), reason="it was the wheel's ns-3 that answered")
def test_the_answers_are_to_what_would_be_asked_today() -> None:
    """If the driver or a scenario is another one, ns-3 is asked for all of it, which takes minutes.
    Then: `python tools/fingerprints.py --answers`.
    """
    names = matrix_names.representative()
    assert [name for name in names if not is_answered(name, matrix_names.case(name).scenario)] == []


def test_another_scenario_is_another_question() -> None:
    name = matrix_names.representative()[0]
    scenario = matrix_names.case(name).scenario
    asked = {
        question(other)
        for other in (scenario, scenario.model_copy(update={"seed": scenario.seed + 1}))
    }
    assert len(asked) == 2
    assert question(scenario) in asked


def test_a_share_of_the_answers_is_drawn_and_another_by_each_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = matrix_names.representative()
    monkeypatch.delenv("CCPERF_NS3_AGAIN", raising=False)
    drawn = []
    for seed in ("1", "2"):
        monkeypatch.setenv("CCPERF_TEST_SEED", seed)
        drawn.append({name for name in names if is_drawn(name)})
    assert drawn[0] != drawn[1]
    assert all(len(names) / 20 < len(chosen) < len(names) / 5 for chosen in drawn)
    monkeypatch.setenv("CCPERF_NS3_AGAIN", "1")
    assert all(map(is_drawn, names))
