"""What holds for every experiment on a queue discipline or a load balancer of a data centre."""

from __future__ import annotations

import shlex

import pytest

from ccperf.cli.app import invoke
from ccperf.experiments.catalogue import BALANCING, DATACENTRE, Experiment

OPTIONS = {
    **dict.fromkeys(DATACENTRE, "--qdisc"),
    **dict.fromkeys(BALANCING, "--routing"),
}

every_experiment = pytest.mark.parametrize(
    "experiment", [*DATACENTRE.values(), *BALANCING.values()], ids=lambda e: e.name
)


@every_experiment
def test_every_point_is_canonical_and_makes_sense(experiment: Experiment) -> None:
    points = list(experiment.grid())
    assert points == [experiment.point(point) for point in points]
    for point in (points[0], points[-1]):
        for scheme in experiment.usual:
            experiment.scenario(scheme, **point).lowered()


@every_experiment
def test_the_command_makes_the_same_point(
    experiment: Experiment, capsys: pytest.CaptureFixture[str]
) -> None:
    command = experiment.reproduce(experiment.usual[0], seed=7)
    option = OPTIONS[experiment.name]
    assert command.startswith(f"ccperf run {experiment.name} {option} {experiment.usual[0]} ")
    assert invoke([*shlex.split(command)[1:], "--dry-run"]) == 0
    assert capsys.readouterr().out.strip() == command
