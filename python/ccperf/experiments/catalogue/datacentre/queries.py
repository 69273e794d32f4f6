"""Query traffic on top of data mining: a burst under the microscope, and how long answers take."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from ccperf import _native
from ccperf.errors import UsageError
from ccperf.experiments.catalogue.answer import QUEUE, Answer
from ccperf.experiments.catalogue.datacentre import fabric, schemes
from ccperf.experiments.catalogue.datacentre.ecn_sharp_figures import (
    QUERY_BURST,
    QUERY_COMPLETION,
)
from ccperf.experiments.catalogue.datacentre.experiment import (
    RATE_OF_LINKS,
    SEGMENT,
    SIZES,
    TRANSPORT,
    WINDOW,
    WORKLOAD,
    DataCentreExperiment,
    at_rate,
    stack,
)
from ccperf.experiments.catalogue.parameter import AUTO, Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.experiments.catalogue.parameter import Value
    from ccperf.scenario import Scenario

SENDERS = 16
#: Bytes of an answer.
ANSWER = ("3kB", "60kB")
#: Of each of the two links: four times that is the shortest round trip, 80 us.
LINK_DELAY = "20us"
#: "Other settings are similar to" those of the leaf-spine; a port holds 600 packets here.
THRESHOLDS = replace(fabric.THRESHOLDS, limit="600p")
#: The paper's simulator lets two segments leave for an ACK at most, and so begins with two.
SMALL_WINDOW = replace(WINDOW, grid=(2,), default=2)
BACKGROUND = (
    replace(WORKLOAD, grid=("data_mining",), default="data_mining"),
    # The paper does not say it; its simulator has this one.
    Parameter("load", "load", (0.9,), 0.9, "Load of the bottleneck by the background."),
    Parameter(
        "asked",
        "time",
        (AUTO,),
        AUTO,
        "When the query is asked; auto: after 4 s, or three quarters of a shorter run.",
    ),
)
#: As the paper has it.
ASKED = "4s"
#: Until the last answer has come, after a timeout or two.
AFTERWARDS = "40ms"
FCT, FCT_P99 = "query.mean_fct_l4", "query.p99_fct_l4"


class QueryExperiment(DataCentreExperiment):
    """16 senders and a receiver, a background, and one query whose answers begin at once."""

    seeded = "when background flows begin, their ends, sizes and base RTTs, and those of answers"
    stop_time = "10s"
    #: What is recorded besides.
    watched: ClassVar[dict[str, Any]] = {}

    def length(self, setup: Setup) -> str:
        """Until the answers have come, but at most the stop time."""
        end = _native.parse_time(setup["asked"]) + _native.parse_time(AFTERWARDS)
        return _native.format_time(min(end, _native.parse_time(setup.stop_time)))

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:
        end = _native.parse_time(stop_time)
        if values["asked"] == AUTO:
            asked = min(_native.parse_time(ASKED), end * 3 // 4)
            return {**values, "asked": _native.format_time(asked)}
        if _native.parse_time(str(values["asked"])) >= end:
            raise UsageError("asked", f"`{values['asked']}` is not before the end, {stop_time}")
        return values

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import FabricLink, SwitchPort, fair_host_port, star

        network = star(
            SENDERS + 1,
            FabricLink(setup["rate"], LINK_DELAY),
            port=SwitchPort(schemes.discipline(setup.cc, at_rate(THRESHOLDS, setup["rate"]))),
            host_port=fair_host_port(),
        )
        *senders, receiver = network.hosts
        bottleneck = {**network.links[-1], "name": "bottleneck"}
        common = {
            "stack": "dc",
            "write": f"{SEGMENT}B",
            "added_delay": {"type": "Classes", "delays": fabric.ADDED_DELAYS},
        }
        background = {
            **common,
            "name": "flow",
            "sources": senders,
            "destinations": [receiver],
            "sizes": SIZES[setup["workload"]],
            "arrivals": {
                "type": "Poisson",
                "load": setup["load"],
                "capacity": setup["rate"],
                "until": setup["asked"],
            },
        }
        answers = setup["answers"]
        query = {
            **common,
            "name": "query",
            "pairs": {
                "type": "Listed",
                "pairs": [(senders[i % SENDERS], receiver) for i in range(answers)],
            },
            "sizes": {"type": "Uniform", "min": ANSWER[0], "max": ANSWER[1]},
            "arrivals": {"type": "Times", "times": [setup["asked"]] * answers},
        }
        return replace(network, links=(*network.links[:-1], bottleneck)).scenario(
            [],
            stop_time=self.length(setup),
            seed=setup.seed,
            label=self.name,
            stacks=[stack(setup, ConnTimeout="1ms", MinRto="1ms", ConnCount=10, DataRetries=10)],
            workloads=[background, query],
            recording={
                "interval": "1ms",
                "flows": "none",
                "links": ["bottleneck_reverse"],
                "completions": True,
                **self.watched,
            },
        )


class QueryBurst(QueryExperiment):
    name = "query_burst"
    title = "A burst under the microscope"
    description = (
        "16 senders of data mining and one receiver at 10 Gbps, base RTTs of 80 to 240 us; after "
        "4 s 100 answers of 3 to 60 kB begin at once: figure 10 of the paper on ECN#. The queue is "
        "sampled every 10 us. A good scheme keeps the standing queue low and has room for the "
        "burst; a threshold for the tail of the RTTs stands at it, and CoDel overflows."
    )
    answer = Answer((FCT, FCT_P99, QUEUE), "load")
    parameters = (
        Parameter("answers", "count", (100,), 100, "Number of answers to the query."),
        *(
            # The figure has 0.9; half of that shows what the background adds.
            replace(each, grid=(0.45, 0.9)) if each.name == "load" else each
            for each in BACKGROUND
        ),
        SMALL_WINDOW,
        RATE_OF_LINKS,
        TRANSPORT,
    )
    watched: ClassVar[dict[str, Any]] = {
        "queues": {"links": ["bottleneck_reverse"], "interval": "10us"}
    }
    printed = QUERY_BURST


class QueryCompletion(QueryExperiment):
    name = "query_completion"
    title = "Completion times of query flows"
    description = (
        "The same port and background, with 25 to 200 answers that begin at once after 4 s: figure "
        "11 of the paper on ECN#, which has the mean and the 99th percentile of the answers' "
        "completion times. An answer that loses a packet may have to wait for a timer."
    )
    answer = Answer((FCT, FCT_P99), "answers")
    parameters = (
        Parameter("answers", "count", (25, 50, 75, 100, 125, 150, 175, 200), 100, "Answers."),
        *BACKGROUND,
        SMALL_WINDOW,
        RATE_OF_LINKS,
        TRANSPORT,
    )
    printed = QUERY_COMPLETION
