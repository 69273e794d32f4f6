"""ECN that only senders or only queues have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ccperf.algorithms import registry
from ccperf.runs.diagnoses.ecn import asks
from ccperf.runs.diagnoses.rule import Rule, Run

#: Kinds of attributes that only disciplines have which mark by a threshold.
_THRESHOLDS = frozenset({"threshold", "marking_length"})


def _find(run: Run) -> Iterator[tuple[str, str]]:
    links = run.recording.links
    if links.array("qdisc_marked").any():
        return
    dropped = links.array("qdisc_dropped") + links.array("device_dropped")
    drops: dict[str, int] = dict(zip(links.strings("name"), dropped.tolist(), strict=True))
    disciplines = {
        f"{link['name']}_{side}": link[side]["qdisc"]
        for link in run.scenario["links"]
        for side in ("forward", "reverse")
    }
    silent = [name for name, qdisc in disciplines.items() if drops[name] and not _may_mark(qdisc)]
    worst = max(silent, key=drops.__getitem__, default=None)
    for flow in (*run.flows, *run.transfers):
        # What a type of service does to ECN is another rule's.
        is_asking = flow.is_tcp and asks(flow.described) and not flow.described.get("tos", 0)
        if worst and is_asking and flow.total("retransmissions"):
            yield (
                flow.name,
                f"asks for ECN, and `{worst}` drops {drops[worst]} and marks nothing: it goes by "
                f"losses alone; {_fix(disciplines[worst])}",
            )
    if not _may_be_capable(run.scenario):
        for name, qdisc in disciplines.items():
            if drops[name] and _is_to_mark(qdisc):
                yield (
                    name,
                    f"could mark, drops {drops[name]} and marks nothing: no flow asks for ECN; "
                    'UseEcn = "On" under `tcp` does',
                )


def _may_mark(qdisc: Mapping[str, Any] | None) -> bool:
    """Whether a discipline may mark; so may one of which nothing is known."""
    if qdisc is None:
        return False
    if qdisc["type"] not in registry.algorithms("qdisc"):
        return True
    return _is_on(qdisc) or _is_to_mark(qdisc) or any(map(_may_mark, qdisc.get("children", ())))


def _is_to_mark(qdisc: Mapping[str, Any] | None) -> bool:
    """Whether the scenario asks a discipline for marks, or has one that is for that.

    Flow-queueing disciplines mark by default, and are chosen for their queues.
    """
    if qdisc is None:
        return False
    given = qdisc["attributes"]
    is_told = "true" in (given.get("UseEcn"), given.get("UseL4s"))
    # A CE threshold alone marks nothing.
    is_told = is_told or ("CeThreshold" in given and _is_on(qdisc))
    is_for_it = not _THRESHOLDS.isdisjoint(param["kind"] for param in _params(qdisc))
    return is_told or is_for_it or any(map(_is_to_mark, qdisc.get("children", ())))


def _is_on(qdisc: Mapping[str, Any]) -> bool:
    return _has_switch(qdisc) and registry.attribute("qdisc", qdisc, "UseEcn") == "true"


def _has_switch(qdisc: Mapping[str, Any]) -> bool:
    return any(param["ns3"] == "UseEcn" for param in _params(qdisc))


def _params(qdisc: Mapping[str, Any]) -> list[dict[str, str]]:
    """The attributes that a discipline may have; none are known of user code and Linux's."""
    known: Mapping[str, Any] = registry.algorithms("qdisc").get(qdisc["type"], {"params": []})
    params: list[dict[str, str]] = known["params"]
    return params


def _may_be_capable(scenario: Mapping[str, Any]) -> bool:
    """Whether a packet may be ECN-capable: sysctls of the kernel may ask, too, and user code."""
    senders = (*scenario["flows"], *scenario.get("stacks", ()))
    return bool(scenario.get("linux")) or any(map(_is_capable, senders))


def _is_capable(sender: Mapping[str, Any]) -> bool:
    transport = sender.get("transport", "TCP")
    if transport == "UDP":
        return bool(sender.get("tos", 0) % 4)
    is_known = transport == "TCP" and sender["cc"]["type"] in registry.algorithms("cc")
    return not is_known or asks(sender)


def _fix(qdisc: Mapping[str, Any] | None) -> str:
    if qdisc is not None and _has_switch(qdisc):
        return f"UseEcn = true has its {qdisc['type']} mark"
    return "FqCoDelQueueDisc is one that marks"


RULE = Rule(
    name="one-sided-ecn",
    what="ECN that only senders or only queues have:",
    text=(
        "DCTCP or another sender that asks for ECN, over a queue that drops and does not mark; or "
        "a queue that could mark, below senders that do not ask. Senders go by losses alone then: "
        "the run says nothing of ECN. `UseEcn = true` has ns-3's disciplines mark, and "
        '`UseEcn = "On"` under `tcp` has senders ask.'
    ),
    find=_find,
)
