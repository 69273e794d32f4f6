"""The small language of grids: comma lists, ranges of whole numbers, seeds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ccperf.algorithms.user_code import names
from ccperf.base import expression
from ccperf.errors import UsageError

#: The most values that one list may expand to.
LIMIT = 100_000


def seeds(text: str, field: str = "seed") -> list[int]:
    """``1..10`` or ``42`` or ``1,3,5`` as numbers, each once.

    Raises:
        UsageError: names `field`.
    """
    numbers = []
    for word in expand(field, text):
        if ends := re.fullmatch("([0-9]+)-([0-9]+)", word, re.ASCII):
            raise UsageError(field, f"`{word}` is no seed; write {ends[1]}..{ends[2]} for a range")
        if not re.fullmatch("[0-9]{1,10}", word, re.ASCII) or not 1 <= int(word) < 2**32:
            raise UsageError(field, f"`{word}` is not a whole number from 1 to 4294967295")
        numbers.append(int(word))
    return list(dict.fromkeys(numbers))


def expand(field: str, text: str) -> list[str]:
    """A comma list whose entries may be ranges of whole numbers: ``1,5`` or ``1..4``; or algorithms
    with several values of a parameter: ``cubic:Beta=0.5/0.7``.

    Raises:
        UsageError: names `field`.
    """
    words: list[str] = []
    for entry in split(field, text):
        ends = re.fullmatch(r"([0-9]{1,12})\.\.([0-9]{1,12})", entry, re.ASCII)
        if ends is None:
            words += expression.each(entry)
            continue
        first, last = int(ends[1]), int(ends[2])
        if last < first or last - first >= LIMIT:
            raise UsageError(field, f"`{entry}` must ascend, over at most {LIMIT} values")
        words += map(str, range(first, last + 1))
    return words


def split(field: str, text: str) -> list[str]:
    """The entries of a comma list; commas inside brackets and paths separate nothing.

    Raises:
        UsageError: names `field`.
    """
    entries = names.entries(text)
    if "" in entries:
        raise UsageError(field, f"`{text}` has an empty entry; separate values by one comma")
    return entries


def axes(parameters: dict[str, str]) -> dict[str, Sequence[str]]:
    """Parameters as given on the command line, each a list of values."""
    return {
        name.replace("-", "_"): expand(f"--{name.replace('_', '-')}", text)
        for name, text in parameters.items()
    }
