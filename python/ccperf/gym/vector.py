"""Several environments with one agent each, stepped in one call: a vector of Gymnasium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ccperf import _native
from ccperf.base.wording import counted
from ccperf.errors import UsageError
from ccperf.gym import runs
from ccperf.gym.env import CongestionEnv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class CongestionVectorEnv(VectorEnv["NDArray[np.float32]", "NDArray[np.float32]", Any]):
    """So many runs of one point of an experiment, each with its seed and its agent's flow.

    A run that has ended begins anew in the step after (`AutoresetMode.NEXT_STEP`), whatever the
    action; the reward of that step is 0.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium's own
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(self, num_envs: int = 1, **given: Any) -> None:
        """Take a point of an experiment.

        Args:
            num_envs: how many runs go on side by side.
            given: arguments of `CongestionEnv`.

        Raises:
            UsageError: names the argument that is wrong.
        """
        if num_envs < 1:
            raise UsageError("num_envs", f"`{num_envs}` must be at least 1")
        one = CongestionEnv(**given)
        self._point = one._point
        self.num_envs = num_envs
        self.single_observation_space = one.observation_space
        self.single_action_space = one.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._seeds = [seeding.np_random()[0] for _ in range(num_envs)]
        self._episodes: list[_native.Episode | None] = [None] * num_envs
        self._goes_on = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin all anew; a `seed` is that of the first, which draws the seeds of its runs as
        `CongestionEnv` does, and the others have the next.

        Raises:
            UsageError: as `CongestionEnv.reset`.
        """
        if isinstance(seed, int):
            seed = range(seed, seed + self.num_envs)
        if seed is not None:
            if len(seed) != self.num_envs:
                numbers, needed = counted(len(seed), "number"), counted(self.num_envs, "run")
                raise UsageError("seed", f"has {numbers} for {needed}")
            for place, each in enumerate(seed):
                if each is not None:
                    self._seeds[place], _ = seeding.np_random(each)
        run_seed = runs.run_seed(options)
        self._goes_on = False  # unless all goes well
        observations = self._nothing()
        infos = self._infos()
        for place in range(self.num_envs):
            self._begin(place, run_seed, observations, infos)
        self._goes_on = True
        self._point.told()
        return observations, infos

    def step(
        self, actions: NDArray[np.float32]
    ) -> tuple[
        NDArray[np.float32],
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.bool_],
        dict[str, Any],
    ]:
        """One step of each run, or its begin if the last step was its end.

        Raises:
            UsageError, RunError: as `CongestionEnv.step`; all runs are over then.
        """
        if not self._goes_on:
            raise UsageError("step", "the episodes have ended; call reset()")
        self._goes_on = False  # unless all goes well
        self._point.check_patience()
        actions = np.asarray(actions, np.float32)
        if actions.shape != self.action_space.shape:
            wanted = self.action_space.shape
            raise UsageError("actions", f"have the shape {actions.shape}, must have {wanted}")
        going = [place for place, episode in enumerate(self._episodes) if episode is not None]
        if len(going) == self.num_envs:
            observations, rewards, truncated, infos = self._advance(going, actions)
        else:
            observations, rewards, truncated, infos = self._advance_some(going, actions)
        self._goes_on = True
        self._point.told()
        return observations, rewards, np.zeros(self.num_envs, bool), truncated, infos

    def _advance(
        self, going: Sequence[int], actions: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], dict[str, Any]]:
        """One step of the runs that go on."""
        episodes = [episode for place in going if (episode := self._episodes[place])]
        observations, rewards, goes_on, seen = _native.step_episodes(episodes, actions)
        if self._point.has_own:
            observations = np.stack([self._point.observe(each) for each in seen])
            rewards = np.array([self._point.reward(each) for each in seen], np.float64)
        if not goes_on.all():
            for place, goes in zip(going, goes_on, strict=True):
                if not goes:
                    self._episodes[place] = None
        infos = {"interval": _objects(seen), "_interval": np.ones(len(seen), bool)}
        return observations, rewards, ~goes_on, infos

    def _advance_some(
        self, going: Sequence[int], actions: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], dict[str, Any]]:
        """One step of the runs that go on; the others begin anew."""
        ended = [place for place in range(self.num_envs) if place not in going]
        observations = self._nothing()
        rewards, truncated = np.zeros(self.num_envs), np.zeros(self.num_envs, bool)
        infos = self._infos()
        if going:
            observations[going], rewards[going], truncated[going], some = self._advance(
                going, actions[going]
            )
            infos["interval"][going], infos["_interval"][going] = some["interval"], True
        for place in ended:
            self._begin(place, None, observations, infos)
        return observations, rewards, truncated, infos

    def _begin(
        self,
        place: int,
        run_seed: int | None,
        observations: NDArray[np.float32],
        infos: dict[str, Any],
    ) -> None:
        """One run anew."""
        if run_seed is None:
            run_seed = runs.drawn_seed(self._seeds[place])
        self._episodes[place] = episode = self._point.begin(run_seed)
        (seen,) = episode.first()
        observations[place] = self._point.observe(seen)
        for name, value in {"interval": seen, "seed": run_seed}.items():
            infos[name][place], infos[f"_{name}"][place] = value, True

    def _nothing(self) -> NDArray[np.float32]:
        """Room for the observations of all."""
        space = self.observation_space
        assert space.shape is not None
        return np.empty(space.shape, space.dtype or np.float32)

    def _infos(self) -> dict[str, Any]:
        """Of no run yet: for each name the values, and which runs have one."""
        of = self.num_envs
        return {
            "interval": np.full(of, None, object),
            "_interval": np.zeros(of, bool),
            "seed": np.zeros(of, np.int64),
            "_seed": np.zeros(of, bool),
        }


def _objects(things: Sequence[Any]) -> NDArray[np.object_]:
    array = np.empty(len(things), object)
    array[:] = things
    return array
