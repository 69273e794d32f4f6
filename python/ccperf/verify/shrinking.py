"""What is wrong with a random scenario, and the smallest one that still shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ccperf.errors import ScenarioError
from ccperf.verify.compare import Comparison
from ccperf.verify.compare import compare as compare_both

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ccperf.runs.backends import Backend, Progress
    from ccperf.scenario import Scenario
    from ccperf.verify.compare import Compare


class Candidate(Protocol):
    """What is drawn, and can be made smaller."""

    def scenario(self, label: str = "") -> Scenario:
        """Return the scenario. Raises ScenarioError where it makes no sense."""

    def smaller(self) -> Iterator[Candidate]:
        """Yield those that are one step smaller, the largest steps first."""


@dataclass(frozen=True)
class Finding:
    """A random scenario, what came of it and, where the backends differ, the smallest that does."""

    number: int
    comparison: Comparison
    smallest: Comparison | None = None


def examine(
    number: int,
    drawn: Candidate,
    ours: Backend,
    theirs: Backend,
    progress: Progress | None = None,
    compare: Compare = compare_both,
) -> Finding:
    """Compare both backends on a drawn scenario; where they differ, shrink it.

    See `Comparison.different` for failures.
    """

    def compared(candidate: Candidate) -> Comparison:
        return compare(candidate.scenario(f"fuzz/{number}"), ours, theirs, progress)

    def differs(candidate: Candidate) -> bool:
        return compared(candidate).different

    comparison = compared(drawn)
    if not comparison.different:
        return Finding(number, comparison)
    return Finding(number, comparison, compared(shrink(drawn, differs)))


def shrink(found: Candidate, shows: Callable[[Any], bool], effort: int = 200) -> Candidate:
    """Return a smaller draw for which `shows` still holds, trying at most `effort` ones.

    Smaller means: fewer flows, a shorter run, fewer peculiarities, plainer values.  A step that
    makes no valid scenario is passed over.
    """
    tried = 0
    smaller = True
    while smaller:
        smaller = False
        for candidate in found.smaller():
            if tried == effort:
                return found
            tried += 1
            if valid(candidate) and shows(candidate):
                found, smaller = candidate, True
                break
    return found


def valid(candidate: Candidate) -> bool:
    """Whether it makes a scenario."""
    try:
        candidate.scenario().lowered()
    except ScenarioError:
        return False
    return True
