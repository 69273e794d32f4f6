"""Experiments on queue disciplines in data centres: one file each, one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.catalogue.datacentre.dwrr import Dwrr
from ccperf.catalogue.datacentre.fabric import LeafSpine
from ccperf.catalogue.datacentre.queries import QueryBurst, QueryCompletion
from ccperf.catalogue.datacentre.rtt_variation import RttVariation
from ccperf.catalogue.datacentre.sensitivity import Sensitivity
from ccperf.catalogue.datacentre.testbed import Testbed

if TYPE_CHECKING:
    from ccperf.catalogue.experiment import Experiment

#: In the order in which they are listed and run.
DATACENTRE: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Testbed(),
        RttVariation(),
        LeafSpine(),
        QueryBurst(),
        QueryCompletion(),
        Sensitivity(),
        Dwrr(),
    )
}

__all__ = ["DATACENTRE"]
