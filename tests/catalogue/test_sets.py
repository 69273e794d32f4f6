"""Named sets: every entry has points that run, and cites where it comes from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ccperf import backends
from ccperf.campaign import simulate
from ccperf.catalogue import sets
from ccperf.catalogue.sets import SETS, NamedSet
from ccperf.errors import UsageError
from ccperf.plan import Plan

every_set = pytest.mark.parametrize("chosen", SETS.values(), ids=SETS)


@every_set
def test_every_entry_has_points_and_a_section(chosen: NamedSet) -> None:
    for entry in chosen.entries:
        assert re.fullmatch(r"\d+(\.\d+)*", entry.section)
        plan = Plan(entry.experiment, ["TcpNewReno"], parameters=entry.parameters)
        points = list(plan.points())
        assert points
        for point in points:
            point.scenario.lowered()
    for gap in chosen.gaps:
        assert re.fullmatch(r"\d+(\.\d+)*( to \d+(\.\d+)*)?", gap.section)
        assert gap.why


@every_set
def test_one_point_of_each_entry_runs(chosen: NamedSet) -> None:
    native = backends.get("native")
    for entry in chosen.entries:
        plan = Plan(
            entry.experiment, ["TcpNewReno"], parameters=entry.parameters, stop_time="300ms"
        )
        assert simulate(next(plan.points()), native).recording.flow_samples.rows > 0


def test_an_unknown_set_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean `rfc9743`"):
        sets.get("rfc9734")


def test_the_document_has_all_of_them() -> None:
    text = (Path(__file__).parents[2] / "docs" / "sets.md").read_text(encoding="utf-8")
    for chosen in SETS.values():
        assert chosen.title in text
        assert f"--set {chosen.name}" in text
        for gap in chosen.gaps:
            assert gap.asks in text
