"""The engine still does what it did when the whole matrix was compared with real ns-3."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ccperf.algorithms.releases import default, releases

TOOL = Path(__file__).parents[2] / "tools" / "fingerprints.py"


@pytest.mark.parametrize("profile", [name for name in releases() if name != default()])
def test_other_releases_of_ns3_are_what_they_were(profile: str) -> None:
    """Each fourth of those that the release itself has agreed with."""
    known = json.loads(
        TOOL.parents[1].joinpath("tests/verify/fingerprints-releases.json").read_text()
    )
    assert len(known[profile]) > 100
    command = [sys.executable, str(TOOL), "--profile", profile, "--every", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 differ" in done.stdout


def test_every_recorded_run_is_repeated() -> None:
    done = subprocess.run(
        [sys.executable, str(TOOL), "--packets"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 differ" in done.stdout
