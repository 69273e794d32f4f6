"""Train a small policy through `ccperf.gym`, and draw it beside CUBIC on a path it has not seen.

    python examples/python/train_policy.py gym.svg

The policy is a line: log2 of what the window is multiplied by is tanh(w . observed + b). The
cross-entropy method finds its seven numbers: draw some, keep the best, draw around those. It takes
less than a minute of one core.
"""

from __future__ import annotations

import sys
import time
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

import ccperf
from ccperf.gym import CongestionEnv, Interval

Floats = NDArray[np.float64]

POLICIES, BEST, GENERATIONS, PATHS = 32, 8, 15, 3
UNSEEN = {"rate": "24Mbps", "rtt": "36ms", "buffer": "4bdp", "stop_time": "15s"}


class Episode(NamedTuple):
    reward: float
    steps: list[Interval]


def play(weights: Floats, env: CongestionEnv, seed: int) -> Episode:
    """One run of a policy; its reward per step."""
    observed, _ = env.reset(options={"seed": seed})
    total, steps, is_over = 0.0, [], False
    while not is_over:
        action = np.tanh(weights[:-1] @ observed + weights[-1])
        observed, reward, _, is_over, info = env.step(np.array([action], np.float32))
        total += float(reward)
        steps.append(info["interval"])
    return Episode(total / len(steps), steps)


def train(seed: int = 1) -> Floats:
    """The policy that is best on paths of 4 to 40 Mbps and 10 to 80 ms, drawn anew each time."""
    rng = np.random.default_rng(seed)
    mean, spread = np.zeros(7), np.ones(7)
    for generation in range(GENERATIONS):
        envs = [
            CongestionEnv(
                rate=f"{rng.integers(4, 40)}Mbps",
                rtt=f"{2 * rng.integers(5, 40)}ms",
                buffer=f"{rng.integers(1, 5)}bdp",
                stop_time="4s",
            )
            for _ in range(PATHS)
        ]
        policies = mean + spread * rng.standard_normal((POLICIES, 7))
        rewards = [np.mean([play(policy, env, 1).reward for env in envs]) for policy in policies]
        best = policies[np.argsort(rewards)[-BEST:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
        print(f"generation {generation + 1}: reward {max(rewards):.3f} at best")
    return mean


def draw(weights: Floats, name: str) -> None:
    """Throughput and round trips of the policy and of CUBIC on the path that neither has seen."""
    mpl.use("svg")
    from matplotlib import pyplot as plt

    steps = play(weights, CongestionEnv(**UNSEEN), seed=7).steps
    samples = ccperf.run("dumbbell", cc="cubic", **UNSEEN).recording.flow_samples
    every = slice(None, None, 10)
    seconds = np.asarray(samples["time_ns"], float)[every] / 1e9
    acked = np.asarray(samples["acked_bytes"], float)[every]
    lines = {
        "trained policy": (
            [step.now for step in steps],
            [step.throughput / 1e6 for step in steps],
            [1e3 * step.srtt for step in steps],
        ),
        "CUBIC": (
            seconds[1:],
            np.diff(acked) * 8e-6 / np.diff(seconds),
            np.asarray(samples["srtt_ns"], float)[every][1:] / 1e6,
        ),
    }
    figure, axes = plt.subplots(2, 1, figsize=(8, 4.4), sharex=True, layout="constrained")
    for label, (at, throughput, srtt) in lines.items():
        axes[0].plot(at, throughput, label=label, linewidth=1)
        axes[1].plot(at, srtt, label=label, linewidth=1)
        late = np.asarray(at) > 2
        print(
            f"{label}: {np.mean(np.asarray(throughput)[late]):.1f} Mbps, "
            f"sRTT {np.mean(np.asarray(srtt)[late]):.1f} ms"
        )
    axes[0].set_ylabel("throughput [Mbps]")
    axes[1].set(ylabel="sRTT [ms]", xlabel="time [s]", ylim=(0, None))
    axes[0].legend()
    figure.savefig(name, metadata={"Date": None})


if __name__ == "__main__":
    begin = time.process_time()
    trained = train()
    print(f"trained in {time.process_time() - begin:.0f} s of processor time: {trained.round(2)}")
    if len(sys.argv) > 1:
        draw(trained, sys.argv[1])
