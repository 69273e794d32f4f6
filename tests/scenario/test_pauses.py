"""Priority-based flow control in scenarios: what they say, what is refused, what is recorded."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from ccperf.errors import ScenarioError, UsageError
from ccperf.experiments.topologies import FabricLink, SwitchPort, star
from ccperf.runs import backends, metrics
from ccperf.scenario import Scenario

FIFO = {"type": "FifoQueueDisc", "attributes": {"MaxSize": "10000p"}}


def scenario(pfc: dict[str, Any] | None, more: dict[str, Any] | None = None) -> Scenario:
    """Four hosts that send to a fifth as fast as they can, over links that pause."""
    port = SwitchPort(FIFO)
    network = star(5, FabricLink("1Gbps", "10us"), port=port)
    links = [
        {**link, "forward": {**link["forward"], "pfc": pfc, **(more or {})}}
        for link in network.links
    ]
    receiver, *senders = network.hosts
    flows = [
        {
            "source": host,
            "destination": receiver,
            "transport": "UDP",
            "tos": 96,
            "application": {"type": "CBR", "rate": "900Mbps", "write": "1472B"},
        }
        for host in senders
    ]
    return Scenario.model_validate(
        {"nodes": network.nodes, "links": links, "flows": flows, "stop_time": "10ms"}
    )


def test_what_depends_on_the_link_is_filled_in() -> None:
    canonical = scenario({"xoff": "30kB"}).canonical()
    pfc = canonical["links"][0]["forward"]["pfc"]
    # 2 x 10 us at 1 Gbps, the pause frame after one of the MTU, and the last frame: PPP has 2 B.
    assert pfc == {
        "priorities": [3],
        "xoff": "30kB",
        "hysteresis": f"{2 * 1502}B",
        "headroom": f"{2 * 1250 + 1502 + 64 + 1502}B",
        "quanta": 65535,
        "response": "0s",
    }


@pytest.mark.parametrize(
    ("pfc", "more", "path", "words"),
    [
        ({}, {}, "pfc", "give either xoff"),
        ({"xoff": "9kB", "alpha": 1.0}, {}, "pfc", "give either xoff"),
        ({"alpha": -1.0, "buffer": "1MB"}, {}, "pfc.alpha", "-1 is not above 0"),
        ({"xoff": "9kB", "priorities": (8,)}, {}, "pfc.priorities", "8 is no priority"),
        ({"xoff": "9kB", "priorities": ()}, {}, "pfc.priorities", "is empty"),
        ({"xoff": "9kB", "priorities": (1, 1)}, {}, "pfc.priorities", "twice"),
        ({"xoff": "9kB", "quanta": 3}, {}, "pfc.quanta", "write 65535"),
        ({"xoff": "2TB"}, {}, "pfc.xoff", "is too large"),
        ({"xoff": "9kB"}, {"qdisc": None}, "qdisc", "each priority needs a queue"),
        ({"xoff": "9kB"}, {"device_queues": 2}, "device_queues", "write 1"),
        ({"xoff": "9kB"}, {"queue_limits": {}}, "queue_limits", "leave them out"),
    ],
)
def test_what_makes_no_sense_is_said_with_its_field(
    pfc: dict[str, Any], more: dict[str, Any], path: str, words: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario(pfc, more).check()
    wanted = f"links[0].forward.{path}: "
    assert any(line.startswith(wanted) and words in line for line in str(caught.value).splitlines())


def test_a_switch_has_one_buffer() -> None:
    both = scenario({"alpha": 1.0, "buffer": "1MB"})
    links = [link.model_dump() for link in both.links]
    links[2]["forward"]["pfc"]["buffer"] = "2MB"
    with pytest.raises(ScenarioError, match=r"links\[2\]\.forward\.pfc\.buffer.*1MB"):
        Scenario.model_validate({**both.model_dump(), "links": links})


@pytest.mark.parametrize("of", ["link", "node"])
def test_a_link_that_pauses_does_not_fail(of: str) -> None:
    written = scenario({"xoff": "9kB"}).model_dump()
    name = written["links"][0]["name" if of == "link" else "ends"]
    failing = {"down": "1ms", of: name if of == "link" else name[0]}
    with pytest.raises(ScenarioError, match=r"failures\[0\]: `h_0` cannot.* it has pauses \(pfc\)"):
        Scenario.model_validate({**written, "failures": [failing]}).check()


def test_no_link_of_a_switch_that_has_others_pause_fails() -> None:
    written = scenario({"xoff": "9kB"}).model_dump()
    for link in written["links"][1:]:
        link["forward"]["pfc"] = None
    written["failures"] = [{"link": written["links"][1]["name"], "down": "1ms"}]
    with pytest.raises(ScenarioError, match=r"it has pauses \(pfc\) of other links"):
        Scenario.model_validate(written).check()


ROCE = {
    "transport": "ROCE",
    "cc": {"type": "line_rate"},
    "tos": 0,
    "application": {"type": "Greedy", "write": "1000B"},
}


@pytest.mark.parametrize(
    ("more", "failing", "path", "words"),
    [
        ({"qdisc": None}, [], "links[1].forward.qdisc", "each priority needs a queue"),
        ({"device_queues": 2}, [], "links[1].forward.device_queues", "write 1"),
        ({"queue_limits": {}}, [], "links[1].forward.queue_limits", "leave them out"),
        ({}, [1], "failures[0]", "cannot be emptied when it fails: it has senders over RoCE"),
    ],
)
def test_senders_over_roce_take_turns_at_a_plain_device(
    more: dict[str, Any], failing: list[int], path: str, words: str
) -> None:
    written = scenario(None, more).model_dump()
    written["flows"] = [{**flow, **ROCE} for flow in written["flows"][:1]]
    written["failures"] = [
        {"link": written["links"][i]["name"], "down": "1ms", "up": "2ms"} for i in failing
    ]
    with pytest.raises(ScenarioError) as caught:
        Scenario.model_validate(written).check()
    lines = str(caught.value).splitlines()
    assert any(line.startswith(f"{path}: ") and words in line for line in lines)
    # Where nobody takes turns, all of it is as ever.
    written["failures"] = []
    written["links"][1]["forward"] |= {"qdisc": FIFO, "device_queues": 1, "queue_limits": None}
    Scenario.model_validate(written).check()


HPCC: dict[str, Any] = {**ROCE, "cc": {"type": "hpcc"}}


def line(switches: int) -> dict[str, Any]:
    """Two hosts with so many switches between them, and a flow of HPCC."""
    nodes = ["a", *(f"s{i}" for i in range(switches)), "b"]
    queue = {"qdisc": FIFO}
    wire = {"rate": "1Gbps", "delay": "1us", "forward": queue, "reverse": queue}
    return {
        "nodes": nodes,
        "links": [{**wire, "name": ends[0], "ends": list(ends)} for ends in pairwise(nodes)],
        "flows": [{"source": "a", "destination": "b", **HPCC}],
        "stop_time": "1ms",
    }


@pytest.mark.parametrize(
    ("change", "path", "words"),
    [
        # Of each link that a packet may cross, not only of the first.
        ({"qdisc": None}, "links[1].reverse.qdisc", "collect telemetry (INT) each priority"),
        ({"mtu": 1085}, "flows[0].application.write", "beside 86 B of headers; write at most 999B"),
        ({"fails": True}, "failures[0]", "it has packets that collect telemetry (INT)"),
        ({"switches": 6}, "flows[0].cc.type", "cross 6 switches, and telemetry has room for 5"),
    ],
)
def test_telemetry_has_a_header_five_switches_and_plain_devices(
    change: dict[str, Any], path: str, words: str
) -> None:
    written = line(change.get("switches", 5))
    if "fails" in change:
        written["failures"] = [{"link": "s0", "down": "500us", "up": "600us"}]
    if "qdisc" in change:
        written["links"][1] = {**written["links"][1], "reverse": {"qdisc": None}}
    if "mtu" in change:
        small = {"qdisc": FIFO, "mtu": f"{change['mtu']}B"}
        written["links"][2] = {**written["links"][2], "forward": small}
    with pytest.raises(ScenarioError) as caught:
        Scenario.model_validate(written).check()
    lines = str(caught.value).splitlines()
    assert any(text.startswith(f"{path}: ") and words in text for text in lines), lines
    # A law that reads none asks for nothing of it, but at the sender's own link.
    written["flows"] = [{**written["flows"][0], "cc": {"type": "swift"}}]
    Scenario.model_validate(written).check()


@pytest.mark.parametrize(
    ("law", "attributes", "wrong", "words"),
    [
        ("swift", {"FsMinCwnd": 5, "FsMaxCwnd": 5}, "FsMinCwnd", "5 is not below FsMaxCwnd, 5"),
        ("swift", {"MaxCwnd": 0.0001}, "MinCwnd", "0.001 is not below MaxCwnd, 0.0001"),
        ("timely", {"TLow": "1ms"}, "TLow", "1ms is not below THigh, 500us"),
    ],
)
def test_parameters_of_a_law_that_contradict_each_other_are_refused(
    law: str, attributes: dict[str, Any], wrong: str, words: str
) -> None:
    written = line(1)
    written["flows"][0]["cc"] = {"type": law, "attributes": attributes}
    with pytest.raises(ScenarioError) as caught:
        Scenario.model_validate(written).check()
    assert str(caught.value) == f"flows[0].cc.attributes.{wrong}: {words}"


@pytest.mark.parametrize("backend", ["ns3", "linux"])
def test_other_backends_refuse_it(backend: str) -> None:
    with pytest.raises(UsageError, match="pfc"):
        backends.get(backend).simulate(scenario({"xoff": "9kB"}))


def test_nothing_is_lost_and_who_paused_is_recorded() -> None:
    paused_links = scenario({"xoff": "30kB"})
    recording = backends.get("native").simulate(paused_links)
    assert recording.pauses is not None
    assert recording.links.array("loss_dropped").sum() == 0
    paused = recording.pauses.array("paused_ns")
    # Four share 1 Gbps: each sends a quarter of what it would at 900 Mbps.
    assert paused.shape == (5,)
    assert (paused[1:] > 5e6).all()
    assert paused[0] == 0
    network = metrics.compute(paused_links, recording).network["net"]
    assert network["total_pauses_l2"] == recording.pauses.array("pauses").sum()
    assert network["max_paused_share_l1"] == pytest.approx(paused.max() / 1e5)


def test_without_it_there_is_no_table() -> None:
    without = scenario(None)
    recording = backends.get("native").simulate(without)
    assert recording.pauses is None
    assert "pfc" not in without.canonical()["links"][0]["forward"]
