"""The learned algorithm of `examples/python/aurora.py`: what it does, and how it is made."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import ccperf
import gym_steps
from ccperf.cli import main
from ccperf.runs.recording import Recording

FOLDER = Path(__file__).parents[2] / "examples" / "python"
AURORA = f"{FOLDER / 'aurora.py'}:Aurora"


def late(recording: Recording) -> tuple[float, float]:
    """Goodput in Mbps and mean smoothed RTT in ms, after two seconds."""
    samples = recording.flow_samples
    at, acked, srtt = (
        np.asarray(samples[name], float) for name in ("time_ns", "acked_bytes", "srtt_ns")
    )
    of = at > 2e9
    rate = 8e3 * (acked[of][-1] - acked[of][0]) / (at[of][-1] - at[of][0])
    return float(rate), float(srtt[of].mean()) / 1e6


def test_it_has_most_of_cubics_throughput_at_a_fraction_of_its_queue() -> None:
    """On a path that it has not seen."""
    path = {"rate": "24Mbps", "rtt": "36ms", "buffer": "4bdp", "stop_time": "15s"}
    ours, cubic = (
        late(ccperf.run("dumbbell", cc=cc, **path).recording) for cc in (AURORA, "cubic")
    )
    assert ours[0] > 0.7 * cubic[0]
    assert ours[1] - 36 < 0.2 * (cubic[1] - 36)


def test_random_losses_cost_it_less_than_cubic() -> None:
    """2 %, twice as many as it was trained with."""
    rates = [
        late(ccperf.run("loss_resilience", cc=cc, loss=0.02, stop_time="15s").recording)[0]
        for cc in (AURORA, "cubic")
    ]
    assert rates[0] > 1.5 * rates[1]


def test_bench_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside a built-in algorithm, in an experiment of the catalogue."""
    options = ["--experiments", "loss_resilience", "--stop-time", "2s", "--seed", "1", "--no-site"]
    with pytest.raises(SystemExit) as ended:
        main(["bench", f"{AURORA},cubic", *options, "--db", str(tmp_path / "runs.db")])
    assert ended.value.code == 0
    assert "aurora.py:Aurora" in capsys.readouterr().out


@pytest.mark.sweep
def test_training_takes_two_million_steps_at_most_and_finds_what_is_rewarded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On average over paths that it has not seen: what is shipped is such a network."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    training = runpy.run_path(str(FOLDER / "train_aurora.py"))
    with gym_steps.counted() as steps:
        numbers = training["train"]()
    assert 0 < steps.count < 2_000_000
    shipped = json.loads((FOLDER / "aurora.json").read_text())
    assert len(numbers) == len(shipped) == training["NUMBERS"]
    envs = training["paths"](np.random.default_rng(100))
    nothing, trained, kept = (
        np.mean([training["play"](each, env, 7) for env in envs])
        for each in ([0.0] * len(shipped), numbers, shipped)
    )
    assert trained > nothing + 0.2
    assert kept > nothing + 0.2
