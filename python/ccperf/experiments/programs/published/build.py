"""From the values of a command line to the scenario that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf.algorithms import registry
from ccperf.base import expression
from ccperf.errors import ScenarioError, UsageError
from ccperf.experiments.programs.attributes import TCP_CLASSES, Targets, assign
from ccperf.experiments.programs.published.options import ACK_COMPRESSION, REPLAY

if TYPE_CHECKING:
    from ccperf.experiments.programs.published.run import DumbbellRun, FlowOptions
    from ccperf.scenario import Scenario

#: The option that sets a field of the scenario and what is below it; numbers are left out.
_OPTIONS = {
    "stop_time": "--stop-time",
    "seed": "--seed",
    "links[].rate": "--bw",
    "links[].delay": "--rtts",
    "links[].forward.loss": "--loss",
    "links[].forward.qdisc": "--qdisc",
    "links[].forward.qdisc.attributes.MaxSize": "--qlen",
    "links[].reverse.qdisc.attributes.Interval": "--interval",
    "links[].reverse.qdisc.attributes.Quota": "--quota",
    "changes[]": "--time-series",
    "changes[].rate": "--rate-series",
    "changes[].delay": "--rtt-series",
    "changes[].loss": "--loss-series",
    "flows[].rtt": "--rtts",
    "flows[].start": "--start-times",
    "flows[].stop": "--stop-times",
    "flows[].application": "--traffic-models",
    "flows[].cc": "--algs",
    "flows[].recovery": "--recoveries",
}


def build(run: DumbbellRun) -> tuple[Scenario, list[str]]:
    """The scenario of a run, and warnings about attributes that have no effect.

    Raises :class:`~ccperf.errors.UsageError` naming the option that is wrong.
    """
    try:
        scenario, warnings = describe(run)
        scenario.lowered()
    except ScenarioError as error:
        raise _usage_error(error, run) from None
    return scenario, warnings


def describe(run: DumbbellRun) -> tuple[Scenario, list[str]]:
    """As :func:`build`, but raises :class:`~ccperf.errors.ScenarioError`, and not for mistakes that
    come out when the scenario is lowered."""
    from ccperf.experiments.topologies import Bottleneck, DumbbellFlow, dumbbell

    ccs = {_class(flow.cc) for flow in run.flows}
    used = {cc: registry.parameters("cc", cc) for cc in sorted(ccs)}
    used[_class(run.qdisc)] = registry.parameters("qdisc", run.qdisc)
    given = assign(run.attributes, used=used, tcp=registry.socket_parameters())
    scenario = dumbbell(
        Bottleneck(
            rate=run.series[0].rate if run.series else run.bw,
            qlen=run.qlen,
            qdisc=run.qdisc,
            qdisc_attributes=given.of(_class(run.qdisc)),
            loss=run.loss,
            reverse=_burst_release(run) if run.program == ACK_COMPRESSION else None,
            schedules=list(_schedules(run, given.warnings)),
        ),
        [
            DumbbellFlow(
                rtt=flow.rtt,
                start=flow.start,
                stop=flow.stop,
                application=flow.application,
                source=flow.source,
                destination=flow.destination,
                **_transport(flow, given),
            )
            for flow in run.flows
        ],
        label=run.experiment,
        changes=list(_changes(run, given.warnings)),
        stop_time=run.stop_time,
        seed=run.seed,
    )
    return scenario, given.warnings


def _class(algorithm: str) -> str:
    """The class that options of attributes name, without parameters."""
    return expression.cut(algorithm)[0]


def _transport(flow: FlowOptions, given: Targets) -> dict[str, Any]:
    """What a line names for every flow, and only those over TCP have."""
    from ccperf.scenario import Algorithm

    if flow.transport == "UDP":
        return {"transport": "UDP", "cc": None}
    cc = Algorithm(type=flow.cc, attributes=given.of(_class(flow.cc)))
    return {"cc": cc, "recovery": flow.recovery, "tcp": given.tcp}


def _changes(run: DumbbellRun, warnings: list[str]) -> Iterator[dict[str, Any]]:
    """Each time of the series sets the rate again, as the published program does; a delay or a loss
    that never changes is left alone."""
    from ccperf import _native

    access = 2 * _native.parse_time("1ms")
    shortest = min(_native.parse_time(flow.rtt) for flow in run.flows)
    rtts_change = any(_native.parse_time(step.rtt) != shortest for step in run.series)
    losses_change = any(step.loss != run.loss for step in run.series)
    for step in run.series:
        if _native.parse_time(step.time) >= _native.parse_time(run.stop_time):
            warnings.append(f"--time-series: {step.time} is not before the run's end: no effect")
            continue
        change: dict[str, Any] = {"time": step.time, "rate": step.rate}
        if rtts_change:
            change["delay"] = _native.format_time(_native.parse_time(step.rtt) // 2 - access)
        yield change
        if losses_change:
            yield {"time": step.time, "loss": step.loss, "direction": "forward"}


def _schedules(run: DumbbellRun, warnings: list[str]) -> Iterator[dict[str, Any]]:
    """The rate of the way forward follows the trace; the way back has ``--bw``."""
    if run.program != REPLAY:
        return
    from ccperf import _native
    from ccperf.experiments import traces

    name = run.trace_file
    if run.trace_dir and (Path(run.trace_dir) / name).is_file():
        name = str(Path(run.trace_dir) / name)
    elif run.trace_dir:
        warnings.append(
            f"--trace-dir: there is no {run.trace_dir}/{name} here; taken is the trace of this "
            "name in the package, which has the same rate but is not the authors' own"
        )
    try:
        trace = traces.load(name)
    except UsageError as error:
        raise UsageError("--trace-file", error.message) from None
    yield from trace.schedules(_native.parse_time(run.stop_time))


def _burst_release(run: DumbbellRun) -> dict[str, Any]:
    """The way back of the ACK-compressing link: bursts at 1 Gbps."""
    return {
        "rate": "1Gbps",
        "qdisc": {
            "type": "BurstReleaseQueueDisc",
            "attributes": {
                "Interval": run.interval,
                "Quota": str(run.quota),
                "MaxSize": "10000p",
            },
        },
        "device_queue": "1000p",
    }


def _usage_error(error: ScenarioError, run: DumbbellRun) -> UsageError:
    """The first problem under the name of the option that it comes from."""
    problem = error.problems[0]
    flow = re.match(r"flows\[(\d+)\]", problem.path)
    options = {**_OPTIONS, **_attribute_options(run, run.flows[int(flow[1]) if flow else 0])}
    path = re.sub(r"\[\d+\]", "[]", problem.path)
    while path and path not in options:
        path = path.rpartition(".")[0]
    entry = f"entry {int(flow[1]) + 1}: " if flow and len(run.flows) > 1 else ""
    field = options.get(path, problem.path or "command line")
    return UsageError(field, (entry if path else "") + problem.message)


def _attribute_options(run: DumbbellRun, flow: FlowOptions) -> dict[str, str]:
    """The option of each attribute that was given, by the field of the scenario that it sets."""
    places = dict.fromkeys(TCP_CLASSES, "flows[].tcp")
    places[_class(flow.cc)] = "flows[].cc.attributes"
    places[_class(run.qdisc)] = "links[].forward.qdisc.attributes"
    return {
        f"{places[cls]}.{attribute}": f"--ns3::{cls}::{attribute}"
        for cls, attribute, _ in run.attributes
        if cls in places
    }
