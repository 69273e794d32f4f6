"""The environment: what Gymnasium asks of one, and that window and rate are the flow's."""

from __future__ import annotations

import pickle
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
import gym_steps
from ccperf.errors import RunError, UsageError
from ccperf.gym import OBSERVED, CongestionEnv, CongestionVectorEnv, Interval

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
        ({"interval": 10}, "interval"),
        ({"cc": "cubic"}, "cc"),
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


def test_what_is_slow_or_fails_in_the_agents_own_functions_ends_the_episode() -> None:
    def fails(seen: Interval) -> float:
        if seen.now > 1:
            raise ZeroDivisionError("by nothing")
        return 0.0

    for given, message in (
        ({"reward": fails}, r"reward: ZeroDivisionError: by nothing, at 1\.\d+ s"),
        ({"reward": lambda seen: np.log(seen.now < 1)}, r"reward: `-inf` is not finite, at 1\."),
        ({"observe": lambda seen: OBSERVED / (seen.now < 1)}, r"observe: .* is not finite, at 1\."),
    ):
        env = CongestionEnv(interval="200ms", **given, **PATH)
        with np.errstate(divide="ignore"), pytest.raises(RunError, match=message):
            episode(env, [HOLD], seed=1)
        with pytest.raises(UsageError, match="the episode has ended"):
            env.step(HOLD)
    env = CongestionEnv(patience=0.05, **PATH)
    env.reset(seed=1)
    env.step(HOLD)
    time.sleep(0.06)
    with pytest.raises(UsageError, match=r"action: took .* s, may take 0\.05 s \(`patience`\)"):
        env.step(HOLD)
    with pytest.raises(UsageError, match="the episode has ended"):
        env.step(HOLD)


def test_an_interval_travels_between_processes() -> None:
    seen, *_ = episode(CongestionEnv(**PATH), [HOLD], seed=1)
    for each in (seen[0], seen[-1]):
        assert pickle.loads(pickle.dumps(each)) == each
        assert f"now={each.now}" in repr(each)
    assert seen[0] != seen[-1]


def test_a_vector_is_the_same_as_its_environments_one_by_one() -> None:
    """Over the end of the episodes, which begin anew a step later, as Gymnasium's own do."""
    given = {"experiment": "loss_resilience", "stop_time": "800ms", "interval": "rtt"}
    made = [
        gymnasium.make_vec("ccperf/CongestionControl-v0", 3, vectorization_mode=mode, **given)
        for mode in ("vector_entry_point", "sync")
    ]
    assert isinstance(made[0], CongestionVectorEnv)
    assert made[0].single_observation_space == made[1].single_observation_space
    assert made[0].action_space == made[1].action_space
    assert made[0].metadata["autoreset_mode"] == made[1].metadata["autoreset_mode"]
    ours, theirs = (env.reset(seed=5) for env in made)
    rng, begun = np.random.default_rng(1), 0
    for _ in range(120):
        assert np.array_equal(ours[0], theirs[0])
        for name in theirs[-1].keys() & {"interval", "seed"}:
            has_one = theirs[-1][f"_{name}"]
            assert np.array_equal(ours[-1][f"_{name}"], has_one)
            assert list(ours[-1][name][has_one]) == list(theirs[-1][name][has_one])
        for one, other in zip(ours[1:-1], theirs[1:-1], strict=True):
            assert np.array_equal(one, other)
        begun += int(ours[-1].get("_seed", np.zeros(3)).sum())
        actions = rng.uniform(-0.3, 0.4, (3, 1)).astype(np.float32)
        ours, theirs = (env.step(actions) for env in made)
    assert begun >= 6


def test_a_vector_can_have_rewards_and_observations_of_its_own() -> None:
    env = CongestionVectorEnv(
        2,
        observe=lambda seen: np.array([seen.srtt], np.float32),
        observation_space=gymnasium.spaces.Box(0, np.inf, (1,), np.float32),
        reward=lambda seen: float(seen.delivered),
        **PATH,
    )
    env.reset(seed=1)
    observations, rewards, *_, infos = env.step(np.zeros((2, 1), np.float32))
    assert rewards.tolist() == [seen.delivered for seen in infos["interval"]]
    assert observations.ravel().tolist() == pytest.approx([i.srtt for i in infos["interval"]])


def test_what_is_wrong_in_a_vector_is_said_of_the_run_and_ends_all() -> None:
    env = CongestionVectorEnv(3, **PATH)
    with pytest.raises(UsageError, match="step: the episodes have ended; call reset"):
        env.step(np.zeros((3, 1), np.float32))
    env.reset(seed=[1, None, 3])
    with pytest.raises(UsageError, match=r"actions\[1\]: `\[NaN\]` must be 1 finite number"):
        env.step(np.array([[0], [np.nan], [0]], np.float32))
    with pytest.raises(UsageError, match="the episodes have ended"):
        env.step(np.zeros((3, 1), np.float32))
    env.reset()
    with pytest.raises(UsageError, match=r"actions: have the shape \(2, 1\), must have \(3, 1\)"):
        env.step(np.zeros((2, 1), np.float32))
    with pytest.raises(UsageError, match="seed: has 2 numbers for 3 runs"):
        env.reset(seed=[1, 2])
    with pytest.raises(UsageError, match="num_envs: `0` must be at least 1"):
        CongestionVectorEnv(0)


#: Paths of 10 Mbps with a buffer of a BDP, the RTT in s (0: a step is an ACK), and how often the
#: ten segments of the beginning are doubled to fill path and half the buffer.
FAST = [
    ({"rtt": "40ms"}, 0.040, 2),
    ({"rtt": "10ms"}, 0.010, 0),
    ({"rtt": "15ms", "interval": "ack"}, 0.0, 1),
]


def check_work(seen: list[Interval], steps: int, rtt: float) -> None:
    """What the steps of one run have done: the path was full, and they were of its round trips."""
    seconds = sum(each.seconds for each in seen)
    assert seconds > 29
    goodput = 8 * sum(each.delivered for each in seen) / seconds
    assert goodput == pytest.approx(10e6 * 1448 / 1502, rel=0.01)
    assert {each.lost for each in seen[5:]} == {0}
    if rtt:
        full = [each.seconds for each in seen[5:-1]]
        assert np.mean(full) == pytest.approx(np.mean([each.srtt for each in seen[5:-1]]), rel=0.01)
        assert rtt < np.mean(full) < 2 * rtt
    else:
        # An ACK for each segment.
        assert steps == pytest.approx(sum(each.delivered for each in seen) / 1448, rel=0.02)


@pytest.mark.parametrize(("given", "rtt", "doublings"), FAST)
def test_it_is_fast(given: dict[str, str], rtt: float, doublings: int) -> None:
    env = CongestionEnv(**{"rate": "10Mbps", "stop_time": "30s", **given})
    env.reset(seed=1)
    for _ in range(doublings):
        env.step(HOLD + 1)
    # Of processor time: what else the machine does is not ours.
    started, seen, is_over = time.process_time(), [], False
    while not is_over:
        _, _, _, is_over, info = env.step(HOLD)
        seen.append(info["interval"])
    rate = len(seen) / (time.process_time() - started)
    print(f"{given}: {rate:,.0f} steps/s")
    check_work(seen, len(seen), rtt)
    assert rate > 1000


@pytest.mark.parametrize(("given", "rtt", "doublings"), FAST[:2])
def test_a_vector_is_fast(given: dict[str, str], rtt: float, doublings: int) -> None:
    runs = 64
    env = CongestionVectorEnv(runs, **{"rate": "10Mbps", "stop_time": "30s", **given})
    env.reset(seed=1)
    for _ in range(doublings):
        env.step(np.ones((runs, 1), np.float32))
    hold, seen = np.zeros((runs, 1), np.float32), []
    started, is_over = time.process_time(), False
    while not is_over:
        _, _, _, truncated, infos = env.step(hold)
        is_over = truncated.any()
        seen.append(infos["interval"])
    rate = runs * len(seen) / (time.process_time() - started)
    print(f"{runs} runs, {given}: {rate:,.0f} steps/s")
    for run in range(runs):
        check_work([each[run] for each in seen], len(seen), rtt)
    assert rate > 1000


def test_the_example_trains_a_policy_that_keeps_the_queue_short() -> None:
    """`docs/gym.md`: on a path that it has not seen, CUBIC's throughput without its queue."""
    path = Path(__file__).parents[1] / "examples" / "python" / "train_policy.py"
    example = runpy.run_path(str(path))
    with gym_steps.counted() as steps:
        weights = example["train"]()
    assert 0 < steps.count < 200_000
    unseen = example["UNSEEN"]
    played = list(example["play"](weights, CongestionEnv(**unseen), 7).steps)
    late = [step for step in played if step.now > 2]
    samples = ccperf.run("dumbbell", cc="cubic", **unseen).recording.flow_samples
    is_late = samples["time_ns"] > 2e9
    acked = samples["acked_bytes"][is_late]
    cubic = float(acked[-1] - acked[0]) / 13
    ours = sum(step.delivered for step in late) / 13
    assert ours > 0.95 * cubic
    assert np.mean([step.srtt for step in late]) < 0.5e-9 * np.mean(samples["srtt_ns"][is_late])
