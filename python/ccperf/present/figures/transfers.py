"""Figures of what not every run has: completion times, queues sampled closely, classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ccperf.present.figures.failed_paths import failed_paths
from ccperf.present.figures.figure import Axis, Figure, Floats, Panel, Series, Subject
from ccperf.present.figures.paths import paths
from ccperf.runs.metrics import FlowSeries
from ccperf.runs.metrics.transfers import classes

if TYPE_CHECKING:
    from ccperf.runs.recording import Recording
    from ccperf.scenario import Scenario

Describe: TypeAlias = "Callable[[Scenario, Recording], Figure | None]"


@dataclass(frozen=True)
class RecordingFigure:
    """A kind of figure that not every run has: `describe` gives none without `needs`."""

    title: str
    needs: str
    describe: Describe
    #: One figure of the runs of several seeds, if theirs can be taken together.
    pool: Callable[[Iterable[Recording]], Figure | None] | None = None

    @property
    def caption(self) -> str:
        """What it shows, as pages and `ccperf show figure` say it."""
        return " ".join((self.describe.__doc__ or "").split())


#: The classes by size, and what they are called.
_SIZES = {"small": "< 100 kB", "medium": "0.1 to 10 MB", "large": "> 10 MB"}
#: More samples than these are drawn as the largest of several.
_POINTS = 2000


def completion_times(_scenario: Scenario, recording: Recording) -> Figure | None:
    """Empirical distribution functions of the completion times of transfers, by size.

    A point (v, p) says that the share p of the transfers had ended within v; what had not ended
    when the run did keeps a curve below 1.  A panel for each class of sizes.
    """
    return pooled_completion_times([recording])


def pooled_completion_times(recordings: Iterable[Recording]) -> Figure | None:
    """Return the figure of the transfers of several runs, those of other seeds, as one."""
    times: dict[str, list[Floats]] = {}
    counts: Counter[str] = Counter()
    for recording in recordings:
        for name, each in classes(recording).items():
            times.setdefault(name, []).append(each.completion_times)
            counts[name] += each.count

    def panel(name: str, x: Axis) -> Panel:
        shares = _shares(np.concatenate(times[name]), counts[name])
        y = Axis("Share of transfers", lower=0, upper=1.02)
        return Panel(x, y, (Series(*shares, "ecdf", "subject"),), name=name)

    found = [name for name in _SIZES if any(map(len, times.get(name, ())))]
    panels = tuple(
        panel(name, Axis("Completion time", "ms", lower=0, of=_SIZES[name])) for name in found
    )
    if not panels:
        return None
    return Figure(
        name="completion_times",
        title="Completion times",
        alt="Empirical cumulative distribution functions of the completion times of transfers in "
        f"ms, a panel for each class of sizes: {', '.join(found)}.",
        panels=panels,
        subjects=(Subject("transfers"),),
        side_by_side=True,
        others=(panel("all", Axis("Completion time", "ms", is_log=True)),),
    )


def queue_samples(_scenario: Scenario, recording: Recording) -> Figure | None:
    """Packets in each queue that is sampled on a grid of its own, over time.

    Of more than 2,000 samples each point is the largest of as many as it takes.
    """
    table = recording.queue_samples
    if table is None or not table.rows:
        return None
    links = recording.links.strings("name")
    which = table.array("link")
    shown = np.unique(which)
    series = []
    for index, link in enumerate(shown):
        rows = which == link
        time, packets = table.array("time_ns")[rows] / 1e6, table.array("qdisc_packets")[rows]
        series.append(Series(*_largest(time, packets), "line", "subject", index))
    names = tuple(Subject(links[link]) for link in shown)
    return Figure(
        name="queue_samples",
        title="Queues sampled closely",
        alt=f"Packets in the queue of {', '.join(each.name for each in names)} over time in ms.",
        panels=(
            Panel(Axis("Time", "ms", lower=0), Axis("Queue", "packets", lower=0), tuple(series)),
        ),
        subjects=names,
    )


def class_throughput(scenario: Scenario, recording: Recording) -> Figure | None:
    """Throughput (l4) of each class over time: how a scheduler of classes shares the link.

    Classes are told apart by their code points (DSCP). Each value is the mean of the interval that
    ends there, over the flows whose samples are recorded, and starts where the one before ended.
    """
    senders = [*scenario.parsed["flows"], *scenario.parsed.get("stacks", ())]
    if len({sender.get("dscp", 0) for sender in senders}) < 2:
        return None
    flows = FlowSeries(scenario, recording)
    found = flows.class_throughput() if flows.time.size else {}
    if len(found) < 2:
        return None
    return Figure(
        name="class_throughput",
        title="Throughput of each class",
        alt=f"Throughput in Mbps of the classes {', '.join(found)} over time in s.",
        panels=(
            Panel(
                Axis("Time", "s", lower=0, upper=float(flows.time[-1])),
                Axis("Throughput", "Mbps", lower=0),
                tuple(
                    Series(flows.time, values, "step", "subject", index, begins=flows.begins)
                    for index, values in enumerate(found.values())
                ),
            ),
        ),
        subjects=tuple(Subject(name) for name in found),
    )


def _shares(times: Floats, count: int) -> tuple[Floats, Floats]:
    ordered = np.sort(times)
    shares = np.arange(1, ordered.size + 1) / count
    return np.concatenate([ordered[:1], ordered]), np.concatenate([[0.0], shares])


def _largest(time: Floats, values: Floats) -> tuple[Floats, Floats]:
    """At most 2,000 points: of samples that follow each other the time of the first and the
    largest value."""
    together = -(-len(values) // _POINTS)
    starts = np.arange(0, len(values), together)
    return time[starts], np.maximum.reduceat(values.astype(float), starts)


#: Every such figure by name.
OF_RECORDINGS: dict[str, RecordingFigure] = {
    "completion_times": RecordingFigure(
        "Completion times",
        "transfers whose ends are recorded",
        completion_times,
        pooled_completion_times,
    ),
    "queue_samples": RecordingFigure(
        "Queues sampled closely", "samples of queues (recording.queues)", queue_samples
    ),
    "class_throughput": RecordingFigure(
        "Throughput of each class",
        "samples of flows with several code points (dscp)",
        class_throughput,
    ),
    "paths": RecordingFigure(
        "Paths",
        "ways of flows (recording.paths) or samples of parallel links that a balancer chooses from",
        paths,
    ),
    "failed_paths": RecordingFigure(
        "Failed paths", "paths that hosts found to have failed (Hermes)", failed_paths
    ),
}
