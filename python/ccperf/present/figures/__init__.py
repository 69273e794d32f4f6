"""Figures: what a run looks like, described as data and drawn for papers and pages.

    figure = describe("time_series", result.scenario, result.recording)
    save(figure, "time_series.pdf")    # for a paper: column width, embedded fonts
    svg.draw(figure)                   # for a page: light and dark, in a millisecond

One file per figure; its function is registered by `@figure` and then known to `ccperf plot`,
`ccperf list figures` and the site. `overlay` lays several runs' figures over each other. Only
`save` needs matplotlib (`pip install 'ccperf[figures]'`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

# isort: off
# Imported for what they register, in the order in which pages show the figures.
from ccperf.present.figures import timelines, operating_point, distribution, in_flight  # noqa: F401

# isort: on
from ccperf.base.libraries import library
from ccperf.errors import RunError, UsageError, unknown
from ccperf.present.figures.adjust import adjusted
from ccperf.present.figures.figure import Axis, Figure, Line, Panel, Series, Subject
from ccperf.present.figures.origin import origin
from ccperf.present.figures.overlay import overlay
from ccperf.present.figures.palette import WIDTHS
from ccperf.present.figures.quantities import bottlenecks
from ccperf.present.figures.registry import FIGURES, FigureKind
from ccperf.present.figures.sizes import inches
from ccperf.present.figures.sweep import sweep
from ccperf.present.figures.timelines import TIMELINES
from ccperf.present.figures.transfers import OF_RECORDINGS
from ccperf.runs.metrics import FlowSeries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ccperf.runs.recording import Recording
    from ccperf.scenario import Scenario

__all__ = [
    "FIGURES",
    "FORMATS",
    "OF_RECORDINGS",
    "WIDTHS",
    "Axis",
    "Figure",
    "FigureKind",
    "Line",
    "Panel",
    "Series",
    "Subject",
    "adjusted",
    "describe",
    "describe_all",
    "drawable",
    "onto",
    "origin",
    "overlay",
    "save",
    "sweep",
]

#: What `save` writes.
FORMATS = ("pdf", "svg", "png")


def describe(name: str, scenario: Scenario, recording: Recording) -> Figure:
    """Describe one figure of a run.

    Raises `UsageError` for a name that is no figure's, and for a run without flows or samples.
    """
    (figure,) = describe_all(scenario, recording, [name])
    return figure


def describe_all(
    scenario: Scenario, recording: Recording, names: Sequence[str] = ()
) -> list[Figure]:
    """Describe several figures of a run, by default every one; raises as `describe` does."""
    names = names or drawable(scenario, recording)
    for name in names:
        if name not in FIGURES and name not in OF_RECORDINGS:
            for whole in TIMELINES.values():
                if name in (strip.quantity for strip in whole.strips):
                    message = f"`{name}` is the panel `{name}` of the figure `{whole.name}`"
                    raise UsageError("figure", message)
            raise UsageError("figure", unknown("figure", name, [*FIGURES, *OF_RECORDINGS]))
    described = {}
    for name in dict.fromkeys(name for name in names if name in OF_RECORDINGS):
        figure = OF_RECORDINGS[name].describe(scenario, recording)
        if figure is None:
            missing = OF_RECORDINGS[name].needs
            raise UsageError("figure", f"`{name}` shows {missing}, and this run has none")
        described[name] = figure
    of_flows = [name for name in names if name in FIGURES]
    if of_flows:
        described |= zip(of_flows, _of_flows(scenario, recording, of_flows), strict=True)
    return [described[name] for name in names]


def drawable(scenario: Scenario, recording: Recording) -> list[str]:
    """Return the figures that a run has something for; those of flows if it has nothing at all."""
    flows = FlowSeries(scenario, recording)
    others = [name for name, kind in OF_RECORDINGS.items() if kind.describe(scenario, recording)]
    of_flows = FIGURES if flows.names and flows.time.size else ()
    return [*(name for name in of_flows if _has_subjects(name, flows)), *others] or list(FIGURES)


def _of_flows(scenario: Scenario, recording: Recording, names: Sequence[str]) -> list[Figure]:
    flows = FlowSeries(scenario, recording)
    if not flows.names:
        raise UsageError("figure", f"`{names[0]}` shows samples of flows, and this run has none")
    if not flows.time.size:
        raise UsageError(
            "figure",
            f"`{names[0]}` shows samples, and this run ends before the first interval does",
        )
    return [FIGURES[name].describe(flows) for name in names]


def _has_subjects(name: str, flows: FlowSeries) -> bool:
    """Whether there are samples of bottlenecks, for a figure that shows them."""
    is_of_links = name in TIMELINES and TIMELINES[name].is_of_links
    return not is_of_links or bool(bottlenecks(flows))


def save(
    figure: Figure,
    *paths: str | Path,
    width: str | float = "column",
    height: str | float | None = None,
    style: str | Path = "",
) -> None:
    """Draw a figure once and write it to each path, in the format that its suffix names.

    `width` is one of `WIDTHS` (3.4 inches, or what the columns and pages of IEEE and ACM have) or
    a length, as `height` is: inches, or a text such as `86mm`. `style` is one of Matplotlib's by
    name, or a file of its settings, over ours. The bytes depend on these and on Matplotlib's
    version only. Raises `UsageError` for another suffix, width or style, a folder that is not
    there, or if Matplotlib is not installed, and `RunError` if something cannot be written: then no
    half of a file is left.
    """
    wide = inches(width, "width")
    high = None if height is None else inches(height, "height")
    targets = [Path(path) for path in paths]
    if not targets:
        raise UsageError("paths", "name a file: figure.pdf, figure.svg or figure.png")
    for target in targets:
        if target.suffix[1:] not in FORMATS:
            raise UsageError(
                str(target), f"unknown format `{target.suffix}`; known: .{', .'.join(FORMATS)}"
            )
        if not target.parent.is_dir():
            raise UsageError(str(target), f"cannot be written (no folder {target.parent})")
    mpl = library("ccperf.present.figures.mpl", "'ccperf[figures]'")
    try:
        mpl.save(figure, targets, wide, high, str(style))
    except OSError as error:
        where = error.filename or ", ".join(map(str, targets))
        raise RunError(f"{where}: cannot be written ({error.strerror or error})") from error


def onto(figure: Figure, axes: Axes | None = None) -> Axes:
    """Draw a figure of one panel into Matplotlib axes, with the settings that the user has.

    New axes are those of a new figure of pyplot. Raises `UsageError` for a figure of several
    panels, or if Matplotlib is not installed.
    """
    if len(figure.panels) > 1:
        names = ", ".join(panel.name for panel in figure.panels)
        raise UsageError("panel", f"`{figure.name}` has several; name one of {names}")
    mpl = library("ccperf.present.figures.mpl", "'ccperf[figures]'")
    are_shared = axes is not None
    if axes is None:
        _, axes = library("matplotlib.pyplot").subplots(layout="constrained")
    mpl.onto(axes, figure, are_shared=are_shared)
    return axes
