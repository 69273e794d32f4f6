"""The same figure as somebody wants it in a paper: one panel, wider bins, words of their own."""

from __future__ import annotations

import re
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ccperf import _native
from ccperf.errors import UsageError, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.present.figures.figure import Axis, Figure, Floats, Panel, Series


def adjusted(
    figure: Figure,
    *,
    panel: str = "",
    bin: str = "",
    sum: bool = False,
    log: str = "",
    labels: Mapping[str, str] = MappingProxyType({}),
) -> Figure:
    """Return the figure with all that is asked for; what is empty changes nothing.

    `bin` is a time such as `200ms`. Raises `UsageError`, which names what is wrong.
    """
    if panel:
        figure = only(figure, panel)
    if sum:
        figure = together(figure)
    if bin:
        figure = binned(figure, bin)
    if log:
        figure = logarithmic(figure, log)
    return labelled(figure, labels) if labels else figure


def _seconds(text: str) -> float:
    if not isinstance(text, str):  # of a caller who has no types
        raise UsageError("bin", f'`{text}` has no unit; write "{text}s" for seconds')
    try:
        time = _native.parse_time(text)
    except ValueError as error:
        raise UsageError("bin", str(error)) from None
    if time == 0:
        raise UsageError("bin", f"`{text}` must be above 0")
    return time / 1e9


def only(figure: Figure, panel: str) -> Figure:
    """Return the figure with one of its panels. Raises `UsageError` for one that it has not."""
    there = {each.name: each for each in (*figure.panels, *figure.others)}
    if panel not in there:
        raise UsageError("panel", unknown(f"panel of {figure.name}", panel, there))
    found = there[panel]
    drawn = {one.role for one in found.series} | {line.role for line in found.lines}
    return replace(
        figure,
        name=f"{figure.name}_{panel}",
        title=f"{figure.title}: {found.y.label}" if figure.panels[1:] else figure.title,
        alt=f"{found.y.title} over {found.x.title} for {', '.join(figure.entries)}.",
        panels=(found,),
        others=(),
        roles=tuple((role, label) for role, label in figure.roles if role in drawn),
        side_by_side=False,
    )


def binned(figure: Figure, bin: str) -> Figure:
    """Return a figure over time with means over bins of that length, such as `200ms`.

    What holds over intervals (throughput) is averaged with its exact share of each bin; of values
    at points in time (data in flight, RTT) it is the mean of those in the bin, in its middle. The
    last bin ends with the run. Raises `UsageError` for a figure that is not over time, for bins
    that are shorter than the time between samples, and where a run has not two of them: one mean is
    no course over time.
    """
    if not all(map(_is_over_time, figure.panels)):
        raise UsageError("bin", f"`{figure.name}` is not over time")
    panels, seconds = [], _seconds(bin)
    for panel in figure.panels:
        width = seconds * {"s": 1.0, "ms": 1e3}[panel.x.unit]
        # Words have no mean.
        shapes = () if panel.y.labels else ("line", "step")
        series = tuple(
            _mean(one, width, panel.x, bin) if one.shape in shapes else one for one in panel.series
        )
        panels.append(replace(panel, series=series))
    return replace(figure, panels=tuple(panels))


def _mean(series: Series, width: float, axis: Axis, bin: str) -> Series:
    x, y = series.x, series.y
    if x.size < 2:
        return series
    steps = np.diff(x, prepend=x[0] - (x[1] - x[0]))
    longest = float(steps.max())
    if width < longest * (1 - 1e-9):
        unit = f" {axis.unit}"
        message = f"`{bin}` is shorter than {longest:g}{unit}, the time between samples"
        raise UsageError("bin", message)
    start = float(x[0] - steps[0]) if series.begins is None else series.begins
    count = int(np.ceil((x[-1] - start) / width - 1e-9))
    if count < 2:
        end = f"{x[-1]:.4g} {axis.unit}"
        raise UsageError("bin", f"`{bin}` must be shorter than the run, whose samples end at {end}")
    edges = np.minimum(start + width * np.arange(count + 1), x[-1])
    if series.shape == "step":
        at, means = edges[1:], _shares(x, y, steps, edges)
    else:
        at, means = (edges[:-1] + edges[1:]) / 2, _within(x, y, edges)
    begins = start if series.shape == "step" else None
    return replace(series, x=at, y=means, half_width=None, begins=begins)


def _shares(x: Floats, y: Floats, steps: Floats, edges: Floats) -> Floats:
    """The mean of each bin of values that hold over the interval that ends at their point."""
    known = np.isfinite(y)
    ends = np.concatenate([[x[0] - steps[0]], x])
    area = np.concatenate([[0.0], np.cumsum(np.where(known, y, 0.0) * steps)])
    length = np.concatenate([[0.0], np.cumsum(known * steps)])
    areas, lengths = (np.diff(np.interp(edges, ends, of)) for of in (area, length))
    return _ratio(areas, lengths)


def _within(x: Floats, y: Floats, edges: Floats) -> Floats:
    """The mean of the values in each bin, its end included, whichever way that is rounded."""
    ends = edges + 1e-9 * (edges[1] - edges[0])
    which = np.clip(np.searchsorted(ends, x, side="left") - 1, 0, len(edges) - 2)
    known = np.isfinite(y)
    sums = np.bincount(which[known], y[known], len(edges) - 1)
    counts = np.bincount(which[known], minlength=len(edges) - 1)
    return _ratio(sums, counts)


def _ratio(sums: npt.NDArray[Any], counts: npt.NDArray[Any]) -> Floats:
    """Sums over counts; NaN where nothing was counted."""
    ratio = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=ratio, where=counts > 1e-9)
    return ratio


def logarithmic(figure: Figure, axes: str) -> Figure:
    """Return the figure with a logarithmic axis: `x`, `y` or `xy`.

    Values that are not above 0 are not drawn; notes say which, where it is not over time. Raises
    `UsageError` for an axis of words, or without values above 0.
    """
    if not axes or set(axes) - {"x", "y"}:
        raise UsageError("log", f"`{axes}` is not x, y or xy")
    panels = tuple(_logarithmic(panel, axes) for panel in figure.panels)
    drawn = tuple(panel if _is_over_time(panel) else _above_0(panel, axes) for panel in panels)
    lost = [
        f"{figure.entries[figure.entry_of[one.subject]]} at {_place(before.x, x)}"
        for before, after in zip(panels, drawn, strict=True)
        for one, other in zip(before.series, after.series, strict=True)
        for x in one.x[np.isnan(other.y) & ~np.isnan(one.y)]
    ]
    notes = (f"Not above 0, so on no logarithmic axis: {', '.join(lost)}.",) if lost else ()
    alt = " ".join((figure.alt, *notes))
    return replace(figure, panels=drawn, alt=alt, notes=(*figure.notes, *notes))


def _place(axis: Axis, x: float) -> str:
    return axis.labels[round(x)] if axis.labels else f"{x:g}"


def _is_over_time(panel: Panel) -> bool:
    return panel.x.label == "Time"


def _above_0(panel: Panel, axes: str) -> Panel:
    """The panel whose lines break at what is not above 0; else they would fall to the bottom."""

    def above(one: Series) -> Series:
        if one.shape not in ("line", "points") or one.role != "subject":
            return one
        hidden = (("x" in axes) & (one.x <= 0)) | (("y" in axes) & (one.y <= 0))
        return replace(one, y=np.where(hidden, np.nan, one.y))

    return replace(panel, series=tuple(map(above, panel.series)))


def _logarithmic(panel: Panel, axes: str) -> Panel:
    for name in dict.fromkeys(axes):
        axis: Axis = getattr(panel, name)
        if axis.labels:
            raise UsageError("log", f"`{axis.label}` is no quantity")
        values = [getattr(one, name) for one in panel.series if one.shape != "ticks" or name == "x"]
        if not any((each > 0).any() for each in values):
            raise UsageError("log", f"no value of `{axis.label}` is above 0")
        lower = None if (axis.lower or 0) <= 0 else axis.lower
        changed = replace(axis, is_log=True, lower=lower)
        if name == "y":
            panel = replace(panel, y=changed)
            continue
        # A first interval that begins at 0 begins nowhere on this axis.
        series = tuple(
            replace(one, begins=one.begins if (one.begins or 0) > 0 else None)
            for one in panel.series
        )
        panel = replace(panel, x=changed, series=series)
    return panel


def labelled(figure: Figure, labels: Mapping[str, str]) -> Figure:
    """Return the figure with other words for what it shows: `{"mycca.py:MyCca": "Ours"}`.

    A name is a whole label (of a line, an axis, a value of an axis), or a word of one. Raises
    `UsageError` for a name that stands nowhere.
    """
    used: set[str] = set()

    def text(label: str) -> str:
        if label in labels:
            used.add(label)
            return labels[label]
        for name, words in labels.items():
            changed = _word(name).sub(lambda _, words=words: words, label)  # type: ignore[misc]
            if changed != label:
                used.add(name)
                label = changed
        return label

    def axis(one: Axis) -> Axis:
        return replace(
            one, label=text(one.label), of=text(one.of), labels=tuple(map(text, one.labels))
        )

    def panel(one: Panel) -> Panel:
        series = tuple(replace(each, label=text(each.label)) for each in one.series)
        return replace(one, x=axis(one.x), y=axis(one.y), series=series)

    changed = replace(
        figure,
        panels=tuple(map(panel, figure.panels)),
        notes=tuple(map(text, figure.notes)),
        subjects=tuple(replace(s, name=text(s.name), run=text(s.run)) for s in figure.subjects),
        roles=tuple((role, text(label)) for role, label in figure.roles),
    )
    for name in labels:
        if name not in used:
            raise UsageError("label", unknown("label of this figure", name, _texts(figure)))
    return changed


def _word(name: str) -> re.Pattern[str]:
    """A name where it is not a part of a longer one."""
    return re.compile(rf"(?<![^\s,(=]){re.escape(name)}(?![^\s,:;)=])")


def _texts(figure: Figure) -> Sequence[str]:
    axes = [axis for panel in figure.panels for axis in (panel.x, panel.y)]
    texts = [
        *figure.entries,
        *(text for axis in axes for text in (axis.label, axis.of)),
        *(label for axis in axes for label in axis.labels),
        *(label for _, label in figure.roles),
        *(key.label for key in figure.keys),
    ]
    return list(dict.fromkeys(filter(None, texts)))


#: What flows share, so that theirs adds up; of everything else there is a mean.
_ADDING = ("throughput", "in_flight")


def together(figure: Figure) -> Figure:
    """Return a figure over time of one run with its flows as one.

    Throughput and data in flight are sums over the flows, all else is their mean; the optimum is
    that of all together. Raises `UsageError` for another figure.
    """
    if not all(map(_is_over_time, figure.panels)):
        raise UsageError("sum", f"`{figure.name}` is not over time")
    if len(figure.subjects) == 1:
        return figure
    panels = tuple(
        replace(panel, series=tuple(_joined(panel, len(figure.subjects))))
        for panel in figure.panels
    )
    return replace(
        figure,
        panels=panels,
        subjects=(replace(figure.subjects[0], name="all flows"),),
        roles=tuple((role, "optimum") for role, _ in figure.roles if role == "optimum"),
    )


def _joined(panel: Panel, count: int) -> list[Series]:
    adds = panel.name in _ADDING
    kinds: dict[tuple[str, bool, int], list[Series]] = {}
    for one in panel.series:
        if one.role == "subject":
            kinds.setdefault((one.shape, one.is_dashed, one.rank), []).append(one)
    found = []
    for alike in kinds.values():
        first = alike[0]
        if first.shape == "ticks":
            x = np.unique(np.concatenate([one.x for one in alike]))
            found.append(replace(first, x=x, y=np.ones(x.shape), subject=0))
            continue
        if any(not np.array_equal(one.x, first.x) for one in alike):
            raise UsageError("sum", f"`{panel.y.label}` of several flows cannot be added")
        values = np.array([one.y for one in alike])
        known = np.isfinite(values)
        sums, counts = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)
        # Where no flow is there, nothing is sent.
        total = sums if known.any() else np.full(sums.shape, np.nan)
        y = total if adds else _ratio(sums, counts)
        found.append(replace(first, y=y, subject=0))
    best = [one for one in panel.series if one.role == "optimum"]
    return [*found, *(replace(one, y=one.y * count if adds else one.y) for one in best)]
