"""What a run's page draws: one picture for those without scripts, and series for the browser."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf.algorithms import roles
from ccperf.present.figures import FIGURES, OF_RECORDINGS, link_map, packed, svg
from ccperf.present.figures.timelines import TIMELINES, describe
from ccperf.runs.metrics import METRICS, FlowSeries
from ccperf.site.deflated import compressed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ccperf.present.figures import Figure, Series
    from ccperf.present.figures.packed import Room
    from ccperf.runs.result import Result

#: The figure that a page has as a picture, for those without scripts.
PICTURE = "time_series"
PICTURE_FILE = "picture.svg"
#: More flows than this hide each other: so many are drawn, spread over all.
MOST_DRAWN = 60
#: What pages say in numbers of a run that they simulate, beside the recorded one: metrics that
#: `static/quantities.js` computes, too.
ANSWERS = (
    "mean_agg_throughput_l4",
    "mean_srtt_l4",
    "mean_sojourn_l2",
    "loss_rate_l2",
    "total_retransmissions_l4",
)
#: Data of the run that a page shows first.
DATA_FILE = "run.js"


@dataclass(frozen=True)
class Drawn:
    """A figure in the picture of a run's page."""

    title: str
    caption: str
    alt: str
    #: Whether the page's scripts draw it, too.
    is_drawn: bool


@dataclass(frozen=True)
class Picture:
    """The one picture of a run's page."""

    file: str
    parts: tuple[Drawn, ...]
    #: How tall what scripts draw is in it, at its top, over the picture's width.
    cut: float

    @property
    def alt(self) -> str:
        """What it shows, for those who do not see it."""
        return " ".join(part.alt for part in self.parts)

    @property
    def has_series(self) -> bool:
        """Whether there are series, which scripts draw."""
        return self.parts[0].is_drawn

    @property
    def is_for_all(self) -> bool:
        """Whether it has something that scripts do not draw."""
        return not all(part.is_drawn for part in self.parts)


def series_of(result: Result) -> FlowSeries | None:
    """Return the series of a run; None if there is nothing to draw."""
    flows = FlowSeries(result.scenario, result.recording)
    return flows if flows.names and flows.time.size else None


def picture(
    result: Result, flows: FlowSeries | None, detail: svg.Detail = svg.COARSE
) -> tuple[Picture, str] | None:
    """Return the picture of a run with its SVG; None if there is nothing to draw.

    Its series over time, then what not every run has.
    """
    parts: list[Drawn] = []
    drawn: list[tuple[Figure, svg.Detail]] = []
    if flows is not None:
        figure = _thinned(describe(TIMELINES[PICTURE], flows))
        parts.append(Drawn(figure.title, FIGURES[PICTURE].caption, figure.alt, True))
        drawn.append((figure, detail))
    for kind in OF_RECORDINGS.values():
        if (other := kind.describe(result.scenario, result.recording)) is not None:
            parts.append(Drawn(other.title, kind.caption, other.alt, False))
            drawn.append((other, svg.SMALL))
    if not drawn:
        return None
    maps = link_map.draw(result.scenario, result.recording)
    if maps is not None:
        parts.append(Drawn(maps.title, link_map.CAPTION, maps.alt, False))
    text, heights = svg.draw_all(drawn, *([maps] if maps else []))
    cut = 10 * heights[0] / svg.WIDTH if flows is not None else 0.0
    return Picture(PICTURE_FILE, tuple(parts), cut), text


def _thinned(figure: Figure) -> Figure:
    """Return the figure with no more flows than can be seen; the mean is still that of all."""
    count = len(figure.subjects)
    if count <= MOST_DRAWN:
        return figure
    kept = np.linspace(0, count - 1, MOST_DRAWN).round().astype(int).tolist()
    place = {subject: index for index, subject in enumerate(kept)}

    def thinned(series: Iterable[Series]) -> Iterator[Series]:
        for one in series:
            if one.role != "subject":
                yield one
            elif one.subject in place:
                yield replace(one, subject=place[one.subject])

    return replace(
        figure,
        alt=f"{figure.alt} {MOST_DRAWN} of the flows are drawn.",
        panels=tuple(
            replace(panel, series=tuple(thinned(panel.series))) for panel in figure.panels
        ),
        subjects=tuple(figure.subjects[subject] for subject in kept),
    )


def data(result: Result, flows: FlowSeries, room: Room) -> bytes:
    """Return a run's series as a script that hands them to the page."""
    described = [flow["cc"]["type"] if "cc" in flow else "" for flow in _flows(result)]
    names = [described[i] if i < len(described) else "" for i in flows.positions.tolist()]
    point = roles.parameters(result.parameters)
    algorithm = roles.under_test(result.parameters) or ""
    run = {
        "id": result.id,
        "algorithm": algorithm,
        "name": algorithm or ", ".join(dict.fromkeys(described)),
        "experiment": result.called,
        "point": ", ".join(f"{name} = {value}" for name, value in point.items()),
        "seed": result.provenance.seed,
        "answers": answers(result),
        **packed.pack(flows, room, names),
    }
    return compressed(result.id, run)


def answers(result: Result) -> list[float | None]:
    """Return one value of a run for each of `ANSWERS`; None where there is none."""
    columns = {
        "flow": result.flow_metrics,
        "link": result.link_metrics,
        "network": result.network_metrics,
    }
    return [METRICS[name].of_run(columns[METRICS[name].scope]) for name in ANSWERS]


def compact(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what rows have in common, then what each has besides; `ccperf.expand` undoes it.

    A scenario of a thousand flows says nearly the same a thousand times.
    """
    # Values are told apart by how they are written: 1 is not true, and some are lists.
    written = [{key: repr(value) for key, value in row.items()} for row in rows]
    counts = {key: Counter(row[key] for row in written if key in row) for key in _keys(rows)}
    common = {key: of.most_common(1)[0][0] for key, of in counts.items() if of.total() == len(rows)}
    values = {
        key: next(row[key] for row, texts in zip(rows, written, strict=True) if texts[key] == text)
        for key, text in common.items()
    }
    return [
        values,
        *(
            {key: row[key] for key, text in texts.items() if common.get(key) != text}
            for row, texts in zip(rows, written, strict=True)
        ),
    ]


def _keys(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys of all rows, in their order."""
    return list(dict.fromkeys(key for row in rows for key in row))


def scenario(canonical: Mapping[str, Any]) -> bytes:
    """Return a scenario as a script, for pages that simulate it with other settings."""
    lists = {name: compact(canonical[name]) for name in ("links", "flows")}
    return compressed("scenario", {**canonical, **lists})


def script(name: str, value: Any) -> str:
    """Return data as a script of the site; see `static/data.js`."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return f"ccperf.receive({json.dumps(name)},{text});\n"


def _flows(result: Result) -> list[dict[str, Any]]:
    flows: list[dict[str, Any]] = result.scenario.parsed["flows"]
    return flows
