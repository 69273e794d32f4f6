"""A run in which only senders, or only queues, have ECN says so."""

from __future__ import annotations

from typing import Any

import pytest

import ccperf
from ccperf.experiments.topologies import SwitchPort, star
from ccperf.runs.result import Result
from ccperf.scenario import Scenario


def said(result: Result) -> list[tuple[str, str]]:
    return [(note.subject, note.text) for note in result.notes if note.rule == "one-sided-ecn"]


@pytest.mark.parametrize(
    ("qdisc", "fix"),
    [
        ("fifo", "FqCoDelQueueDisc is one that marks"),
        ("codel", "UseEcn = true has its CoDelQueueDisc mark"),
        ("codel(ce_threshold=1ms)", "UseEcn = true has its CoDelQueueDisc mark"),
        ("fq_codel(ecn=false)", "UseEcn = true has its FqCoDelQueueDisc mark"),
        ("red", "UseEcn = true has its RedQueueDisc mark"),
        ("tbf(rate=8Mbps)", "FqCoDelQueueDisc is one that marks"),
    ],
)
@pytest.mark.parametrize("cc", ["dctcp", "prague"])
def test_a_sender_that_asks_where_nothing_marks_is_told(cc: str, qdisc: str, fix: str) -> None:
    result = ccperf.run("aqm", cc=cc, k=1, qdisc=qdisc, stop_time="3s")
    drops = int(result.link_metrics["btl_forward"]["total_qdisc_drops_l2"])
    ((subject, text),) = said(result)
    assert subject == "flow_1"
    assert text == (
        f"asks for ECN, and `btl_forward` drops {drops} and marks nothing: it goes by losses "
        f"alone; {fix}"
    )


@pytest.mark.parametrize(
    "qdisc", ["codel(ecn=true)", "fq_codel(ce_threshold=1ms)", "tcn", "red(ecn=true)"]
)
def test_a_queue_that_is_to_mark_where_nobody_asks_is_pointed_out(qdisc: str) -> None:
    result = ccperf.run("aqm", cc="cubic", k=2, qdisc=qdisc, stop_time="3s")
    ((subject, text),) = said(result)
    assert subject == "btl_forward"
    assert "no flow asks for ECN" in text


@pytest.mark.parametrize(
    ("cc", "qdisc"),
    [
        ("cubic", "fifo"),
        # It marks by default, and is chosen for its queues.
        ("cubic", "fq_codel"),
        # It marks nothing by that alone.
        ("cubic", "codel(ce_threshold=1ms)"),
        ("dctcp", "codel(ecn=true)"),
        ("dctcp", "fq_codel"),
        ("dctcp", "tcn"),
        # What it would mark for DCTCP is below its target, and the buffer is full before.
        ("dctcp", "dualpi2"),
    ],
)
def test_nothing_is_said_where_both_have_it_or_neither(cc: str, qdisc: str) -> None:
    result = ccperf.run("aqm", cc=cc, k=1, qdisc=qdisc, stop_time="3s")
    assert not said(result)


def test_nothing_is_said_without_a_drop() -> None:
    given = ccperf.run("aqm", cc="dctcp", k=1, qdisc="fifo", stop_time="50ms")
    assert not given.link_metrics["btl_forward"]["total_qdisc_drops_l2"]
    assert not said(given)


def _changed(result: Result, **flow: Any) -> Result:
    scenario = result.scenario.canonical()
    scenario["flows"][0].update(flow)
    return ccperf.simulate(Scenario.model_validate(scenario))


def test_disciplines_inside_others_count() -> None:
    given = ccperf.run("aqm", cc="dctcp", k=1, qdisc="fifo", stop_time="3s")
    scenario = given.scenario.canonical()
    codel = {"type": "codel", "attributes": {"limit": "20p"}}
    for inside, is_told in ((codel, True), ({**codel, "type": "fq_codel"}, False)):
        scenario["links"][0]["forward"]["qdisc"] = {"type": "prio", "children": [inside, inside]}
        result = ccperf.simulate(Scenario.model_validate(scenario))
        assert bool(said(result)) == is_told


def test_a_type_of_service_is_left_to_its_own_note() -> None:
    given = ccperf.run("aqm", cc="dctcp", k=1, qdisc="fifo", stop_time="3s")
    told = _changed(given, tos=4)
    assert not said(told)
    assert "tos" in {note.rule for note in told.notes}


@pytest.mark.parametrize(("tos", "is_told"), [(0, True), (2, False)])
def test_datagrams_may_be_capable(tos: int, is_told: bool) -> None:
    """The threshold is above the whole buffer, so that nothing is marked with ECT(0) either."""
    scenario = {
        "stop_time": "1s",
        "nodes": ["a", "b"],
        "links": [
            {
                "name": "btl",
                "ends": ["a", "b"],
                "rate": "1Mbps",
                "delay": "1ms",
                "forward": {
                    "device_queue": "1p",
                    "qdisc": {"type": "tcn", "attributes": {"limit": "5p", "Threshold": "9s"}},
                },
            }
        ],
        "flows": [
            {
                "source": "a",
                "destination": "b",
                "transport": "UDP",
                "tos": tos,
                "application": {"type": "CBR", "rate": "2Mbps", "write": "1000B"},
            }
        ],
    }
    result = ccperf.simulate(Scenario.model_validate(scenario))
    assert bool(said(result)) == is_told


def test_transfers_that_are_sampled_have_the_note_too() -> None:
    """Sixteen of 1 MB at once to one host, over FIFOs of 20 packets."""
    for cc, is_told in (("cubic", False), ("dctcp", True)):
        scenario = star(17, port=SwitchPort({"type": "fifo", "attributes": {"MaxSize": "20p"}}))
        workload = {
            "name": "web",
            "stack": "dc",
            "sizes": {"type": "Constant", "bytes": "1MB"},
            "arrivals": {"type": "Times", "times": ["0s"]},
            "pairs": {"type": "Incast"},
        }
        result = ccperf.simulate(
            scenario.scenario(
                [],
                stop_time="20ms",
                stacks=[{"name": "dc", "cc": cc}],
                workloads=[workload],
                recording={"flows": ["web"], "interval": "1ms"},
            )
        )
        assert result.recording.links.array("qdisc_dropped").any()
        assert bool(said(result)) == is_told
