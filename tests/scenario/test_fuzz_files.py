"""Random TOML and mutated scenario files: refused in our words, or read; never anything else."""

from __future__ import annotations

import contextlib
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ccperf.errors import ScenarioError, UsageError
from ccperf.experiments.topologies import written
from ccperf.scenario import Scenario
from user_scenarios import ROOT, drawn_seed

CORPUS = sorted((ROOT / "fuzz" / "corpus" / "scenario").glob("*.json"))
FILES = """
stop_time = "60ms"
nodes = ["a", "b"]
[dumbbell]
rate = "16Mbps"
[[links]]
name = "wire"
[[flows]]
cc = { type = "cubic", attributes = { Beta = 0.7 } }
"""


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([*FILES.splitlines(), "x = 1", "[", "]]", "'", '"""', "= é"])))
def test_a_toml_file_is_read_or_refused(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "x.toml"
    path.write_text("\n".join(lines))
    with contextlib.suppress(ScenarioError, UsageError):
        written.read(path)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_a_scenario_is_made_or_refused(path: Path) -> None:
    draw = random.Random(drawn_seed())
    values = [0, -1, 2**63, 1e300, "", "1", "0s", "1ns", "9999y", None, True, [], {}, "a\x1b[2J"]
    for _ in range(100):
        data = json.loads(path.read_text())
        place, key = data, draw.choice(list(data))
        while isinstance(place[key], dict | list) and place[key] and draw.random() < 0.8:
            place = place[key]
            key = draw.choice(list(place) if isinstance(place, dict) else range(len(place)))
        place[key] = draw.choice(values)
        with contextlib.suppress(ScenarioError):
            Scenario.model_validate(data)
