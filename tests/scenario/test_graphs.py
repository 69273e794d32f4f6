"""Networks that are no dumbbells: the examples and random ones, by themselves and against ns-3."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccperf import verify
from ccperf.runs import backends
from ccperf.scenario import Scenario

from . import graphs

MISSING = backends.get("ns3").available()
needs_ns3 = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "scenarios").glob("*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_run(path: Path) -> None:
    recording = backends.get("native").simulate(Scenario.from_toml(path))
    assert (recording.flows.array("segments_sent") > 0).all()


def test_the_square_sends_each_way_over_its_own_links() -> None:
    """Both ways have two links; at each end the link that was listed first wins."""
    [path] = [path for path in EXAMPLES if path.stem == "square"]
    recording = backends.get("native").simulate(Scenario.from_toml(path))
    names = recording.links["name"]
    sent = dict(zip(names, recording.links.array("tx_packets"), strict=True))
    assert sent["yb_forward"] == sent["ay_forward"] == 0
    assert sent["ax_forward"] > 0
    assert sent["yb_reverse"] > 0


@pytest.mark.parametrize("seed", range(40))
def test_random_networks_run_and_repeat(seed: int) -> None:
    scenario = graphs.scenario(seed)
    again = Scenario.model_validate(scenario.canonical())
    native = backends.get("native")
    assert native.simulate(scenario).equals(native.simulate(again))


@needs_ns3
@pytest.mark.ns3
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_packet_identical(path: Path) -> None:
    comparison = verify.ns3(Scenario.from_toml(path))
    assert comparison.identical, comparison.report()


@needs_ns3
@pytest.mark.ns3
@pytest.mark.parametrize("first", [0, 10, 20, 30])
def test_random_networks_are_packet_identical(first: int) -> None:
    for seed in range(first, first + 10):
        comparison = verify.ns3(graphs.scenario(seed))
        assert comparison.identical, comparison.report()
