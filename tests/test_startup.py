"""What a short run loads: all of it waits before anything is simulated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

#: Prints the modules that are loaded after `ccperf run ecn` with one point.
PROGRAM = """
import sys
from ccperf.cli import main

try:
    main([*"run ecn --cc TcpNewReno --k 1 --ce-threshold 1ms --json --db".split(), sys.argv[1]])
except SystemExit as end:
    assert not end.code, end.code
# Those that are left out stand there empty, made by nobody.
print("modules", *(name for name in sys.modules if getattr(sys.modules[name], "__spec__", None)))
"""
#: With some room: 423 of them with NumPy and pydantic, 143 of our own (a diagnosis is one).
MODULES, OUR_OWN = 427, 145
#: Each needed by some command, or by a library that finds out that it is not.
NOT_NEEDED = (
    "arro3",
    "asyncio",
    "attr",
    "ccperf.evidence",
    "ccperf.present.figures",
    "ccperf.site",
    "ccperf.verify",
    "ctypes.util",
    "cyclopts",
    "difflib",
    "distributed",
    "email",
    "html",
    "importlib.metadata",
    "jinja2",
    "lzma",
    "matplotlib",
    "multiprocessing",
    "numpy._core._add_newdocs",
    "numpy.random",
    "pandas",
    "pydantic.plugin._loader",
    "rich",
    "scipy",
    "subprocess",
    "tempfile",
    "unittest",
)


def loaded(database: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(database)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()) - {"modules"}


def test_a_short_run_loads_what_it_needs(tmp_path: Path) -> None:
    names = loaded(tmp_path / "runs.db")
    assert "ccperf.runs.metrics" in names
    assert not names & set(NOT_NEEDED)
    ours = [name for name in names if name.partition(".")[0] == "ccperf"]
    assert len(ours) <= OUR_OWN, sorted(ours)
    assert len(names) <= MODULES, sorted(names)
