"""Learn the network of `orca.py` through `ccperf.gym`, and write it to `orca.json`.

    python examples/python/train_orca.py orca.json

As `train_aurora.py` does, on the same paths: but what is played is CUBIC with the network beside
it, and what is set is the window. It takes less than a minute of one core.
"""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from orca import NUMBERS, Both
from train_aurora import learn, paths, reward

if TYPE_CHECKING:
    from ccperf.gym import CongestionEnv

SEGMENT = 1448


def play(numbers: list[float], env: CongestionEnv, seed: int) -> float:
    """One run of CUBIC with a network; its reward per second."""
    _, info = env.reset(options={"seed": seed})
    both = Both(numbers)
    window = both.cubic.window
    total, seconds, is_over, action = 0.0, 0.0, False, 0.0
    while not is_over:
        _, _, _, is_over, info = env.step(np.array([action], np.float32))
        seen = info["interval"]
        total += reward(seen) * seen.seconds
        seconds += seen.seconds
        if seen.seconds > 0 and seen.min_rtt > 0:
            rate = seen.throughput / 8 / SEGMENT
            wanted = both.window(seconds, rate, seen.srtt, seen.min_rtt, seen.loss)
            action = min(max(math.log2(wanted / window), -1.0), 1.0)
            window *= 2**action
    return total / seconds


def train(seed: int = 1) -> list[float]:
    return learn(NUMBERS, play, lambda rng: paths(rng, "cwnd"), seed, generations=25)


if __name__ == "__main__":
    begin = time.process_time()
    trained = train()
    print(f"trained in {time.process_time() - begin:.0f} s of processor time")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(trained) + "\n")
