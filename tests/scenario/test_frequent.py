"""What happens so often that a run takes minutes is said before it runs, with what it costs."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from ccperf import Scenario

LINK = {"name": "w", "ends": ["a", "b"], "rate": "10Mbps", "delay": "5ms"}


def flow(**application: Any) -> dict[str, Any]:
    return {"source": "a", "destination": "b", "cc": "cubic", "application": application}


def said(**fields: Any) -> list[str]:
    base = {"stop_time": "1s", "nodes": ["a", "b"], "links": [LINK], "flows": [flow()]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Scenario.model_validate({**base, **fields})
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"flows": [flow(type="CBR", rate="8Gbps", write="1B")]},
            r"flows\[0\].application.rate: a packet of 1B at 8Gbps comes 1,000,000,000 times",
        ),
        (
            {"flows": [flow(type="OnOff", rate="1Mbps", on_time="1ns", off_time="1ns")]},
            r"flows\[0\].application.on_time: on `1ns`, off `1ns` comes 500,000,000 times",
        ),
        (
            {"links": [{**LINK, "reverse": {"qdisc": "PieQueueDisc(Tupdate=1ns)"}}]},
            r"links\[0\].reverse.qdisc.attributes.Tupdate: `1ns` comes 1,000,000,000 times within "
            "the run: some 7 minutes of one core, and more in ns-3; write a longer",
        ),
        (
            {"pings": [{"source": "a", "destination": "b", "interval": "20ns"}]},
            r"pings\[0\].interval: `20ns` comes 50,000,000 times",
        ),
    ],
)
def test_a_period_of_nanoseconds_is_named_with_its_cost(
    fields: dict[str, Any], message: str
) -> None:
    (warning,) = said(**fields)
    assert re.match(message, warning)


@pytest.mark.parametrize(
    "fields",
    [
        {"flows": [flow(type="CBR", rate="8Gbps", write="1B", bytes="1MB")]},
        {"flows": [flow(type="CBR", rate="8Gbps", write="1B")], "stop_time": "10ms"},
        {"flows": [{**flow(type="CBR", rate="8Gbps", write="1B"), "stop": "10ms"}]},
        {"flows": [flow(type="OnOff", rate="1Mbps", on_time="Exponential(mean=1ns)")]},
        {"links": [{**LINK, "forward": {"qdisc": "PieQueueDisc"}}]},
    ],
)
def test_what_takes_a_moment_is_not(fields: dict[str, Any]) -> None:
    assert said(**fields) == []


@pytest.mark.parametrize(
    ("size", "leaves"), [("100B", 512), ("511B", 512), ("512B", 0), ("0B", 0), ("700B", 0)]
)
@pytest.mark.parametrize("kind", ["CBR", "Poisson", "OnOff", "Greedy"])
def test_a_source_with_a_rate_that_ends_within_its_first_packet_is_told_what_leaves(
    kind: str, size: str, leaves: int
) -> None:
    rate = {} if kind == "Greedy" else {"rate": "1Mbps"}
    found = said(flows=[flow(type=kind, bytes=size, **rate)])
    is_said = leaves and kind != "Greedy"
    assert [f"so that {leaves}B leave, not {size}" in text for text in found] == [True] * bool(
        is_said
    )
