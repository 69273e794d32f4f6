"""Named sets: every entry has points that run, and cites where it comes from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ccperf
from ccperf.campaign import simulate
from ccperf.campaign.plan import Plan
from ccperf.errors import UsageError
from ccperf.experiments.catalogue import sets
from ccperf.experiments.catalogue.sets import SETS, NamedSet
from ccperf.runs import backends

every_set = pytest.mark.parametrize("chosen", SETS.values(), ids=SETS)


@every_set
def test_every_entry_has_points_and_a_section(chosen: NamedSet) -> None:
    for entry in chosen.entries:
        assert re.fullmatch(r"(A\.)?\d+(\.\d+)*", entry.section)
        plan = Plan(entry.experiment, ["TcpNewReno"], parameters=entry.parameters)
        points = list(plan.points())
        assert points
        for point in points:
            point.scenario.lowered()
    for gap in chosen.gaps:
        assert re.fullmatch(r"\d+(\.\d+)*( to \d+(\.\d+)*)?", gap.section)
        assert gap.why


@every_set
def test_every_section_that_asks_for_something_is_answered_and_no_other_is_cited(
    chosen: NamedSet,
) -> None:
    """The sections are those of the texts, read one by one; part of one may be answered with it."""
    cited = {one.section.partition(" to ")[0] for one in (*chosen.entries, *chosen.gaps)}
    assert cited <= chosen.sections.keys()
    for section in chosen.sections:
        parts = section.split(".")
        whole = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
        assert cited & whole, section


@every_set
def test_one_point_of_each_entry_runs(chosen: NamedSet) -> None:
    native = backends.get("native")
    for entry in chosen.entries:
        # Flows that start later have to start.
        stop_time = "6s" if "start_times" in entry.parameters else "300ms"
        plan = Plan(
            entry.experiment, ["TcpNewReno"], parameters=entry.parameters, stop_time=stop_time
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
        for section, heading in chosen.sections.items():
            assert f"{section} {heading}" in text or section in ("5.3.1", "5.3.2")
        for gap in chosen.gaps:
            assert gap.asks in text


@pytest.mark.parametrize("name", ["rfc7928", "rfc9743"])
def test_no_discipline_of_a_set_is_a_fifo_in_another_name(name: str) -> None:
    """At a target of 15 ms PIE was, since the buffer lasts no longer."""
    values = {
        str(value)
        for entry in sets.get(name).entries
        if entry.experiment == "aqm"
        for value in entry.parameters.get("qdisc", ())
    }
    delay = {
        value: ccperf.run("aqm", cc="cubic", k=2, qdisc=value, stop_time="3s").link_metrics[
            "btl_forward"
        ]["mean_sojourn_l2"]
        for value in {"fifo", *values}
    }
    assert len(delay) > 4
    assert all(delay[value] < 0.8 * delay["fifo"] for value in values - {"fifo"})
