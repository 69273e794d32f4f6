"""A scenario: one run, complete, immutable and serialisable.

These classes check the shape of what is given (types, unknown fields) and make it pleasant to
write by hand: an algorithm may be a name, an attribute a number. What the values mean is checked by
the engine when a scenario is made, so that one that is there can be simulated.
``docs/design/contract.md`` describes the fields.

>>> s = Scenario(
...     stop_time="1s",
...     nodes=["a", "b"],
...     links=[{"name": "wire", "ends": ["a", "b"], "rate": "16Mbps", "delay": "5ms"}],
...     flows=[{"source": "a", "destination": "b", "cc": "newreno"}],
... )
>>> s.canonical()["flows"][0]["cc"]["type"]
'TcpNewReno'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.base import lazy

if TYPE_CHECKING:
    from ccperf.scenario.fields import Algorithm
    from ccperf.scenario.flows import (
        APPLICATIONS,
        CBR,
        Application,
        Flow,
        Greedy,
        OnOff,
        Ping,
        Poisson,
    )
    from ccperf.scenario.links import (
        Change,
        Direction,
        Failure,
        Fault,
        GilbertElliott,
        Jitter,
        Link,
        QueueLimits,
        Reordering,
        Schedule,
    )
    from ccperf.scenario.recording import QueueSampling, RecordingOptions, Selection
    from ccperf.scenario.whole import Scenario, ScenarioWarning

#: Loaded when asked for: presets are wanted without the classes, which take pydantic.
__getattr__ = lazy.names(
    __name__,
    {
        "Algorithm": "ccperf.scenario.fields",
        "Application": "ccperf.scenario.flows",
        "APPLICATIONS": "ccperf.scenario.flows",
        "CBR": "ccperf.scenario.flows",
        "Change": "ccperf.scenario.links",
        "Direction": "ccperf.scenario.links",
        "Failure": "ccperf.scenario.links",
        "Fault": "ccperf.scenario.links",
        "Flow": "ccperf.scenario.flows",
        "GilbertElliott": "ccperf.scenario.links",
        "Greedy": "ccperf.scenario.flows",
        "Jitter": "ccperf.scenario.links",
        "Link": "ccperf.scenario.links",
        "OnOff": "ccperf.scenario.flows",
        "Ping": "ccperf.scenario.flows",
        "Poisson": "ccperf.scenario.flows",
        "QueueLimits": "ccperf.scenario.links",
        "QueueSampling": "ccperf.scenario.recording",
        "RecordingOptions": "ccperf.scenario.recording",
        "Reordering": "ccperf.scenario.links",
        "Scenario": "ccperf.scenario.whole",
        "ScenarioWarning": "ccperf.scenario.whole",
        "Schedule": "ccperf.scenario.links",
        "Selection": "ccperf.scenario.recording",
    },
)

__all__ = [
    "APPLICATIONS",
    "CBR",
    "Algorithm",
    "Application",
    "Change",
    "Direction",
    "Failure",
    "Fault",
    "Flow",
    "GilbertElliott",
    "Greedy",
    "Jitter",
    "Link",
    "OnOff",
    "Ping",
    "Poisson",
    "QueueLimits",
    "QueueSampling",
    "RecordingOptions",
    "Reordering",
    "Scenario",
    "ScenarioWarning",
    "Schedule",
    "Selection",
]
