"""ECN that was asked for and is not used."""

from __future__ import annotations

from collections.abc import Iterator

from ccperf.runs.diagnoses.rule import Rule, Run


def _find(run: Run) -> Iterator[tuple[str, str]]:
    for flow in run.flows:
        if flow.setting("UseEcn") == "On" and flow.described.get("tos", 0):
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
