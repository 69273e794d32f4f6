"""PIAS: code points that rise with the bytes of a flow."""

from __future__ import annotations

from typing import Any

import pytest

from ccperf.errors import ScenarioError
from ccperf.experiments.topologies import star
from ccperf.experiments.topologies.fabric import FabricLink, SwitchPort
from ccperf.runs import backends
from ccperf.scenario import Scenario

PRIORITIES = {"type": "StrictPriorityQueueDisc", "attributes": {"Priorities": "1 0"}}


def scenario(pias: list[str], **changes: Any) -> Scenario:
    """A transfer of 5 MB, and short ones beside it, to one host."""
    tcp = {"SegmentSize": 1448, "MinRto": "5ms"}
    flow = {"destination": "h_0", "cc": "newreno", "tcp": tcp, "pias": pias}
    long = {**flow, "source": "h_1", "application": {"type": "Greedy", "bytes": "5MB"}, **changes}
    short = [
        {
            **flow,
            "source": "h_2",
            "start": f"{10 + i}ms",
            "application": {"type": "Greedy", "bytes": "14480B"},
            "group": "short",
        }
        for i in range(10)
    ]
    fabric = star(3, FabricLink("1Gbps", "10us"), port=SwitchPort(PRIORITIES))
    fields: dict[str, Any] = {"stop_time": "1s", "recording": {"completions": True}}
    return fabric.scenario([long, *short], **fields)


def mean_of_short(pias: list[str]) -> float:
    table = backends.get("native").simulate(scenario(pias)).completions
    assert table is not None
    times = table.array("end_ns") - table.array("start_ns")
    groups = table.strings("group")
    chosen = [time for time, group in zip(times, groups, strict=True) if group == "short"]
    return sum(chosen) / len(chosen)


def test_short_transfers_pass_a_long_one_that_has_been_demoted() -> None:
    assert mean_of_short(["100kB"]) < 0.5 * mean_of_short([])


@pytest.mark.parametrize(
    ("pias", "changes", "message"),
    [
        (["0B"], {}, r"flows\[0\].pias\[0\]: 0B is reached at once"),
        (["2kB", "1kB"], {}, r"flows\[0\].pias\[1\]: 1kB is not above"),
        (["5GB"], {}, r"flows\[0\].pias\[0\]: 5000MB is more"),
        (["1kB"], {"tos": 4}, r"flows\[0\].pias: overwrites"),
        (["1kB"], {"dscp": 63}, r"flows\[0\].pias: rises from 63 to 64"),
        (["1kB"], {"application": "Greedy"}, r"flows\[0\].pias: is for transfers"),
    ],
)
def test_what_makes_no_sense_is_named(
    pias: list[str], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        scenario(pias, **changes).lowered()
