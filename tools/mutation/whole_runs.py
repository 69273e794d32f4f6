"""What tests of whole runs notice of mistakes in what ns-3 does not have."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping

from mutation.engine import WORK
from mutation.places import ROOT, Mutant

#: Laws and published figures for parts of the engine, by the beginnings of files.
TESTS: Mapping[str, tuple[str, ...]] = {
    "host/congestion/bbr3/": ("tests/scenario/test_bbr3.py", "tests/catalogue/test_bbr_draft.py"),
    "host/congestion/copa.rs": ("tests/scenario/test_copa.py",),
    "host/congestion/ledbat_pp.rs": ("tests/scenario/test_ledbat_pp.py",),
    "host/congestion/prague.rs": ("tests/catalogue/test_l4s.py",),
    "net/qdisc/dual_pi2.rs": ("tests/catalogue/test_l4s.py",),
    "net/qdisc/scheduled.rs": ("tests/user_code/test_data_centre.py",),
    **dict.fromkeys(
        (
            "host/hosts/roce.rs",
            "host/rate_control/",
            "net/network/pauses.rs",
            "net/network/port/pausable.rs",
            "net/network/telemetry.rs",
            "packet/ingress.rs",
            "packet/telemetry.rs",
        ),
        ("tests/catalogue/test_lossless.py", "tests/scenario/test_pauses.py"),
    ),
    **dict.fromkeys(
        ("host/hosts/trimming/", "host/trimming/", "net/network/pull_queue.rs", "net/qdisc/ndp.rs"),
        ("tests/catalogue/test_trimming.py",),
    ),
    "host/slow_start/": ("tests/scenario/test_slow_start.py",),
    "": (
        "tests/scenario/test_laws_of_profiles.py",
        "tests/scenario/test_slow_start.py",
        "tests/user_code/test_callbacks.py",
        "tests/verify/test_linux_and_ns3.py",
        "tests/verify/test_fingerprints.py::test_other_releases_of_ns3_are_what_they_were",
    ),
}


def is_one(test: str) -> bool:
    """Whether a test is one of these, not a unit test."""
    return test.startswith("tests/")


def failing(mutant: Mutant, number: int) -> str:
    """The first test of whole runs that fails with a mistake; empty if none does."""
    files = next(files for part, files in TESTS.items() if mutant.file.startswith(part))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "mutation.switched", *files],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(WORK / "python"), str(ROOT / "tools")]),
            "CCPERF_MISTAKE": str(number),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return ""
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return found[1] if found else "tests/: breaks off"
