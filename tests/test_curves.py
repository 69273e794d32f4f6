"""What algorithms do, as text files under git: `tools/curves.py`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ccperf.algorithms import registry

ROOT = Path(__file__).parent.parent


def test_curves_are_those_under_git() -> None:
    """A change that is meant is written by `make curves`, and reviewed as a diff."""
    command = [sys.executable, str(ROOT / "tools" / "curves.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_algorithm_has_curves() -> None:
    names = {path.stem for path in (ROOT / "tests" / "curves").glob("*.txt")}
    windows = {f"window-{cc}" for cc in registry.algorithms("cc")}
    queues = {f"queue-{qdisc}" for qdisc in registry.algorithms("qdisc")}
    balancers = {f"balancing-{scheme}" for scheme in registry.algorithms("routing")}
    slow_starts = {f"slow-start-{name}" for name in registry.slow_starts()}
    assert names == windows | slow_starts | queues | balancers
