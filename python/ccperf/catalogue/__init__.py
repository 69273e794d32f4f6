"""The catalogue of experiments: one file each, one line here."""

from __future__ import annotations

from ccperf.catalogue.ack_compression import AckCompression
from ccperf.catalogue.aqm import Aqm
from ccperf.catalogue.ecn import Ecn
from ccperf.catalogue.experiment import Experiment, Setup
from ccperf.catalogue.parameter import Parameter
from ccperf.catalogue.published import PublishedExperiment, published_scenarios
from ccperf.catalogue.scalability import Scalability
from ccperf.errors import UsageError, unknown

#: In the order in which they are listed and run.
REGISTRY: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (Ecn(), Aqm(), Scalability(), AckCompression())
}


def get(name: str) -> Experiment:
    """The experiment of this name. Raises :class:`~ccperf.errors.UsageError`."""
    try:
        return REGISTRY[name]
    except KeyError:
        raise UsageError("experiment", unknown("experiment", name, REGISTRY)) from None


__all__ = [
    "REGISTRY",
    "Experiment",
    "Parameter",
    "PublishedExperiment",
    "Setup",
    "get",
    "published_scenarios",
]
