"""The learned algorithm of `examples/python/orca.py`: what it adds to CUBIC, and how it is made."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import ccperf
import gym_steps
from user_code.test_aurora import late

FOLDER = Path(__file__).parents[2] / "examples" / "python"
ORCA = f"{FOLDER / 'orca.py'}:Orca"


def test_it_has_cubics_throughput_at_a_fraction_of_its_queue() -> None:
    """On a path that it has not seen."""
    path = {"rate": "24Mbps", "rtt": "36ms", "buffer": "4bdp", "stop_time": "15s"}
    ours, cubic = (late(ccperf.run("dumbbell", cc=cc, **path).recording) for cc in (ORCA, "cubic"))
    assert ours[0] > 0.97 * cubic[0]
    assert ours[1] - 36 < 0.2 * (cubic[1] - 36)


def test_random_losses_cost_it_less_than_cubic() -> None:
    """2 %, twice as many as it was trained with."""
    rates = [
        late(ccperf.run("loss_resilience", cc=cc, loss=0.02, stop_time="15s").recording)[0]
        for cc in (ORCA, "cubic")
    ]
    assert rates[0] > 2 * rates[1]


def test_cubic_once_a_round_trip_follows_rfc_9438(monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 4.2: after K it is where it was at the loss."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    cubic = runpy.run_path(str(FOLDER / "orca.py"))["Cubic"](100.0)
    cubic.lose(0.0)
    assert cubic.window == pytest.approx(70)
    k = (30 / 0.4) ** (1 / 3)
    now, windows = 0.0, []
    while now < 1.5 * k:
        now += 0.1
        cubic.grow(now)
        windows.append(cubic.window)
    at = round(k / 0.1) - 1
    assert windows[at] == pytest.approx(100, abs=1)
    assert windows[-1] == pytest.approx(100 + 0.4 * (now - k) ** 3, rel=0.05)


@pytest.mark.sweep
def test_training_takes_a_million_steps_at_most_and_finds_what_is_rewarded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On average over paths that it has not seen: what is shipped is such a network."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    training = runpy.run_path(str(FOLDER / "train_orca.py"))
    with gym_steps.counted() as steps:
        numbers = training["train"]()
    assert 0 < steps.count < 1_000_000
    shipped = json.loads((FOLDER / "orca.json").read_text())
    assert len(numbers) == len(shipped) == training["NUMBERS"]
    envs = training["paths"](np.random.default_rng(100), "cwnd")
    nothing, trained, kept = (
        np.mean([training["play"](each, env, 7) for env in envs])
        for each in ([0.0] * len(shipped), numbers, shipped)
    )
    assert trained > nothing + 0.2
    assert kept > nothing + 0.2
