"""Buffers that the ports of a switch share."""

from __future__ import annotations

from typing import Any

import pytest

from ccperf.errors import ScenarioError
from ccperf.experiments.topologies import star
from ccperf.experiments.topologies.fabric import FabricLink, SwitchPort
from ccperf.runs import backends
from ccperf.scenario import Scenario


def scenario(alpha: str, senders: dict[str, str], **attributes: str) -> Scenario:
    """Each sender has a long flow to its receiver, over a switch with a buffer of 100 kB."""
    given = {"Alpha": alpha, "PoolBytes": "100000", **attributes}
    port = SwitchPort({"type": "SharedBufferQueueDisc", "attributes": given})
    flows = [
        {"source": source, "destination": destination, "cc": "newreno"}
        for source, destination in senders.items()
    ]
    fabric = star(6, FabricLink("1Gbps", "200us"), port=port)
    return fabric.scenario(
        flows, stop_time="200ms", recording={"queues": {"links": "all", "interval": "100us"}}
    )


def longest_queues(of: Scenario) -> dict[str, int]:
    recording = backends.get("native").simulate(of)
    table = recording.queue_samples
    assert table is not None
    found: dict[str, int] = {}
    for link, size in zip(table.array("link"), table.array("qdisc_bytes"), strict=True):
        name = recording.links.strings("name")[link]
        found[name] = max(found.get(name, 0), int(size))
    return {
        name: size for name, size in found.items() if name.endswith("_reverse") and size > 20_000
    }


#: Two senders each to two receivers, or to one.
ONE = {"h_0": "h_4", "h_1": "h_4"}
BOTH = {**ONE, "h_2": "h_5", "h_3": "h_5"}


def test_one_queue_alone_has_alpha_over_one_more_of_the_buffer() -> None:
    (queue,) = longest_queues(scenario("1", ONE)).values()
    assert 47_000 < queue < 52_000
    (queue,) = longest_queues(scenario("4", ONE)).values()
    assert 77_000 < queue < 82_000


def test_two_queues_leave_each_other_room() -> None:
    first, second = longest_queues(scenario("1", BOTH)).values()
    assert first < 52_000
    assert second < 52_000


@pytest.mark.parametrize(
    ("attributes", "message"),
    [({"Alpha": "0"}, r"qdisc.attributes.Alpha"), ({"PoolBytes": "-1"}, r"attributes.PoolBytes")],
)
def test_what_makes_no_sense_is_named(attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        scenario("1", ONE, **attributes).lowered()


def test_it_can_only_be_a_root() -> None:
    inside = {"type": "SharedBufferQueueDisc"}
    port = SwitchPort({"type": "PrioQueueDisc", "children": [inside, inside]})
    flow = {"source": "h_0", "destination": "h_1", "cc": "newreno"}
    with pytest.raises(ScenarioError, match="can only be the root"):
        star(2, port=port).scenario([flow], stop_time="1ms").lowered()
