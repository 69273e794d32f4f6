"""The round trip of a path without queues, where delays of links change while a run goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ccperf
from ccperf.runs.metrics.path_delays import lengthened

MS = 1_000_000


def link(name: str, ends: tuple[str, str], **more: Any) -> dict[str, Any]:
    return {"name": name, "ends": list(ends), "delay": "5ms", **more}


def change(at: str, name: str, delay: str | None) -> dict[str, Any]:
    return {"time": at, "link": name, "direction": "both", "delay": delay}


def added(
    links: list[dict[str, Any]], changes: list[dict[str, Any]], *ends: tuple[str, str]
) -> list[list[float]] | None:
    """At 0, 10, 20 and 30 ms."""
    times = np.arange(4) * 10 * MS
    found = lengthened({"links": links, "changes": changes}, ends, times)
    return None if found is None else found.tolist()


LINE = [link("one", ("a", "b")), link("two", ("b", "c"))]


def test_where_no_delay_changes_nothing_is_to_be_added() -> None:
    assert added(LINE, [change("10ms", "one", None)], ("a", "c")) is None


def test_a_change_counts_there_and_back_from_its_time_on_for_flows_over_the_link() -> None:
    changes = [change("10ms", "two", "8ms"), change("30ms", "two", "4ms")]
    found = added(LINE, changes, ("a", "c"), ("c", "a"), ("a", "b"))
    assert found == [[0, 0, 0], [6, 6, 0], [6, 6, 0], [-2, -2, 0]]


def test_of_two_changes_at_the_same_time_the_later_one_holds() -> None:
    changes = [change("10ms", "one", "8ms"), change("10ms", "one", "6ms")]
    assert added(LINE, changes, ("a", "b")) == [[0], [2], [2], [2]]


def test_schedules_are_changes_of_both_directions() -> None:
    schedule = {"direction": "forward", "times_ns": [0, 20 * MS], "delays_ns": [7 * MS, 5 * MS]}
    links = [link("one", ("a", "b"), schedules=[schedule])]
    assert added(links, [], ("a", "b")) == [[4], [4], [0], [0]]


def test_which_of_several_shortest_paths_a_flow_takes_is_not_known() -> None:
    square = [
        link(name, ends)
        for name, ends in (
            ("up", ("a", "b")),
            ("on", ("b", "d")),
            ("down", ("a", "c")),
            ("off", ("c", "d")),
            ("last", ("d", "e")),
        )
    ]
    found = added(square, [change("10ms", "on", "6ms")], ("a", "e"), ("d", "e"))
    assert found is not None
    assert np.isnan([row[0] for row in found]).all()
    assert [row[1] for row in found] == [0, 0, 0, 0]
    # What all shortest paths have is known.
    assert added(square, [change("10ms", "last", "6ms")], ("a", "e")) == [[0], [2], [2], [2]]


def test_a_flow_whose_ends_are_not_known_has_no_value() -> None:
    found = added(LINE, [change("10ms", "one", "6ms")], ("", ""))
    assert np.isnan(found).all()


@pytest.mark.parametrize(
    ("experiment", "point"),
    [("handover", {"loss": 0.0}), ("random_walk", {"walks": "delay"})],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_senders_take_for_a_queue_is_the_queue(
    experiment: str, point: dict[str, Any], seed: int
) -> None:
    """Over a path whose delay moves by tens of milliseconds; with the round trip of time 0 the
    estimate was below zero with some of these seeds."""
    result = ccperf.run(experiment, cc="cubic", seed=seed, stop_time="45s", **point)
    estimated = result.flow_metrics["flow_1"]["mean_est_qdelay_l4"]
    waited = result.link_metrics["btl_forward"]["mean_sojourn_l2"] / 1e3
    # Segments take a millisecond at most to be sent, and the estimate follows late.
    assert estimated == pytest.approx(waited, abs=2.5)
