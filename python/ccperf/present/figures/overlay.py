"""One figure of several runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ccperf.errors import UsageError
from ccperf.present.figures.figure import Axis, Figure, Panel, Series, Subject, whose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def overlay(figures: Mapping[str, Figure]) -> Figure:
    """Return one figure of all subjects of `figures`, whose keys are what their runs are called.

    What the network allows (optimum, ideal) is drawn where it is the same for all runs. The mean of
    a run's flows is left out: it would be of one run only. Where there is a joint operating point
    of a run's flows, it stands for the run: what is optimal is so for all its flows together.
    Raises `UsageError` for figures of different kinds.
    """
    first, *others = figures.values()
    if any(other.name != first.name for other in others):
        raise UsageError("figure", "only figures of one kind can be laid over each other")
    if not others:
        return first
    subjects: list[Subject] = []
    offsets: dict[str, int] = {}
    for run, figure in figures.items():
        offsets[run] = len(subjects)
        algorithm = whose(run, [subject.algorithm for subject in figure.subjects])
        subjects += [replace(one, run=run, algorithm=algorithm) for one in figure.subjects]
    panels = _panels({run: figure.panels for run, figure in figures.items()}, offsets)
    hidden = _panels({run: figure.others for run, figure in figures.items()}, offsets)
    joint = {s.role for each in figures.values() for p in each.panels for s in p.series} & {"joint"}
    notes = ["Each point: all flows of a run together."] if joint else []
    drawn = {series.role for panel in panels for series in panel.series}
    drawn |= {line.role for panel in panels for line in panel.lines}
    return replace(
        first,
        alt=" ".join((f"{', '.join(figures)} in one figure.", first.alt, *notes)),
        panels=panels,
        others=hidden,
        subjects=tuple(subjects),
        notes=tuple(dict.fromkeys((*notes, *(n for each in figures.values() for n in each.notes)))),
        roles=tuple((role, label) for role, label in first.roles if role in drawn),
        are_categories=True,
    )


def _panels(
    panels: Mapping[str, tuple[Panel, ...]], offsets: Mapping[str, int]
) -> tuple[Panel, ...]:
    """Each kind of panel that some run has, of all those that have it."""
    names = dict.fromkeys(panel.name for of in panels.values() for panel in of)
    if "" in names or any(len(of) != len({panel.name for panel in of}) for of in panels.values()):
        return tuple(
            _panel(dict(zip(panels, alike, strict=True)), offsets)
            for alike in zip(*panels.values(), strict=True)
        )
    there = {run: {panel.name: panel for panel in of} for run, of in panels.items()}
    return tuple(
        _panel({run: of[name] for run, of in there.items() if name in of}, offsets)
        for name in names
    )


def _panel(panels: Mapping[str, Panel], offsets: Mapping[str, int]) -> Panel:
    first, *others = panels.values()
    series = [
        replace(one, role="subject", subject=one.subject + offsets[run])
        for run, panel in panels.items()
        for one in _of_run(panel)
    ]
    shared = [
        longest
        for one in first.series
        if one.role in ("optimum", "ideal")
        and (longest := _longest(one, [other.series for other in others])) is not None
    ]
    return Panel(
        _axis([panel.x for panel in panels.values()]),
        _axis([panel.y for panel in panels.values()]),
        (*series, *shared),
        tuple(line for line in first.lines if all(line in other.lines for other in others)),
        first.name,
    )


def _of_run(panel: Panel) -> list[Series]:
    """What is drawn of a run: its flows, or one point of all of them together."""
    joint = [one for one in panel.series if one.role == "joint"]
    return joint or [one for one in panel.series if one.role == "subject"]


def _longest(one: Series, others: Sequence[Sequence[Series]]) -> Series | None:
    """The one of these that goes furthest, if all runs have the same; else None.

    An ideal curve ends where its run's values do.
    """
    for series in others:
        same = [two for two in series if two.role == one.role]
        found = next((two for two in same if _continues(one, two)), None)
        if found is None:
            return None
        one = max(one, found, key=lambda each: each.x.size and each.x[-1])
    return one


def _continues(one: Series, two: Series) -> bool:
    """Whether two series are the same as far as both go."""
    if np.array_equal(one.x, two.x, equal_nan=True):
        return np.array_equal(one.y, two.y, equal_nan=True)
    if one.role != "ideal":
        return False
    shorter, longer = sorted((one, two), key=lambda each: float(each.x[-1]))
    return np.allclose(np.interp(shorter.x, longer.x, longer.y), shorter.y, rtol=1e-9, atol=0)


def _axis(axes: list[Axis]) -> Axis:
    """Return the axis that holds all of them; one that follows its data stays so."""
    lower = [axis.lower for axis in axes if axis.lower is not None]
    upper = [axis.upper for axis in axes if axis.upper is not None]
    return replace(
        axes[0],
        lower=min(lower) if len(lower) == len(axes) else None,
        upper=max(upper) if len(upper) == len(axes) else None,
    )
