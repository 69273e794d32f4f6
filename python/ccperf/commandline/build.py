"""From the values of a command line to the scenario that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ccperf import registry
from ccperf.commandline.attributes import TCP_CLASSES, assign
from ccperf.commandline.options import ACK_COMPRESSION
from ccperf.errors import ScenarioError, UsageError

if TYPE_CHECKING:
    from ccperf.commandline.run import DumbbellRun
    from ccperf.scenario import Scenario

#: Where a mistake in the scenario comes from, by the path of its field.
_OPTIONS = (
    (r"flows\[(\d+)\]\.rtt|links\[\d+\]\.delay", "--rtts"),
    (r"links\[0\]\.rate", "--bw"),
    (r"links\[0\]\.forward\.qdisc\.attributes\.MaxSize", "--qlen"),
    (r"links\[0\]\.forward\.qdisc\.attributes\.(?P<attribute>\w+)", "--ns3::{qdisc}::{attribute}"),
    (r"links\[0\]\.forward\.qdisc.*", "--qdisc"),
    (r"links\[0\]\.forward\.loss", "--loss"),
    (r"links\[0\]\.reverse\.qdisc\.attributes\.Interval", "--interval"),
    (r"links\[0\]\.reverse\.qdisc\.attributes\.Quota", "--quota"),
    (r"changes\[\d+\]\.rate", "--rate-series"),
    (r"changes\[\d+\]\.delay", "--rtt-series"),
    (r"changes\[\d+\]\.loss", "--loss-series"),
    (r"changes\[\d+\].*", "--time-series"),
    (r"flows\[(\d+)\]\.start", "--start-times"),
    (r"flows\[(\d+)\]\.stop", "--stop-times"),
    (r"flows\[(\d+)\]\.application.*", "--traffic-models"),
    (r"flows\[(\d+)\]\.cc\.attributes\.(?P<attribute>\w+)", "--ns3::{cc}::{attribute}"),
    (r"flows\[(\d+)\]\.cc.*", "--algs"),
    (r"flows\[(\d+)\]\.recovery", "--recoveries"),
    (r"flows\[(\d+)\]\.tcp\.(?P<attribute>\w+)", "--ns3::{tcp}::{attribute}"),
    (r"stop_time", "--stop-time"),
    (r"seed", "--seed"),
)


def build(run: DumbbellRun) -> tuple[Scenario, list[str]]:
    """The scenario of a run, and warnings about attributes that have no effect.

    Raises :class:`~ccperf.errors.UsageError` naming the option that is wrong.
    """
    from ccperf.scenario import Algorithm
    from ccperf.topologies import Bottleneck, DumbbellFlow, dumbbell

    ccs = {flow.cc for flow in run.flows}
    used = {cc: registry.parameters("cc", cc) for cc in sorted(ccs)}
    used[run.qdisc] = registry.parameters("qdisc", run.qdisc)
    given = assign(run.attributes, used=used, tcp=registry.socket_parameters())
    try:
        scenario = dumbbell(
            Bottleneck(
                rate=run.series[0].rate if run.series else run.bw,
                qlen=run.qlen,
                qdisc=run.qdisc,
                qdisc_attributes=given.of(run.qdisc),
                loss=run.loss,
                reverse=_burst_release(run) if run.program == ACK_COMPRESSION else None,
            ),
            [
                DumbbellFlow(
                    cc=Algorithm(type=flow.cc, attributes=given.of(flow.cc)),
                    rtt=flow.rtt,
                    recovery=flow.recovery,
                    start=flow.start,
                    stop=flow.stop,
                    application=flow.application,
                    source=flow.source,
                    destination=flow.destination,
                    tcp=given.tcp,
                )
                for flow in run.flows
            ],
            label=run.experiment,
            changes=list(_changes(run, given.warnings)),
            stop_time=run.stop_time,
            seed=run.seed,
        )
        scenario.lowered()
    except ScenarioError as error:
        raise _usage_error(error, run) from None
    return scenario, given.warnings


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
    for pattern, option in _OPTIONS:
        match = re.fullmatch(pattern, problem.path)
        if match is None:
            continue
        flow = int(match[1]) if match.re.groups and (match[1] or "").isdigit() else None
        attribute = match.groupdict().get("attribute") or ""
        classes = {
            "qdisc": run.qdisc,
            "cc": run.flows[flow or 0].cc,
            "tcp": next(
                (c for c, a, _ in run.attributes if a == attribute and c in TCP_CLASSES),
                "TcpSocket",
            ),
        }
        field = option.format(attribute=attribute, **classes)
        entry = f"entry {flow + 1}: " if flow is not None and len(run.flows) > 1 else ""
        return UsageError(field, entry + problem.message)
    return UsageError(problem.path or "command line", problem.message)
