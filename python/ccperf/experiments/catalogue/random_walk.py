"""A path that walks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.experiments.bounds import few_enough
from ccperf.experiments.catalogue.answer import RETRANSMITTED, SRTT, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter
from ccperf.experiments.traces import Walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.experiments.catalogue.parameter import Kind, Value
    from ccperf.scenario import Scenario

#: The access links of both sides, one way.
ACCESS = "2ms"
WALKS = ("rate", "delay", "loss")


def _bounds(
    name: str, kind: Kind, least: Value, most: Value, noise: Value, what: str
) -> tuple[Parameter, ...]:
    """The four parameters of one walk."""
    correlation = Parameter(
        f"{name}_corr_coeff", "probability", (0.9,), 0.9, f"Correlation of two steps of the {what}."
    )
    rest = (
        ("noise_std", noise, "Standard deviation of the noise in a step"),
        ("min", least, "Least value"),
        ("max", most, "Largest value"),
    )
    return (
        correlation,
        *(
            Parameter(f"{name}_{end}", kind, (value,), value, f"{words} of the {what}.")
            for end, value, words in rest
        ),
    )


class RandomWalk(Experiment):
    name = "random_walk"
    title = "Random walk"
    group = "Dynamic network"
    description = (
        "One flow over a path of which the rate, the delay, the loss or all of them walk at random "
        "between two bounds: d[n] = rho d[n-1] + e[n], x[n] = x[n-1] + d[n], in steps of 100 ms, "
        "from the middle. Packets overtake where the delay falls faster than they are sent. A good "
        "algorithm follows what is there, and takes neither delay nor loss for less of it. Bounds, "
        "noise and steps are ours; only the law and the parameters' names were published."
    )
    answer = Answer((USED, SRTT, RETRANSMITTED), "walks", "plane")
    parameters = (
        Parameter(
            "walks",
            "word",
            (*WALKS, "all"),
            "all",
            "What walks; the rest stays at 16 Mbps, 15 ms one way and no loss.",
            words=(*WALKS, "all"),
        ),
        *_bounds("rate", "rate", "4Mbps", "28Mbps", "1Mbps", "rate"),
        *_bounds("delay", "time", "5ms", "25ms", "500us", "one-way delay"),
        *_bounds("loss", "probability", 0.0, 0.02, 0.001, "loss on the way forward"),
        Parameter("step", "time", ("100ms",), "100ms", "Time between two steps."),
    )
    draws_more = True
    seeded = "the walks, and which packets are lost at random"

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Bottleneck, DumbbellFlow, dumbbell

        chosen = WALKS if setup["walks"] == "all" else (setup["walks"],)
        step, stop = (_native.parse_time(text) for text in (setup["step"], setup.stop_time))
        count = len(chosen) * len(range(0, stop, step))
        few_enough("rows", count, fix="lengthen it, or end the run sooner", step=setup["step"])
        times = list(range(0, stop, step))

        def walk(name: str, number: Callable[[Any], float]) -> list[float]:
            low, high, noise = (number(setup[f"{name}_{e}"]) for e in ("min", "max", "noise_std"))
            stream = f"{setup.seed}/{name}"
            walk = Walk(low, high, setup[f"{name}_corr_coeff"], noise, stream)
            return walk.values(len(times))

        schedules: list[dict[str, Any]] = []
        if "rate" in chosen:
            rates = [round(rate) for rate in walk("rate", _native.parse_rate)]
            schedules.append({"times_ns": times, "rates_bps": rates})
        if "delay" in chosen:
            access = _native.parse_time(ACCESS)
            delays = [max(0, round(d) - access) for d in walk("delay", _native.parse_time)]
            schedules.append({"times_ns": times, "delays_ns": delays})
        if "loss" in chosen:
            losses = walk("loss", float)
            schedules.append({"times_ns": times, "losses": losses, "direction": "forward"})
        return dumbbell(
            Bottleneck("16Mbps", "40p", schedules=schedules),
            [DumbbellFlow(setup.cc, "30ms", recovery=setup.recovery)],
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
        )
