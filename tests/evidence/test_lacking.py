"""Comparisons where runs have no value: whose they are, and what is said of them."""

from __future__ import annotations

import pytest

from ccperf.evidence import gate, sweeps, text
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
    comparison = compared([base], [other], each=True)
    (row,) = comparison.rows
    assert row.lacking == (0, 1)
    assert row.verdict.word != "better"
    said = f"b has no {METRIC} with some seed at 1 point of aqm where the other has one then (k=1)"
    assert f"{said}: the mean is of the other seeds" in str(comparison)
    assert "not in the mean" not in str(comparison)
    assert "not in the mean" in str(compared([base], [without(other, 1, 3)]))


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


FCT, LEFT = "mean_fct_l4", "unfinished_share_l4"


@pytest.fixture
def stranded() -> dict[str, list[Cell]]:
    """ECMP strands what is slow in a black hole, and Hermes ends it all."""

    def made(name: str, fct: list[float], left: list[float], k: int) -> Cell:
        found = cell(name, fct, k)
        found.metrics = {
            seed: {f"{of}{FCT}": value, f"{of}{LEFT}": share}
            for seed, (value, share) in enumerate(zip(fct, left, strict=True), start=1)
            for of in ("", "small.")[k - 1 :][:1]
        }
        return found

    return {
        name: [made(name, fct, left, k) for k in (1, 2)]
        for name, fct, left in (
            ("ecmp", [3.0, 3.1, 2.9], [60.0, 55.0, 0.0]),
            ("hermes", [18.0, 19.0, 17.0], [0.0, 0.0, 0.0]),
        )
    }


def test_who_leaves_more_unfinished_is_not_better_by_the_mean_of_the_finished(
    stranded: dict[str, list[Cell]],
) -> None:
    said = "ecmp left more unfinished than the other, for some seed, at 1 point of aqm (k=1)"
    for sides in (stranded, dict(reversed(stranded.items()))):
        for name in (FCT, f"small.{FCT}"):
            comparison = compare(sides, [name])
            (row,) = comparison.rows
            assert row.is_shown
            assert row.verdict.word == "mixed"
            assert row.lacking == ((1, 0) if comparison.base == "ecmp" else (0, 1))
            assert "1 less finished" in str(row.verdict)
        assert any(line.startswith(said) for line in text.lacks(compare(sides, [FCT])))
    # A rank is of all transfers, and who ends more of them may be better.
    for each in (each for side in stranded.values() for each in side):
        each.metrics = {
            seed: {"p50_fct_l4": next(iter(values.values())), LEFT: 5.0}
            for seed, values in each.metrics.items()
        }
    (row,) = compare(stranded, ["p50_fct_l4"]).rows
    assert (row.verdict.word, row.lacking) == ("worse", (0, 0))


def test_as_many_that_are_left_on_both_sides_say_nothing(
    stranded: dict[str, list[Cell]],
) -> None:
    for each in stranded["hermes"]:
        for seed, values in each.metrics.items():
            (left,) = (name for name in values if name.endswith(LEFT))
            values[left] = stranded["ecmp"][each.point.parameters == (("k", "2"),)].metrics[seed][
                left
            ]
    (row,) = compare(stranded, [FCT]).rows
    assert (row.verdict.word, row.lacking) == ("worse", (0, 0))


def test_a_gate_fails_where_more_is_left_unfinished(stranded: dict[str, list[Cell]]) -> None:
    limit = [gate.parse(f"{FCT}>10%")]
    from_hermes = compare(dict(reversed(stranded.items())), [FCT], each=True)
    judged = gate.judge(limit, from_hermes, [FCT])
    assert judged.failed
    assert not judged.broken
    assert not gate.judge(limit, compare(stranded, [FCT], each=True), [FCT]).lost


def test_a_sweep_says_which_means_are_of_those_that_ended(
    stranded: dict[str, list[Cell]],
) -> None:
    pytest.importorskip("matplotlib")
    for each in stranded["ecmp"][1:] + stranded["hermes"][1:]:
        each.metrics = {
            seed: {name.removeprefix("small."): value for name, value in values.items()}
            for seed, values in each.metrics.items()
        }
    found, _ = sweeps.sweeps([cell for side in stranded.values() for cell in side], "k", [FCT])
    (figure,) = found.values()
    assert figure.notes == ("Only of those that ended: ecmp at 1, 2 with 2 of 3 seeds.",)


def test_a_sweep_of_which_one_line_is_left_says_whose_it_is(
    stranded: dict[str, list[Cell]],
) -> None:
    pytest.importorskip("matplotlib")
    for name, members in stranded.items():
        for each in members:
            each.metrics = {
                seed: {"p99_fct_l4": 1.0} if name == "hermes" else {} for seed in (1, 2)
            }
    every = [cell for side in stranded.values() for cell in side]
    (figure,) = sweeps.sweeps(every, "k", ["p99_fct_l4"])[0].values()
    assert figure.notes == ("The only line is hermes.", "No value: ecmp at 1, 2.")
    (figure,) = sweeps.sweeps(stranded["hermes"], "k", ["p99_fct_l4"])[0].values()
    assert not figure.notes
