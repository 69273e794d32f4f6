"""What a run leaves behind."""

import operator
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from ccperf.scenario.fields import Model, Time, is_none


def _is_all(value: object) -> bool:
    return value == "all"


def _selection(value: object) -> object:
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return tuple(value)
    if value in ("all", "none"):
        return value
    from ccperf.scenario.problems import shown

    raise ValueError(f"{shown(value)} is not 'all', 'none' or a list of names")


def _changes(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return tuple(value)
    from ccperf.scenario.problems import shown

    raise ValueError(f"{shown(value)} is not true, false or a list of flows")


#: Which flows, or which links: a link's name stands for both of its directions, which are called
#: `<link>_forward` and `<link>_reverse`.
Selection: TypeAlias = Annotated[
    Literal["all", "none"] | tuple[str, ...], BeforeValidator(_selection)
]


class QueueSampling(Model):
    """Queues that are sampled on a grid of their own: the table `queue_samples`."""

    links: Selection
    interval: Time = "10us"


class RecordingOptions(Model):
    """What a run leaves behind besides its counters."""

    #: Distance of the samples of flows and links.
    interval: Time = "30ms"
    #: Whose samples are taken: of all flows that are written one by one, of none, or of these flows
    #: and workloads.
    flows: Selection = Field(default="all", exclude_if=_is_all)
    links: Selection = Field(default="all", exclude_if=_is_all)
    #: When the steady state begins, for its metrics. None: as `ccperf.runs.metrics.windows` says.
    warm_up: Time | None = Field(default=None, exclude_if=is_none)
    #: Queues to be watched more closely.
    queues: QueueSampling | None = Field(default=None, exclude_if=is_none)
    #: Whether every change of the senders' state is recorded, or of which flows.
    changes: Annotated[bool | tuple[str, ...], BeforeValidator(_changes)] = False
    #: Whether each transfer's end is recorded: the table `completions`, and the metrics of classes.
    #: None: if the scenario has workloads.
    completions: bool | None = Field(default=None, exclude_if=is_none)
    #: Whether it is recorded when the last data of each flow comes to its destination: the table
    #: `deliveries`, and the metrics of completion times at the receiver.
    deliveries: bool = Field(default=False, exclude_if=operator.not_)
    #: Whether what the ends of each flow send and receive is counted as ns-3's `FlowMonitor` does:
    #: the tables `flow_monitor` and `flow_histograms`. `ccperf.runs.flow_monitor` writes the XML.
    flow_monitor: bool = Field(default=False, exclude_if=operator.not_)
    #: Whether what load balancers do to flows is recorded: the tables `reordering` and, where hosts
    #: probe, `probing`, and the metrics of them.
    balancing: bool = Field(default=False, exclude_if=operator.not_)
    #: Whether each change of a flow's way is recorded, or of which flows and workloads: the tables
    #: `ways` and `paths`, and the figure `paths`.
    paths: Annotated[bool | tuple[str, ...], BeforeValidator(_changes)] = Field(
        default=False, exclude_if=operator.not_
    )
