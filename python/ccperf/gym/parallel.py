"""Several agents on one network: an environment of PettingZoo. Needs the extra `gym`.

env = ParallelCongestionEnv("dumbbell", flows=3, rate="30Mbps", rtt="40ms", stop_time="30s")
observations, infos = env.reset(seed=1)
while env.agents:
    actions = {agent: env.action_space(agent).sample() for agent in env.agents}
    observations, rewards, terminations, truncations, infos = env.step(actions)
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ccperf.base.libraries import library
from ccperf.base.wording import counted
from ccperf.errors import RunError, UsageError
from ccperf.gym import runs
from ccperf.gym.runs import Action, Floats, Point

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import gymnasium
    import pettingzoo

    from ccperf import _native
    from ccperf._native import Interval
else:
    gymnasium = runs.gymnasium
    pettingzoo = library("pettingzoo", "'ccperf[gym]'")

T = TypeVar("T")


class ParallelCongestionEnv(pettingzoo.ParallelEnv[str, Floats, Floats]):  # type: ignore[misc]
    """The flows of an experiment whose windows, pacing rates or both agents set, one for each flow.

    Agents have the names of their flows. They act at the same times; `"rtt"` as interval is the
    longest smoothed round trip of all, `"ack"` the next ACK of any. Each is told what its own
    sender has seen. The episode begins when each flow has delivered something, and its end
    truncates all. Arguments are those of `CongestionEnv`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo's own
        "render_modes": [],
        "name": "ccperf_congestion_control_v0",
    }

    def __init__(
        self,
        experiment: str = "dumbbell",
        *,
        interval: str = "rtt",
        action: Action = "cwnd",
        observe: Callable[[Interval], Floats] = runs.observe,
        observation_space: gymnasium.spaces.Space[Any] | None = None,
        reward: Callable[[Interval], float] = runs.reward,
        stop_time: str | None = None,
        patience: float | None = None,
        render_mode: None = None,
        **parameters: Any,
    ) -> None:
        """Take a point of an experiment.

        Raises:
            UsageError: names the argument that is wrong.
        """
        self._point = Point(
            experiment,
            interval=interval,
            action=action,
            observe=observe,
            observation_space=observation_space,
            reward=reward,
            stop_time=stop_time,
            patience=patience,
            parameters=parameters,
        )
        if not self._point.flows:
            message = f"{self._point.name} has no flow of the algorithm under test"
            raise UsageError("experiment", message)
        self.render_mode = render_mode
        self.possible_agents = list(self._point.flows)
        self.agents: list[str] = []
        self._random = np.random.default_rng()
        self._episode: _native.Episode | None = None

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The same for all."""
        self._check(agent)
        return self._point.observation_space

    def action_space(self, agent: str) -> gymnasium.spaces.Box:
        """The same for all."""
        self._check(agent)
        return self._point.action_space

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Floats], dict[str, dict[str, Any]]]:
        """Begin an episode, and run until each agent's flow has had its first ACK of data.

        Seeds and `options={"seed": 7}` are as in `CongestionEnv`; another option only warns, as
        PettingZoo's checker wants it.

        Raises:
            UsageError: if an agent's flow delivers nothing in an episode.
            RunError: if `observe`, or other user code in the run, fails.
        """
        run_seed, wrong = runs.named_seed(options)
        for message in wrong:
            warnings.warn(f"options: {message}", stacklevel=2)
        if seed is not None:
            self._random, _ = gymnasium.utils.seeding.np_random(seed)
        if run_seed is None:
            run_seed = runs.drawn_seed(self._random)
        self.agents, self._episode = [], None  # unless all goes well
        episode = self._point.begin(run_seed)
        observations, infos = {}, {}
        for agent, seen in zip(self.possible_agents, episode.first(), strict=True):
            observations[agent] = self._of(agent, self._point.observe, seen)
            infos[agent] = {"interval": seen, "seed": run_seed}
        self.agents, self._episode = list(self.possible_agents), episode
        return observations, infos

    def step(
        self, actions: Mapping[str, Floats]
    ) -> tuple[
        dict[str, Floats],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Set windows and rates, run to the end of the step, and say what came of it.

        Raises:
            UsageError: for an action that is absent, no number or too late, or after the end; the
                episode is over then.
            RunError: if `observe` or `reward` or other user code in the run has failed; the episode
                is over then, too.
        """
        episode, agents = self._episode, self.agents
        if episode is None:
            raise UsageError("step", "the episode has ended; call reset()")
        self.agents, self._episode = [], None  # unless all goes well
        self._point.check_patience()
        numbers = np.concatenate([self._numbers(agent, actions) for agent in agents])
        seen, goes_on = episode.step(numbers)
        by_agent = dict(zip(agents, seen, strict=True))
        observations = {
            agent: self._of(agent, self._point.observe, each) for agent, each in by_agent.items()
        }
        rewards = {
            agent: self._of(agent, self._point.reward, each) for agent, each in by_agent.items()
        }
        if goes_on:
            self.agents, self._episode = agents, episode
        self._point.told()
        return (
            observations,
            rewards,
            dict.fromkeys(agents, False),
            dict.fromkeys(agents, not goes_on),
            {agent: {"interval": each} for agent, each in by_agent.items()},
        )

    def close(self) -> None:
        """Let go of the run."""
        self.agents, self._episode = [], None

    def _numbers(self, agent: str, actions: Mapping[str, Floats]) -> Floats:
        if agent not in actions:
            raise UsageError("actions", f"`{agent}` has none; each agent needs one")
        wanted = self._point.action_space.shape[0]
        try:
            given = np.asarray(actions[agent], np.float32).ravel()
        except (TypeError, ValueError):
            given = np.full(wanted, np.nan, np.float32)
        if given.size != wanted or not np.isfinite(given).all():
            message = f"`{actions[agent]}` must be {counted(wanted, 'finite number')}"
            raise UsageError(f"actions[{agent!r}]", message)
        return given

    def _of(self, agent: str, function: Callable[[Interval], T], seen: Interval) -> T:
        try:
            return function(seen)
        except RunError as error:
            raise RunError(f"{agent}: {error}") from error.__cause__

    def _check(self, agent: str) -> None:
        if agent not in self.possible_agents:
            raise UsageError("agent", f"`{agent}` is none of {', '.join(self.possible_agents)}")
