"""Values of a parameter as sides of a comparison: each algorithm at one beside itself at others.

A queue discipline beside another, a profile beside a release of ns-3, one flow beside five.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from ccperf.errors import UsageError, unknown
from ccperf.evidence.cells import (
    NOT_GIVEN,
    SETTINGS,
    apart_from,
    described,
    says_who_sends,
    told_by_maker,
)
from ccperf.evidence.chosen import spellings, words
from ccperf.evidence.values import in_order
from ccperf.experiments import grid
from ccperf.experiments.catalogue.experiment import PROFILE
from ccperf.scenario.differences import told_apart

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from ccperf.evidence.cells import Cell


def by_parameter(found: Iterable[Cell], by: str, option: str) -> dict[str, list[Cell]]:
    """Return the cells at each value of a parameter, each at a point that does not say which.

    `by` is `qdisc`, or `qdisc=fifo,codel`: the first value is the base; of all values the first in
    the experiments' order (`values.in_order`), whichever run ended first. Points that were run by
    several backends or engines say by which. Experiments without the parameter are left out. What
    else a value brings with it, as a profile its loss recovery, makes no other point; a setting of
    which one value has several does, if another value has one of these, too.

    Raises:
        UsageError: names `option`, for a parameter or a value that there is not, and for one value.
    """
    name, equals, asked = by.partition("=")
    found = list(found)
    having = [cell for cell in found if name in _parameters(cell)]
    if senders := [c.algorithm for c in having if says_who_sends(c.point.experiment) == name]:
        message = (
            f"`{name}` says who sends; name these themselves: {', '.join(dict.fromkeys(senders))}"
        )
        raise UsageError(option, message)
    there: dict[str, list[Cell]] = {}
    at_points = told_by_maker(_at_points(having, name))
    for cell, at_point in zip(having, at_points, strict=True):
        there.setdefault(_parameters(cell)[name], []).append(at_point)
    if not there:
        known = {name for cell in found for name in _parameters(cell)}
        raise UsageError(option, unknown("parameter", name, known))
    given = [value for word in words(asked) for value in grid.expand(option, word)]
    experiments = [cell.point.experiment for cell in having]
    values = (
        [_known(value, name, there, option) for value in given]
        if equals
        else in_order(name, there, experiments)
    )
    if len({*values}) < 2:
        have = ", ".join(there)
        raise UsageError(option, f"name at least two to compare; there is {name}={have}")
    return {f"{name}={value}": there[value] for value in values}


def _at_points(found: Sequence[Cell], name: str) -> list[Cell]:
    """Return cells at points that do not say a parameter, but what else has to be alike."""
    apart = [apart_from(cell, name) for cell in found]
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for place, cell in enumerate(apart):
        alike[cell.point, cell.algorithm, cell.backend, cell.engine].append(place)
    for places in alike.values():
        values = [_parameters(found[place])[name] for place in places]
        if len(values) > len({*values}) > 1:
            told = told_apart([*described(found[place] for place in places)])
            own = _of_their_own(list(zip(values, told, strict=True)))
            for place, fields in zip(places, told, strict=True):
                more = {field: fields[field] for field in own if field in fields}
                point = apart[place].point.with_more(more)
                settings = "/".join((point.settings, *more.values()))
                apart[place] = replace(apart[place], point=replace(point, settings=settings))
    return apart


def _of_their_own(told: Sequence[tuple[str, Mapping[str, str]]]) -> list[str]:
    """Return the fields that no value of a parameter brings with it: one has several of them, and
    another has one of these, too."""
    found = []
    for field in dict.fromkeys(field for _, fields in told for field in fields):
        pairs = {(value, fields.get(field)) for value, fields in told}
        several = Counter(value for value, _ in pairs)
        shared = Counter(setting for _, setting in pairs)
        if max(several.values()) > 1 and max(shared.values()) > 1:
            found.append(field)
    return found


def meant(found: Iterable[Cell], items: Sequence[str]) -> str:
    """Return the parameter whose values these words are, as `qdisc=codel,fifo`; else nothing."""
    there: dict[str, set[str]] = {}
    for cell in found:
        for name, value in cell.point.own:
            there.setdefault(name, set()).add(value)
    for name, values in there.items():
        if items and all(not values.isdisjoint(spellings(item)) for item in items):
            return f"{name}={','.join(items)}"
    return ""


def _parameters(cell: Cell) -> dict[str, str]:
    return {**dict.fromkeys(SETTINGS, NOT_GIVEN), **dict(cell.point.own)}


def _known(word: str, name: str, there: Mapping[str, object], option: str) -> str:
    """The value that a word names. Raises `UsageError` for one that no run has."""
    for spelt in spellings(word):
        if spelt in there:
            return spelt
    message = unknown(f"value of {name}", word, there)
    advice = f"; make some: ccperf bench --profile {word} cubic" if name == PROFILE else ""
    raise UsageError(option, f"no run has it: {message}{advice}")
