"""The engine still does what it did when the whole matrix was compared with real ns-3."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "fingerprints.py"


def test_every_recorded_run_is_repeated() -> None:
    done = subprocess.run(
        [sys.executable, str(TOOL), "--packets"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 differ" in done.stdout
