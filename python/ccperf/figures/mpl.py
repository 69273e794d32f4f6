"""Draw figures with matplotlib: for a column of a paper, and for pages.

The same figure gives the same bytes, whatever the user's own matplotlib settings, the time and
the folder. Flows are told apart by colour and by marker, so that prints in grey serve as well.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure as Canvas
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.textpath import TextPath
from matplotlib.ticker import MaxNLocator

from ccperf.figures.figure import MANY_FLOWS
from ccperf.figures.font import families
from ccperf.outputs import whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from ccperf.figures.figure import Axis, Figure, Floats, Line, Panel, Role, Series, Shape

#: One column of a two-column paper (ACM 3.33 in, IEEE 3.5 in).
WIDTH = 3.4
#: Inches by the number of panels that stand one above the other, without the legend.
HEIGHTS = {1: 2.3, 2: 2.9, 3: 3.75}
COLOUR_BAR = 0.4
#: Room between data and the end of an axis that has no end of its own, in parts of its length.
MARGIN = 0.06
LEGEND_ROW = 0.155
FONT_SIZE = 7.0

#: A series is thinned to this many columns of pixels: 400 dpi over the width.
PIXEL_COLUMNS = 1360

#: Colours that stay apart under the common colour vision deficiencies (Okabe and Ito's, then
#: Tol's), ordered so that neighbours differ in lightness, too. Each has its marker.
FLOW_STYLES = (
    ("#0072b2", "o"),
    ("#e69f00", "s"),
    ("#000000", "^"),
    ("#56b4e9", "D"),
    ("#d55e00", "v"),
    ("#009e73", "P"),
    ("#882255", "X"),
    ("#999933", "<"),
    ("#332288", ">"),
    ("#888888", "p"),
)
#: More flows than there are styles are coloured along this map, with a colour bar as the legend.
COLOUR_MAP = "viridis"
#: Its last part is too light for lines on white paper.
COLOUR_MAP_END = 0.9

_MAGENTA = "#cc00cc"
ROLE_STYLES: Mapping[Role, dict[str, Any]] = {
    "optimum": {"color": _MAGENTA, "marker": "*", "markersize": 8.5, "linestyle": (0, (1, 1.4))},
    "ideal": {"color": _MAGENTA, "marker": "", "linestyle": (0, (1, 1.4))},
    "mean": {"color": "black", "marker": ""},
    "joint": {"color": "black", "marker": "h", "markersize": 6.5, "markerfacecolor": "white"},
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


def save(figure: Figure, paths: Iterable[Path]) -> None:
    """Draw the figure once and write it to each path; OSError where one cannot be written."""
    with settings():
        canvas = draw(figure)
        for path in paths:
            # In memory first: matplotlib does not get over a disk that is full.
            drawn = BytesIO()
            canvas.savefig(drawn, format=path.suffix[1:], metadata=_METADATA[path.suffix])
            with whole(path) as draft:
                draft.write_bytes(drawn.getvalue())


@contextmanager
def settings() -> Iterator[None]:
    """Put our settings in place of the user's own while a figure is drawn."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        for key, value in _SETTINGS.items():
            matplotlib.rcParams[key] = value  # type: ignore[index]  # typed as literal keys
        matplotlib.rcParams["font.family"] = families()
        yield


def draw(figure: Figure) -> Canvas:
    """Draw a figure, laid out; to be called within `settings()`."""
    bar = len(figure.flows) > MANY_FLOWS
    handles = _legend(figure, bar)
    columns = _legend_columns([label for label, _ in handles])
    legend_height = LEGEND_ROW * -(-len(handles) // columns)
    stacked = len(figure.panels) > 1 and not figure.side_by_side
    height = HEIGHTS[len(figure.panels) if stacked else 1] + legend_height + COLOUR_BAR * bar
    engine = ConstrainedLayoutEngine(w_pad=0.02, h_pad=0.02, hspace=0.03, wspace=0.04)
    canvas = Canvas(figsize=(WIDTH, height), layout=engine)
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
        _colour_bar(canvas, all_axes, figure.flows)
    if handles:
        canvas.legend(
            [handle for _, handle in handles],
            [label for label, _ in handles],
            loc="outside upper center",
            ncols=columns,
        )
    # Laid out once, not again for each format.
    canvas.draw_without_rendering()
    canvas.set_layout_engine("none")
    return canvas


def _draw_panel(axes: Axes, panel: Panel, figure: Figure) -> None:
    for line in panel.lines:
        _draw_line(axes, line)
    for series in panel.series:
        _draw_series(axes, series, panel, figure)
    axes.set_xlabel(panel.x.title)
    axes.set_ylabel(panel.y.title)
    (x_low, y_low), (x_high, y_high) = axes.dataLim.get_points().tolist()
    axes.set_xlim(_limits(panel.x, x_low, x_high))
    axes.set_ylim(_limits(panel.y, y_low, y_high))
    axes.xaxis.set_major_locator(MaxNLocator(6 if figure.side_by_side else 8, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))


def _limits(axis: Axis, low: float, high: float) -> tuple[float, float]:
    """Return where an axis begins and ends: as it says, else a little beyond the data."""
    if not low <= high:  # no data
        low, high = 0.0, 1.0
    start = low if axis.lower is None else axis.lower
    end = high if axis.upper is None else axis.upper
    beyond = MARGIN * (end - start) or MARGIN * abs(end) or 1.0
    return (
        start - beyond if axis.lower is None else start,
        end + beyond if axis.upper is None else end,
    )


def _draw_line(axes: Axes, line: Line) -> None:
    style = {**ROLE_STYLES[line.role], "marker": "", "linewidth": 1.1, "zorder": 1.5}
    if line.axis == "x":
        axes.axvline(line.value, **style)
    else:
        axes.axhline(line.value, **style)


def _draw_series(axes: Axes, series: Series, panel: Panel, figure: Figure) -> None:
    style = _style(series.role, series.flow, len(figure.flows))
    if series.shape == "points":
        axes.plot(series.x, series.y, **{**style, "linestyle": "", **_point_style(series.role)})
        return
    if series.role != "flow":
        style |= {"marker": "", "linewidth": 1.1, "zorder": 3}
    elif len(figure.flows) > MANY_FLOWS:
        style |= {"linewidth": 0.4, "alpha": 0.55}
    drawn = "steps-" + {"step": "pre", "ecdf": "post"}[series.shape] if _stepped(series) else None
    marker = style.pop("marker")
    x, y = decimate(series.x, series.y, series.shape)
    axes.plot(x, y, drawstyle=drawn or "default", **style)
    if series.role == "flow" and 1 < len(figure.flows) <= MANY_FLOWS:
        at = _marked(series, panel, len(figure.flows))
        axes.plot(
            series.x[at], series.y[at], **{**style, "marker": marker, "linestyle": ""}, markersize=3
        )


def _stepped(series: Series) -> bool:
    return series.shape in ("step", "ecdf")


def _marked(series: Series, panel: Panel, flows: int) -> list[int]:
    """Return indices of a few points that carry the flow's marker, spread along the series.

    Flows take turns, so that equal series do not hide each other's markers.
    """
    finite = np.flatnonzero(np.isfinite(series.y))
    if not finite.size:
        return []
    marks = 6
    along = (series.y if series.shape == "ecdf" else series.x)[finite]
    first = 0.0 if series.shape == "ecdf" or panel.x.lower is None else panel.x.lower
    shares = (np.arange(marks) + (series.flow + 0.5) / flows) / marks
    at = np.searchsorted(along, first + (along[-1] - first) * shares)
    return sorted(set(finite[np.minimum(at, finite.size - 1)].tolist()))


def _point_style(role: Role) -> dict[str, Any]:
    """Points on the axes' edge stay whole; the optimum lies beneath the flows, which may hit it."""
    zorder = {"optimum": 4, "joint": 5, "flow": 6}.get(role, 1)
    return {"clip_on": False, "zorder": zorder, "markeredgewidth": 0.8}


def _style(role: Role, flow: int, flows: int) -> dict[str, Any]:
    return flow_style(flow, flows) if role == "flow" else dict(ROLE_STYLES[role])


def flow_style(flow: int, flows: int) -> dict[str, Any]:
    """Return how one flow of many looks: apart in colour and marker, or along the colour map."""
    if flows > MANY_FLOWS:
        place = COLOUR_MAP_END * flow / (flows - 1)
        return {"color": matplotlib.colormaps[COLOUR_MAP](place), "marker": "o", "alpha": 0.8}
    colour, marker = FLOW_STYLES[flow]
    return {"color": colour, "marker": marker}


def _legend(figure: Figure, bar: bool) -> list[tuple[str, Line2D]]:
    """Return a label and a handle for all that a reader has to tell apart."""
    entries: list[tuple[str, Line2D]] = []
    shapes = {(series.role, series.shape) for panel in figure.panels for series in panel.series}
    shapes |= {(line.role, "line") for panel in figure.panels for line in panel.lines}
    if not bar and (len(figure.flows) > 1 or figure.roles):
        for index, name in enumerate(figure.flows):
            style = _style("flow", index, len(figure.flows))
            entries.append((name, _handle(style, "flow", shapes, len(figure.flows) > 1)))
    for role, label in figure.roles:
        entries.append((label, _handle(_style(role, 0, 1), role, shapes, True)))
    return entries


def _handle(
    style: dict[str, Any], role: Role, shapes: set[tuple[Role, Shape]], marked: bool
) -> Line2D:
    points = (role, "points") in shapes
    style = {"linestyle": "-", "linewidth": 1.1, **style}
    if points:
        style["linestyle"] = ""
    elif role != "flow" or not marked:
        style["marker"] = ""
    else:
        style["markersize"] = 3
    return Line2D([], [], **style)


def _legend_columns(labels: Sequence[str]) -> int:
    """Return the largest number of columns in which the labels fit over the figure."""
    beside = FONT_SIZE * sum(
        _SETTINGS[f"legend.{part}"] for part in ("handlelength", "handletextpad", "columnspacing")
    )
    widths = [_text_width(label) + beside for label in labels]
    for columns in range(len(labels), 1, -1):
        if sum(max(column) for column in _by_column(widths, columns)) <= 72 * WIDTH - 4:
            return columns
    return 1


@cache
def _text_width(text: str) -> float:
    font = FontProperties(family=families())
    return float(TextPath((0, 0), text, size=FONT_SIZE, prop=font).get_extents().width)


def _by_column(widths: Sequence[float], columns: int) -> list[Sequence[float]]:
    """Split as a legend does: down the columns, the first ones one longer where it must be."""
    length, longer = divmod(len(widths), columns)
    ends = np.cumsum([length + (index < longer) for index in range(columns)]).tolist()
    return [widths[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _colour_bar(canvas: Canvas, axes: Sequence[Axes], flows: Sequence[str]) -> None:
    last = len(flows) - 1
    colours = matplotlib.colormaps[COLOUR_MAP](np.linspace(0, COLOUR_MAP_END, len(flows)))
    mapping = ScalarMappable(
        Normalize(-0.5, last + 0.5), matplotlib.colors.ListedColormap(list(colours))
    )
    bar = canvas.colorbar(mapping, ax=list(axes), location="top", aspect=45, pad=0.01)
    longest = max(len(name) for name in flows)
    ticks = max(2, min(5, int(WIDTH * 72 / FONT_SIZE / 0.6 / (longest + 3))))
    at = sorted({round(place) for place in np.linspace(0, last, ticks)})
    bar.set_ticks(at, labels=[flows[index] for index in at])
    bar.ax.tick_params(length=1.5, pad=1)
    bar.outline.set_linewidth(0.4)


def decimate(
    x: Floats, y: Floats, shape: Shape, columns: int = PIXEL_COLUMNS
) -> tuple[Floats, Floats]:
    """Return the points that can be seen: per column of pixels the first, least, greatest, last.

    Series of up to four points a column are returned as they are. NaNs count as no value, but a
    gap at the start of a series stays one.
    """
    if x.size <= 4 * columns or shape == "points":
        return x, y
    finite = np.flatnonzero(np.isfinite(y))
    if not finite.size:
        return x[:0], y[:0]
    x, y = x[finite], y[finite]
    span = x[-1] - x[0]
    if span <= 0:
        return x[[0, -1]], y[[0, -1]]
    column = np.minimum(((x - x[0]) * (columns / span)).astype(np.int64), columns - 1)
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    ends = np.append(starts[1:], x.size)
    keep = np.zeros(x.size, dtype=bool)
    keep[starts] = True
    keep[ends - 1] = True
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        keep[start + int(y[start:end].argmin())] = True
        keep[start + int(y[start:end].argmax())] = True
    return x[keep], y[keep]
