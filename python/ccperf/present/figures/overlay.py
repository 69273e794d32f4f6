"""One figure of several runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ccperf.errors import UsageError
from ccperf.present.figures.figure import Axis, Figure, Panel, Series, Subject, whose

if TYPE_CHECKING:
    from collections.abc import Mapping


def overlay(figures: Mapping[str, Figure]) -> Figure:
    """Return one figure of all subjects of `figures`, whose keys are what their runs are called.

    What the network allows (optimum, ideal) is drawn where it is the same for all runs. The mean of
    a run's flows and their joint operating point are left out: they would be of one run only.
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
    drawn = {series.role for panel in panels for series in panel.series}
    drawn |= {line.role for panel in panels for line in panel.lines}
    return replace(
        first,
        alt=f"{', '.join(figures)} in one figure. {first.alt}",
        panels=panels,
        others=hidden,
        subjects=tuple(subjects),
        roles=tuple((role, label) for role, label in first.roles if role in drawn),
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
        replace(one, subject=one.subject + offsets[run])
        for run, panel in panels.items()
        for one in panel.series
        if one.role == "subject"
    ]
    shared = [
        one
        for one in first.series
        if one.role in ("optimum", "ideal")
        and all(any(_equal(one, two) for two in other.series) for other in others)
    ]
    return Panel(
        _axis([panel.x for panel in panels.values()]),
        _axis([panel.y for panel in panels.values()]),
        (*series, *shared),
        tuple(line for line in first.lines if all(line in other.lines for other in others)),
        first.name,
    )


def _equal(one: Series, two: Series) -> bool:
    return (
        one.role == two.role
        and np.array_equal(one.x, two.x, equal_nan=True)
        and np.array_equal(one.y, two.y, equal_nan=True)
    )


def _axis(axes: list[Axis]) -> Axis:
    """Return the axis that holds all of them; one that follows its data stays so."""
    lower = [axis.lower for axis in axes if axis.lower is not None]
    upper = [axis.upper for axis in axes if axis.upper is not None]
    return replace(
        axes[0],
        lower=min(lower) if len(lower) == len(axes) else None,
        upper=max(upper) if len(upper) == len(axes) else None,
    )
