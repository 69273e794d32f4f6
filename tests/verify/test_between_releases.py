"""What releases of ns-3 change in results: the numbers that the package carries."""

from __future__ import annotations

import json

import pytest

from ccperf.algorithms import registry, releases
from ccperf.cli.app import invoke
from ccperf.experiments.catalogue import EXPERIMENTS
from ccperf.runs.metrics import METRICS
from ccperf.verify import between_releases
from ccperf.verify.between_releases import Conclusion, Effect


def test_every_release_was_measured_over_the_catalogue() -> None:
    found = between_releases.last()
    assert list(found.ran) == list(releases.releases())
    assert list(found.effects) == list(releases.releases())[1:]
    assert {"TcpCubic", "TcpBbr", "TcpDctcp"} < set(found.algorithms)
    assert set(found.algorithms) <= set(registry.algorithms("cc"))
    # The page names the seed first that all algorithms have: that of `bench` without --seed.
    assert found.seeds[0] == 42
    # Each algorithm in each experiment of congestion controls, as often under each release.
    assert set(found.ran.values()) == {26 * len(found.algorithms)}
    effects = [effect for of in found.effects.values() for effect in of]
    assert {effect.experiment for effect in effects} <= set(EXPERIMENTS)
    assert {effect.metric for effect in effects} <= set(METRICS)
    assert all(0 < effect.changed <= effect.points for effect in effects)


def test_what_3_48_changed_is_what_its_changes_say() -> None:
    """Alone or as an opponent: BBR is one of those in `competition`."""
    changed = {effect.algorithm for effect in between_releases.last().effects["ns3-3.48"]}
    assert {"TcpBbr", "TcpLedbat"} <= changed
    alone = {
        effect.algorithm
        for effect in between_releases.last().effects["ns3-3.48"]
        if effect.experiment in ("scalability", "loss_resilience", "ecn", "buffer_sizing")
    }
    # Three of them stop being themselves in CWR, which they are told of since 3.48.
    assert alone <= {"TcpBbr", "TcpLedbat", "TcpVegas", "TcpVeno", "TcpYeah"}


def test_a_conclusion_is_called_what_its_values_say() -> None:
    def signs(one: Conclusion) -> list[bool]:
        return [second > first for first, second in (one.before, one.after)]

    for one in between_releases.last().conclusions:
        if one.word in ("turns", "stands"):
            assert (signs(one)[0] != signs(one)[1]) == (one.word == "turns"), one
        near = {"vanishes": one.after, "appears": one.before}.get(one.word)
        assert near is None or abs(near[0] - near[1]) < 0.011 * max(near)


def test_the_file_is_what_would_be_written() -> None:
    found = between_releases.last()
    assert json.loads(found.json()) == json.loads(between_releases.data.text(between_releases.FILE))


def test_a_profile_says_what_it_changes(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["show", "profile", "ns3-3.48"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "What it changes in the catalogue, against ns-3 3.44" in out
    assert "scalability: TcpBbr, TcpLedbat; most TcpLedbat's used_capacity_l1, x" in out
    assert invoke(["show", "profile", "ns3-3.44"]) == 0
    assert "What it changes" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "mean", "text"),
    [
        ("ratio", 1.0634, "x1.06"),
        ("difference", -0.56, "−0.56"),
        ("ratio", None, "from or to 0"),
    ],
)
def test_how_large_a_change_is_called(kind: str, mean: float | None, text: str) -> None:
    effect = Effect("ecn", "TcpBbr", "mean_srtt_l4", kind, 4, 1, mean, None, None)
    assert between_releases.text(effect) == text
