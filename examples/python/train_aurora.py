"""Learn the network of `aurora.py` through `ccperf.gym`, and write it to `aurora.json`.

    python examples/python/train_aurora.py aurora.json

The cross-entropy method draws networks, keeps those with the highest reward, and draws around
them: on paths of 4 to 40 Mbps, 10 to 80 ms, and up to 1 % of random losses. It takes less
than two minutes of one core.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from aurora import NUMBERS, Policy

from ccperf.gym import CongestionEnv, Interval

POLICIES, BEST, GENERATIONS, PATHS = 48, 10, 50, 4


def reward(seen: Interval) -> float:
    """Aurora's, but as shares: losses count little, so that random ones do."""
    delay = seen.srtt / seen.min_rtt - 1 if seen.min_rtt > 0 else 0.0
    return seen.throughput / seen.capacity - 0.5 * delay - seen.loss


def play(numbers: list[float], env: CongestionEnv, seed: int) -> float:
    """One run of a network; its reward per second."""
    _, info = env.reset(options={"seed": seed})
    policy = Policy(numbers)
    total, seconds, is_over, action = 0.0, 0.0, False, 0.0
    while not is_over:
        _, _, _, is_over, info = env.step(np.array([action], np.float32))
        seen = info["interval"]
        if seen.seconds > 0 and seen.min_rtt > 0:
            action = policy.act(seen.seconds, seen.srtt, seen.min_rtt, seen.loss)
        total += reward(seen) * seen.seconds
        seconds += seen.seconds
    return total / seconds


def paths(rng: np.random.Generator, action: str = "rate") -> list[CongestionEnv]:
    """Paths drawn anew, half of them with random losses."""
    made = []
    for lossy in (False, True) * (PATHS // 2):
        rate, rtt = f"{rng.integers(4, 40)}Mbps", f"{2 * rng.integers(5, 40)}ms"
        buffer = f"{rng.integers(1, 5)}bdp"
        if lossy:
            loss = round(float(rng.uniform(0.001, 0.01)), 4)
            env = CongestionEnv("loss_resilience", action=action, loss=loss, stop_time="4s")
        else:
            env = CongestionEnv(rate=rate, rtt=rtt, buffer=buffer, action=action, stop_time="4s")
        made.append(env)
    return made


def learn(
    count: int,
    play: Callable[[list[float], CongestionEnv, int], float],
    paths: Callable[[np.random.Generator], list[CongestionEnv]],
    seed: int,
    generations: int = GENERATIONS,
) -> list[float]:
    """So many numbers that play well."""
    rng = np.random.default_rng(seed)
    mean, spread = np.zeros(count), np.ones(count)
    for generation in range(generations):
        envs = paths(rng)
        drawn = mean + spread * rng.standard_normal((POLICIES, count))
        rewards = [np.mean([play(list(numbers), env, 1) for env in envs]) for numbers in drawn]
        best = drawn[np.argsort(rewards)[-BEST:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.03
        print(f"generation {generation + 1}: reward {max(rewards):.3f} at best")
    return [round(float(number), 4) for number in mean]


def train(seed: int = 1) -> list[float]:
    return learn(NUMBERS, play, paths, seed)


if __name__ == "__main__":
    begin = time.process_time()
    trained = train()
    print(f"trained in {time.process_time() - begin:.0f} s of processor time")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(trained) + "\n")
