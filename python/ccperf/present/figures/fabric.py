"""A drawing of a fabric by layers: hosts below, the switches that they hang on, spines or cores."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from ccperf.base.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Pixels.
_WIDTH, _GAP, _HEIGHT = 980, 118, 26
#: What links are stands at the left of them.
_TOP, _SIDE, _LABELS = 24, 12, 190
#: Narrower boxes have no room for a name.
_LEAST_NAMED = 40

Link = tuple[str, str, "Mapping[str, Any]"]


def layers(links: Sequence[Link], hosts: Iterable[str]) -> list[list[str]]:
    """Return nodes by their distance from hosts, those first; empty if no switch is without any.

    Then the network is no fabric: switches in a row, as in a dumbbell, say more side by side.
    """
    beside: dict[str, list[str]] = defaultdict(list)
    for one, other, _ in links:
        beside[one].append(other)
        beside[other].append(one)
    level = dict.fromkeys((node for node in hosts if node in beside), 0)
    level |= {node: 0 for node, others in beside.items() if len(others) == 1}
    waiting = list(level)
    for node in waiting:
        for other in beside[node]:
            if other not in level:
                level[other] = level[node] + 1
                waiting.append(other)
    if max(level.values(), default=0) < 2:
        return []
    found: list[list[str]] = [[] for _ in range(max(level.values()) + 1)]
    for node in beside:
        found[level[node]].append(node)
    return found


def draw(
    links: Sequence[Link],
    levels: Sequence[Sequence[str]],
    tested: set[str],
    shares: Mapping[str, float],
) -> tuple[int, int, str]:
    """Return width, height and the parts of the drawing.

    Links of which a port is `tested` are bold. With `shares` (of a link direction's rate that is
    used, from 0 to 1, by its name) they are coloured by the larger of theirs, relative to the
    largest of all.
    """
    top = len(levels) - 1
    places = {
        node: (
            _LABELS + (_WIDTH - _LABELS - _SIDE) * (2 * i + 1) // (2 * len(row)),
            _TOP + _GAP * (top - n),
        )
        for n, row in enumerate(levels)
        for i, node in enumerate(row)
        if n
    }
    level_of = {node: n for n, row in enumerate(levels) for node in row}
    gaps: dict[int, list[Link]] = defaultdict(list)
    for link in links:
        gaps[max(level_of[link[0]], level_of[link[1]])].append(link)
    parts = []
    for gap, members in sorted(gaps.items()):
        usual = Counter(_settings(link) for _, _, link in members).most_common(1)[0][0]
        parts += [
            _line(places[one], places[other], link, _settings(link) != usual, tested, shares)
            for one, other, link in members
            if one in places and other in places
        ]
        others = sorted({_settings(link)[0] for _, _, link in members} - {usual[0]})
        said = [
            f"{usual[0]}, {usual[1]}",
            usual[2],
            f"dashed: {', '.join(others)}" if others else "",
        ]
        y = _TOP + _GAP * (top - gap) + (_GAP // 2 - 8 if gap > 1 else 30)
        parts += [
            f'<text class="kind" x="{_SIDE}" y="{y + 16 * row}">{escape(text)}</text>'
            for row, text in enumerate(filter(None, said))
        ]
    hung: Counter[str] = Counter()
    for one, other, _ in gaps[1]:
        hung[other if level_of[one] == 0 else one] += 1
    for node, (x, y) in places.items():
        row = levels[level_of[node]]
        width = min(84, (_WIDTH - _LABELS - _SIDE) // len(row) - 6)
        parts.append(
            f'<rect class="router" x="{x - width // 2}" y="{y - _HEIGHT // 2}" width="{width}" '
            f'height="{_HEIGHT}" rx="3"/>'
        )
        if width >= _LEAST_NAMED:
            name = node if len(node) * 7 < width else f"{node[: width // 7 - 1]}…"
            parts.append(f'<text x="{x}" y="{y + 4}">{escape(name)}</text>')
        if hung[node]:
            text = counted(hung[node], "host") if width >= 56 else hung[node]
            parts.append(
                f'<path d="M{x} {y + _HEIGHT // 2}v12"/><text x="{x}" y="{y + 40}">{text}</text>'
            )
    return _WIDTH, _TOP + _GAP * (top - 1) + 76, "".join(parts)


def _settings(link: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what a link says of itself: rate, delay, queue discipline of its upward port."""
    forward = link["forward"]
    rate = forward["rate"] or link["rate"]
    return rate, link["delay"], (forward["qdisc"] or {}).get("type", "")


def _line(
    start: tuple[int, int],
    end: tuple[int, int],
    link: Mapping[str, Any],
    is_other: bool,
    tested: set[str],
    shares: Mapping[str, float],
) -> str:
    name = link["name"]
    found = {
        way: shares[f"{name}_{way}"] for way in ("forward", "reverse") if f"{name}_{way}" in shares
    }
    most = max(shares.values(), default=0.0) or 1.0
    kinds = [f"u{min(9, int(10 * max(found.values()) / most))}"] if found else []
    if not found and name in tested:
        kinds.append("tested")
    if is_other:
        kinds.append("other")
    one, other = link["ends"]
    ways = {"forward": f"{one} to {other}", "reverse": f"{other} to {one}"}
    told = ", ".join(f"{ways[way]} {100 * share:.1f} %" for way, share in found.items())
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    title = f"<title>{escape(told)}</title>" if told else ""
    return f'<path{kind} d="M{start[0]} {start[1]}L{end[0]} {end[1]}">{title}</path>'
