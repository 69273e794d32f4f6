"""Link maps: use and queue of every link over time, a row a direction, as one small drawing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np

from ccperf.base.wording import counted
from ccperf.present.figures.svg import Fragment
from ccperf.runs.metrics.link_series import LinkSeries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ccperf.present.figures.figure import Floats
    from ccperf.runs.recording import Recording
    from ccperf.scenario.canonical import Runnable

TITLE = "Links over time"
CAPTION = (
    "A row is a direction of a link. Each cell is, above, the mean share of its rate in an "
    "interval and, below, the longest queue. Time ends when nothing more is sent."
)
#: Fewer directions than these between switches are better looked at as lines; of all, the most
#: used are drawn.
LEAST, _MOST = 4, 48
#: So many columns at most, each the mean of its intervals; a queue's is their maximum.
_COLUMNS = 90
_LEVELS = 10
#: Pixels.
_ROW, _CELL, _LEFT, _TOP, _BETWEEN, _BOTTOM = 12, 4, 170, 22, 24, 30

_STYLE = (
    ".links text{font-size:11px}.links .back{fill:#eef1f3}.links .use path{fill:#1f6fb5}"
    ".links .queue path{fill:#b5541f}@media(prefers-color-scheme:dark){.links .back{fill:#232a30}"
    ".links .use path{fill:#5aa5e6}.links .queue path{fill:#e6925a}}"
)


def draw(scenario: Runnable, recording: Recording) -> Fragment | None:
    """Which links are used, and where queues stand, over time.

    A row is a direction of a link. Each cell is, above, the mean share of its rate in an interval,
    below, the longest queue, relative to the longest of all. Time ends when nothing more is sent.
    None of a run with few links between switches, or without samples.
    """
    links = LinkSeries(scenario, recording)
    if not links.time.size or len(_inner(scenario) & set(links.names)) < LEAST:
        return None
    used = np.nan_to_num(np.divide(links.sending_rate_l1, links.rate))
    busy = np.flatnonzero(used.any(axis=1))
    if not busy.size:
        return None
    end = int(busy[-1]) + 1
    kept = np.sort(np.argsort(-used[:end].mean(axis=0), kind="stable")[:_MOST])
    names = [_ends(scenario)[links.names[index]] for index in kept]
    edges = np.unique(np.linspace(0, end, _COLUMNS + 1).round().astype(int))
    shares = np.add.reduceat(used[:end, kept], edges[:-1]) / np.diff(edges)[:, None]
    queues = np.nan_to_num(links.qdisc_length[:end, kept])
    longest = np.maximum.reduceat(queues, edges[:-1])
    most = float(longest.max())
    columns, rows = len(edges) - 1, len(names)
    cell = _CELL * _COLUMNS / columns
    width, panel = int(_LEFT + _CELL * _COLUMNS + 16), rows * _ROW
    height = 2 * (panel + _TOP) + _BETWEEN + _BOTTOM
    darkest = counted(round(most), "packet")
    queue_title = f"Longest queue (darkest: {darkest})" if most else "No queue"
    parts = [
        *_panel(_TOP, "Share of the rate used (darkest: all)", "use", shares, names, cell),
        *_panel(
            2 * _TOP + panel + _BETWEEN, queue_title, "queue", longest / (most or 1), names, cell
        ),
    ]
    for share in (0, 0.5, 1):
        x = _LEFT + share * _CELL * _COLUMNS
        time = float(links.time[end - 1]) * 1e3 * share
        parts.append(f'<text class="m" x="{x:.0f}" y="{height - 12}">{time:.3g} ms</text>')
    every = counted(len(links.names), "direction")
    count = f"the {rows} most used of {every}" if rows < len(links.names) else every
    said = f"Use and queue of {count} of links over time."
    body = f'<style>{_STYLE}</style><g class="links">{"".join(parts)}</g>'
    return Fragment(body, width, height, TITLE, said)


def _panel(
    top: int, title: str, kind: str, shares: Floats, names: list[str], cell: float
) -> Iterator[str]:
    """Yield one map; `shares` of shape (columns, rows), from 0 to 1."""
    columns, rows = shares.shape
    yield f'<text x="{_LEFT}" y="{top - 7}">{escape(title)}</text>'
    yield (
        f'<rect class="back" x="{_LEFT}" y="{top}" width="{columns * cell:.0f}" '
        f'height="{rows * _ROW}"/>'
    )
    for row, name in enumerate(names):
        y = top + row * _ROW + _ROW - 2
        yield f'<text class="e" x="{_LEFT - 6}" y="{y}">{escape(name)}</text>'
    levels = np.minimum(np.ceil(np.clip(shares, 0, 1) * _LEVELS), _LEVELS).astype(int)
    yield f'<g class="{kind}" transform="translate({_LEFT} {top})scale({cell:.4g} {_ROW})">'
    for level in range(1, _LEVELS + 1):
        runs = "".join(
            f"M{first} {row}h{length}v1h-{length}z"
            for row in range(rows)
            for first, length in _runs(levels[:, row] == level)
        )
        if runs:
            yield f'<path fill-opacity="{level / _LEVELS:g}" d="{runs}"/>'
    yield "</g>"


def _runs(is_in: np.typing.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield where each run of true values begins, and how long it is."""
    changes = np.flatnonzero(np.diff(np.concatenate([[False], is_in, [False]]).astype(int)))
    for first, last in changes.reshape(-1, 2).tolist():
        yield first, last - first


def _inner(scenario: Runnable) -> set[str]:
    """Return the directions between nodes that both have several links."""
    links = scenario.parsed["links"]
    degree = Counter(end for link in links for end in link["ends"])
    inner = [link["name"] for link in links if all(degree[end] > 1 for end in link["ends"])]
    return {f"{name}_{side}" for name in inner for side in ("forward", "reverse")}


def _ends(scenario: Runnable) -> dict[str, str]:
    """Return from where to where each direction goes; of parallel links, which one."""
    found = {}
    for link in scenario.parsed["links"]:
        one, other = link["ends"]
        plain = link["name"] in (one, other, f"{one}_{other}")
        number = "" if plain else f" ({link['name'].rpartition('_')[2]})"
        found[f"{link['name']}_forward"] = f"{one} > {other}{number}"
        found[f"{link['name']}_reverse"] = f"{other} > {one}{number}"
    return found
