"""The catalogue of experiments: one file each, one line here."""

from __future__ import annotations

from ccperf.catalogue.ack_compression import AckCompression
from ccperf.catalogue.application_limited import ApplicationLimited
from ccperf.catalogue.aqm import Aqm
from ccperf.catalogue.balancing import BALANCING
from ccperf.catalogue.buffer_sizing import BufferSizing
from ccperf.catalogue.bursty_loss import BurstyLoss
from ccperf.catalogue.competition import Competition
from ccperf.catalogue.cross_traffic import CrossTraffic
from ccperf.catalogue.datacentre import DATACENTRE
from ccperf.catalogue.ecn import Ecn
from ccperf.catalogue.experiment import Experiment, Setup
from ccperf.catalogue.incast import Incast
from ccperf.catalogue.jitter import Jitter
from ccperf.catalogue.loss_resilience import LossResilience
from ccperf.catalogue.many_flows import ManyFlows
from ccperf.catalogue.n_against_one import NAgainstOne
from ccperf.catalogue.parameter import Parameter
from ccperf.catalogue.parking_lot import ParkingLot
from ccperf.catalogue.policer import Policer
from ccperf.catalogue.published import PublishedExperiment, published_scenarios
from ccperf.catalogue.random_walk import RandomWalk
from ccperf.catalogue.reordering import Reordering
from ccperf.catalogue.replay_rate_trace import ReplayRateTrace
from ccperf.catalogue.responsiveness_pulse_wave import ResponsivenessPulseWave
from ccperf.catalogue.responsiveness_step import ResponsivenessStep
from ccperf.catalogue.scalability import Scalability
from ccperf.catalogue.short_against_long import ShortAgainstLong
from ccperf.catalogue.steady_state_rtt_fairness import SteadyStateRttFairness
from ccperf.catalogue.steady_state_single_flow import SteadyStateSingleFlow
from ccperf.catalogue.steady_state_start_time_fairness import SteadyStateStartTimeFairness
from ccperf.catalogue.steady_state_synchronous_fairness import SteadyStateSynchronousFairness
from ccperf.errors import UsageError, unknown

#: Of congestion controls, in the order in which they are listed and run.
REGISTRY: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        SteadyStateSingleFlow(),
        SteadyStateSynchronousFairness(),
        SteadyStateStartTimeFairness(),
        SteadyStateRttFairness(),
        ResponsivenessStep(),
        ResponsivenessPulseWave(),
        Ecn(),
        Aqm(),
        Scalability(),
        AckCompression(),
        LossResilience(),
        ReplayRateTrace(),
        RandomWalk(),
        # Beyond the published ones.
        Competition(),
        NAgainstOne(),
        ShortAgainstLong(),
        ParkingLot(),
        CrossTraffic(),
        BufferSizing(),
        BurstyLoss(),
        Reordering(),
        Jitter(),
        Policer(),
        ApplicationLimited(),
        ManyFlows(),
        Incast(),
    )
}


#: Those, those of queue disciplines, and those of load balancers.
EXPERIMENTS: dict[str, Experiment] = {**REGISTRY, **DATACENTRE, **BALANCING}


def get(name: str) -> Experiment:
    """The experiment of this name. Raises :class:`~ccperf.errors.UsageError`."""
    try:
        return EXPERIMENTS[name]
    except KeyError:
        raise UsageError("experiment", unknown("experiment", name, EXPERIMENTS)) from None


__all__ = [
    "BALANCING",
    "DATACENTRE",
    "EXPERIMENTS",
    "REGISTRY",
    "Experiment",
    "Parameter",
    "PublishedExperiment",
    "Setup",
    "get",
    "published_scenarios",
]
