"""ECN that was asked for and is not used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ccperf.runs.diagnoses.rule import Rule, Run, setting

#: Congestion controls that ask for ECN themselves.
ASKING = ("TcpDctcp", "TcpDctcpReno", "TcpPrague")


def asks(described: Mapping[str, Any]) -> bool:
    """Whether a flow or a stack asks for ECN: by `UseEcn`, `UseAbe` or its congestion control."""
    return (
        setting(described, "UseEcn") == "On"
        or setting(described, "UseAbe") == "true"
        or described["cc"]["type"] in ASKING
    )


def _find(run: Run) -> Iterator[tuple[str, str]]:
    for flow in run.flows:
        # That a type of service takes ECN away is ns-3's alone.
        if flow.is_of_ns3 and asks(flow.described) and flow.described.get("tos", 0):
            yield (
                flow.name,
                f"asks for ECN and has tos = {flow.described['tos']}: ns-3 then sends no ECT, so "
                "that nothing marks its packets; `dscp` does not have that effect",
            )


RULE = Rule(
    name="tos",
    what="ECN that is asked for and not used:",
    text=(
        "a socket with a type of service (`tos`) sends no ECT: nothing marks its packets. `dscp` "
        "does not have that effect."
    ),
    find=_find,
)
