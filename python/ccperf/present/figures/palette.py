"""What figures look like, whoever draws them: colours, markers, proportions.

Colours stay apart under the common colour vision deficiencies (Okabe and Ito's, then Tol's) and are
ordered so that neighbours differ in lightness, too. Each has its marker, for prints in grey.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ccperf.algorithms import registry
from ccperf.base.expression import bare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.present.figures.figure import Role


@dataclass(frozen=True)
class Look:
    """A colour on white paper, its counterpart on a dark page, a marker ("" for none), and which of
    `DASHES` its lines have."""

    colour: str
    dark: str
    marker: str
    dash: int = 0


#: How the first subjects look; there are as many as can be told apart.
SUBJECTS = (
    Look("#0072b2", "#4da3e8", "o"),
    Look("#e69f00", "#e69f00", "s"),
    Look("#000000", "#ffffff", "^"),
    Look("#56b4e9", "#9edcff", "D"),
    Look("#d55e00", "#f0703c", "v"),
    Look("#009e73", "#21c096", "P"),
    Look("#882255", "#d9679f", "X"),
    Look("#999933", "#cfcf66", "<"),
    Look("#332288", "#9a8cf5", ">"),
    Look("#888888", "#8f979e", "p"),
)

#: Strokes and gaps, in widths of a line, of lines whose colour is there for the second time, and so
#: on; those of the first are whole.
DASHES: tuple[tuple[float, ...], ...] = ((), (3, 1.2), (1, 1), (4, 1.2, 1, 1.2))
#: So many categories have looks that differ.
CATEGORIES = len(SUBJECTS) * len(DASHES)

#: The looks in the order in which they are given to those who have none of their own: first those
#: that none of the usual algorithms has.
SPARE = (5, 6, 7, 8, 9, 4, 3, 2, 1, 0)

_MAGENTA = ("#cc00cc", "#ff7dff")
ROLES: Mapping[Role, Look] = {
    "optimum": Look(*_MAGENTA, "*"),
    "ideal": Look(*_MAGENTA, ""),
    "mean": Look("#000000", "#ffffff", ""),
    "joint": Look("#000000", "#ffffff", "h"),
}

#: Inches by the number of panels that stand one above the other, at a column's width of 3.4 inches
#: and without the legend. Pages keep the proportions.
HEIGHTS = {1: 2.3, 2: 2.9, 3: 3.75}
COLUMN = 3.4
#: Inches that a figure may be wide: between the two, and the columns and pages of the templates
#: IEEEtran and acmart (sigconf).
WIDTHS = {"column": COLUMN, "ieee": 3.5, "ieee-page": 7.16, "acm": 3.33, "acm-page": 7.0}

#: More subjects than there are looks are coloured along matplotlib's map `viridis`, of which these
#: are samples at equal distances. Its last part is too light for lines on white paper, its first
#: part too dark for lines on a dark page.
_VIRIDIS = ("440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725").split()
_ON_WHITE = (0.0, 0.78)
_ON_DARK = (0.35, 1.0)


def looks_of(names: Sequence[str]) -> tuple[int, ...]:
    """Return which of `SUBJECTS` each algorithm looks like; none where they are too many.

    The same one has the same look in all figures and on all pages. Of several that want one, the
    first in the registry has it, the usual ones before all; the others, and what is a user's, take
    one of `SPARE`, in their order. `site/static/axes.js` does the same.
    """
    if len(set(names)) > len(SUBJECTS):
        return ()
    known = places()
    ranked = sorted((known.get(bare(name), math.inf), i) for i, name in enumerate(names))
    free = list(SPARE)
    found: dict[str, int] = {}
    for place, index in ranked:
        if (name := names[index]) not in found:
            wanted = int(place) % len(SUBJECTS) if place < math.inf else free[0]
            found[name] = wanted if wanted in free else free[0]
            free.remove(found[name])
    return tuple(found[name] for name in names)


@cache
def places() -> Mapping[str, int]:
    """Return the place of each algorithm among those of its kind, the usual ones first."""
    return {
        name: place
        for kind in registry.WORDS
        for place, name in enumerate(dict.fromkeys((*_usual(kind), *registry.algorithms(kind))))
    }


def _usual(kind: registry.Kind) -> Sequence[str]:
    return registry.USUAL if kind == "cc" else ()


@cache
def looks(count: int, *, are_categories: bool = False) -> tuple[Look, ...]:
    """Return how `count` subjects look: apart in colour and marker, or along a scale.

    Categories have no scale: beyond the first ten, colours come again with other dashes
    and markers.
    """
    if count <= len(SUBJECTS):
        return SUBJECTS[:count]
    if are_categories and count <= CATEGORIES:
        return tuple(_again(*divmod(index, len(SUBJECTS))) for index in range(count))
    return tuple(Look(*shade(index / (count - 1)), "o") for index in range(count))


def _again(turn: int, place: int) -> Look:
    """A look for the second time, and so on; no marker comes with a colour twice."""
    marker = SUBJECTS[(place + 3 * turn) % len(SUBJECTS)].marker
    return replace(SUBJECTS[place], marker=marker, dash=turn)


def shade(share: float) -> tuple[str, str]:
    """Return the colour at a place from 0 to 1 of the scale, on white paper and on a dark page."""
    return _scale(_ON_WHITE, share), _scale(_ON_DARK, share)


def _scale(ends: tuple[float, float], share: float) -> str:
    samples = _samples()
    at = (ends[0] + (ends[1] - ends[0]) * share) * (len(samples) - 1)
    channels = (np.interp(at, np.arange(len(samples)), samples[:, c]) for c in range(3))
    return "#" + "".join(f"{round(float(channel)):02x}" for channel in channels)


@cache
def _samples() -> np.ndarray:
    return np.array([[int(code[i : i + 2], 16) for i in (0, 2, 4)] for code in _VIRIDIS])
