"""The catalogue of experiments: one file each, one line here.

An experiment is loaded when it is asked for: a run needs one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.base import lazy
from ccperf.errors import UsageError, unknown
from ccperf.experiments.catalogue.answer import USUAL, Answer
from ccperf.experiments.catalogue.balancing import BALANCING
from ccperf.experiments.catalogue.datacentre import DATACENTRE
from ccperf.experiments.catalogue.experiment import Experiment, Setup
from ccperf.experiments.catalogue.lossless import LOSSLESS
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.published import PublishedExperiment, published_scenarios

#: Of congestion controls, in the order in which they are listed and run: the class in the module
#: of the experiment's name.
_CLASSES = {
    "steady_state_single_flow": "SteadyStateSingleFlow",
    "steady_state_synchronous_fairness": "SteadyStateSynchronousFairness",
    "steady_state_start_time_fairness": "SteadyStateStartTimeFairness",
    "steady_state_rtt_fairness": "SteadyStateRttFairness",
    "responsiveness_step": "ResponsivenessStep",
    "responsiveness_pulse_wave": "ResponsivenessPulseWave",
    "ecn": "Ecn",
    "aqm": "Aqm",
    "scalability": "Scalability",
    "ack_compression": "AckCompression",
    "loss_resilience": "LossResilience",
    "replay_rate_trace": "ReplayRateTrace",
    "random_walk": "RandomWalk",
    # Beyond the published ones.
    "competition": "Competition",
    "n_against_one": "NAgainstOne",
    "short_against_long": "ShortAgainstLong",
    "parking_lot": "ParkingLot",
    "cross_traffic": "CrossTraffic",
    "buffer_sizing": "BufferSizing",
    "bursty_loss": "BurstyLoss",
    "reordering": "Reordering",
    "jitter": "Jitter",
    "policer": "Policer",
    "application_limited": "ApplicationLimited",
    "many_flows": "ManyFlows",
    "incast": "Incast",
}
REGISTRY: lazy.Shelf[Experiment] = lazy.Shelf(
    {name: f"{__name__}.{name}:{of}" for name, of in _CLASSES.items()}
)

#: Those, those of queue disciplines, and those of load balancers.
EXPERIMENTS = REGISTRY | DATACENTRE | BALANCING
#: And what is in no benchmark: a network to try things on, what only sets have, lossless fabrics.
NAMED = (
    EXPERIMENTS
    | LOSSLESS
    | lazy.Shelf(
        {
            "dumbbell": f"{__name__}.dumbbell:Dumbbell",
            "l4s": f"{__name__}.l4s:L4s",
            "bbr_draft": f"{__name__}.bbr_draft:BbrDraft",
            "handover": f"{__name__}.handover:Handover",
        }
    )
)

__getattr__ = lazy.names(
    __name__,
    {
        "PublishedExperiment": f"{__name__}.published",
        "published_scenarios": f"{__name__}.published",
    },
)


def get(name: str | Experiment) -> Experiment:
    """The experiment of this name; one that is given is itself.

    Raises :class:`~ccperf.errors.UsageError`.
    """
    if isinstance(name, Experiment):
        return name
    try:
        return NAMED[name]
    except KeyError:
        raise UsageError("experiment", unknown("experiment", name, NAMED)) from None


def answer(name: str | None) -> Answer:
    """What an experiment is about; of what has no name, or no question, the usual metrics."""
    return getattr(NAMED[name], "answer", USUAL) if name and name in NAMED else USUAL


__all__ = [
    "BALANCING",
    "DATACENTRE",
    "EXPERIMENTS",
    "LOSSLESS",
    "NAMED",
    "REGISTRY",
    "Answer",
    "Experiment",
    "Parameter",
    "PublishedExperiment",
    "Setup",
    "answer",
    "get",
    "published_scenarios",
]
