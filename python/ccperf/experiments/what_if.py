"""What if the round trip were 100 ms? A scenario with a few settings changed and all else kept.

A setting means the same on every scenario, since it is about what they have in common: flows,
their paths and bottlenecks. The engine does it (``crates/scenario/src/what_if``), so that a
page of the site, which has the engine, changes a run as the command line does.
"""

from __future__ import annotations

import json
import re
import warnings
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.algorithms.user_code import names
from ccperf.base import expression
from ccperf.base.wording import counted
from ccperf.errors import Problem, ScenarioError, UsageError, unknown
from ccperf.experiments.grid import split
from ccperf.experiments.topologies import Bottleneck, DumbbellFlow, dumbbell
from ccperf.scenario import Scenario, ScenarioWarning

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What each setting is.
SETTINGS = {
    "cc": "congestion control of the flows, several in turn: cubic+bbr",
    "flows": "how many flows there are; further ones are like the first ones",
    "rate": "of each bottleneck at the start; what it becomes later changes in proportion",
    "rtt": "the least propagation delay there and back; differences between flows stay",
    "buffer": "limit of each bottleneck's queue, in packets or bytes: 100p, 30000B",
    "qdisc": "queue discipline of each bottleneck, with its defaults but for the limit",
    "seed": "of the random numbers",
    "stop_time": "length of the run",
}
#: The scenario to begin with where there is none: `ccperf run dumbbell`, `ccperf play`.
PLAYGROUND = "dumbbell"


def parse(text: str, field: str = "--what-if") -> dict[str, Any]:
    """``rtt=100ms,cc=cubic+bbr`` as settings.

    Raises:
        UsageError: names `field`.
    """
    settings: dict[str, Any] = {}
    for entry in split(field, text):
        name, equals, value = (word.strip() for word in entry.partition("="))
        name = name.replace("-", "_")
        if not equals or not value:
            raise UsageError(field, f"`{entry}` is no setting; write rtt=100ms,cc=cubic")
        if name not in SETTINGS:
            raise UsageError(field, unknown("setting", name, SETTINGS))
        if name in settings:
            raise UsageError(field, f"`{name}` is set twice")
        if name in ("cc", "qdisc") and expression.bare(value) != value:
            message = f"{name}: `{value}` has parameters, which only --cc and --qdisc take"
            raise UsageError(field, message)
        settings[name] = value
    for name in settings.keys() & {"flows", "seed"}:
        if not re.fullmatch("[0-9]{1,10}", settings[name], re.ASCII):
            raise UsageError(field, f"{name}: `{settings[name]}` is not a whole number")
        settings[name] = int(settings[name])
    if "cc" in settings:
        settings["cc"] = settings["cc"].split("+")
    for name in settings.keys() & {"cc", "qdisc"}:
        given = settings[name] if name == "cc" else [settings[name]]
        try:
            for own in filter(names.is_user_code, given):
                names.checked(own)
        except ValueError as error:
            raise UsageError(field, f"{name}: {error}") from None
    return settings


def text(settings: Mapping[str, Any]) -> str:
    """The settings as :func:`parse` reads them."""
    return ",".join(
        f"{name}={'+'.join(value) if name == 'cc' else value}" for name, value in settings.items()
    )


def _labelled(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with users' algorithms by their labels, which mean the same on any machine."""
    found = names.labelled(settings)
    return {**found, "cc": [*map(names.label, found["cc"])]} if "cc" in found else found


def what_if(scenario: Scenario, settings: Mapping[str, Any]) -> Scenario:
    """The scenario with other settings (see :data:`SETTINGS`); its label says which.

    Raises:
        ScenarioError: with the names of settings that it cannot have.
    """
    given = json.dumps(dict(settings))
    try:
        changed = json.loads(_native.what_if(scenario.model_dump_json(), given))
    except ScenarioError as error:
        # Fields that a reader has not written are wrong because a setting is.
        wrong = [each for each in error.problems if each.path in SETTINGS]
        named = [Problem(f"--what-if {each.path}", each.message) for each in wrong]
        raise ScenarioError(named or error.problems) from None
    senders = sum(1 for flow in changed["flows"] if flow.get("cc"))
    if left := settings.get("cc", [])[senders:]:
        there = f"{counted(senders, 'flow')} {'leaves' if senders == 1 else 'leave'} none"
        message = f"cc: {there} for {', '.join(left)}; flows={len(settings['cc'])} has one for each"
        warnings.warn(message, ScenarioWarning, stacklevel=2)
    said = text(_labelled(settings))
    label = ", ".join(filter(None, [scenario.label, f"what if {said}"]))
    return Scenario.model_validate({**changed, "label": label})


def playground() -> Scenario:
    """One flow over a dumbbell: a tail drop queue of one bandwidth-delay product at 16 Mbps."""
    return dumbbell(
        Bottleneck(rate="16Mbps", qdisc="FifoQueueDisc", qlen="20p"),
        [DumbbellFlow(cc="TcpCubic", rtt="15ms")],
        label=PLAYGROUND,
    )
