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
