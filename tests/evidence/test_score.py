"""One number for an algorithm against another: its formula, and that the number can be trusted."""

from __future__ import annotations

import math
import time
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import ccperf
from ccperf.api import score as api
from ccperf.errors import UsageError
from ccperf.evidence import score as formula
from ccperf.evidence.cells import Cell, Point
from ccperf.experiments.catalogue import NAMED, answer
from ccperf.runs.metrics import metric_named
from ccperf.store import Store

AIMD = """
import ccperf


class Mine(ccperf.CongestionControl):
    def ssthresh(self, tcb, bytes_in_flight):
        return max(int(0.7 * bytes_in_flight), 2 * tcb.segment_size)


class Divides(ccperf.CongestionControl):
    def cong_avoid(self, tcb, segments_acked):
        return 1 // 0


class Hangs(ccperf.CongestionControl):
    def cong_avoid(self, tcb, segments_acked):
        while True:
            pass
"""

IDLE = """
import ccperf


class Idle(ccperf.CongestionControl):
    def cong_control(self, tcb, sample):
        tcb.cwnd = 4 * tcb.segment_size
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(AIMD)
    return f"{tmp_path}/mine.py"


def same(score: ccperf.Score) -> dict[str, Any]:
    """What does not depend on the clock, and on what was there before."""
    return {k: v for k, v in score.json().items() if k not in ("seconds", "made")}


# The formula, on values written down.

PLACE = ("incast", (("n", "8"),))
SEEDS = [1, 2]


def cell(**metrics: tuple[float | None, ...]) -> Cell:
    """A cell with these values, one for each seed."""
    values = {
        seed: {name: of[i] for name, of in metrics.items() if of[i] is not None}
        for i, seed in enumerate(SEEDS)
    }
    found: dict[int, dict[str, float]] = values  # type: ignore[assignment]
    return Cell(Point(*PLACE, ""), "x", "native", "", found)


def gains(experiment: str, base: Cell | None, other: Cell | None) -> dict[str, float]:
    place = (experiment, PLACE[1])
    sides = [{place: side} if side else {} for side in (base, other)]
    found = formula.of_experiments(formula.parts(*sides, {place: SEEDS}))
    return {name: math.exp(gain) for name, gain in found.get(experiment, {}).items()}


def test_a_factor_is_turned_so_that_more_is_better_and_meaned_geometrically() -> None:
    base = cell(mean_fct_l4=(10.0, 20.0), p99_fct_l4=(10.0, 10.0))
    other = cell(mean_fct_l4=(5.0, 40.0), p99_fct_l4=(5.0, 10.0))
    found = gains("incast", base, other)
    assert found["mean_fct_l4"] == pytest.approx(1.0)
    assert found["p99_fct_l4"] == pytest.approx(math.sqrt(2))


def test_a_share_counts_as_the_difference_and_per_cent_are_shares() -> None:
    base = cell(retransmission_rate_l4=(2.0, 2.0), jains_fairness_goodput_l4=(0.9, 0.9))
    other = cell(retransmission_rate_l4=(0.0, 0.0), jains_fairness_goodput_l4=(0.8, 0.8))
    found = gains("many_flows", base, other)
    assert found["retransmission_rate_l4"] == pytest.approx(math.exp(0.02))
    assert found["jains_fairness_goodput_l4"] == pytest.approx(math.exp(-0.1))


def test_one_is_added_to_counts_so_that_none_is_better_than_few() -> None:
    base = cell(total_timeouts_l4=(3.0, 3.0))
    values = [
        gains("incast", base, cell(total_timeouts_l4=(n, n)))["total_timeouts_l4"] for n in (0, 1)
    ]
    assert values == pytest.approx([4.0, 2.0])


def test_a_time_until_something_comes_to_pass_counts_with_a_second() -> None:
    """It may be one interval of 30 ms: a factor of 32 between that and a second is none."""
    base = cell(settling_time_l4=(0.96, 0.96), response_time_l4=(3.0, 3.0))
    other = cell(settling_time_l4=(0.03, 0.03), response_time_l4=(1.0, 1.0))
    found = gains("responsiveness_step", base, other)
    assert found["settling_time_l4"] == pytest.approx(1.96 / 1.03)
    assert found["response_time_l4"] == pytest.approx(2.0)


def test_a_mean_over_what_has_ended_is_no_gain_for_whoever_leaves_more() -> None:
    base = cell(mean_fct_l4=(10.0, 10.0), unfinished_share_l4=(0.0, 5.0))
    fewer = cell(mean_fct_l4=(5.0, 5.0), unfinished_share_l4=(5.0, 5.0))
    there, back = (gains("incast", *of)["mean_fct_l4"] for of in ((base, fewer), (fewer, base)))
    assert there == pytest.approx(math.sqrt(2))  # with the other seed alone
    assert there * back == pytest.approx(1.0)
    # What speaks against whoever leaves more stands.
    slower = cell(mean_fct_l4=(20.0, 20.0), unfinished_share_l4=(5.0, 5.0))
    assert gains("incast", base, slower)["mean_fct_l4"] == pytest.approx(0.5)


def test_what_only_one_side_has_counts_the_worst_for_the_other() -> None:
    both, half = cell(mean_fct_l4=(1.0, 1.0)), cell(mean_fct_l4=(1.0, None))
    assert gains("incast", both, half)["mean_fct_l4"] == pytest.approx(0.1)
    assert gains("incast", half, both)["mean_fct_l4"] == pytest.approx(10)
    assert gains("incast", both, None)["mean_fct_l4"] == pytest.approx(0.01)
    assert gains("incast", None, None) == {}
    assert formula.value({}) == 1.0


def test_no_factor_counts_more_than_a_failure() -> None:
    slow = cell(mean_fct_l4=(1e6, math.inf))
    assert gains("incast", cell(mean_fct_l4=(1.0, 1.0)), slow)["mean_fct_l4"] == pytest.approx(0.01)


@pytest.mark.parametrize("name", NAMED)
def test_every_headline_has_a_direction_and_a_scale(name: str) -> None:
    for headline in answer(name).metrics:
        metric = metric_named(headline)
        assert metric.better
        has_ends = metric.unit == "%" or "fairness" in headline
        is_delay = metric.unit in ("s", "ms", "us")
        assert metric.kind == "count" or metric.effect == "ratio" or has_ends or is_delay, headline


@pytest.mark.parametrize(
    ("experiment", "metric", "unit"),
    [("bbr_draft", "p99_sojourn_l2", 1e3), ("l4s", "tested.mean_est_qdelay_l4", 1.0)],
)
def test_delays_in_queues_count_by_their_size_whatever_their_unit(
    experiment: str, metric: str, unit: float
) -> None:
    def gain(base: float, other: float) -> float:
        one, two = (cell(**{metric: (value * unit,) * 2}) for value in (base, other))
        return gains(experiment, one, two)[metric]

    assert gain(19.0, 9.0) == pytest.approx(2.0)
    assert gain(19.6364, 19.6431) == pytest.approx(1.0, abs=0.001)
    assert gain(0.0, 1.0) == pytest.approx(0.5)
    assert gain(-0.2, 1.0) == pytest.approx(0.5)


# The number, of runs.


def test_against_itself_it_is_exactly_1(mine: str) -> None:
    assert ccperf.score("cubic", against="cubic").value == 1.0
    assert ccperf.score(f"{mine}:Mine", against=f"{mine}:Mine", seed=[1, 2]).value == 1.0


@pytest.mark.parametrize("other", ["bbr", "Mine", "Divides"])
def test_exchanged_it_is_the_reciprocal(mine: str, other: str) -> None:
    name = other if other == "bbr" else f"{mine}:{other}"
    there = ccperf.score(name, against="cubic", seed=[1, 2])
    back = ccperf.score("cubic", against=name, seed=[1, 2])
    assert there.value != 1.0
    assert there.value * back.value == pytest.approx(1.0, rel=1e-12)
    for experiment, part in there.parts.items():
        assert part["value"] * back.parts[experiment]["value"] == pytest.approx(1.0, rel=1e-12)


def test_neither_the_order_of_seeds_nor_another_call_changes_it() -> None:
    one, other = (ccperf.score("bbr", seed=seeds) for seeds in ([3, 1, 2], "1..3"))
    assert same(one) == same(other) == same(ccperf.score("bbr", seed=[2, 3, 1], jobs=1))
    assert one.seeds == [1, 2, 3]


def test_it_is_what_the_runs_say() -> None:
    found = ccperf.score("bbr", experiments="jitter", seed=[1, 2], stop_time="3s")
    runs = ccperf.grid("jitter", cc=["cubic", "bbr"], seed=[1, 2], stop_time="3s", progress=False)
    table = runs.to_pandas()
    own = {}
    for name, scope, sign in (
        ("used_capacity_l1", "link", 1),
        ("mean_srtt_l4", "flow", -1),
        ("retransmission_rate_l4", "flow", -1),
    ):
        rows = table[table["scope"] == scope].groupby(["cc", "spread", "order", "seed"])[name].max()
        cubic, bbr = rows["TcpCubic"], rows["TcpBbr"]
        assert len(cubic) == len(bbr) == 12
        pairs = zip(cubic, bbr, strict=True)
        own[name] = fmean(
            sign * ((b - a) / 100 if "rate" in name else math.log(b / a)) for a, b in pairs
        )
    assert found.value == pytest.approx(math.exp(fmean(own.values())))
    assert found.parts["jitter"]["metrics"] == pytest.approx(
        {k: math.exp(v) for k, v in own.items()}
    )


def test_who_sends_little_whatever_happens_is_not_rewarded(tmp_path: Path) -> None:
    """It settles at once after a step, and its queue is empty; that was worth a factor of 5."""
    (tmp_path / "idle.py").write_text(IDLE)
    found = ccperf.score(f"{tmp_path}/idle.py:Idle")
    assert found.value == pytest.approx(0.67, abs=0.005)
    assert found.parts["responsiveness_step"]["value"] < 1.3


def test_the_base_runs_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(api, "_kept", [])
    ccperf.score("bbr", experiments=["policer"], stop_time="1s")
    with Store(api._path(None), "r") as store:
        ids = store.ids()
    ccperf.score("vegas", experiments=["policer"], stop_time="1s")
    with Store(api._path(None), "r") as store:
        assert store.ids() == ids
        assert len(ids) == 6
    # In a database, the algorithm's own runs are kept, too.
    made = [
        ccperf.score("bbr", experiments=["policer"], stop_time="1s", db=tmp_path / "x.db").made
        for _ in range(2)
    ]
    assert made == [6, 0]


def test_a_failure_is_the_worst_and_says_where(mine: str) -> None:
    found = ccperf.score(f"{mine}:Divides")
    assert found.value == pytest.approx(formula.WORST)
    assert len(found.failures) == 7
    for failed in found.failures:
        assert "mine.py:Divides failed at 0." in failed.error
        assert "ZeroDivisionError: " in failed.error
        assert "(mine.py:12)" in failed.error


def test_what_delivers_nothing_has_failed() -> None:
    # Before the first data arrives.
    found = ccperf.score("bbr", experiments="policer", stop_time="5ms")
    assert {failed.error for failed in found.failures} == {"it delivered nothing"}
    assert {failed.algorithm for failed in found.failures} == {"TcpBbr", "TcpCubic"}
    assert found.value == 1.0


def test_the_budget_ends_what_hangs(mine: str) -> None:
    started = time.monotonic()
    found = ccperf.score(f"{mine}:Hangs", budget=0.5)
    assert found.value == pytest.approx(formula.WORST)
    assert {failed.error for failed in found.failures} == {
        "not finished within the budget of 0.5 s"
    }
    # The limit of a call is ten seconds, of each of seven.
    assert time.monotonic() - started < 8


def test_a_warm_process_answers_soon(mine: str) -> None:
    ccperf.score(f"{mine}:Mine")
    for name in ("newreno", f"{mine}:Mine"):
        started = time.perf_counter()
        ccperf.score(name)
        seconds = time.perf_counter() - started
        print(f"{name}: {1000 * seconds:.0f} ms")
        assert seconds < 10


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"cc": "cubik"}, "cc"),
        ({"cc": ["bbr", "vegas"]}, "cc"),
        ({"cc": "bbr", "against": "cubik"}, "against"),
        ({"cc": "bbr", "set": "rfc1"}, "--set"),
        ({"cc": "bbr", "set": "rfc9743", "experiments": "aqm"}, "set"),
        ({"cc": "bbr", "experiments": "nope"}, "experiment"),
        ({"cc": "bbr", "experiments": "testbed"}, "experiments"),
        ({"cc": "bbr", "seed": 0}, "seed"),
        ({"cc": "bbr", "budget": 0.0}, "budget"),
        ({"cc": "bbr", "budget": math.nan}, "budget"),
        ({"cc": "bbr", "jobs": -1}, "jobs"),
        ({"cc": "bbr", "stop_time": "0s"}, "stop_time"),
        ({"cc": "bbr", "backend": "nope"}, "backend"),
    ],
)
def test_wrong_arguments_are_named(given: dict[str, Any], field: str) -> None:
    with pytest.raises(UsageError) as error:
        ccperf.score(**given)
    assert error.value.field == field
