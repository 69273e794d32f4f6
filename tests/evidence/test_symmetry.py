"""The order of names changes nothing: the same stars, turned verdicts, reciprocal factors."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccperf.cli.app import invoke
from ccperf.evidence import cells
from ccperf.evidence.cells import Cell, Point
from ccperf.evidence.compare import Comparison, compare
from ccperf.evidence.rows import Row
from ccperf.experiments.catalogue import EXPERIMENTS, answer
from ccperf.runs.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

ALGORITHMS = ("TcpNewReno", "TcpCubic", "TcpBbr")
#: Those that a comparison turned round used to judge otherwise.
TURNED = ("scalability", "ack_compression", "policer")
#: The headlines of all experiments, counts that are often 0, and what may be negative.
_METRICS = sorted(
    {name for experiment in [*EXPERIMENTS, None] for name in answer(experiment).metrics}
    | {"total_qdisc_drops_l2", "total_retransmissions_l4", "mean_est_qdelay_l4"}
)
_BACK = {
    "better": "worse",
    "worse": "better",
    "higher": "lower",
    "lower": "higher",
    "more": "less",
    "less": "more",
}


def assert_turned(there: Comparison, back: Comparison) -> None:
    """The rows of `compare a b` say the same as those of `compare b a`."""

    def keyed(rows: tuple[Row, ...]) -> dict[object, Row]:
        return {(row.experiment, row.point, row.metric): row for row in rows}

    one, other = keyed(there.rows), keyed(back.rows)
    assert one.keys() == other.keys()
    for key, row in one.items():
        assert_row_turned(row, other[key])


def assert_row_turned(row: Row, back: Row) -> None:
    said, turned = row.verdict, back.verdict
    assert turned.word == _BACK.get(said.word, said.word)
    assert turned.direction == _BACK.get(said.direction, said.direction)
    assert (turned.more, turned.less) == (said.less, said.more)
    assert (turned.shown, turned.exact, turned.equal, turned.unknown) == (
        *(said.shown, said.exact, said.equal, said.unknown),
    )
    assert turned.more_seeds == said.more_seeds
    assert sorted((found.point, found.p or 0) for found in row.differences) == sorted(
        (found.point, found.p or 0) for found in back.differences
    )
    size, inverse = row.size, back.size
    assert size.zeros == inverse.zeros
    assert size.least.point == inverse.largest.point
    assert size.largest.point == inverse.least.point
    if size.mean is None or inverse.mean is None:
        assert size.mean is inverse.mean
    elif size.effect == "ratio":
        assert size.mean * inverse.mean == pytest.approx(1)
    else:
        assert size.mean == -inverse.mean
    assert row.means == back.means[::-1]


@pytest.mark.sweep
def test_the_whole_catalogue_says_the_same_in_either_order(tmp_path: Path) -> None:
    """All experiments for 2 s; those that were turned once, in full."""
    short, full = tmp_path / "short.db", tmp_path / "full.db"
    line = ("bench", ",".join(ALGORITHMS), "--seed", "1..3", "--no-site")
    assert invoke([*line, "--stop-time", "2s", "--db", str(short)]) == 0
    assert invoke([*line, "--experiments", ",".join(TURNED), "--db", str(full)]) == 0
    for path, experiments in ((short, 20), (full, len(TURNED))):
        found = cells.read([path])
        for a, b in itertools.combinations(ALGORITHMS, 2):
            one, other = (cells.by_algorithm(found, names) for names in ([a, b], [b, a]))
            there = compare(one, _METRICS)
            assert len({row.experiment for row in there.rows}) >= experiments
            assert_turned(there, compare(other, _METRICS))
            each = compare(one, _METRICS, each=True)
            assert_turned(each, compare(other, _METRICS, each=True))
            # A point says in its own row what it says in its experiment's.
            shown = sum(row.verdict.shown for row in each.rows)
            assert shown == sum(row.verdict.shown for row in there.rows)
            assert all(
                row.verdict.shown == (row.differences[0].mean != 0)
                for row in each.rows
                if row.verdict.exact
            )


def test_every_metric_compared_by_ratios_lies_above_zero(tmp_path: Path) -> None:
    assert invoke(["run", "aqm", "--cc", "bbr,cubic", "--db", str(tmp_path / "runs.db")]) == 0
    values = [v for cell in cells.read([tmp_path / "runs.db"]) for v in cell.metrics.values()]
    assert values
    for found in values:
        for name, value in found.items():
            assert value >= 0 or METRICS[name].effect == "difference", name


#: Rates and delays; counts, with many zeros among them; differences around zero.
_VALUES = {
    "mean_agg_throughput_l4": st.floats(1e-3, 1e4),
    "total_qdisc_drops_l2": st.integers(0, 3).map(float),
    "mean_est_qdelay_l4": st.floats(-5, 5) | st.just(0.0),
    "mean_cwnd_l4": st.floats(1, 100),
}


@st.composite
def sides(draw: st.DrawFn) -> tuple[str, list[Cell], list[Cell]]:
    metric = draw(st.sampled_from(sorted(_VALUES)))
    points = draw(st.integers(1, 5))
    found: tuple[list[Cell], list[Cell]] = ([], [])
    for k in range(points):
        seeds = draw(st.integers(1, 5))
        for name, members in zip("ab", found, strict=True):
            is_same = draw(st.booleans())
            one = draw(_VALUES[metric])
            members.append(
                Cell(
                    Point("aqm", (("k", str(k)),), "same"),
                    name,
                    "native",
                    "engine",
                    {
                        seed: {metric: one if is_same else draw(_VALUES[metric])}
                        for seed in range(1, seeds + 1)
                    },
                )
            )
    return metric, *found


@settings(max_examples=400, deadline=None)
@given(sides(), st.sampled_from([0.0, 0.01, 0.3]))
def test_whatever_the_values_are_the_order_of_names_changes_nothing(
    found: tuple[str, list[Cell], list[Cell]], least: float
) -> None:
    metric, a, b = found
    for each in (False, True):
        there = compare({"a": a, "b": b}, [metric], each=each, least=least)
        assert_turned(there, compare({"b": b, "a": a}, [metric], each=each, least=least))
    # No point is lost: each is said one thing of.
    (row,) = compare({"a": a, "b": b}, [metric], least=least).rows
    said = row.verdict
    assert said.more + said.less + said.equal + said.unknown == said.points == len(a)
    # What is called more or less is shown, and the mean says no other.
    none = 1 if row.size.effect == "ratio" else 0
    if row.size.mean is not None and said.direction in ("more", "less"):
        slack = (1 + 1e-9 + least) if row.size.zeros else 1
        if row.size.effect == "ratio":
            assert row.size.mean ** (1 if said.direction == "more" else -1) * slack >= none
        else:
            assert row.size.mean * (1 if said.direction == "more" else -1) >= none
    assert said.more + said.less <= said.shown


def counted(values: Sequence[tuple[Sequence[float], Sequence[float]]], side: int) -> list[Cell]:
    """One side's cells over points, of which both sides' drops are given by seed."""
    return [
        Cell(
            Point("aqm", (("k", str(k)),), "same"),
            "ab"[side],
            "native",
            "engine",
            {seed: {"total_qdisc_drops_l2": drop} for seed, drop in enumerate(pair[side], 1)},
        )
        for k, pair in enumerate(values)
    ]


def drops(*values: tuple[float, float]) -> Row:
    """A row over points with so many drops of both sides, whatever the seed."""
    a, b = (counted([([a, a], [b, b]) for a, b in values], side) for side in (0, 1))
    (row,) = compare({"a": a, "b": b}, ["total_qdisc_drops_l2"]).rows
    return row


def test_factors_that_cancel_do_so_in_either_order() -> None:
    """One point from 0, and two whose factors of means, 1.8 / 2.4 and 2 / 1.5, have the mean 1."""
    values = [([0, 3, 3, 3, 3], [0, 0, 3, 3, 3]), ([1, 1], [0, 0]), ([0, 3], [2, 2])]
    a, b = (counted(values, side) for side in (0, 1))
    metric = ["total_qdisc_drops_l2"]
    there = compare({"a": a, "b": b}, metric, least=0)
    assert_turned(there, compare({"b": b, "a": a}, metric, least=0))


def test_a_point_where_one_side_is_zero_counts_and_has_no_factor() -> None:
    row = drops((0, 0), (0, 5), (4, 8), (6, 12))
    assert row.size.mean == pytest.approx(4 ** (1 / 3))  # of 1, 2 and 2
    assert (row.size.zeros, row.size.largest.value) == (1, math.inf)
    assert row.size.largest.point == (("k", "1"),)
    assert str(row.verdict) == "worse (3 of 4 points, 1 equal within 1 %)"
    assert row.verdict.shown == 3


def test_what_a_row_is_called_agrees_with_the_mean_that_stands_beside_it() -> None:
    """Drops that go to 0 at one point, and are alike or more in the mean of the others."""
    assert drops((5, 0), (0, 0), (400, 400)).verdict.word == "better"
    assert drops((5, 0), (0, 0), (400, 480)).verdict.word == "mixed"
    assert drops((5, 0)).verdict.word == "better"
    assert drops((0, 5)).verdict.word == "worse"
