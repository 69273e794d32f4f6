"""Traces become columns of schedules, and schedules packets."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev
from types import ModuleType
from typing import Any

import pytest

from ccperf.errors import ScenarioError, UsageError
from ccperf.experiments import traces
from ccperf.experiments.traces import (
    FRAME_BITS,
    TRAIN_BITS,
    Trace,
    Walk,
    parse_mahimahi,
    parse_rates,
    parse_trains,
)
from ccperf.runs import backends
from ccperf.scenario import Scenario

SECOND = 10**9


def mean_rate(trace: Trace, stop_ns: int) -> float:
    (columns,) = trace.schedules(stop_ns)
    ends = [*columns["times_ns"][1:], stop_ns]
    spans = [end - start for start, end in zip(columns["times_ns"], ends, strict=True)]
    return sum(r * s for r, s in zip(columns["rates_bps"], spans, strict=True)) / stop_ns


def test_a_mahimahi_trace_is_a_frame_for_each_line_and_begins_again() -> None:
    trace = parse_mahimahi("# head\n2\n2\n5\n10\n")
    assert trace.period_ns == 10_000_000
    (columns,) = trace.schedules(12_000_001)
    assert columns["direction"] == "forward"
    assert columns["times_ns"] == [0, 2_000_000, 5_000_000, 10_000_000, 12_000_000]
    per_ms = FRAME_BITS * 1000
    assert columns["rates_bps"] == [
        2 * per_ms // 2,
        per_ms // 3,
        per_ms // 5,
        2 * per_ms // 2,
        per_ms // 3,
    ]


def test_what_leaves_at_zero_belongs_to_the_end_of_a_round() -> None:
    assert parse_mahimahi("0\n4\n") == parse_mahimahi("4\n4\n")


def test_a_rate_trace_holds_its_last_row() -> None:
    trace = parse_rates("# head\ntime_s,rate_mbps,delay_ms,loss\n0,1.5,10,0\n0.25,3,5.5,0.01\n")
    times = [0, 250_000_000]
    rates = {"times_ns": times, "rates_bps": [1_500_000, 3_000_000], "losses": [0, 0.01]}
    assert trace.schedules(9 * SECOND, "reverse") == [
        {"direction": "reverse", **rates},
        {"times_ns": times, "delays_ns": [10_000_000, 5_500_000]},
    ]
    assert trace.schedules(SECOND // 10)[0]["times_ns"] == [0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no length"),
        ("0\n", "no length"),
        ("1\n 0.5\n", "line 2, column 2: `0.5` is not a whole number"),
        ("1\n2 3\n", "line 2, column 3: 3 is one number too many"),
        ("# x\n3\n2\n", "line 3, column 1: 2 comes after 3"),
        ("-1\n", "line 1, column 1: `-1`"),
    ],
)
def test_mistakes_of_mahimahi_traces_have_their_place(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_mahimahi(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column time_s"),
        ("time_s\n0\n", "no column rate_mbps"),
        ("time_s,rate_mbps,lost\n0,1,0\n", "did you mean `loss`"),
        ("time_s,rate_mbps\n", "no rows"),
        ("time_s,rate_mbps\n0,1,2\n", "line 2 has 3 fields"),
        ("time_s,rate_mbps\n0.00, fast\n", "line 2, column 7: rate_mbps cannot be `fast`"),
        ("time_s,rate_mbps\n0,nan\n", "line 2, column 3"),
        ("rate_mbps,time_s\n1,0\n20,0\n", "line 3, column 4: time_s must ascend"),
        ("rate_mbps,time_s\n9,0.5\n9,1\n", "line 2, column 3: time_s must begin with 0"),
        ("time_s,rate_mbps\n0,0\n", "line 2, column 3: rate_mbps must be above 0"),
        ("time_s,rate_mbps,return_rate_mbps\n0,1,0\n", "return_rate_mbps must be above 0"),
        ("time_s,rate_mbps,return_loss\n0,1,2\n", "return_loss cannot be `2`"),
        ("time_s,rate_mbps,loss\n0,1,1.5\n", "loss cannot be"),
        ("time_s,rate_mbps,time_s\n0,1,2\n", "names the column time_s twice"),
        (f"time_s,rate_mbps\n0,{'1' * 140_000}\n", "rate_mbps cannot be `1111"),
        ('time_s,rate_mbps\n"0","1"\n"1","x"\n', "line 3, column 6: rate_mbps cannot be `x`"),
        ('time_s,rate_mbps\n0,"5\n1,6"\n2,y\n', "line 4, column 3: rate_mbps cannot be `y`"),
    ],
)
def test_mistakes_of_rate_traces_have_their_row(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_rates(text)


def test_a_rate_trace_may_have_both_directions() -> None:
    text = "time_s,rate_mbps,return_rate_mbps,return_loss\n0,8,2,0\n1,4,1,0.5\n"
    times = [0, SECOND]
    forward = {"direction": "forward", "times_ns": times, "rates_bps": [8_000_000, 4_000_000]}
    back = {"times_ns": times, "rates_bps": [2_000_000, 1_000_000], "losses": [0, 0.5]}
    trace = parse_rates(text)
    assert trace.schedules(2 * SECOND) == [forward, {"direction": "reverse", **back}]
    assert trace.schedules(2 * SECOND, "reverse")[1] == {"direction": "forward", **back}


def test_trains_of_cellreplay_are_delays_and_the_rates_that_they_came_at() -> None:
    """A train of four whose last comes 6 ms after the first: three packets in 6 ms."""
    trace = parse_trains("# head\n0 20 0 1 3 6\n40 35 2 2 2\n100 1 0 0\n")
    assert trace.period_ns == 100_000_000
    rates, delays = trace.schedules(150_000_000)
    assert rates["times_ns"] == delays["times_ns"] == [0, 40_000_000, 100_000_000, 140_000_000]
    assert delays["delays_ns"] == [20_000_000, 35_000_000] * 2
    assert rates["rates_bps"] == [500 * TRAIN_BITS, 2000 * TRAIN_BITS] * 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("0 20 0\n", "line 1, column 1: has 3 numbers"),
        ("0 20 0 1\n", "two trains at least"),
        ("5 20 0 1\n5 20 0 1\n", "line 2, column 1: 5 comes after 5"),
        ("0 20 0 4  3\n", "line 1, column 11: 3 comes after 4"),
        ("0 x 0 4\n", "line 1, column 3: `x` is not"),
    ],
)
def test_mistakes_of_trains_have_their_place(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_trains(text)


def test_traces_are_found_by_name_and_by_path(tmp_path: Path) -> None:
    (tmp_path / "own.trace").write_text("7\n")
    assert traces.load(str(tmp_path / "own.trace")).period_ns == 7_000_000
    with pytest.raises(UsageError, match=r"did you mean `lte-like\.csv`"):
        traces.load("lte_like.csv")
    (tmp_path / "train").write_text("0 9 0 1\n50 9 0 1\n")
    assert traces.load(str(tmp_path / "train")).delays_ns == (9_000_000,)
    (tmp_path / "bad.csv").write_text("time_s\n")
    first = "its first line must name time_s and rate_mbps, and may name delay_ms"
    with pytest.raises(UsageError, match=rf"bad\.csv: has no column rate_mbps; {first}"):
        traces.load(str(tmp_path / "bad.csv"))


def maker() -> ModuleType:
    path = Path(__file__).parents[2] / "tools" / "traces.py"
    spec = importlib.util.spec_from_file_location("tools_traces", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_traces_of_the_package_are_those_that_the_script_makes() -> None:
    made: dict[str, str] = maker().texts()
    assert sorted(made) == traces.packaged()
    for name, text in made.items():
        assert (maker().FOLDER / name).read_text() == text


@pytest.mark.parametrize("mbps", [0.57, 2.64, 3.04])
def test_poisson_traces_have_their_rate(mbps: float) -> None:
    """Within three standard errors: n arrivals of a Poisson process differ by sqrt(n)."""
    length = 60 * SECOND
    trace = traces.load(f"{mbps}mbps-poisson.trace")
    expected = mbps * 1e6 * FRAME_BITS / 12_000
    error = 3 / (mbps * 1e6 * 60 / 12_000) ** 0.5
    assert mean_rate(trace, length) == pytest.approx(expected, rel=error)


def test_a_walk_stays_in_its_bounds_and_is_as_correlated_as_it_says() -> None:
    free = Walk(-1e9, 1e9, correlation=0.8, step=1.0, stream="1").values(20_000)
    steps = [b - a for a, b in pairwise(free)]
    # d = rho d' + e: variance 1 / (1 - rho^2), correlation rho; within about 5 standard errors.
    assert pstdev(steps) == pytest.approx(1 / (1 - 0.8**2) ** 0.5, rel=0.05)
    mean = fmean(steps)
    products = [(a - mean) * (b - mean) for a, b in pairwise(steps)]
    assert fmean(products) / pstdev(steps) ** 2 == pytest.approx(0.8, abs=0.03)
    bounded = Walk(2, 5, correlation=0.8, step=1.0, stream="1").values(1000)
    assert min(bounded) == 2
    assert max(bounded) == 5
    assert bounded[0] == 3.5
    assert Walk(2, 5, 0.8, 1.0, stream="2").values(5) != bounded[:5]


def scheduled(*schedules: dict[str, Any], **fields: Any) -> Scenario:
    return Scenario.model_validate(
        {
            "stop_time": "2s",
            "nodes": ["a", "b"],
            "links": [
                {
                    "name": "wire",
                    "ends": ["a", "b"],
                    "rate": "16Mbps",
                    "delay": "5ms",
                    "forward": {"device_queue": "1p"},
                    "schedules": list(schedules),
                }
            ],
            "flows": [
                {"source": "a", "destination": "b", "cc": "newreno", "tcp": {"SegmentSize": 1448}}
            ],
            **fields,
        }
    )


def test_a_busy_link_sends_a_frame_for_each_opportunity(tmp_path: Path) -> None:
    """Once the window is wide enough for the longest gap; segments are not all full, so that a few
    more fit in."""
    trace = traces.load("2.64mbps-poisson.trace")
    scenario = scheduled(*trace.schedules(2 * SECOND))
    packets = tmp_path / "packets.csv"
    backends.get("native").simulate(scenario, packets=packets)
    rows = [line.split(",") for line in packets.read_text().splitlines()]
    sent = [int(r[0]) for r in rows if r[1] == "wire_forward" and r[2] == "tx"]
    lines = (maker().FOLDER / "2.64mbps-poisson.trace").read_text().splitlines()[1:]
    slots = [int(line) * 1_000_000 for line in lines]
    from_s, to_s = SECOND, 2 * SECOND - 20_000_000
    wanted = [slot for slot in slots if from_s <= slot < to_s]
    found = [time for time in sent if from_s <= time < to_s]
    assert len(wanted) > 150
    assert abs(len(found) - len(wanted)) <= 0.05 * len(wanted)


def test_a_scenario_without_schedules_says_nothing_of_them() -> None:
    assert "schedules" not in scheduled().canonical()["links"][0]
    columns = {"times_ns": [0], "rates_bps": [5]}
    (schedule,) = scheduled(columns).canonical()["links"][0]["schedules"]
    assert schedule == {**columns, "direction": "both", "delays_ns": None, "losses": None}
    with pytest.raises(ScenarioError, match=r"links\[0\].schedules\[0\].rates_bps\[0\]"):
        scheduled({"times_ns": [0], "rates_bps": [0]}).lowered()
