"""What the command line of a program that `exec` knows comes to."""

from __future__ import annotations

from typing import Any

import pytest

from ccperf.cli.app import invoke
from ccperf.errors import UsageError
from ccperf.experiments import programs
from ccperf.experiments.programs import ProgramRun
from ccperf.experiments.published import published

_ECN = next(page for page in published() if page.experiment == "ecn")
#: A published line of ccperf, of one second.
SHORT = _ECN.command.replace("stop-time=15s", "stop-time=1s").replace(
    "stop-times=15s", "stop-times=1s"
)


def run_of(line: str) -> ProgramRun:
    run = programs.parse([line])
    assert isinstance(run, ProgramRun)
    return run


def canonical(line: str) -> dict[str, Any]:
    """Its scenario."""
    return run_of(line).scenario()[0].canonical()


def warnings(line: str) -> str:
    return "\n".join(run_of(line).scenario()[1])


def refusal(line: str) -> UsageError:
    """Why it describes nothing that runs."""
    with pytest.raises(UsageError) as caught:
        programs.scenario(programs.parse([line]))
    return caught.value


def execute(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What `exec` prints when it runs it."""
    assert invoke(["exec", "--", line]) == 0
    return capsys.readouterr().out
