"""What an agent's environment is made of: the experiment's point, its runs, and what steps show."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ccperf import _native
from ccperf._native import Interval
from ccperf.algorithms import CongestionControl
from ccperf.base.libraries import library
from ccperf.errors import RunError, UsageError
from ccperf.experiments import catalogue

if TYPE_CHECKING:
    import gymnasium
    from numpy.typing import NDArray

    from ccperf.scenario import Scenario
else:
    gymnasium = library("gymnasium", "'ccperf[gym]'")

Floats: TypeAlias = "NDArray[np.float32]"
Action: TypeAlias = Literal["cwnd", "rate", "both"]
Observe: TypeAlias = Callable[[Interval], Floats]
Reward: TypeAlias = Callable[[Interval], float]

#: An agent's flow has this congestion control.
AGENT = f"{__name__}:Agent"
#: Of `observe`: the largest value of each number; the least is 0.
OBSERVED = np.array(Interval.LARGEST, np.float32)
#: What the agent is told, and what a step is worth, if nobody says otherwise.
observe: Observe = Interval.observe
reward: Reward = Interval.reward

_here = threading.local()


class Agent(CongestionControl):
    """The congestion control of an agent's flow: it holds what the last action has set.

    A connection has one at each end; that of the sender is the one that hears of delivered data.
    """

    # Who calls no Python at each ACK.
    cong_control: _native.ExternalControl = None  # type: ignore[assignment]

    def __init__(self, Number: str) -> None:
        self.cong_control = _native.ExternalControl()
        _here.made[int(Number)].append(self.cong_control)


class Point:
    """A point of an experiment whose flows of the algorithm under test have agents.

    Args: as those of `CongestionEnv`.
    """

    def __init__(
        self,
        experiment: str,
        *,
        interval: str,
        action: Action,
        observe: Observe,
        observation_space: gymnasium.spaces.Space[Any] | None,
        reward: Reward,
        stop_time: str | None,
        patience: float | None,
        parameters: Mapping[str, Any],
    ) -> None:
        self._experiment = catalogue.get(experiment)
        if self._experiment.kind != "cc":
            message = f"{experiment} tests what {self._experiment.kind} names, not cc"
            raise UsageError("experiment", message)
        if "cc" in parameters:
            raise UsageError("cc", "is the agent here; leave it out")
        if action not in ("cwnd", "rate", "both"):
            raise UsageError("action", f"`{action}` must be cwnd, rate or both")
        self._interval = interval if interval in ("rtt", "ack") else str(_time(interval))
        self._action = action
        self._observe, self._reward = observe, reward
        #: Whether observations or rewards are not those of `Interval`.
        self.has_own = observe is not Interval.observe or reward is not Interval.reward
        if patience is not None and not (math.isfinite(patience) and patience > 0):
            raise UsageError("patience", f"`{patience}` must be a number of seconds above 0")
        self._patience = patience
        settings = {} if stop_time is None else {"stop_time": stop_time}
        self._given: Mapping[str, Any] = {**parameters, **settings}
        first = self.scenario(1)
        self._capacity = _capacity(first)
        #: The flows that have agents.
        self.flows = [
            flow.name or f"flow_{place}"
            for place, flow in enumerate(first.flows, 1)
            if flow.cc is not None and flow.cc.type == AGENT
        ]
        self.observation_space = observation_space or gymnasium.spaces.Box(
            np.zeros_like(OBSERVED), OBSERVED, dtype=np.float32
        )
        numbers = 2 if action == "both" else 1
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (numbers,), np.float32)
        self._told = 0.0
        #: The last run's scenario, by its seed: who compares agents names the same again.
        self._lowered: dict[int, str] = {}

    @property
    def name(self) -> str:
        """The experiment's."""
        return self._experiment.name

    def scenario(self, seed: int) -> Scenario:
        """The run, of which nothing is recorded; its agents' flows are numbered from 0."""
        scenario = self._experiment.scenario(AGENT, seed=seed, **self._given)
        flows, number = [], 0
        for flow in scenario.flows:
            if flow.cc is not None and flow.cc.type == AGENT:
                cc = flow.cc.model_copy(update={"attributes": {"Number": str(number)}})
                flow, number = flow.model_copy(update={"cc": cc}), number + 1
            flows.append(flow)
        nothing = scenario.recording.model_copy(update={"flows": "none", "links": "none"})
        return scenario.model_copy(update={"recording": nothing, "flows": tuple(flows)})

    def begin(self, seed: int) -> _native.Episode:
        """An episode, at the first ACK of data of each agent's flow.

        Raises:
            UsageError: if it ends before that.
        """
        ends: list[list[_native.ExternalControl]] = [[] for _ in self.flows]
        _here.made = ends
        if seed not in self._lowered:
            self._lowered = {seed: self.scenario(seed).lowered()}
        simulation = _native.Simulation(self._lowered[seed], None)
        episode = _native.Episode.begin(
            simulation, ends, self._interval, self._action, self._capacity
        )
        if episode is None:
            raise UsageError("stop_time", "ends before anything is delivered")
        self.told()
        return episode

    def observe(self, seen: Interval) -> Floats:
        """What an agent is told of a step.

        Raises:
            RunError: if a function of the user's fails, or returns what is no number.
        """
        if self._observe is Interval.observe:
            return seen.observe()
        observation: Floats = _own("observe", self._observe, seen)
        if not np.all(np.isfinite(observation)):
            raise RunError(f"observe: `{observation}` is not finite, at {seen.now:.6f} s")
        return observation

    def reward(self, seen: Interval) -> float:
        """What a step is worth; raises as `observe`."""
        if self._reward is Interval.reward:
            return seen.reward()
        worth: float = _own("reward", self._reward, seen)
        if not math.isfinite(worth):
            raise RunError(f"reward: `{worth}` is not finite, at {seen.now:.6f} s")
        return worth

    def told(self) -> None:
        """The agents' time begins."""
        if self._patience is not None:
            self._told = time.monotonic()

    def check_patience(self) -> None:
        """Raises:
        UsageError: if the agents took longer than they may.
        """
        if self._patience is not None and (took := time.monotonic() - self._told) > self._patience:
            message = f"took {took:.3g} s, may take {self._patience:g} s (`patience`)"
            raise UsageError("action", message)


def named_seed(options: Mapping[str, Any] | None) -> tuple[int | None, list[str]]:
    """The run's seed that the options of a reset name, and what is wrong with the others."""
    given = options or {}
    wrong = [f"`{name}` is none; there is `seed`" for name in given if name != "seed"]
    return given.get("seed"), wrong


def run_seed(options: Mapping[str, Any] | None) -> int | None:
    """The run's seed that the options of a reset name.

    Raises:
        UsageError: for an option that there is not.
    """
    seed, wrong = named_seed(options)
    if wrong:
        raise UsageError("options", wrong[0])
    return seed


def drawn_seed(random: np.random.Generator) -> int:
    """The seed of the next run."""
    return int(random.integers(1, 2**32))


def _own(name: str, function: Callable[[Interval], Any], seen: Interval) -> Any:
    try:
        return function(seen)
    except Exception as error:
        message = f"{name}: {type(error).__name__}: {error}, at {seen.now:.6f} s"
        raise RunError(message) from error


def _time(text: str) -> int:
    try:
        found = _native.parse_time(str(text))
    except ValueError as error:
        raise UsageError("interval", f"{error}; or rtt, or ack") from None
    if not found:
        raise UsageError("interval", f"`{text}` must be above 0")
    return found


def _capacity(scenario: Scenario) -> float:
    """The rate of the slowest link, at its start."""
    return float(min(_native.parse_rate(link.rate) for link in scenario.links if link.rate))
