"""Many comparisons side by side."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from ccperf.verify import fuzz, shrinking
from ccperf.verify.compare import compare as compare_both
from ccperf.verify.side_by_side import side_by_side

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ccperf.runs.backends import Backend, Progress
    from ccperf.verify.case import Case
    from ccperf.verify.compare import Compare, Comparison
    from ccperf.verify.shrinking import Candidate, Finding


def compare_all(
    cases: Iterable[Case],
    ours: Backend,
    theirs: Backend,
    jobs: int,
    compare: Compare = compare_both,
) -> Iterator[tuple[Case, Comparison]]:
    """Compare the backends on each case, `jobs` at a time; yield in order of completion.

    Where the caller stops listening (Ctrl-C among the reasons), the runs under way are ended.
    """

    def work(case: Case, progress: Progress) -> tuple[Case, Comparison]:
        return case, compare(case.scenario, ours, theirs, progress)

    return side_by_side(cases, work, jobs)


def fuzz_all(
    seed: int,
    count: int,
    ours: Backend,
    theirs: Backend,
    jobs: int,
    profile: str | None = None,
    compare: Compare = compare_both,
) -> Iterator[Finding]:
    """Examine the first `count` random scenarios of `seed`; yield in order of completion.

    `profile`: the release of ns-3 whose TCP they have.
    """

    drawn = islice(fuzz.draws(seed), count)
    ones = (fuzz.Released(one, profile) for one in drawn) if profile else drawn
    return examine_all(ones, ours, theirs, jobs, compare)


def examine_all(
    drawn: Iterable[Candidate],
    ours: Backend,
    theirs: Backend,
    jobs: int,
    compare: Compare = compare_both,
) -> Iterator[Finding]:
    """Examine what was drawn, `jobs` at a time; yield in order of completion."""

    def work(item: tuple[int, Candidate], progress: Progress) -> Finding:
        number, one = item
        return shrinking.examine(number, one, ours, theirs, progress, compare)

    return side_by_side(enumerate(drawn), work, jobs)
