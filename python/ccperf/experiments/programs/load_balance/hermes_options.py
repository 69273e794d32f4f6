"""The options of the run mode TLB, which is Hermes.

The originals judge paths by the delay one way, we by round trips beyond the least one: thresholds
are ours less the propagation of the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ccperf.errors import UsageError
from ccperf.experiments.programs.program import Option, Values, time

if TYPE_CHECKING:
    from collections.abc import Sequence

OPTIONS: Mapping[str, Option] = {
    "TLBMinRTT": Option("microseconds", "40us", "TLB: paths with less delay one way can be good"),
    "TLBHighRTT": Option("microseconds", "180us", "TLB: those with more can be congested"),
    "TLBPoss": Option("uint32", 50, "TLB: chance of a change, %; of the original only"),
    "TLBBetterPathRTT": Option("microseconds", "1us", "TLB: by which a better path is shorter"),
    "TLBT1": Option("microseconds", "100us", "TLB: without averages the least delay of so long"),
    "TLBECNPortionLow": Option("real", 0.1, "TLB: paths with less marks can be good"),
    "TLBRunMode": Option(
        "uint32", 0, "TLB: which of equals: 0 rates, 1 delay, 2 chance, 11, 12 delay in steps"
    ),
    "TLBProbingEnable": Option("bool", True, "TLB: whether racks are probed"),
    "TLBProbingInterval": Option("microseconds", "50us", "TLB: how often"),
    "TLBSmooth": Option("bool", True, "TLB: whether delays are averaged"),
    "TLBRerouting": Option("bool", True, "TLB: whether flows leave congested paths"),
    "TLBDREMultiply": Option("uint32", 5, "TLB: scale of rates; of the original only"),
    "TLBS": Option("uint32", 64_000, "TLB: bytes that a flow has sent before it may leave"),
}
#: Those of `conga-simulation-large` alone.
MORE_OPTIONS: Mapping[str, Option] = {
    "TLBReverseACK": Option("bool", False, "TLB: paths of ACKs; of the original only"),
    "quantifyRTTBase": Option("microseconds", "10us", "TLB: steps of delay, in modes 11 and 12"),
    "TLBFlowletTimeout": Option("microseconds", "500us", "TLB: gaps; of the original only"),
}
#: What the originals do beside the paper, and Hermes does not here.
_ORIGINAL_ONLY = (
    "TLBPoss",
    "TLBDREMultiply",
    "TLBReverseACK",
    "TLBFlowletTimeout",
)
#: Modes that compare delays in steps first, and the step where no option has it.
_BY_DELAY, _STEP_NS = (11, 12), 10_000
#: Which of the paths in one state, by mode.
_CHOICES = {0: "least-rate", 1: "least-delay", 2: "random", 11: "least-rate", 12: "least-rate"}


def attributes(values: Values, propagation_ns: int) -> dict[str, str]:
    """Hermes's attributes, where so much of a way's delay is propagation.

    Raises:
        UsageError: for what Hermes does not do here.
    """
    mode = values["TLBRunMode"]
    if mode not in _CHOICES:
        raise UsageError("--TLBRunMode", f"`{mode}` is none of 0, 1, 2, 11 and 12")
    if not values["TLBSmooth"] and values["TLBT1"] == 0:
        raise UsageError("--TLBT1", "must be above 0 with --TLBSmooth=false")
    step = values.parsed.get("quantifyRTTBase", _STEP_NS) if mode in _BY_DELAY else 0
    low, high = (max(values[name] - propagation_ns, 1) for name in ("TLBMinRTT", "TLBHighRTT"))
    return {
        "RttLow": time(low),
        "RttHigh": time(high),
        "BetterRtt": time(values["TLBBetterPathRTT"]),
        "EcnThreshold": str(values["TLBECNPortionLow"]),
        "Probing": str(values["TLBProbingEnable"]).lower(),
        "ProbeInterval": time(values["TLBProbingInterval"]),
        "Rerouting": str(values["TLBRerouting"]).lower(),
        "MinSent": str(values["TLBS"]),
        "DelayStep": time(int(step)),
        **({"Choice": _CHOICES[mode]} if _CHOICES[mode] != "least-rate" else {}),
        # Without averages a path has its least delay in windows of T1.
        **({} if values["TLBSmooth"] else {"Window": time(values["TLBT1"])}),
    }


#: Which option sets an attribute, for error messages.
PATHS: Sequence[tuple[str, str]] = (
    (r"routing\.attributes\.BetterRtt", "--TLBBetterPathRTT"),
    (r"routing\.attributes\.EcnThreshold", "--TLBECNPortionLow"),
    (r"routing\.attributes\.ProbeInterval", "--TLBProbingInterval"),
)


def notes(values: Values, propagation_ns: int) -> list[str]:
    """What is to be said about the options."""
    said = [
        f"--{option} has no effect: Hermes is that of its paper, which has no such thing"
        for option in values.given
        if option in _ORIGINAL_ONLY
    ]
    if "TLBT1" in values.given and values["TLBSmooth"]:
        said.append("--TLBT1 has no effect with --TLBSmooth=true: averages do not age here")
    if "quantifyRTTBase" in values.given and values["TLBRunMode"] not in _BY_DELAY:
        said.append("--quantifyRTTBase has no effect without --TLBRunMode=12")
    if values["TLBMinRTT"] <= propagation_ns:
        micros = propagation_ns // 1000
        said.append(
            f"--TLBMinRTT is no more than the propagation of {micros} us, so that no path is ever "
            f"good; the authors advise {micros + 20}"
        )
    if _CHOICES.get(values["TLBRunMode"]) == "least-rate":
        said.append("paths that are equally good are told apart by rates, in the original by flows")
    return said
