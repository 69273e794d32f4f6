"""A Gymnasium environment: an agent sets the congestion window, the engine is the network.

    env = CongestionEnv("dumbbell", rate="10Mbps", rtt="40ms", stop_time="30s")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

Every experiment of the catalogue in which one flow has the algorithm under test is an environment.
The engine runs in this process, and as far as each step asks for. Needs the extra `gym`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ccperf import _native
from ccperf.algorithms import CongestionControl
from ccperf.base.libraries import library
from ccperf.base.wording import counted
from ccperf.errors import UsageError
from ccperf.experiments import catalogue

if TYPE_CHECKING:
    import gymnasium
    from numpy.typing import NDArray

    from ccperf.scenario import Scenario
else:
    gymnasium = library("gymnasium", "'ccperf[gym]'")

Floats: TypeAlias = "NDArray[np.float32]"
Action: TypeAlias = Literal["cwnd", "rate", "both"]

#: The agent's flow has this congestion control.
AGENT = f"{__name__}:Agent"
#: What an action can make of the window, in bytes, and of the pacing rate, in bit/s.
_LARGEST_CWND, _LOWEST_RATE, _HIGHEST_RATE = 2**31 - 1, 1e4, 1e12
#: With the pacing rate as action: the window is so many times what the rate sends in a round trip.
_HEADROOM = 2
#: A step before the first sample of the round trip.
_NO_SRTT_NS = 1_000_000

_here = threading.local()


class Agent(CongestionControl):
    """The congestion control of the agent's flow: it holds what the last action has set.

    A connection has one at each end; that of the sender is the one that hears of delivered data.
    """

    # Who calls no Python at each ACK.
    cong_control: _native.ExternalControl = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.cong_control = _native.ExternalControl()
        _here.made.append(self.cong_control)


class Interval(NamedTuple):
    """What the sender has seen from one step to the next."""

    #: Simulated time at its end, and how long it was, in s.
    now: float
    seconds: float
    #: Bytes delivered and bytes found lost in it.
    delivered: int
    lost: int
    #: Smoothed, last and least round trip at its end, in s; 0 before the first sample.
    srtt: float
    rtt: float
    min_rtt: float
    #: At its end, in bytes; the window is that of the last action.
    cwnd: int
    in_flight: int
    segment_size: int
    #: Bit/s of the slowest link, which no sender knows, and the highest throughput so far.
    capacity: float
    highest: float

    @property
    def throughput(self) -> float:
        """Delivered per time, in bit/s."""
        return 8 * self.delivered / self.seconds if self.seconds else 0.0

    @property
    def loss(self) -> float:
        """The share of what was found lost, from 0 to 1."""
        return self.lost / (self.lost + self.delivered) if self.lost else 0.0


#: Of `observe`: the largest value of each number; the least is 0.
OBSERVED = np.array([1, 10, 10, 1, 2, 2], np.float32)


def observe(seen: Interval) -> Floats:
    """What the agent is told, six numbers that a sender knows, each cut at `OBSERVED`.

    Throughput over the highest so far; smoothed and last round trip over the least one, less 1; the
    share of losses; bytes in flight over the window; log2 of the window in segments, over 20.
    """
    least = seen.min_rtt or 1.0
    return np.array(
        (
            seen.throughput / seen.highest if seen.highest else 0.0,
            min(10.0, max(0.0, seen.srtt / least - 1)),
            min(10.0, max(0.0, seen.rtt / least - 1)),
            seen.loss,
            min(2.0, seen.in_flight / seen.cwnd),
            min(2.0, math.log2(seen.cwnd / seen.segment_size) / 20),
        ),
        np.float32,
    )


def reward(seen: Interval) -> float:
    """What a step is worth: the used share of the capacity, less 1/4 of the queueing delay in least
    round trips, less 10 times the share of losses."""
    delay = seen.srtt / seen.min_rtt - 1 if seen.min_rtt else 0.0
    return seen.throughput / seen.capacity - 0.25 * max(0.0, delay) - 10 * seen.loss


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
        observe: Callable[[Interval], Floats] = observe,
        observation_space: gymnasium.spaces.Space[Any] | None = None,
        reward: Callable[[Interval], float] = reward,
        stop_time: str | None = None,
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
            render_mode: nothing is drawn.
            parameters: of the experiment, e.g. `rtt="40ms"`.

        Raises:
            UsageError: names the argument that is wrong.
        """
        self._experiment = catalogue.get(experiment)
        if self._experiment.kind != "cc":
            message = f"{experiment} tests what {self._experiment.kind} names, not cc"
            raise UsageError("experiment", message)
        if action not in ("cwnd", "rate", "both"):
            raise UsageError("action", f"`{action}` must be cwnd, rate or both")
        self._interval_ns = 0 if interval in ("rtt", "ack") else _time(interval)
        self._per_ack = interval == "ack"
        self._sets = action
        self._observe, self._reward = observe, reward
        settings = {} if stop_time is None else {"stop_time": stop_time}
        self._given: Mapping[str, Any] = {**parameters, **settings}
        self._capacity = _capacity(self._scenario(1))
        self.render_mode = render_mode
        self.observation_space = observation_space or gymnasium.spaces.Box(
            np.zeros_like(OBSERVED), OBSERVED, dtype=np.float32
        )
        numbers = 2 if action == "both" else 1
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (numbers,), np.float32)
        self._simulation: _native.Simulation | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin an episode, and run to the first ACK of data.

        The seed of the run is drawn; the same `seed` draws the same. `options={"seed": 7}` names
        the seed of the run itself.

        Raises:
            UsageError: for an option that there is not, or if nothing is delivered in an episode.
        """
        super().reset(seed=seed)
        given = dict(options or {})
        run_seed = given.pop("seed", None)
        if given:
            raise UsageError("options", f"`{next(iter(given))}` is none; there is `seed`")
        if run_seed is None:
            run_seed = int(self.np_random.integers(1, 2**32))
        _here.made = []
        self._simulation = _native.Simulation(self._scenario(run_seed).lowered(), None)
        self._now = 0
        # Both ends have one, and only one of them gets ACKs of data.
        ends: list[_native.ExternalControl] = _here.made
        sender = None
        while sender is None:
            if not self._run_event():
                raise UsageError("stop_time", "ends before anything is delivered")
            sender = next((each for each in ends if each.last_ack()[0]), None)
        self._agent = sender
        self._delivered, self._lost, (self._srtt_ns, *_), (_, self._segment, cwnd) = (
            sender.last_ack()
        )
        self._cwnd = float(cwnd)
        self._rate = 8e9 * cwnd / (self._srtt_ns or 1e9)
        self._highest = 0.0
        seen = self._seen(0)
        return self._observe(seen), {"interval": seen, "seed": run_seed}

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Set window and rate, run to the end of the step, and say what came of it.

        Raises:
            UsageError: for an action that is no number, or after the end; the episode is over then.
            RunError: if other user code in the run has failed; the episode is over then, too.
        """
        simulation = self._simulation
        if simulation is None:
            raise UsageError("step", "the episode has ended; call reset()")
        self._simulation = None  # unless all goes well
        self._act(action)
        before, agent = self._now, self._agent
        if self._per_ack:
            self._simulation, acks = simulation, agent.acks
            while (goes_on := self._run_event()) and agent.acks == acks:
                pass
        else:
            length = self._interval_ns or self._srtt_ns or _NO_SRTT_NS
            self._now = min(before + length, simulation.stop_ns)
            goes_on = simulation.run_until(self._now)
        seen = self._seen(self._now - before)
        self._simulation = simulation if goes_on else None
        return self._observe(seen), self._reward(seen), False, not goes_on, {"interval": seen}

    def close(self) -> None:
        """Let go of the run."""
        self._simulation = None

    def _scenario(self, seed: int) -> Scenario:
        """The run, of which nothing is recorded."""
        scenario = self._experiment.scenario(AGENT, seed=seed, **self._given)
        own = sum(flow.cc is not None and flow.cc.type == AGENT for flow in scenario.flows)
        if own != 1:
            message = f"{self._experiment.name} has {own} flows of the algorithm under test; need 1"
            raise UsageError("experiment", message)
        nothing = scenario.recording.model_copy(update={"flows": "none", "links": "none"})
        return scenario.model_copy(update={"recording": nothing})

    def _run_event(self) -> bool:
        """Run one event; False: that was the last."""
        assert self._simulation is not None
        now = self._simulation.run_for(1)
        if now is None:
            return False
        self._now = now
        return True

    def _act(self, action: Floats) -> None:
        numbers = np.asarray(action).ravel().tolist()
        wanted = 2 if self._sets == "both" else 1
        if len(numbers) != wanted or not all(map(math.isfinite, numbers)):
            raise UsageError("action", f"`{action}` must be {counted(wanted, 'finite number')}")
        factors = [2.0 ** min(1.0, max(-1.0, number)) for number in numbers]
        rate = 0
        if self._sets != "cwnd":
            self._rate = min(_HIGHEST_RATE, max(_LOWEST_RATE, self._rate * factors[-1]))
            rate = int(self._rate)
        if self._sets == "rate":
            self._cwnd = _HEADROOM * self._rate * self._srtt_ns / 8e9
        else:
            self._cwnd *= factors[0]
        # Below one segment nothing is sent.
        self._cwnd = min(_LARGEST_CWND, max(float(self._segment), self._cwnd))
        self._agent.set(int(self._cwnd), rate)

    def _seen(self, length_ns: int) -> Interval:
        """What there is to know after a step of this length."""
        delivered, lost, (srtt_ns, rtt_ns, min_rtt_ns), (in_flight, *_) = self._agent.last_ack()
        now_delivered, now_lost = delivered - self._delivered, lost - self._lost
        self._delivered, self._lost, self._srtt_ns = delivered, lost, srtt_ns
        seconds = length_ns / 1e9
        if seconds:
            self._highest = max(self._highest, 8 * now_delivered / seconds)
        return Interval(
            self._now / 1e9,
            seconds,
            now_delivered,
            now_lost,
            srtt_ns / 1e9,
            rtt_ns / 1e9,
            min_rtt_ns / 1e9,
            int(self._cwnd),
            in_flight,
            self._segment,
            self._capacity,
            self._highest,
        )


def _time(text: str) -> int:
    try:
        found = _native.parse_time(text)
    except (TypeError, ValueError) as error:
        raise UsageError("interval", f"{error}; or rtt, or ack") from None
    if not found:
        raise UsageError("interval", f"`{text}` must be above 0")
    return found


def _capacity(scenario: Scenario) -> float:
    """The rate of the slowest link, at its start."""
    return float(min(_native.parse_rate(link.rate) for link in scenario.links if link.rate))


gymnasium.register("ccperf/CongestionControl-v0", entry_point=f"{__name__}:CongestionEnv")
