"""What happens so often that a run takes minutes, and what that will cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ccperf import _native
from ccperf.base.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ccperf.scenario.flows import Flow
    from ccperf.scenario.links import Link
    from ccperf.scenario.whole import Scenario

#: Seconds of one core that nobody is told of.
_FEW_S = 30
#: Attributes of queue disciplines and load balancers that set a timer off, whatever comes.
_TIMERS = ("Tupdate", "ProbeInterval")


class _Period(NamedTuple):
    """Something that comes again and again."""

    path: str
    text: str
    period_ns: float
    lasts_ns: float
    #: Seconds of one core each, as measured.
    cost: float = 0.4e-6


def frequent(scenario: Scenario) -> list[str]:
    """A sentence for each period that alone takes a run more than half a minute."""
    found = []
    for path, text, period_ns, lasts_ns, cost in _periods(scenario):
        times = lasts_ns / period_ns
        if times * cost > _FEW_S:
            found.append(
                f"{path}: {text} comes {times:,.0f} times within the run: some "
                f"{counted(round(times * cost / 60), 'minute')} of one core, and more in ns-3; "
                "write a longer time, or a lower rate, unless that is meant"
            )
    return found


def _periods(scenario: Scenario) -> Iterator[_Period]:
    end = _native.parse_time(scenario.stop_time)
    interval = scenario.recording.interval
    yield _Period(
        "recording.interval", f"`{interval}`", _native.parse_time(interval), end, cost=5e-6
    )
    for i, ping in enumerate(scenario.pings):
        lasts = _lasts(ping.start, ping.stop, end)
        period = _native.parse_time(ping.interval)
        # An echo request, and the answer.
        yield _Period(f"pings[{i}].interval", f"`{ping.interval}`", period, lasts, cost=2e-6)
    for i, flow in enumerate(scenario.flows):
        yield from _of_flow(f"flows[{i}].application", flow, end)
    for i, link in enumerate(scenario.links):
        yield from _of_link(f"links[{i}]", link, end)
    for name in _TIMERS:
        if text := scenario.routing.attributes.get(name):
            period = _native.parse_time(text)
            yield _Period(f"routing.attributes.{name}", f"`{text}`", period, end)


def _of_flow(path: str, flow: Flow, end: int) -> Iterator[_Period]:
    application = flow.application
    if application.type == "Greedy":
        return
    lasts_ns = _lasts(flow.start, flow.stop, end)
    gap = _native.parse_size(application.write) * 8e9 / _native.parse_rate(application.rate)
    size = _native.parse_size(application.bytes)
    # With an end it is so many writes, if they fit.
    lasts = min(lasts_ns, size / _native.parse_size(application.write) * gap) if size else lasts_ns
    said = f"a packet of {application.write} at {application.rate}"
    yield _Period(f"{path}.rate", said, gap, lasts)
    if application.type == "OnOff":
        lengths = [_constant(text) for text in (application.on_time, application.off_time)]
        if None not in lengths:
            said = f"on `{application.on_time}`, off `{application.off_time}`"
            yield _Period(f"{path}.on_time", said, sum(filter(None, lengths)) or 1, lasts_ns)


def _of_link(path: str, link: Link, end: int) -> Iterator[_Period]:
    for name, direction in (("forward", link.forward), ("reverse", link.reverse)):
        attributes = direction.qdisc.attributes if direction.qdisc else {}
        for timer in _TIMERS:
            if text := attributes.get(timer):
                period = _native.parse_time(text)
                yield _Period(f"{path}.{name}.qdisc.attributes.{timer}", f"`{text}`", period, end)


def _constant(text: str) -> int | None:
    """The time that is written; None if lengths are drawn."""
    try:
        return _native.parse_time(text)
    except ValueError:
        return None


def _lasts(start: str, stop: str | None, end: int) -> int:
    return max(0, min(_native.parse_time(stop) if stop else end, end) - _native.parse_time(start))
