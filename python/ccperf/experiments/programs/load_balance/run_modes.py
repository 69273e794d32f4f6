"""Run modes of the programs: which scheme each is here, and what its options set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ccperf.algorithms import registry
from ccperf.errors import UsageError
from ccperf.experiments.programs.ecn_sharp import transport
from ccperf.experiments.programs.load_balance import hermes_options
from ccperf.experiments.programs.program import Option, Values, time

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class RunMode:
    """One run mode."""

    scheme: str
    #: What its program sets without an option.
    fixed: Mapping[str, str] = field(default_factory=dict)
    #: The option of each other attribute.
    options: Mapping[str, str] = field(default_factory=dict)
    #: Further options that it has.
    more: Sequence[str] = ()
    note: str = ""


#: As the programs set CONGA; 160 us are the paper's.
_CONGA = {"DreInterval": "30us"}


def flowcell(packets: int) -> dict[str, str]:
    """Presto's unit, which the programs have in packets."""
    return {"FlowcellSize": str(packets * transport.SEGMENT)}


HERMES = RunMode("hermes", more=(*hermes_options.OPTIONS, *hermes_options.MORE_OPTIONS))
ECMP = RunMode("ecmp")
DRB = RunMode("drb")
#: Those of `conga-simulation-large`.
RUN_MODES: Mapping[str, RunMode] = {
    "Conga": RunMode(
        "conga", _CONGA, {"FlowletTimeout": "congaFlowletTimeout"}, ("congaAwareAsym",)
    ),
    "Conga-flow": RunMode("conga", {**_CONGA, "FlowletTimeout": "13ms"}, more=("congaAwareAsym",)),
    "Conga-ECMP": RunMode(
        "ecmp", note="Conga-ECMP is ECMP here; the original forwards each packet twice"
    ),
    "Presto": RunMode("presto", flowcell(10)),
    "Weighted-Presto": RunMode("presto", {**flowcell(10), "Weighted": "true"}),
    "DRB": DRB,
    "FlowBender": RunMode(
        "flowbender", options={"Threshold": "flowBenderT", "Rounds": "flowBenderN"}
    ),
    "ECMP": ECMP,
    "Clove": RunMode(
        "clove",
        options={"FlowletTimeout": "cloveFlowletTimeout", "RelayInterval": "cloveHalfRTT"},
        more=("cloveRunMode", "cloveDisToUncongestedPath"),
    ),
    "DRILL": RunMode("drill"),
    "LetFlow": RunMode("letflow", options={"FlowletTimeout": "letFlowFlowletTimeout"}),
    "TLB": HERMES,
}
#: By the program's number.
_CLOVE_MODES = ("edge-flowlet", "ecn", "int")


def find(values: Values, modes: Mapping[str, RunMode]) -> RunMode:
    """The run mode that is asked for; a scheme's own name does as well.

    Raises:
        UsageError: for one that there is not.
    """
    given = values["runMode"]
    if given in modes:
        return modes[given]
    try:
        return RunMode(registry.resolve("routing", given))
    except ValueError as error:
        message = error.message if isinstance(error, UsageError) else str(error)
        raise UsageError("--runMode", registry.with_words(message, given, modes)) from None


def word(values: Values) -> str:
    """The run mode as part of a file's name."""
    return re.sub(r"[^a-z0-9]+", "-", values["runMode"].lower()).strip("-")


def routing(
    values: Values,
    modes: Mapping[str, RunMode],
    options: Mapping[str, Option],
    propagation_ns: int,
    *,
    network_rate: str = "",
) -> dict[str, Any]:
    """The scenario's routing; so much of a way's delay is propagation.

    `network_rate`: of the links that are not slow, which is all that some modes know.

    Raises:
        UsageError: for a mode that there is not, and options that its scheme does not take.
    """
    mode = find(values, modes)
    attributes = dict(mode.fixed)
    for attribute, option in mode.options.items():
        value = values[option]
        if options[option].kind == "microseconds":
            if value == 0:
                raise UsageError(f"--{option}", "must be above 0")
            value = time(value)
        attributes[attribute] = str(value)
    if mode.scheme == "hermes" and mode.more:
        attributes |= hermes_options.attributes(values, propagation_ns)
    if "congaAwareAsym" in mode.more and not values["congaAwareAsym"]:
        attributes["LinkRate"] = network_rate
    if "cloveRunMode" in mode.more:
        number = values["cloveRunMode"]
        if number >= len(_CLOVE_MODES):
            message = f"`{number}` is none of 0 (edge flowlets), 1 (ECN) and 2 (INT)"
            raise UsageError("--cloveRunMode", message)
        attributes["Mode"] = _CLOVE_MODES[number]
    return {"type": mode.scheme, "attributes": attributes}


def notes(values: Values, modes: Mapping[str, RunMode], propagation_ns: int) -> list[str]:
    """Options that were given and are those of another mode, and what is different here."""
    mode = find(values, modes)
    own = {*mode.options.values(), *mode.more}
    of_others = {o for each in modes.values() for o in (*each.options.values(), *each.more)} - own
    said = [
        f"--{option} has no effect with --runMode={values['runMode']}"
        for option in values.given
        if option in of_others
    ]
    if mode.note:
        said.append(mode.note)
    if mode.scheme == "hermes" and mode.more:
        said += hermes_options.notes(values, propagation_ns)
    if "cloveDisToUncongestedPath" in mode.more and values["cloveRunMode"] == 1:
        said.append("weights go to paths without congestion, as with --cloveDisToUncongestedPath")
    return said
