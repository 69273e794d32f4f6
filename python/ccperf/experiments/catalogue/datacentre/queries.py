"""Answers to queries that come at once, on top of long flows: two views of a marking scheme."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ccperf.experiments.catalogue.answer import FCT, QCT, QCT_P99, QUEUE, Answer
from ccperf.experiments.catalogue.datacentre import schemes
from ccperf.experiments.catalogue.datacentre.experiment import (
    SEGMENT,
    TRANSPORT,
    WINDOW,
    DataCentreExperiment,
    stack,
)
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

RATE, LIMIT = "10Gbps", "600p"
#: One way, of the senders' links in turn, and of the receiver's: base RTTs of 30 to 190 us.
DELAYS, RECEIVER_DELAY = ("10us", "20us", "35us", "50us", "90us"), "5us"
#: Bytes of an answer.
ANSWER = ("3kB", "60kB")
#: Whose queue stands when the first query is asked, and when that is.
LONG_FLOWS, FIRST_MS = 2, 20
#: The paper's simulator lets two segments leave for an ACK at most, and so begins with two.
SMALL_WINDOW = replace(WINDOW, grid=(2,), default=2)
#: For base RTTs of up to 190 us; ECN# and CoDel as in the paper.
THRESHOLDS = schemes.Thresholds(
    rate=RATE,
    limit=LIMIT,
    tail="200us",
    average="82us",
    target="10us",
    interval="200us",
    codel_target="10us",
    codel_interval="240us",
)


def build(setup: Setup, label: str, answers: int, queries: int, apart_ms: int) -> Scenario:
    """Long flows from two senders, and so many queries, each answered by so many senders."""
    from ccperf.experiments.topologies import FabricLink, SwitchPort, star

    fabric = star(
        answers + LONG_FLOWS + 1,
        FabricLink(RATE),
        delays=[*(DELAYS[i % len(DELAYS)] for i in range(answers + LONG_FLOWS)), RECEIVER_DELAY],
        port=SwitchPort(schemes.discipline(setup.cc, THRESHOLDS)),
        host_port=SwitchPort(schemes.discipline(setup.cc, THRESHOLDS)),
    )
    *senders, receiver = fabric.hosts
    bottleneck = {**fabric.links[-1], "name": "bottleneck"}
    times = [f"{FIRST_MS + apart_ms * number}ms" for number in range(queries)]
    long: list[dict[str, Any]] = [
        {
            "name": f"long_{i}",
            "source": senders[i],
            "destination": receiver,
            "stack": "dc",
            "group": "long",
            "start": f"{i}ms",
            "application": {"type": "Greedy", "write": f"{SEGMENT}B"},
        }
        for i in range(LONG_FLOWS)
    ]
    query = {
        "name": "query",
        "stack": "dc",
        "write": f"{SEGMENT}B",
        "sources": senders[LONG_FLOWS:],
        "destinations": [receiver],
        "pairs": "Incast",
        "sizes": {"type": "Uniform", "min": ANSWER[0], "max": ANSWER[1]},
        "arrivals": {"type": "Times", "times": times},
    }
    return replace(fabric, links=(*fabric.links[:-1], bottleneck)).scenario(
        long,
        stop_time=setup.stop_time,
        seed=setup.seed,
        label=label,
        stacks=[stack(setup, ConnTimeout="1ms", MinRto="1ms", ConnCount=10, DataRetries=10)],
        workloads=[query],
        recording={
            "interval": "1ms",
            "flows": [flow["name"] for flow in long],
            "links": ["bottleneck_reverse"],
            "queues": {"links": ["bottleneck_reverse"], "interval": "10us"},
            "completions": True,
        },
    )


class QueryBurst(DataCentreExperiment):
    name = "query_burst"
    title = "A burst under the microscope"
    description = (
        "Two long flows stand in the queue of a port at 10 Gbps when 100 senders answer a query at "
        "once, with 3 to 60 kB each: figure 10 of the paper on ECN#. The queue is sampled "
        "every 10 us. A good scheme keeps the standing queue low and has room for the burst; a "
        "threshold for the tail of the RTTs stands at it, and CoDel overflows."
    )
    answer = Answer((QCT, FCT, QUEUE), "answers", "time")
    parameters = (
        Parameter("answers", "count", (100,), 100, "Number of answers to the query."),
        SMALL_WINDOW,
        TRANSPORT,
    )
    seeded = "the sizes of the answers"
    stop_time = "40ms"

    def build(self, setup: Setup) -> Scenario:
        return build(setup, self.name, setup["answers"], 1, 0)


class QueryCompletion(DataCentreExperiment):
    name = "query_completion"
    title = "Query completion time"
    description = (
        "The same port, with ten queries of ever more answers: figure 11 of the paper on ECN#. An "
        "answer that loses a packet may have to wait for a timer, and the query with it."
    )
    answer = Answer((QCT, QCT_P99, FCT), "answers")
    parameters = (
        Parameter(
            "answers", "count", (25, 50, 75, 100, 125, 150, 175, 200), 100, "Answers to a query."
        ),
        SMALL_WINDOW,
        TRANSPORT,
    )
    seeded = "the sizes of the answers"
    stop_time = "240ms"

    def build(self, setup: Setup) -> Scenario:
        return build(setup, self.name, setup["answers"], 10, 20)
