"""Draw figures with matplotlib: for a column of a paper, or into axes of the user's own.

What is saved has the same bytes for the same figure, whatever the user's own matplotlib settings,
the time and the folder; settings are changed by a style that is named. What is drawn into the
user's axes has the user's settings.
"""

from __future__ import annotations

import logging
import os
import re
import textwrap
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure as Canvas
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

from ccperf.base.outputs import whole
from ccperf.errors import UsageError, unknown
from ccperf.present.figures.font import families
from ccperf.present.figures.geometry import (
    alone,
    decimate,
    legend_columns,
    limits,
    marked,
    outline,
)
from ccperf.present.figures.palette import COLUMN, DASHES, HEIGHTS, ROLES, SUBJECTS, looks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from ccperf.present.figures.figure import Figure, Floats, Line, Panel, Role, Series, Shape

COLOUR_BAR = 0.4
LEGEND_ROW = 0.155
FONT_SIZE = 7.0
#: Where words beneath an axis may be broken, and how long a line of them may be.
_PARAMETERS = re.compile(r"(?=\()|(?<=,)")
_LINE = 24
#: A figure is laid out anew at most so many times for labels that are broken into lines.
_FITTINGS = 4

#: A series is thinned to this many columns of pixels: 400 dpi over the width.
PIXEL_COLUMNS = 1360

_DOTTED = (0, (1, 1.4))
_DASHED = (0, (5, 2))
#: What is explained for several subjects at once has the colour of none.
_NEUTRAL = "#555555"
ROLE_STYLES: Mapping[Role, dict[str, Any]] = {
    "optimum": {"markersize": 8.5, "linestyle": _DOTTED},
    "ideal": {"linestyle": _DOTTED},
    "mean": {},
    "joint": {"markersize": 6.5, "markerfacecolor": "white"},
}

_SETTINGS: dict[str, Any] = {
    "font.size": FONT_SIZE,
    "axes.labelsize": FONT_SIZE,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    # Ticks tell their values; no "+1.49e1" beside the axis.
    "axes.formatter.useoffset": False,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.5,
    "lines.linewidth": 0.9,
    "lines.markersize": 4.2,
    "lines.solid_joinstyle": "round",
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.fontsize": FONT_SIZE,
    "legend.frameon": False,
    "legend.borderaxespad": 0.3,
    "legend.borderpad": 0.1,
    "legend.columnspacing": 1.2,
    "legend.handlelength": 1.8,
    "legend.handletextpad": 0.5,
    "legend.labelspacing": 0.25,
    # Element ids and embedded fonts: reproducible, and accepted by ACM and IEEE.
    "svg.hashsalt": "ccperf",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "pdf.compression": 9,
    "savefig.dpi": 300,
}
#: Formats take the date and matplotlib's version from elsewhere unless told otherwise.
_METADATA: Mapping[str, dict[str, str | None]] = {
    ".svg": {"Date": None, "Creator": "ccperf"},
    ".pdf": {"CreationDate": None, "Creator": "ccperf", "Producer": "ccperf"},
    ".png": {"Software": "ccperf"},
}


def save(
    figure: Figure,
    paths: Iterable[Path],
    width: float = COLUMN,
    height: float | None = None,
    style: str = "",
) -> None:
    """Draw the figure once and write it to each path; OSError where one cannot be written."""
    with settings(style):
        canvas = draw(figure, width, height)
        for path in paths:
            # In memory first: matplotlib does not get over a disk that is full.
            drawn = BytesIO()
            metadata = _metadata(figure, path.suffix)
            with _undated():
                canvas.savefig(drawn, format=path.suffix[1:], metadata=metadata)
            with whole(path) as draft:
                draft.write_bytes(drawn.getvalue())


@contextmanager
def _undated() -> Iterator[None]:
    """Keep matplotlib from reading a date that no file of ours has, and that may be none."""
    given = os.environ.pop("SOURCE_DATE_EPOCH", None)
    try:
        yield
    finally:
        if given is not None:
            os.environ["SOURCE_DATE_EPOCH"] = given


def _metadata(figure: Figure, suffix: str) -> dict[str, str | None]:
    """What the file says of itself: who wrote it, and of which runs, if that is known."""
    if not figure.origin:
        return dict(_METADATA[suffix])
    described = "Subject" if suffix == ".pdf" else "Description"
    return {**_METADATA[suffix], "Title": figure.title, described: figure.origin}


def picture(figure: Figure) -> bytes:
    """Return the figure as SVG, with our settings."""
    with settings():
        drawn = BytesIO()
        draw(figure).savefig(drawn, format="svg", metadata=_METADATA[".svg"])
    return drawn.getvalue()


@contextmanager
def settings(style: str = "") -> Iterator[None]:
    """Put our settings in place of the user's own while a figure is drawn, and a style over them.

    A style is one of matplotlib's by its name, or a file of settings (a `.mplstyle`, a
    `matplotlibrc`). Raises `UsageError` for one that there is not, or with mistakes in it.
    """
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        for key, value in _SETTINGS.items():
            matplotlib.rcParams[key] = value  # type: ignore[index]  # typed as literal keys
        matplotlib.rcParams["font.family"] = families()
        if style:
            _use(style)
        yield


def _use(name: str) -> None:
    if not Path(name).is_file() and name not in matplotlib.style.available:
        known = unknown("style", name, matplotlib.style.available)
        raise UsageError("style", f"{known}; or name a file of matplotlib settings")
    wrong: list[str] = []
    log = logging.getLogger("matplotlib")
    seen = _Seen(wrong)
    log.addHandler(seen)
    try:
        matplotlib.style.use(name)
    except (OSError, ValueError) as error:
        wrong.append(str(error))
    finally:
        log.removeHandler(seen)
    if wrong:
        raise UsageError("style", f"{name}: {' '.join(wrong[0].split())}")


class _Seen(logging.Handler):
    """Keeps what matplotlib says of a file's mistakes: it logs them, and goes on."""

    def __init__(self, messages: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        self._messages.append(record.getMessage())


def onto(axes: Axes, figure: Figure, *, are_shared: bool) -> None:
    """Draw the one panel of a figure into axes, with the settings that hold there.

    In axes that are shared something else is drawn, too: each line has its name, also a single one,
    and what was explained before stays so.
    """
    (panel,) = figure.panels
    _draw_panel(axes, panel, figure)
    bar = figure.is_crowded
    handles = _legend(figure, bar, names_one=are_shared)
    if before := axes.get_legend():
        texts = (text.get_text() for text in before.get_texts())
        there = list(zip(texts, before.legend_handles, strict=True))
        looks = {(label, _colour(handle)) for label, handle in there}
        handles = [*there, *(new for new in handles if (new[0], _colour(new[1])) not in looks)]
    if handles:
        axes.legend([handle for _, handle in handles], [label for label, _ in handles])
    if figure.notes:
        # Beneath its label, since what is around the axes is the user's.
        lines = _sentences(figure.notes, axes.get_position().width * _width(axes))
        axes.set_xlabel("\n".join([axes.get_xlabel(), *lines]))
    if bar and (canvas := axes.get_figure(root=True)):
        _colour_bar(canvas, [axes], figure.entries, canvas.get_figwidth())


def draw(figure: Figure, width: float = COLUMN, height: float | None = None) -> Canvas:
    """Draw a figure so many inches wide, laid out; to be called within `settings()`.

    By default it is as high as its panels and its legend take.
    """
    bar = figure.is_crowded
    handles = _legend(figure, bar)
    columns = _legend_columns([label for label, _ in handles], width)
    notes = _sentences(figure.notes, width)
    rows = -(-len(handles) // columns) + len(notes)
    stacked = len(figure.panels) > 1 and not figure.side_by_side
    if height is None:
        panels = HEIGHTS[len(figure.panels) if stacked else 1]
        height = panels + LEGEND_ROW * rows * _legend_size() / FONT_SIZE + COLOUR_BAR * bar
    engine = ConstrainedLayoutEngine(w_pad=0.02, h_pad=0.02, hspace=0.03, wspace=0.04)
    canvas = Canvas(figsize=(width, height), layout=engine)
    FigureCanvasAgg(canvas)
    grid = canvas.subplots(
        len(figure.panels) if stacked else 1,
        1 if stacked else len(figure.panels),
        sharex=stacked,
        sharey=figure.side_by_side,
        squeeze=False,
    )
    all_axes: list[Axes] = list(grid.flat)
    for axes, panel in zip(all_axes, figure.panels, strict=True):
        _draw_panel(axes, panel, figure)
        axes.label_outer()
    canvas.align_ylabels(all_axes)
    if bar:
        _colour_bar(canvas, all_axes, figure.entries, width)
    if handles:
        canvas.legend(
            [handle for _, handle in handles],
            [label for label, _ in handles],
            loc="outside upper center",
            ncols=columns,
        )
    if notes:
        size = _legend_size()
        canvas.supxlabel("\n".join(notes), x=0.02, ha="left", fontsize=size, linespacing=1.25)
    # Laid out once, not again for each format.
    canvas.draw_without_rendering()
    for _ in range(_FITTINGS):
        if not _fit_labels(canvas, dict(zip(all_axes, figure.panels, strict=True))):
            break
        canvas.draw_without_rendering()
    canvas.set_layout_engine("none")
    return canvas


def _fit_labels(canvas: Canvas, panels: Mapping[Axes, Panel]) -> bool:
    """Break the labels of axes that are longer than their room, and say whether any was.

    They stand at the middle of their axis, and may reach to the edge of the figure, or of their
    panel where others are beside it. A label of more lines leaves its axis less room, and moves it.
    """
    are_broken = False
    for axes, panel in panels.items():
        place = axes.get_window_extent()
        for label, titles, (low, high), end in (
            (axes.xaxis.label, panel.x.lines, place.intervalx, canvas.bbox.width),
            (axes.yaxis.label, (panel.y.title,), place.intervaly, canvas.bbox.height),
        ):
            room = high - low if len(panels) > 1 else min(low + high, 2 * end - low - high)
            letters = max(map(len, label.get_text().split("\n")))
            while letters > 1 and _length(label) > room:
                letters -= 1
                lines = (textwrap.wrap(text, letters, break_long_words=False) for text in titles)
                label.set_text("\n".join(line for of in lines for line in of))
                are_broken = True
    return are_broken


def _length(label: Text) -> float:
    """How much of its axis a label takes, in pixels."""
    extent = label.get_window_extent()
    return float(extent.height if label.get_rotation() else extent.width)


def _draw_panel(axes: Axes, panel: Panel, figure: Figure) -> None:
    for line in panel.lines:
        _draw_line(axes, line)
    for series in panel.series:
        _draw_series(axes, series, panel, figure)
    axes.set_xlabel("\n".join(panel.x.lines))
    axes.set_ylabel(panel.y.title)
    (x_low, y_low), (x_high, y_high) = axes.dataLim.get_points().tolist()
    if panel.x.is_log:
        axes.set_xscale("log")
        x_low, x_high = _above_zero(panel, "x")
    if panel.y.is_log:
        axes.set_yscale("log")
        y_low, y_high = _above_zero(panel, "y")
    axes.set_xlim(limits(panel.x, x_low, x_high))
    axes.set_ylim(limits(panel.y, y_low, y_high))
    steps = [1, 2, 5, 10]
    for axis, along, ends, most in (
        (panel.x, axes.xaxis, axes.get_xlim(), _most_ticks(axes, figure)),
        (panel.y, axes.yaxis, axes.get_ylim(), 6),
    ):
        if not axis.is_log or ends[1] < 10 * ends[0]:
            # Below a power of ten Matplotlib's own choice of a logarithm overlaps itself.
            is_count = axis is panel.x and not axis.is_log and _counts(panel)
            along.set_major_locator(MaxNLocator(most, steps=steps, integer=is_count))
        else:
            # Between few powers of ten there are numbers to read, too.
            along.set_major_locator(LogLocator(subs=(1, 2, 5) if ends[1] < 500 * ends[0] else (1,)))
        if axis.is_log:
            along.set_major_formatter(StrMethodFormatter("{x:g}"))
            along.set_minor_formatter(NullFormatter())
    if panel.x.labels:
        labels = panel.x.labels
        if not _has_room(axes, figure, labels):
            labels = tuple(map(_in_lines, labels))
        axes.set_xticks(range(len(labels)), labels=labels)
        if not _has_room(axes, figure, labels):
            axes.tick_params(axis="x", labelrotation=25)
            for text in axes.get_xticklabels():
                text.set(ha="right", rotation_mode="anchor")
    if panel.y.labels:
        axes.set_yticks(range(len(panel.y.labels)), labels=panel.y.labels)


def _width(axes: Axes) -> float:
    """The width of the figure that axes are in, in inches."""
    canvas = axes.get_figure(root=True)
    return canvas.get_figwidth() if canvas else COLUMN


def _in_lines(label: str) -> str:
    """A name with parameters, broken before and between these where a line would be too long."""
    lines = [""]
    for part in _PARAMETERS.split(label):
        if lines[-1] and len(lines[-1] + part) > _LINE:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _has_room(axes: Axes, figure: Figure, labels: Sequence[str]) -> bool:
    """Whether words can stand side by side beneath the axis."""
    side_by_side = len(figure.panels) if figure.side_by_side else 1
    room = 72 * _width(axes) / side_by_side - 30
    size = FontProperties(size=matplotlib.rcParams["xtick.labelsize"]).get_size_in_points()
    longest = max(len(line) for label in labels for line in label.splitlines() or [""])
    return len(labels) * (longest + 1) * 0.57 * size <= room


def _most_ticks(axes: Axes, figure: Figure) -> int:
    """How many values of x can stand side by side without touching each other."""
    side_by_side = len(figure.panels) if figure.side_by_side else 1
    room = 72 * _width(axes) / side_by_side - 30
    size = FontProperties(size=matplotlib.rcParams["xtick.labelsize"]).get_size_in_points()
    return int(min(8, max(2, room / (3.5 * size))))


def _above_zero(panel: Panel, name: str) -> tuple[float, float]:
    """The least and the largest value of a logarithmic axis."""
    found = [getattr(one, name) for one in panel.series]
    values = np.concatenate([each[np.isfinite(each) & (each > 0)] for each in found])
    return float(values.min()), float(values.max())


def _counts(panel: Panel) -> bool:
    """Whether the x axis counts something: its ticks are whole, too."""
    if any(one.shape not in ("line", "points") for one in panel.series):
        return False
    return all(np.all(one.x == np.round(one.x)) for one in panel.series)


def _draw_line(axes: Axes, line: Line) -> None:
    style = {**_role_style(line.role), "marker": "", **_wide(1.2), "zorder": 1.5}
    if line.axis == "x":
        axes.axvline(line.value, **style)
    else:
        axes.axhline(line.value, **style)


def _draw_series(axes: Axes, series: Series, panel: Panel, figure: Figure) -> None:
    if series.role == "subject":
        style = subject_style(figure, figure.entry_of[series.subject])
    else:
        style = _role_style(series.role)
    if series.shape == "points":
        if interval := series.interval(panel.y):
            low, high = interval
            _draw_bars(axes, series.x, low, high, style["color"])
        axes.plot(series.x, series.y, **{**style, "linestyle": "", **_point_style(series.role)})
        return
    if series.shape == "ticks":
        # Placed by the panel's height, so that they say nothing about the y axis.
        top = 0.05 + 0.05 * series.rank
        strokes = [[(x, 0.0), (x, top)] for x in series.x.tolist()]
        edge = axes.get_xaxis_transform()
        lines = LineCollection(strokes, colors=style["color"], linewidths=0.5, transform=edge)
        axes.add_collection(lines, autolim=False)
        return
    if series.role != "subject":
        style |= {"marker": "", **_wide(1.2), "zorder": 3}
    elif figure.is_crowded:
        style |= {**_wide(0.45), "alpha": 0.55}
    elif series.is_dashed:
        style |= _wide(0.8)
    elif len(figure.entries) < len(figure.subjects):
        style |= _wide(0.65)
    if series.is_dashed:
        style["linestyle"] = _DASHED
    if interval := series.interval(panel.y):
        axes.fill_between(series.x, *interval, color=style["color"], alpha=0.18, linewidth=0)
        # A band of one point has no width.
        single = alone(series.y)
        _draw_bars(axes, series.x[single], interval[0][single], interval[1][single], style["color"])
    drawn = "steps-" + {"step": "pre", "ecdf": "post"}[series.shape] if _stepped(series) else None
    marker = style.pop("marker")
    x, y = decimate(*outline(series), series.shape, PIXEL_COLUMNS)
    axes.plot(x, y, drawstyle=drawn or "default", **style)
    if series.role != "subject" or figure.is_crowded or series.is_dashed:
        return
    if at := marked(series, panel, figure):
        style |= {"marker": marker, "linestyle": "", "markersize": _marker()}
        axes.plot(series.x[at], series.y[at], **style)


def _draw_bars(axes: Axes, x: Floats, low: Floats, high: Floats, colour: str) -> None:
    axes.vlines(x, low, high, colors=colour, linewidths=_wide(0.9)["linewidth"])


def _wide(factor: float) -> dict[str, float]:
    """A line's width as a multiple of the usual one."""
    return {"linewidth": factor * matplotlib.rcParams["lines.linewidth"]}


def _marker() -> float:
    """The size of markers on lines, which points of their own exceed."""
    return 0.7 * float(matplotlib.rcParams["lines.markersize"])


def _stepped(series: Series) -> bool:
    return series.shape in ("step", "ecdf")


def _point_style(role: Role) -> dict[str, Any]:
    """Points on the axes' edge stay whole; the optimum lies beneath the flows, which may hit it."""
    zorder = {"optimum": 4, "joint": 5, "subject": 6}.get(role, 1)
    return {"clip_on": False, "zorder": zorder, "markeredgewidth": 0.8}


def subject_style(figure: Figure, entry: int) -> dict[str, Any]:
    """Return how one entry of many looks: apart in colour and marker, or along the scale."""
    look = figure.looks[entry]
    style: dict[str, Any] = {"color": look.colour, "marker": look.marker}
    if figure.is_crowded:
        return style | {"alpha": 0.8}
    if len(figure.entries) > len(SUBJECTS):
        return style | ({"linestyle": (0, DASHES[look.dash])} if look.dash else {})
    cycle = matplotlib.rcParams["axes.prop_cycle"]
    if cycle == matplotlib.rcParamsDefault["axes.prop_cycle"]:
        return style
    # Colours, markers and dashes that a user has chosen take the place of ours.
    own: list[dict[str, Any]] = list(cycle)
    return style | own[entry % len(own)]


def _role_style(role: Role) -> dict[str, Any]:
    return {"color": ROLES[role].colour, "marker": ROLES[role].marker, **ROLE_STYLES[role]}


def _colour(handle: Any) -> Any:
    """The colour of a line in a legend; of what else a user has there none."""
    return handle.get_color() if isinstance(handle, Line2D) else None


def _legend(figure: Figure, bar: bool, names_one: bool = False) -> list[tuple[str, Any]]:
    """Return a label and a handle for all that a reader has to tell apart."""
    entries: list[tuple[str, Any]] = []
    shapes = {(series.role, series.shape) for panel in figure.panels for series in panel.series}
    shapes |= {(line.role, "line") for panel in figure.panels for line in panel.lines}
    several = len(figure.entries) > 1
    if not bar and (several or figure.roles or names_one):
        for index, name in enumerate(figure.entries):
            style = subject_style(figure, index)
            entries.append((name, _handle(style, "subject", shapes, several)))
    for role, label in figure.roles:
        entries.append((label, _handle(_role_style(role), role, shapes, True)))
    colour = subject_style(figure, 0)["color"] if len(figure.entries) == 1 else _NEUTRAL
    entries += [(key.label, _key(key, colour)) for key in figure.keys]
    return entries


def _key(series: Series, colour: str) -> Line2D:
    """Return the handle of what subjects have besides their main series."""
    if series.shape == "ticks":
        size = _marker() * (1.5 + 1.5 * series.rank)
        return Line2D([], [], color=colour, linestyle="", marker="|", markersize=size)
    style: dict[str, Any] = {"linestyle": _DASHED if series.is_dashed else "-", **_wide(0.8)}
    return Line2D([], [], color=colour, **style)


def _sentences(notes: Sequence[str], width: float) -> list[str]:
    """Return the lines of a figure's notes, at this width."""
    letters = int(72 * width / (0.6 * _legend_size()))
    return [line for note in notes for line in textwrap.wrap(note, letters)]


def _handle(
    style: dict[str, Any], role: Role, shapes: set[tuple[Role, Shape]], is_marked: bool
) -> Line2D:
    points = (role, "points") in shapes
    style = {"linestyle": "-", **_wide(1.2), **style}
    if points:
        style["linestyle"] = ""
    elif role != "subject" or not is_marked:
        style["marker"] = ""
    else:
        style["markersize"] = _marker()
    return Line2D([], [], **style)


def _legend_columns(labels: Sequence[str], width: float) -> int:
    """Return the largest number of columns in which the labels fit over the figure."""
    size = _legend_size()
    rc: Any = matplotlib.rcParams
    beside = size * sum(
        rc[f"legend.{part}"] for part in ("handlelength", "handletextpad", "columnspacing")
    )
    font = FontProperties(family=rc["font.family"])
    widths = [
        float(TextPath((0, 0), label, size=size, prop=font).get_extents().width) + beside
        for label in labels
    ]
    return legend_columns(widths, 72 * width - 4)


def _legend_size() -> float:
    """The size of a legend's letters, in points."""
    return float(FontProperties(size=matplotlib.rcParams["legend.fontsize"]).get_size_in_points())


def _colour_bar(canvas: Canvas, axes: Sequence[Axes], flows: Sequence[str], width: float) -> None:
    last = len(flows) - 1
    colours = [look.colour for look in looks(len(flows))]
    mapping = ScalarMappable(Normalize(-0.5, last + 0.5), matplotlib.colors.ListedColormap(colours))
    bar = canvas.colorbar(mapping, ax=list(axes), location="top", aspect=45, pad=0.01)
    longest = max(len(name) for name in flows)
    ticks = max(2, min(5, int(width * 72 / FONT_SIZE / 0.6 / (longest + 3))))
    at = sorted({round(place) for place in np.linspace(0, last, ticks)})
    bar.set_ticks(at, labels=[flows[index] for index in at])
    bar.ax.tick_params(length=1.5, pad=1)
    bar.outline.set_linewidth(0.4)
