"""How many things a builder of scenarios makes at most, asked before it makes any.

The check of a scenario counts them, too, but has them all before it by then: links without number
have taken minutes, and the memory of the machine.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ccperf import _native
from ccperf.errors import ScenarioError

What: TypeAlias = Literal["links", "flows", "transfers", "changes", "rows"]

MOST: dict[What, int] = {
    "links": _native.MAX_LINKS,
    "flows": _native.MAX_ENDPOINTS,
    "transfers": _native.MAX_FLOWS,
    # Each takes a kilobyte in Python, and a row of a schedule a quarter of that.
    "changes": 1_000_000,
    "rows": 10_000_000,
}
#: Of a dumbbell, in which each has two links and all have one.
DUMBBELL_FLOWS = (MOST["links"] - 1) // 2


def few_enough(what: What, count: int, *, fix: str = "lower it", **of: int | str) -> None:
    """Refuse to make so many of something, which follow from `of`.

    Raises:
        ScenarioError: names what there is most of among these.
    """
    if count <= MOST[what]:
        return
    numbers = {name: value for name, value in of.items() if isinstance(value, int)}
    field = max(numbers, key=lambda name: numbers[name]) if numbers else next(iter(of))
    message = f"`{of[field]}` makes {count:,} {what}, more than the {MOST[what]:,} of a run; {fix}"
    raise ScenarioError([(field, message)])
