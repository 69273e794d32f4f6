"""What tests of the command line have in common."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ccperf.cli.app import invoke
from user_scenarios import EXAMPLES


class Outcome:
    """What a command line left behind."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self) -> Any:
        assert self.status == 0, self.err
        return json.loads(self.out)


@pytest.fixture
def ccperf(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> Outcome:
        capsys.readouterr()
        status = invoke(words)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return run


@pytest.fixture
def beside_mycca(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory has the example of a congestion control, and nothing else."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(EXAMPLES / "python" / "mycca.py", tmp_path)
