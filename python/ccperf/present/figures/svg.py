"""Draw figures for pages: SVG in about a millisecond, in the page's font, for light and dark.

Lengths are whole tenths of a pixel (`viewBox`), which keeps the paths short. Texts stay texts: they
can be selected, searched, and read aloud.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, TypeAlias
from xml.sax.saxutils import escape

import numpy as np

from ccperf.present.figures.geometry import (
    alone,
    data_limits,
    decimate,
    legend_columns,
    limits,
    marked,
    outline,
    pieces,
    ticks,
)
from ccperf.present.figures.palette import COLUMN, DASHES, HEIGHTS, ROLES, Look

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ccperf.present.figures.figure import Figure, Floats, Panel, Role, Series

#: Where points are along an axis, in the units of the drawing.
Places: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"

#: Tenths of a pixel. On a page, a figure is about this wide.
WIDTH = 4600
FONT = 130
_UNIT = WIDTH / COLUMN  # an inch of a column
_LINE_HEIGHT = 200
_TICK = 40
#: How tall the strokes of events are, by their rank.
_STROKES = (70, 130)
_GAP = 120
_PAD = 40
#: Beyond the plot's edges, so that lines along them show their full width.
_OVERLAP = 15


@dataclass(frozen=True)
class Detail:
    """How finely series are drawn."""

    #: A series is thinned to this many columns.
    columns: int
    #: Points of all series of a panel, about: with many flows each is thinned further.
    points: int
    #: But never to fewer columns than this.
    least: int


#: Two columns for each pixel on the page.
FINE = Detail(900, 60_000, 40)
#: For pages that have the series as data, too.
SMALL = Detail(70, 700, 16)
#: For those who run no scripts.
COARSE = Detail(36, 220, 10)
#: The same on pages that have to stay small.
COARSEST = Detail(24, 110, 8)
#: Parts of the font's size; the widest sans serif that a page may choose (DejaVu Sans, Verdana).
_WIDTHS = {
    **dict.fromkeys("ijlI|.,:;'![]()ft r", 0.41),
    **dict.fromkeys("_cksvxyz", 0.56),
    **dict.fromkeys("mwMW%@", 0.98),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ", 0.74),
}
_MARKER_RADIUS = 40
_MARK_RADIUS = 34
_ROLE_RADIUS = {"optimum": 80.0, "joint": 62.0}
#: Points lie over lines; the optimum beneath the flows, which may hit it.
_POINT_ORDER = {"optimum": 4, "joint": 5, "subject": 6}

_LINE_WIDTH, _DASHED = 17, "60 30"
_STYLE = (
    "text{{font:{font}px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',"
    "sans-serif;fill:#1b2126}}"
    "path{{fill:none;stroke-linejoin:round}}"
    ".g{{stroke:#e3e3e3;stroke-width:9}}.a{{stroke:#1b2126;stroke-width:11}}"
    ".l{{stroke-width:{line}}}.n{{stroke-width:11}}.r{{stroke-width:20}}"
    ".t{{stroke-width:9;stroke-opacity:.55}}"
    ".d{{stroke-dasharray:20 28}}.h{{stroke-dasharray:{dashed}}}"
    ".m{{text-anchor:middle}}.e{{text-anchor:end}}"
    ".b{{stroke-opacity:0;fill-opacity:.18}}"
    "{light}@media(prefers-color-scheme:dark){{text{{fill:#e6eaed}}.g{{stroke:#343d45}}"
    ".a{{stroke:#a3afb9}}{dark}}}"
)


def draw(figure: Figure, detail: Detail = FINE) -> str:
    """Return the figure as a whole SVG document; the same figure gives the same text."""
    return draw_all([(figure, detail)])[0]


@dataclass(frozen=True)
class Fragment:
    """A drawing of its own kind, to stand beneath figures: its body, with its style, in pixels."""

    body: str
    width: int
    height: int
    title: str
    alt: str


def draw_all(
    figures: Sequence[tuple[Figure, Detail]], beneath: Fragment | None = None
) -> tuple[str, list[int]]:
    """Return figures one below the other as one SVG document, and how tall each is, in pixels.

    What stands `beneath` them is as wide as they are, and not among the heights.
    """
    drawings = [_Drawing(figure, detail) for figure, detail in figures]
    bodies = ["".join(drawing.body()) for drawing in drawings]
    heights = [drawing.height for drawing in drawings]
    within = [""]
    if len(drawings) > 1:
        within = [f".f{index} " for index in range(len(drawings))]
        tops = accumulate(heights, initial=0)
        bodies = [
            f'<svg class="f{index}" y="{top}" width="{WIDTH}" height="{height}">{body}</svg>'
            for index, (top, height, body) in enumerate(zip(tops, heights, bodies, strict=False))
        ]
    colours = [drawing.colours(prefix) for drawing, prefix in zip(drawings, within, strict=True)]
    style = _STYLE.format(
        font=FONT,
        line=_LINE_WIDTH,
        dashed=_DASHED,
        light="".join(light for light, _ in colours),
        dark="".join(dark for _, dark in colours),
    )
    titles, alts = zip(*((figure.title, figure.alt) for figure, _ in figures), strict=True)
    height = sum(heights)
    if beneath is not None:
        titles, alts = (*titles, beneath.title), (*alts, beneath.alt)
        tall = WIDTH * beneath.height // beneath.width
        bodies.append(
            f'<svg y="{height}" width="{WIDTH}" height="{tall}" '
            f'viewBox="0 0 {beneath.width} {beneath.height}">{beneath.body}</svg>'
        )
        height += tall
    title, described = escape(", ".join(titles)), escape(" ".join(alts))
    document = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH // 10}" '
        f'height="{height // 10}" viewBox="0 0 {WIDTH} {height}" role="img">'
        f"<title>{title}</title><desc>{described}</desc>"
        f"<style>{style}</style>{''.join(bodies)}</svg>\n"
    )
    return document, [each // 10 for each in heights]


class _Drawing:
    def __init__(self, figure: Figure, detail: Detail) -> None:
        self.figure = figure
        self.detail = detail
        self.looks = figure.looks
        stacked = len(figure.panels) > 1 and not figure.side_by_side
        self.rows = len(figure.panels) if stacked else 1
        self.columns = len(figure.panels) // self.rows
        self.x = [
            _Scale(figure, panel, "x", 6 if figure.side_by_side else 8) for panel in figure.panels
        ]
        self.y = [_Scale(figure, panel, "y", 6) for panel in figure.panels]

    def colours(self, within: str) -> tuple[str, str]:
        """Return the style's rules for colours in what `within` selects: light ones, dark ones."""
        shown = [(f"c{index}", look) for index, look in enumerate(self.looks)]
        shown += [(f"r{role[0]}", ROLES[role]) for role, _ in self.figure.roles]
        light = "".join(_colours(within, name, look.colour) for name, look in shown)
        light += "".join(
            f"{within}.l.{name},{within}.n.{name}{{stroke-dasharray:{_dashes(look)}}}"
            f"{within}.n.h.{name}{{stroke-dasharray:{_DASHED}}}"
            for name, look in shown
            if look.dash
        )
        dark = "".join(
            _colours(within, name, look.dark) for name, look in shown if look.dark != look.colour
        )
        return light, dark

    def body(self) -> Iterator[str]:
        """Yield all that is drawn; `height` is there afterwards."""
        bar = self.figure.is_crowded
        entries = list(self._legend())
        widths = [_text_width(label) + 330 for label, _, _ in entries]
        across = legend_columns(widths, WIDTH - 2 * _PAD)
        legend = _LINE_HEIGHT * -(-len(entries) // across)
        top = legend + (2 * _LINE_HEIGHT if bar else 0) + _PAD + FONT // 2
        labels = [self.y[index].widest for index in range(0, len(self.y), self.columns)]
        left = int(_LINE_HEIGHT + max(labels) + _TICK + 60)
        last = [scale.ticks[-1][1] for scale in self.x if scale.ticks]
        right = int(WIDTH - max(_PAD + 40, *(_text_width(text) / 2 + _PAD for text in last), 0))
        lines = max(len(panel.x.lines) for panel in self.figure.panels)
        beneath = int(_TICK + (1 + lines) * _LINE_HEIGHT - 20)
        tall = round(HEIGHTS[self.rows] * _UNIT) - beneath - FONT // 2
        height = (tall - _GAP * (self.rows - 1)) // self.rows
        width = (right - left - _GAP * (self.columns - 1)) // self.columns
        self.height = top + tall + beneath
        yield from _legend_rows(entries, widths, across)
        if bar:
            yield from self._colour_bar(legend + _PAD, left, right)
        for index, panel in enumerate(self.figure.panels):
            row, column = divmod(index, self.columns)
            x, y = self.x[index], self.y[index]
            box = (left + column * (width + _GAP), top + row * (height + _GAP), width, height)
            yield from _frame(panel, x, y, box, column == 0, row == self.rows - 1, left)
            yield from self._content(panel, x, y, box)

    def _content(
        self, panel: Panel, x: _Scale, y: _Scale, box: tuple[int, int, int, int]
    ) -> Iterator[str]:
        left, top, width, height = box
        o = _OVERLAP
        yield (
            f'<svg x="{left - o}" y="{top - o}" width="{width + 2 * o}" height="{height + 2 * o}" '
            f'viewBox="{-o} {-o} {width + 2 * o} {height + 2 * o}">'
        )
        for line in panel.lines:
            if line.axis == "x":
                path = f"M{x.place(line.value, width)} 0v{height}"
            else:
                path = f"M0 {height - y.place(line.value, height)}h{width}"
            yield f'<path class="r d r{line.role[0]}" d="{path}"/>'
        lines = [one for one in panel.series if one.shape != "points"]
        for series in lines:
            if interval := series.interval(panel.y):
                yield self._band(series, interval, x, y, (width, height))
        for series in sorted(lines, key=lambda one: one.role != "subject"):
            if series.shape == "ticks":
                yield self._ticks(series, x, width, height)
            else:
                yield self._line(series, panel, x, y, width, height)
        yield "</svg>"
        points = [one for one in panel.series if one.shape == "points"]
        for series in points:
            if interval := series.interval(panel.y):
                ends = [top + height - y.places(end, height) for end in interval]
                yield self._bars(series, left + x.places(series.x, width), ends)
        for series in sorted(points, key=lambda one: _POINT_ORDER.get(one.role, 0)):
            known = np.isfinite(series.x) & np.isfinite(series.y)
            at = zip(
                (left + x.places(series.x[known], width)).tolist(),
                (top + height - y.places(series.y[known], height)).tolist(),
                strict=True,
            )
            yield self._markers(series, at, _MARKER_RADIUS)

    def _line(
        self, series: Series, panel: Panel, x: _Scale, y: _Scale, width: int, height: int
    ) -> str:
        fair = self.detail.points // (4 * len(panel.series))
        columns = min(self.detail.columns, max(self.detail.least, fair))
        xs, ys = decimate(*outline(series), series.shape, columns)
        # Where values are missing, the line has a gap.
        path = "".join(
            _path(x.places(xs[part], width), height - y.places(ys[part], height), series.shape)
            for part in pieces(xs + ys)
        )
        entry = self.figure.entry_of[series.subject] if series.role == "subject" else 0
        if series.role != "subject":
            dashed = "" if series.role == "mean" else "d "
            return f'<path class="r {dashed}r{series.role[0]}" d="{path}"/>'
        if self.figure.is_crowded:
            return f'<path class="t {"h " * series.is_dashed}c{entry}" d="{path}"/>'
        if series.is_dashed:
            return f'<path class="n h c{entry}" d="{path}"/>'
        thin = len(self.figure.entries) < len(self.figure.subjects)
        drawn = f'<path class="{"n" if thin else "l"} c{entry}" d="{path}"/>'
        if at := marked(series, panel, self.figure):
            places = zip(
                x.places(series.x[at], width).tolist(),
                (height - y.places(series.y[at], height)).tolist(),
                strict=True,
            )
            drawn += self._markers(series, places, _MARK_RADIUS)
        return drawn

    def _ticks(self, series: Series, x: _Scale, width: int, height: int) -> str:
        entry = self.figure.entry_of[series.subject]
        tall = _STROKES[series.rank % len(_STROKES)]
        at = np.unique(x.places(series.x, width)).tolist()
        path = "".join(f"M{place} {height}v-{tall}" for place in at)
        return f'<path class="n c{entry}" d="{path}"/>'

    def _band(
        self,
        series: Series,
        interval: tuple[Floats, Floats],
        x: _Scale,
        y: _Scale,
        size: tuple[int, int],
    ) -> str:
        (low, high), (width, height) = interval, size
        path = ""
        for part in pieces(series.y):
            xs = x.places(np.concatenate([series.x[part], series.x[part][::-1]]), width)
            edge = np.concatenate([high[part], low[part][::-1]])
            corners = zip(xs.tolist(), (height - y.places(edge, height)).tolist(), strict=True)
            path += f"M{'L'.join(f'{a} {b}' for a, b in corners)}z"
        entry = self.figure.entry_of[series.subject]
        band = f'<path class="b c{entry} f" d="{path}"/>'
        # A band of one point has no width.
        single = alone(series.y)
        return band + self._bars(
            series,
            x.places(series.x[single], width),
            [height - y.places(end[single], height) for end in interval],
        )

    def _bars(self, series: Series, at: Places, ends: Sequence[Places]) -> str:
        bars = zip(at.tolist(), *ends, strict=True)
        path = "".join(f"M{place} {low}V{high}" for place, low, high in bars)
        entry = self.figure.entry_of[series.subject]
        return f'<path class="n c{entry}" d="{path}"/>' if path else ""

    def _markers(self, series: Series, at: Iterable[tuple[int, int]], radius: float) -> str:
        entry = self.figure.entry_of[series.subject] if series.role == "subject" else 0
        return _marker(self._look(series.role, entry), series.role, entry, at, radius)

    def _look(self, role: Role, entry: int) -> Look:
        return self.looks[entry] if role == "subject" else ROLES[role]

    def _legend(self) -> Iterator[tuple[str, str, str]]:
        """Yield label, path classes and marker of all that a reader has to tell apart."""
        shapes = {(one.role, one.shape) for panel in self.figure.panels for one in panel.series}
        shapes |= {(line.role, "line") for panel in self.figure.panels for line in panel.lines}
        entries = self.figure.entries
        if not self.figure.is_crowded and (len(entries) > 1 or self.figure.roles):
            points = ("subject", "points") in shapes
            for index, name in enumerate(entries):
                radius = _MARKER_RADIUS if points else _MARK_RADIUS
                mark = points or len(entries) > 1
                handle = _marker(self.looks[index], "subject", index, [(110, 0)], radius)
                yield name, "" if points else f"l c{index}", handle if mark else ""
        for role, label in self.figure.roles:
            points = (role, "points") in shapes
            handle = _marker(ROLES[role], role, 0, [(110, 0)], _MARKER_RADIUS)
            dashed = "" if role == "mean" else "d "
            yield label, "" if points else f"r {dashed}r{role[0]}", handle if points else ""

    def _colour_bar(self, top: int, left: int, right: int) -> Iterator[str]:
        entries = self.figure.entries
        last = len(entries) - 1
        longest = max(_text_width(name) for name in entries)
        count = int(max(2, min(5, (right - left) / (longest + 200))))
        for index in sorted({round(place) for place in np.linspace(0, last, count).tolist()}):
            half = _text_width(entries[index]) / 2 + _PAD
            x = left + (right - left) * (index + 0.5) / len(entries)
            x = min(max(x, half), WIDTH - half)
            yield f'<text class="m" x="{x:.0f}" y="{top + FONT}">{escape(entries[index])}</text>'
        edges = np.linspace(left, right, len(entries) + 1).round().astype(int).tolist()
        for index, (start, end) in enumerate(pairwise(edges)):
            width = end - start
            yield f'<path class="c{index} f" d="M{start} {top + 170}h{width}v90h{-width}z"/>'


class _Scale:
    """One axis of one panel: where it begins and ends, and its ticks."""

    def __init__(self, figure: Figure, panel: Panel, axis: str, most: int) -> None:
        stacked = not figure.side_by_side
        # One above the other the panels share the x axis, side by side the y axis.
        sharing = figure.panels if stacked == (axis == "x") else (panel,)
        bounds = [data_limits(each, axis) for each in sharing]
        low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
        shown = panel.x if axis == "x" else panel.y
        self.low, self.high = limits(shown, low, high)
        self.ticks = [(float(at), escape(label)) for at, label in enumerate(shown.labels)]
        if not shown.labels:
            self.ticks = ticks(self.low, self.high, most)

    @property
    def widest(self) -> float:
        return max((_text_width(text) for _, text in self.ticks), default=0.0)

    def place(self, value: float, length: int) -> int:
        return round((value - self.low) / (self.high - self.low) * length)

    def places(self, values: Floats, length: int) -> Places:
        scaled = (values - self.low) * (length / (self.high - self.low))
        # What is no number lies at the edge; `nan_to_num` takes ten times as long.
        scaled[np.isnan(scaled)] = 0.0
        found: Places
        found = np.rint(scaled.clip(-1e6, 1e6)).astype(np.int64)
        return found


def _frame(
    panel: Panel,
    x: _Scale,
    y: _Scale,
    box: tuple[int, int, int, int],
    labels_y: bool,
    labels_x: bool,
    room: int,
) -> Iterator[str]:
    """Yield grid, axes, ticks and labels of one panel; `room` is left of the y axis."""
    left, top, width, height = box
    bottom = top + height
    across = [(left + x.place(value, width), text) for value, text in x.ticks]
    up = [(bottom - y.place(value, height), text) for value, text in y.ticks]
    grid = "".join(f"M{at} {top}v{height}" for at, _ in across)
    grid += "".join(f"M{left} {at}h{width}" for at, _ in up)
    axes = f"M{left} {top}v{height}h{width}"
    axes += "".join(f"M{at} {bottom}v{_TICK}" for at, _ in across)
    axes += "".join(f"M{left} {at}h-{_TICK}" for at, _ in up)
    yield f'<path class="g" d="{grid}"/><path class="a" d="{axes}"/>'
    if labels_x:
        at = bottom + _TICK + FONT
        for place, text in _apart(across):
            yield f'<text class="m" x="{place}" y="{at}">{text}</text>'
        for line in panel.x.lines:
            at += _LINE_HEIGHT
            yield f'<text class="m" x="{left + width // 2}" y="{at - 20}">{escape(line)}</text>'
    if labels_y:
        for place, text in up:
            yield f'<text class="e" x="{left - _TICK - 25}" y="{place + 45}">{text}</text>'
        middle = top + height // 2
        turned = left - room + FONT
        yield (
            f'<text class="m" transform="translate({turned} {middle})rotate(-90)">'
            f"{escape(panel.y.title)}</text>"
        )


def _apart(ticks: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return those labels that do not touch: all of them, or every second one."""
    widest = max((_text_width(text) for _, text in ticks), default=0)
    close = len(ticks) > 1 and ticks[1][0] - ticks[0][0] < widest + 60
    return ticks[::2] if close else ticks


def _legend_rows(
    entries: list[tuple[str, str, str]], widths: list[float], across: int
) -> Iterator[str]:
    """Yield the legend, filled down its columns and centred over the figure."""
    if not entries:
        return
    length, longer = divmod(len(entries), across)
    sizes = [length + (index < longer) for index in range(across)]
    columns: list[list[int]] = []
    for size in sizes:
        start = sum(map(len, columns))
        columns.append(list(range(start, start + size)))
    broad = [max(widths[index] for index in column) for column in columns]
    x = max(float(_PAD), (WIDTH - sum(broad)) / 2)
    for column, width in zip(columns, broad, strict=True):
        for row, index in enumerate(column):
            label, classes, handle = entries[index]
            y = _LINE_HEIGHT * row + 130
            line = f'<path class="{classes}" d="M0 0h220"/>' if classes else ""
            yield (
                f'<g transform="translate({x:.0f} {y})">{line}{handle}'
                f'<text x="270" y="45">{escape(label)}</text></g>'
            )
        x += width


def _path(x: np.ndarray, y: np.ndarray, shape: str) -> str:
    """Return path data through whole numbers; relative steps, for they are short."""
    dx, dy = np.diff(x), np.diff(y)
    moved = (dx != 0) | (dy != 0)
    steps = zip(dx[moved].tolist(), dy[moved].tolist(), strict=True)
    start = f"M{x[0]} {y[0]}"
    if shape == "step":
        return start + "".join(f"v{b}h{a}" if b else f"h{a}" for a, b in steps)
    if shape == "ecdf":
        return start + "".join(f"h{a}v{b}" if a else f"v{b}" for a, b in steps)
    line = " ".join(f"{a} {b}" for a, b in steps)
    return f"{start}l{line}" if line else f"{start}h0"


def _marker(
    look: Look, role: Role, entry: int, at: Iterable[tuple[int, int]], radius: float
) -> str:
    """Return markers of one look at several places."""
    name = f"c{entry}" if role == "subject" else f"r{role[0]}"
    shape = _outline(look.marker, _ROLE_RADIUS.get(role, radius))
    path = "".join(f"M{x} {y}{shape}" for x, y in at)
    return f'<path class="{name}{"" if role == "joint" else " f"}" stroke-width="8" d="{path}"/>'


@cache
def _outline(marker: str, radius: float) -> str:
    """Return the outline of a marker around the current point, which it leaves and closes."""
    if marker == "o":
        r = round(radius)
        return f"m{-r} 0a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0z"
    corners = [(round(radius * x), round(radius * y)) for x, y in _corners(marker)]
    (x, y), *others = corners
    path = f"m{x} {y}"
    for a, b in others:
        path += f"l{a - x} {b - y}"
        x, y = a, b
    return path + "z"


def _corners(marker: str) -> list[tuple[float, float]]:
    """Return the corners of a marker in the unit circle, y downwards."""
    if marker in "PX":
        arm = 0.36
        plus = [(-arm, -1), (arm, -1), (arm, -arm), (1, -arm), (1, arm), (arm, arm)]
        plus += [(arm, 1), (-arm, 1), (-arm, arm), (-1, arm), (-1, -arm), (-arm, -arm)]
        if marker == "P":
            return [(float(x), float(y)) for x, y in plus]
        turn = math.sqrt(0.5)
        return [(turn * (x - y), turn * (x + y)) for x, y in plus]
    if marker == "*":
        return [
            (math.sin(math.pi * i / 5) * r, -math.cos(math.pi * i / 5) * r)
            for i, r in ((i, 1.0 if i % 2 == 0 else 0.382) for i in range(10))
        ]
    count, turn = {
        "s": (4, 45),
        "D": (4, 0),
        "^": (3, 0),
        ">": (3, 90),
        "v": (3, 180),
        "<": (3, 270),
        "p": (5, 0),
        "h": (6, 0),
    }[marker]
    size = {3: 1.15, 4: 1.1}.get(count, 1.0)
    angles = [math.radians(turn + 360 * i / count) for i in range(count)]
    return [(size * math.sin(angle), -size * math.cos(angle)) for angle in angles]


def _dashes(look: Look) -> str:
    return " ".join(f"{_LINE_WIDTH * length:g}" for length in DASHES[look.dash])


def _colours(within: str, name: str, colour: str) -> str:
    return f"{within}.{name}{{stroke:{colour}}}{within}.{name}.f{{fill:{colour}}}"


@cache
def _text_width(text: str) -> float:
    """Return a width that the text does not exceed, whichever of the fonts there is."""
    return FONT * sum(_WIDTHS.get(char, 0.64) for char in text)
