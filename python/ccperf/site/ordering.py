"""What is sorted by what: times, rates and lists of them by size, words by letter."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.base import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ccperf.experiments.catalogue import Experiment


def sort_text(text: str) -> tuple[str, str]:
    """Return what a name is sorted by: its letters, large or small."""
    return text.lower(), text


def order_key(
    experiment: Experiment | None, name: str, value: str
) -> tuple[int, tuple[float, ...], str, tuple[float, ...], str]:
    """Return what a parameter's value is sorted by; numbers come before words.

    Lists are sorted by their first entries, then by the next ones, algorithms by their names, then
    by their parameters: 5 ms comes before 20 ms.
    """
    is_list = value.startswith("[") and value.endswith("]")
    entries = value[1:-1].split(",") if is_list else [value]
    sizes = tuple(quantity(experiment, name, entry) for entry in entries)
    numbers = tuple(size for size in sizes if size is not None)
    if len(numbers) == len(sizes):
        return 0, numbers, "", (), ""
    word, attributes = expression.cut(value)
    given = expression.split(attributes[1:-1])
    own = [quantity(None, "", text.partition("=")[2]) for text in given if text]
    return 1, (), word, tuple(math.inf if size is None else size for size in own), attributes


def quantity(experiment: Experiment | None, name: str, value: str) -> float | None:
    """Return a parameter's value as a number: a time in ns, a rate in bit/s; None for words."""
    kind = next(
        (each.kind for each in (experiment.parameters if experiment else ()) if each.name == name),
        "",
    )
    parsers: Sequence[Callable[[str], float]] = {
        "time": [_native.parse_time],
        "rate": [_native.parse_rate],
    }.get(kind, [float, _native.parse_time, _native.parse_rate])
    for parse in parsers:
        try:
            return float(parse(value))
        except ValueError:
            continue
    return None
