"""Values of a parameter in an order that does not depend on which run ended first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.base import expression
from ccperf.evidence.cells import NOT_GIVEN
from ccperf.experiments.catalogue import NAMED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)")


def quantity(text: str) -> tuple[float, str] | None:
    """A parameter's value with its unit: a number, a time in ms, a rate in Mbps; None for words."""
    for parse, unit, scale in (
        (float, "", 1.0),
        (_native.parse_time, "ms", 1e6),
        (_native.parse_rate, "Mbps", 1e6),
    ):
        try:
            return parse(text) / scale, unit
        except ValueError:
            continue
    return None


def in_order(parameter: str, values: Iterable[str], experiments: Iterable[str]) -> list[str]:
    """Return values once each: quantities of one unit by their size, words in the order of the
    experiments' grids, each followed by what differs from it in parameters of its own.

    What was not given comes first, what no grid has last, both in the order of their texts.
    """
    found = list(dict.fromkeys(values))
    sizes = {value: size for value in found if (size := quantity(value))}
    if len(sizes) == len(found) and len({unit for _, unit in sizes.values()}) == 1:
        return sorted(found, key=lambda value: sizes[value][0])
    known = _of_grids(parameter, experiments)

    def key(value: str) -> tuple[object, ...]:
        name, attributes = _parsed(value)
        place = known.index(name) if name in known else len(known)
        own = [(attribute, _size(text)) for attribute, text in attributes.items()]
        return value != NOT_GIVEN, place, _size(name), own

    return sorted(found, key=key)


def _of_grids(parameter: str, experiments: Iterable[str]) -> list[str]:
    grids: dict[str, None] = {}
    for name in experiments:
        for each in NAMED[name].parameters if name in NAMED else ():
            if each.name == parameter:
                grids.update(dict.fromkeys(map(str, each.grid)))
    return list(grids)


def _parsed(value: str) -> tuple[str, dict[str, str]]:
    try:
        return expression.parse(value)
    except ValueError:
        return value, {}


def _size(text: str) -> tuple[bool, str, float, Sequence[tuple[bool, float, str]]]:
    """What sorts quantities by unit and size, and words behind them; numbers in words by size."""
    if size := quantity(text):
        return False, size[1], size[0], []
    parts = [part for part in _NUMBER.split(text) if part]
    return (
        True,
        "",
        0.0,
        [(False, float(p), "") if _NUMBER.fullmatch(p) else (True, 0.0, p) for p in parts],
    )
