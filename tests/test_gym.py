"""The environment: what Gymnasium asks of one, and that window and rate are the flow's."""

from __future__ import annotations

import runpy
import time
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import ccperf
from ccperf.errors import UsageError
from ccperf.gym import OBSERVED, CongestionEnv, Interval

PATH = {"rate": "10Mbps", "rtt": "40ms", "stop_time": "5s"}
HOLD = np.zeros(1, np.float32)


def episode(
    env: CongestionEnv, actions: list[np.ndarray], **given: Any
) -> tuple[list[Interval], list[float], list[np.ndarray]]:
    """A whole one, with the last action again and again."""
    observation, _ = env.reset(**given)
    seen, rewards, observations = [], [], [observation]
    is_over = False
    while not is_over:
        action = actions[min(len(seen), len(actions) - 1)]
        observation, reward, terminated, is_over, info = env.step(action)
        assert not terminated
        assert env.observation_space.contains(observation)
        seen.append(info["interval"])
        rewards.append(reward)
        observations.append(observation)
    return seen, rewards, observations


@pytest.mark.parametrize("interval", ["rtt", "ack", "15ms"])
@pytest.mark.parametrize("action", ["cwnd", "rate", "both"])
def test_gymnasium_finds_nothing_wrong(interval: str, action: str) -> None:
    made = gymnasium.make("ccperf/CongestionControl-v0", interval=interval, action=action, **PATH)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made.unwrapped)


@pytest.mark.parametrize("experiment", ["competition", "loss_resilience", "responsiveness_step"])
def test_experiments_with_one_flow_under_test_are_environments(experiment: str) -> None:
    seen, *_ = episode(CongestionEnv(experiment, stop_time="2s"), [HOLD], seed=1)
    assert seen[-1].now == 2
    assert sum(each.delivered for each in seen) > 0


def test_a_window_below_the_product_is_delivered_each_round_trip() -> None:
    """Little's law: 20 segments in 40 ms and the 1.2 ms in which the bottleneck sends one."""
    seen, *_ = episode(CongestionEnv(interval="40ms", **PATH), [HOLD + 1, HOLD], seed=1)
    later = [each for each in seen[5:] if each.seconds == 0.04]
    assert len(later) > 100
    assert {each.cwnd for each in later} == {20 * 1448}
    round_trips = 40 / 41.2 * len(later)
    assert sum(each.delivered for each in later) == pytest.approx(
        20 * 1448 * round_trips, abs=20 * 1448
    )
    assert {each.lost for each in later} == {0}


def test_a_pacing_rate_below_the_capacity_is_the_throughput() -> None:
    """To one segment in a second."""
    env = CongestionEnv(action="rate", interval="1s", **PATH)
    seen, *_ = episode(env, [HOLD], seed=1)
    rate = 8 * 10 * 1448 / 0.04  # ten segments in a round trip, at first
    for each in seen[1:4]:
        assert each.throughput == pytest.approx(rate, abs=8 * 1448)


def test_steps_change_nothing_about_the_run() -> None:
    totals = []
    for interval in ("rtt", "ack", "7ms"):
        seen, *_ = episode(CongestionEnv("loss_resilience", interval=interval), [HOLD], seed=1)
        assert sum(each.seconds for each in seen) == pytest.approx(seen[-1].now, abs=0.1)
        totals.append((sum(each.delivered for each in seen), sum(each.lost for each in seen)))
    assert totals[0] == totals[1] == totals[2]
    assert totals[0][1] > 0


def test_the_seed_makes_the_episode() -> None:
    env = CongestionEnv("loss_resilience", stop_time="2s")
    one, again, other = (episode(env, [HOLD + 0.2, HOLD], seed=seed)[2] for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert len(one) != len(other) or not np.array_equal(one, other)
    _, info = env.reset(options={"seed": 7})
    assert info["seed"] == 7
    drawn = [env.reset(seed=3)[1]["seed"], env.reset()[1]["seed"], env.reset(seed=3)[1]["seed"]]
    assert drawn[0] == drawn[2] != drawn[1]


def test_what_is_observed_and_what_it_is_worth_can_be_replaced() -> None:
    space = gymnasium.spaces.Box(0, np.inf, (1,), np.float32)
    env = CongestionEnv(
        observe=lambda seen: np.array([seen.srtt], np.float32),
        observation_space=space,
        reward=lambda seen: float(seen.delivered),
        **PATH,
    )
    seen, rewards, observations = episode(env, [HOLD], seed=1)
    assert rewards == [each.delivered for each in seen]
    assert observations[-1] == pytest.approx(seen[-1].srtt)


def test_reward_and_observation_are_those_of_the_page() -> None:
    seen, rewards, observations = episode(CongestionEnv(**PATH), [HOLD + 1] * 3 + [HOLD], seed=1)
    last, told = seen[-2], observations[-2]
    assert last.lost == 0
    delay = last.srtt / last.min_rtt - 1
    assert delay > 0.1
    assert rewards[-2] == pytest.approx(last.throughput / 10e6 - 0.25 * delay)
    assert told[1] == pytest.approx(delay, rel=1e-5)
    assert (told <= OBSERVED).all()


@pytest.mark.parametrize("wrong", [[np.nan], [np.inf], [0.0, 0.0], []])
def test_an_action_that_is_none_ends_the_episode(wrong: list[float]) -> None:
    env = CongestionEnv(**PATH)
    env.reset(seed=1)
    with pytest.raises(UsageError, match=r"action: .* must be 1 finite number"):
        env.step(np.array(wrong, np.float32))
    with pytest.raises(UsageError, match="the episode has ended"):
        env.step(HOLD)
    env.reset(seed=1)
    env.step(HOLD)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"experiment": "nope"}, "experiment"),
        ({"experiment": "testbed"}, "experiment"),
        ({"experiment": "aqm", "k": 2}, "experiment"),
        ({"action": "window"}, "action"),
        ({"interval": "soon"}, "interval"),
        ({"interval": "0s"}, "interval"),
        ({"stop_time": "0s"}, "stop_time"),
        ({"rtts": "1ms"}, "rtts"),
    ],
)
def test_wrong_arguments_are_named(given: dict[str, Any], field: str) -> None:
    with pytest.raises(UsageError) as error:
        CongestionEnv(**given)
    assert error.value.field == field


def test_what_a_reset_cannot_do_is_said() -> None:
    with pytest.raises(UsageError, match="before anything is delivered"):
        CongestionEnv(rtt="40ms", stop_time="50ms").reset(seed=1)
    with pytest.raises(UsageError, match="options: `sead`"):
        CongestionEnv().reset(options={"sead": 1})


def test_vectors_of_it_step_together() -> None:
    several = gymnasium.make_vec(
        "ccperf/CongestionControl-v0", num_envs=3, vectorization_mode="sync", **PATH
    )
    several.reset(seed=1)
    observations, rewards, *_ = several.step(several.action_space.sample())
    assert observations.shape == (3, 6)
    assert rewards.shape == (3,)


@pytest.mark.parametrize("given", [{"rtt": "40ms"}, {"rtt": "10ms"}, {"interval": "ack"}])
def test_it_is_fast(given: dict[str, str]) -> None:
    env = CongestionEnv(**{"rate": "10Mbps", "stop_time": "30s", **given})
    env.reset(seed=1)
    for _ in range(2):
        env.step(HOLD + 1)  # 40 segments, which fill the path
    # Of processor time: what else the machine does is not ours.
    started, steps, is_over = time.process_time(), 0, False
    while not is_over:
        is_over = env.step(HOLD)[3]
        steps += 1
    rate = steps / (time.process_time() - started)
    print(f"{given}: {rate:,.0f} steps/s")
    assert rate > 1000


def test_the_example_trains_a_policy_that_keeps_the_queue_short() -> None:
    """`docs/gym.md`: on a path that it has not seen, CUBIC's throughput without its queue."""
    path = Path(__file__).parents[1] / "examples" / "python" / "train_policy.py"
    example = runpy.run_path(str(path))
    begin = time.process_time()
    weights = example["train"]()
    assert time.process_time() - begin < 120
    unseen = example["UNSEEN"]
    steps = list(example["play"](weights, CongestionEnv(**unseen), 7).steps)
    late = [step for step in steps if step.now > 2]
    samples = ccperf.run("dumbbell", cc="cubic", **unseen).recording.flow_samples
    is_late = samples["time_ns"] > 2e9
    acked = samples["acked_bytes"][is_late]
    cubic = float(acked[-1] - acked[0]) / 13
    ours = sum(step.delivered for step in late) / 13
    assert ours > 0.95 * cubic
    assert np.mean([step.srtt for step in late]) < 0.5e-9 * np.mean(samples["srtt_ns"][is_late])
