"""Comparisons where runs have no value: whose they are, and what is said of them."""

from __future__ import annotations

import pytest

from ccperf.evidence.cells import Cell
from ccperf.evidence.compare import compare
from evidence.test_compare import METRIC, cell, compared


def without(made: Cell, *seeds: int) -> Cell:
    """A cell of which runs of these seeds have no value: no transfer has ended."""
    for seed in seeds:
        del made.metrics[seed][METRIC]
    return made


@pytest.mark.parametrize(
    ("factor", "of_base", "of_side", "word"),
    [
        (0.5, [], [], "better"),
        (0.5, [], [2], "mixed"),
        (0.5, [2], [], "better"),
        (2.0, [], [2], "worse"),
        (2.0, [2], [], "mixed"),
        (0.5, [1], [2], "mixed"),
        (1.0, [], [2], "mixed"),
    ],
)
def test_who_has_no_value_where_the_other_has_one_is_not_better(
    factor: float, of_base: list[int], of_side: list[int], word: str
) -> None:
    """BBR left transfers unfinished, and was three times as good at what was left."""

    def sides(reversed_: bool = False) -> list[list[Cell]]:
        base = [cell("a", [10.0, 10.0], k) for k in range(3)]
        other = [cell("b", [10.0 * factor] * 2, k) for k in range(3)]
        for made, lacking in ((base, of_base), (other, of_side)):
            for k in lacking:
                without(made[k], *made[k].metrics)
        return [other, base] if reversed_ else [base, other]

    (row,) = compared(*sides()).rows
    assert row.verdict.word == word
    assert row.lacking == (len(of_base), len(of_side))
    assert str(row.verdict).count("missing") == bool(of_base) + bool(of_side)
    (row,) = compared(*sides(reversed_=True)).rows
    assert row.verdict.word == {"better": "worse", "worse": "better"}.get(word, word)


def test_what_only_one_side_has_at_all_points_is_told() -> None:
    base, other = cell("a", [10.0, 11.0]), without(cell("b", [1.0, 2.0]), 1, 2)
    comparison = compare({"a": [base], "b": [other]}, [METRIC])
    assert not comparison.rows
    assert [(lack.who, lack.metric) for lack in comparison.lacking] == [("b", METRIC)]
    assert f"b has no {METRIC} at 1 point" in str(comparison)


def test_a_seed_without_a_value_is_told_too() -> None:
    """The mean is of the seeds that both have, and those are the ones that went well."""
    base, other = cell("a", [10.0, 10.0, 10.0]), without(cell("b", [5.0, 5.0, 5.0]), 2)
    (row,) = compared([base], [other], each=True).rows
    assert row.lacking == (0, 1)
    assert row.verdict.word != "better"


def test_a_seed_without_a_value_on_both_sides_is_told_whichever_is_the_base() -> None:
    base = without(cell("a", [10.0, 11.0, 12.0]), 2)
    other = without(cell("b", [5.0, 5.5, 6.0]), 2)
    said = f"{METRIC} with some seed at 1 point of aqm (k=1): the mean is of the other seeds"
    for sides in ((base, other), (other, base)):
        found = compared([sides[0]], [sides[1]])
        assert found.rows[0].seeds == 2
        assert f"neither a nor b has {said}" in str(found)
    # Nothing is said where all seeds have a value, or none.
    for seeds in ((), (1, 2, 3)):
        whole = [without(cell(name, [1.0, 2.0, 3.0]), *seeds) for name in "ab"]
        assert "neither" not in str(compared([whole[0]], [whole[1]]))
