"""The page that puts Linux beside ns-3 says what has been recorded."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ccperf.runs.backends import get
from ccperf.runs.backends.linux import stack

ROOT = Path(__file__).parents[2]


@pytest.fixture(name="tool", scope="module")
def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("side", ROOT / "tools" / "linux_and_ns3.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["side"] = made
    spec.loader.exec_module(made)
    return made


def test_the_page_is_what_the_record_gives(tool: ModuleType) -> None:
    """`.venv/bin/python tools/linux_and_ns3.py --only-write` after the record has changed."""
    assert tool.PAGE.read_text() == tool.page(tool.read())


#: Losses, marks, timeouts, silences, changing paths and short transfers.
COMPARED = (
    *("loss_resilience", "ecn", "random_walk", "bursty_loss", "jitter", "policer", "scalability"),
    *("steady_state_rtt_fairness", "application_limited", "short_against_long"),
)


@pytest.mark.parametrize("name", COMPARED)
def test_the_profile_gives_what_was_compared(tool: ModuleType, name: str) -> None:
    """Where it does not, compare again: without `name` in the record, `tools/linux_and_ns3.py`."""
    for cc, runs in tool.read()["profile"].items():
        if cc == tool.DRAWS:
            continue
        made = tool.scenario(cc, name, tool.PROFILE[cc], tool.PROFILE)
        found = tool.headlines(name, made, get("native").simulate(made))
        assert found == runs[name]["ns3"], cc
        for metric, value in found.items():
            assert tool.apart(value, runs[name]["linux"][metric]) < 0.01, (cc, metric)


def test_every_switch_can_be_thrown_for_what_it_is_for(tool: ModuleType) -> None:
    for key, switch in tool.SWITCHES.items():
        for cc in switch.algorithms:
            name = next(iter(switch.experiments), "steady_state_single_flow")
            plain, thrown = (tool.scenario(cc, name, each) for each in (tool.Switch(""), switch))
            assert plain.hash != thrown.hash, key
            if "linux" in switch.sides:
                stack.of(thrown.lowered())


def test_a_cause_leaves_half_of_a_difference_at_most(tool: ModuleType) -> None:
    count = 0
    for cc, runs in tool.read()["runs"].items():
        for name, entry in runs.items():
            for metric, found in entry["causes"].items():
                before = abs(entry["ns3"][metric] - entry["linux"][metric])
                one, other = found["values"]
                assert abs(one - other) <= tool.LEFT * before, (cc, name, metric)
                count += 1
    assert count > 20
