"""Profiles of stacks: named ways to speak TCP."""

from __future__ import annotations

from typing import Any

import pytest

from ccperf.errors import ScenarioError
from ccperf.experiments.topologies import star
from ccperf.scenario.profiles import PROFILES


def of(stack: dict[str, Any]) -> dict[str, Any]:
    flow = {"source": "h_0", "destination": "h_1", "stack": "dc"}
    scenario = star(2).scenario([flow], stop_time="1ms", stacks=[{"name": "dc", **stack}])
    found: dict[str, Any] = scenario.canonical()["flows"][0]
    return found


@pytest.mark.parametrize("name", PROFILES)
def test_a_stack_has_what_its_profile_says(name: str) -> None:
    flow = of({"profile": name})
    assert flow["cc"]["type"].startswith("TcpDctcp")
    assert (flow["tcp"]["MinRto"], flow["tcp"]["ConnTimeout"]) == ("5ms", "5ms")
    assert flow["tcp"]["DelAckCount"] == "1"


def test_what_a_stack_says_itself_goes_before() -> None:
    flow = of({"profile": "ns3-ecn-sharp", "cc": "cubic", "tcp": {"InitialCwnd": 10}})
    assert flow["cc"]["type"] == "TcpCubic"
    assert flow["tcp"]["InitialCwnd"] == "10"
    assert flow["tcp"]["Sack"] == "false"


def test_a_profile_that_is_not_there_is_named() -> None:
    with pytest.raises(ScenarioError, match=r"stacks\[0\].profile: .*datacenter.*datacentre"):
        of({"profile": "datacenter"})
