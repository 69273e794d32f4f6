"""The command that makes a stored run again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ccperf.errors import CcperfError
from ccperf.user_code.names import as_stored

if TYPE_CHECKING:
    from ccperf.result import Result


def reproduce(result: Result) -> str | None:
    """The ``ccperf exec`` command of a run of the catalogue; None for another scenario.

    What a stored point does not say (recovery, stop time) is read from the scenario. The command is
    only given if it means exactly the scenario that ran. Users' algorithms have their labels in it:
    it is to be called where their files are.
    """
    from ccperf.catalogue import REGISTRY

    experiment = REGISTRY.get(result.experiment or "")
    parameters: Mapping[str, Any] = result.parameters
    if experiment is None or "aut" not in parameters:
        return None
    scenario = result.scenario
    settings: dict[str, Any] = {
        "seed": scenario.seed,
        "recovery": scenario.flows[0].recovery,
        "stop_time": scenario.stop_time,
    }
    point = {name: value for name, value in parameters.items() if name != "aut"}
    try:
        with as_stored():
            same = experiment.scenario(parameters["aut"], **settings, **point).hash == scenario.hash
            again = experiment.reproduce(
                parameters["aut"], result.provenance.backend, **settings, **point
            )
    except CcperfError:
        return None
    return again if same else None
