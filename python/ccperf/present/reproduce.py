"""The commands that make a stored run again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ccperf.algorithms import roles
from ccperf.algorithms.user_code.names import as_stored, label
from ccperf.base import expression
from ccperf.errors import CcperfError
from ccperf.experiments.catalogue import NAMED, Experiment, PublishedExperiment
from ccperf.experiments.catalogue.experiment import LABELLED

if TYPE_CHECKING:
    from ccperf.runs.result import Result
    from ccperf.scenario import Scenario


def reproduce(result: Result) -> str | None:
    """The ``ccperf run`` command of a run of the catalogue; None for another scenario.

    What a stored point does not say (recovery, stop time) is read from the scenario. The command is
    only given if it means exactly the scenario that ran. Users' algorithms have their labels in it:
    it is to be called where their files are.
    """
    return reproduce_point(
        result.experiment, result.parameters, result.scenario, result.provenance.backend
    )


def reproduce_point(
    name: str | None, parameters: Mapping[str, Any], scenario: Scenario, backend: str
) -> str | None:
    """The same for a point of the experiment `name` that has no result, or not yet.

    Its scenario knows where users' algorithms are, as a stored one does not.
    """
    places = {label(place): place for place in scenario.user_code}

    def placed(value: Any) -> Any:
        bare, attributes = expression.cut(str(value))
        return places[bare] + attributes if bare in places else value

    parameters = {name: placed(value) for name, value in parameters.items()}
    if (found := _point(name, parameters, scenario)) is None:
        return None
    experiment, cc, given = found
    with as_stored():
        return experiment.reproduce(cc, backend, **given)


def commands(result: Result) -> tuple[str | None, str | None]:
    """What :func:`reproduce` says, and the ``ccperf exec`` command that makes the same run.

    The second is absent if no published program could have made it.
    """
    if (found := _point(result.experiment, result.parameters, result.scenario)) is None:
        return None, None
    experiment, cc, given = found
    backend = result.provenance.backend
    with as_stored():
        command = experiment.reproduce(cc, backend, **given)
        if not isinstance(experiment, PublishedExperiment) or given.keys() & {*LABELLED}:
            return command, None
        if any(expression.cut(str(word))[1] for word in (cc, *given.values())):
            return command, None  # a published line has no word for parameters
        return command, experiment.exec_command(cc, backend, **given)


def _point(
    name: str | None, parameters: Mapping[str, Any], scenario: Scenario
) -> tuple[Experiment, str, dict[str, Any]] | None:
    """The experiment, its algorithm under test and the rest of what makes exactly this scenario."""
    experiment = NAMED.get(name or "")
    cc = roles.under_test(parameters) or ""
    if experiment is None or "cc" in parameters:  # labels are free text
        return None
    given = {
        **roles.parameters(parameters),
        "seed": scenario.seed,
        "recovery": [
            *(flow.recovery for flow in scenario.flows),
            *(stack.recovery for stack in scenario.stacks),
        ][0],
        "stop_time": scenario.stop_time,
    }
    try:
        with as_stored():
            again = experiment.scenario(cc, **given)
    except CcperfError:
        return None
    return (experiment, cc, given) if again.is_like(scenario) else None
