"""The values of a parameter: how large they are, and which comes before which."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ccperf import _native
from ccperf.base import expression
from ccperf.evidence.cells import NOT_GIVEN
from ccperf.experiments.catalogue import NAMED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ccperf.evidence.cells import Point

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)")
#: What has a size: how it is read, the unit that it is shown in, and that unit.
_KINDS: Sequence[tuple[Callable[[str], float], str, float]] = (
    (float, "", 1.0),
    (_native.parse_time, "ms", 1e6),
    (_native.parse_rate, "Mbps", 1e6),
    (_native.parse_size, "kB", 1e3),
)


class Quantity(NamedTuple):
    """A value that has a size."""

    #: "ms", "Mbps" or "kB"; "" for a number.
    unit: str
    size: float


def quantity(text: str) -> Quantity | None:
    """Return a number, a time, a rate or a size in bytes; None for words."""
    for parse, unit, scale in _KINDS:
        try:
            return Quantity(unit, parse(text) / scale)
        except ValueError:
            continue
    return None


def quantities(text: str) -> tuple[Quantity, ...] | None:
    """Return the quantity, or those of a list such as ``[5ms,20ms]``; None for words."""
    is_list = text.startswith("[") and text.endswith("]")
    found = [quantity(entry) for entry in (text[1:-1].split(",") if is_list else [text])]
    return tuple(each for each in found if each is not None) if all(found) else None


def are_words(values: Iterable[str]) -> bool:
    """Return whether some are neither quantities nor lists of them: nothing is between two."""
    return any(quantities(value) is None for value in values)


def in_order(parameter: str, values: Iterable[str], experiments: Iterable[str]) -> list[str]:
    """Return values once each, in an order that does not depend on which run ended first: that of
    :func:`order_key`."""
    grid = grid_of(parameter, experiments)
    return sorted(dict.fromkeys(values), key=lambda value: order_key(value, grid))


def grid_of(parameter: str, experiments: Iterable[str]) -> list[str]:
    """Return all values that the grids of these experiments have of a parameter."""
    found: dict[str, None] = {}
    for name in experiments:
        for each in NAMED[name].parameters if name in NAMED else ():
            if each.name == parameter:
                found.update(dict.fromkeys(map(str, each.grid)))
    return list(found)


def point_key(point: Point) -> tuple[object, ...]:
    """Return what a point is sorted by: experiments are in the order of the catalogue, values of
    parameters in that of :func:`order_key`."""
    grid = _grids(point.experiment)
    return (
        (_EXPERIMENTS.get(point.experiment, len(_EXPERIMENTS)), point.experiment),
        [(name, order_key(value, grid.get(name, []))) for name, value in point.parameters],
        point.settings,
    )


#: Where each experiment of the catalogue stands in it.
_EXPERIMENTS = {name: place for place, name in enumerate(NAMED)}


@cache
def _grids(experiment: str) -> dict[str, list[str]]:
    of = NAMED[experiment].parameters if experiment in NAMED else ()
    return {each.name: [str(value) for value in each.grid] for each in of}


def order_key(value: str, grid: Sequence[str]) -> tuple[object, ...]:
    """Return what a value is sorted by.

    First comes what was not given. Quantities follow by size, lists of them by their first entry,
    then by the next. Words come last: in the order of the grid, then by their text, with numbers in
    it by size; one algorithm by the parameters of its own, so that 5 ms comes before 20 ms.
    """
    if value in ("", NOT_GIVEN):
        return 0, value
    if found := quantities(value):
        return 1, found, value
    name, own = _parsed(value)
    place = grid.index(name) if name in grid else len(grid)
    return 2, place, _natural(name), [(each, _sized(text)) for each, text in own.items()], value


def _parsed(value: str) -> tuple[str, dict[str, str]]:
    try:
        return expression.parse(value)
    except ValueError:
        return value, {}


def _sized(text: str) -> tuple[object, ...]:
    found = quantity(text)
    return (0, found) if found else (1, _natural(text))


def _natural(text: str) -> list[tuple[bool, float, str]]:
    """What sorts words by their letters, and the numbers in them by size."""
    parts = (part for part in _NUMBER.split(text) if part)
    return [(False, float(p), "") if _NUMBER.fullmatch(p) else (True, 0.0, p) for p in parts]
