"""One agent: an environment of Gymnasium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.gym import runs
from ccperf.gym.runs import Action, Floats, Point

if TYPE_CHECKING:
    from collections.abc import Callable

    import gymnasium

    from ccperf import _native
    from ccperf._native import Interval
else:
    gymnasium = runs.gymnasium


class CongestionEnv(gymnasium.Env["Floats", "Floats"]):
    """One flow of an experiment whose window, pacing rate or both an agent sets.

    An episode is a run; its end truncates it. An action has one or two numbers a from -1 to 1, and
    multiplies window or rate by 2^a, from the next ACK on: what was 10 segments after the handshake
    may be between 5 and 20 a step later.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own

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

        Args:
            experiment: one in which one flow has the algorithm under test.
            interval: how long a step is: `"rtt"`, the smoothed round trip at its begin; `"ack"`, to
                the next ACK; or a time, e.g. `"10ms"`.
            action: what the agent sets: `"cwnd"`, `"rate"` or `"both"`. With `"rate"` the window is
                twice what that sends in a round trip.
            observe, reward: what a step shows the agent, and what it is worth.
            observation_space: of an `observe` of your own.
            stop_time: the length of an episode instead of the experiment's own.
            patience: seconds that the agent may take for an action; None is for ever.
            render_mode: nothing is drawn.
            parameters: of the experiment, e.g. `rtt="40ms"`.

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
        if (own := len(self._point.flows)) != 1:
            message = f"{self._point.name} has {own} flows of the algorithm under test; need 1"
            if own > 1:
                message += ", or ccperf.gym.parallel for several agents"
            raise UsageError("experiment", message)
        self.render_mode = render_mode
        self.observation_space = self._point.observation_space
        self.action_space = self._point.action_space
        self._episode: _native.Episode | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin an episode, and run to the first ACK of data.

        The seed of the run is drawn; the same `seed` draws the same. `options={"seed": 7}` names
        the seed of the run itself.

        Raises:
            UsageError: for an option that there is not, or if nothing is delivered in an episode.
            RunError: if `observe`, or other user code in the run, fails.
        """
        super().reset(seed=seed)
        run_seed = runs.run_seed(options)
        if run_seed is None:
            run_seed = runs.drawn_seed(self.np_random)
        self._episode = None  # unless all goes well
        episode = self._point.begin(run_seed)
        (seen,) = episode.first()
        observation = self._point.observe(seen)
        self._episode = episode
        return observation, {"interval": seen, "seed": run_seed}

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Set window and rate, run to the end of the step, and say what came of it.

        Raises:
            UsageError: for an action that is no number or comes too late, or after the end; the
                episode is over then.
            RunError: if `observe` or `reward` or other user code in the run has failed; the episode
                is over then, too.
        """
        episode, point = self._episode, self._point
        if episode is None:
            raise UsageError("step", "the episode has ended; call reset()")
        self._episode = None  # unless all goes well
        point.check_patience()
        seen, goes_on = episode.step_alone(action)
        observation, worth = point.observe(seen), point.reward(seen)
        if goes_on:
            self._episode = episode
        point.told()
        return observation, worth, False, not goes_on, {"interval": seen}

    def close(self) -> None:
        """Let go of the run."""
        self._episode = None


gymnasium.register(
    "ccperf/CongestionControl-v0",
    entry_point="ccperf.gym:CongestionEnv",
    vector_entry_point="ccperf.gym:CongestionVectorEnv",
)
