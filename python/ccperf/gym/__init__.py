"""Environments for agents that learn: they set windows and rates, the engine is the network.

    env = CongestionEnv("dumbbell", rate="10Mbps", rtt="40ms", stop_time="30s")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

Every experiment of the catalogue in which one flow has the algorithm under test is an environment
of Gymnasium, and `CongestionVectorEnv` steps several of them in one call. Experiments with several
such flows are environments of PettingZoo: `ccperf.gym.parallel`. The engine runs in this process,
and as far as each step asks for. Needs the extra `gym`.
"""

from __future__ import annotations

from ccperf._native import Interval
from ccperf.gym.env import CongestionEnv
from ccperf.gym.runs import OBSERVED, Action, Agent, observe, reward
from ccperf.gym.vector import CongestionVectorEnv

__all__ = [
    "OBSERVED",
    "Action",
    "Agent",
    "CongestionEnv",
    "CongestionVectorEnv",
    "Interval",
    "observe",
    "reward",
]
