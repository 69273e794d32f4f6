"""Schedulers against each other: who is under test is the scheduler, one's own included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.base import expression
from ccperf.errors import UsageError
from ccperf.experiments.bounds import MOST
from ccperf.experiments.catalogue.answer import QUEUE, Answer
from ccperf.experiments.catalogue.datacentre import dwrr, schemes
from ccperf.experiments.catalogue.datacentre.experiment import (
    RATE_OF_LINKS,
    TRANSPORT,
    WINDOW,
    DataCentreExperiment,
    at_rate,
)
from ccperf.experiments.catalogue.experiment import resolved
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

#: Strict priority over classes that a flow falls through as it sends.
PIAS = "PIAS"
#: After so many bytes a flow goes into the next class: the first two thresholds for web search in
#: the public simulation scripts of the PIAS paper, in segments of 1460 B.
DEMOTION = ("67160B", "1582640B")
#: What a scheduler is set to, for classes of 2:1:1.
_ATTRIBUTES: dict[str, dict[str, str]] = {
    "DwrrQueueDisc": {"Quanta": "3000 1500 1500"},
    "WfqQueueDisc": {"Weights": "2 1 1"},
    "StrictPriorityQueueDisc": {"Priorities": "2 1 0"},
}


class Schedulers(DataCentreExperiment):
    name = "schedulers"
    title = "Schedulers over marking classes"
    description = (
        "The traffic of the experiment dwrr, with another scheduler over its three classes: "
        "deficit weighted round robin and weighted fair queueing at 2:1:1, strict priority, PIAS "
        "(strict priority between classes that a flow falls through as it sends), or one's own, "
        "which gets three children. Each class has the discipline that `marking` names."
    )
    usual: ClassVar[tuple[str, ...]] = (*_ATTRIBUTES, PIAS)
    papers: ClassVar[tuple[str, ...]] = ("ecnsharp",)
    # Of the short flows: where a discipline counts their bytes, the long ones have an end, too.
    answer = Answer(("short.mean_fct_l4", "short.p99_fct_l4", QUEUE), "marking", "time")
    parameters = (
        Parameter("marking", "qdisc", ("TcnQueueDisc",), "TcnQueueDisc", "Discipline of a class."),
        Parameter("short", "count", (100,), 100, "Number of short flows.", most=MOST["flows"] - 3),
        WINDOW,
        RATE_OF_LINKS,
        TRANSPORT,
    )
    draws_more = True
    draws_flows = True
    seeded = "when short flows begin, their sizes and classes"
    stop_time = "400ms"

    def takes(self, name: str) -> bool:
        """Schedulers: those above, and all that is not ours."""
        kind = expression.cut(name)[0]
        ours = {*registry.algorithms("qdisc"), *schemes.NAMED}
        return kind in self.usual or kind not in ours

    def resolve(self, name: str) -> str:
        """The scheduler that is called so. Raises :class:`~ccperf.errors.UsageError`."""
        if name.upper() == PIAS:
            return PIAS
        found = name if name in schemes.NAMED else resolved("qdisc", name)
        if not self.takes(found):
            known = ", ".join(self.usual)
            raise UsageError(self.kind, f"`{name}` is no scheduler; {known}, or your own")
        return found

    def build(self, setup: Setup) -> Scenario:
        inner = schemes.discipline(setup["marking"], at_rate(dwrr.THRESHOLDS, setup["rate"]))
        kind, parameters = expression.cut(setup.cc)
        is_pias = kind == PIAS
        name = "StrictPriorityQueueDisc" if is_pias else kind
        known = _ATTRIBUTES.get(name)
        # One child for all, or one for each class where nothing says how many there are.
        children = [inner] * (1 if known else len(dwrr.QUANTA))
        scheduler: dict[str, Any] = {
            "type": name + parameters,
            "attributes": known or {},
            "children": children,
        }
        # What counts its bytes has an end, here beyond that of the run.
        own: dict[str, Any] = {"dscp": 0, "pias": DEMOTION, "long_bytes": _endless(setup)}
        own = own if is_pias else {}
        return dwrr.build(setup, self.name, inner, scheduler, **own)


def _endless(setup: Setup) -> int:
    """More bytes than a link of the rate carries in the run."""
    seconds = _native.parse_time(setup.stop_time) / 1e9
    return max(2 * 10**9, round(_native.parse_rate(setup["rate"]) / 8 * seconds))
