"""Several agents on one network: what PettingZoo asks of it, and that each flow is its agent's."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

from ccperf.errors import RunError, UsageError
from ccperf.gym import CongestionEnv, Interval
from ccperf.gym.parallel import ParallelCongestionEnv

PATH = {"rate": "10Mbps", "rtt": "40ms", "stop_time": "5s"}


def episode(
    env: ParallelCongestionEnv, actions: dict[str, float], **given: Any
) -> dict[str, list[Interval]]:
    """A whole one: in the first step the actions, then none."""
    env.reset(**given)
    seen: dict[str, list[Interval]] = {agent: [] for agent in env.agents}
    numbers = {agent: np.array([actions[agent]], np.float32) for agent in env.agents}
    while env.agents:
        *_, truncations, infos = env.step(numbers)
        assert {*truncations.values()} == {not env.agents}
        for agent, info in infos.items():
            seen[agent].append(info["interval"])
        numbers = {agent: np.zeros(1, np.float32) for agent in seen}
    return seen


@pytest.mark.parametrize("interval", ["rtt", "ack", "15ms"])
@pytest.mark.parametrize("action", ["cwnd", "rate", "both"])
def test_pettingzoo_finds_nothing_wrong(interval: str, action: Any) -> None:
    """Its checker passes an option that there is not, of which we warn."""
    given = {"interval": interval, "action": action, "flows": 3, **PATH}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "options: `options` is none")
        parallel_api_test(ParallelCongestionEnv(**given), num_cycles=300)
        parallel_seed_test(lambda: ParallelCongestionEnv(**given), num_cycles=20)


def test_windows_share_the_bottleneck_as_their_sizes() -> None:
    """In a queue that serves in order a flow has that share of the link which it has of the data
    in flight (Little's law, the same time in queue and on the path for all).
    """
    env = ParallelCongestionEnv(flows=3, interval="100ms", **PATH)
    assert env.possible_agents == ["flow_1", "flow_2", "flow_3"]
    seen = episode(env, {"flow_1": 1.0, "flow_2": 0.5, "flow_3": 0.0}, seed=1)
    windows = {agent: steps[-1].cwnd for agent, steps in seen.items()}
    assert list(windows.values()) == [28960, int(14480 * 2**0.5), 14480]
    later = {agent: sum(s.delivered for s in steps[10:]) for agent, steps in seen.items()}
    total = sum(later.values())
    # 44 segments in 40 ms are more than 10 Mbps: the link is full.
    assert 8 * total / sum(s.seconds for s in seen["flow_1"][10:]) == pytest.approx(
        10e6 * 1448 / 1502, rel=0.01
    )
    whole = {agent: window // 1448 for agent, window in windows.items()}
    for agent, delivered in later.items():
        assert delivered / total == pytest.approx(whole[agent] / sum(whole.values()), rel=0.03)


def test_one_agent_has_the_episode_that_gymnasium_gives_it() -> None:
    alone = ParallelCongestionEnv("loss_resilience", stop_time="2s")
    (agent,) = alone.possible_agents
    env = CongestionEnv("loss_resilience", stop_time="2s")
    env.reset(seed=4)
    seen, is_over = [], False
    while not is_over:
        *_, is_over, info = env.step(np.full(1, 0.0 if seen else 0.7, np.float32))
        seen.append(info["interval"])
    assert episode(alone, {agent: 0.7}, seed=4) == {agent: seen}


def test_the_seed_makes_the_episode() -> None:
    env = ParallelCongestionEnv("parking_lot", stop_time="2s")
    hold = dict.fromkeys(env.possible_agents, 0.1)
    one, again, other = (episode(env, hold, seed=seed) for seed in (1, 1, 2))
    assert one == again != other
    _, infos = env.reset(options={"seed": 7})
    assert {info["seed"] for info in infos.values()} == {7}


def test_agents_act_at_the_same_times_after_the_longest_round_trip() -> None:
    env = ParallelCongestionEnv("steady_state_rtt_fairness", stop_time="3s")
    seen = episode(env, dict.fromkeys(env.possible_agents, 0.0), seed=1)
    steps = list(zip(*seen.values(), strict=True))
    assert len(steps) > 10
    for before, after in itertools.pairwise(steps[:-1]):
        assert len({each.now for each in after}) == 1
        assert after[0].seconds == pytest.approx(max(each.srtt for each in before))


def test_an_agent_that_errs_is_named_and_ends_the_episode() -> None:
    zeros = {"flow_1": np.zeros(1, np.float32), "flow_2": np.zeros(1, np.float32)}

    def fails(_: Interval) -> float:
        raise ValueError("no")

    for given, actions, message in (
        ({}, {**zeros, "flow_2": np.array([np.nan])}, r"actions\['flow_2'\]: .* 1 finite number"),
        ({}, {**zeros, "flow_1": "up"}, r"actions\['flow_1'\]: `up` must be 1 finite number"),
        ({}, {"flow_1": zeros["flow_1"]}, "actions: `flow_2` has none"),
        ({"action": "both"}, zeros, r"must be 2 finite numbers"),
    ):
        env = ParallelCongestionEnv(flows=2, **given, **PATH)
        env.reset(seed=1)
        with pytest.raises(UsageError, match=message):
            env.step(actions)
        assert env.agents == []
        with pytest.raises(UsageError, match="the episode has ended"):
            env.step(zeros)
    env = ParallelCongestionEnv(flows=2, reward=fails, **PATH)
    env.reset(seed=1)
    with pytest.raises(RunError, match="flow_1: reward: ValueError: no, at 0"):
        env.step(zeros)
    assert env.agents == []


def test_experiments_without_agents_are_refused() -> None:
    with pytest.raises(UsageError, match=r"ccperf\.gym\.parallel for several agents"):
        CongestionEnv(flows=2)
    with pytest.raises(UsageError, match="agent: `flow_9` is none of flow_1"):
        ParallelCongestionEnv(flows=2).action_space("flow_9")
