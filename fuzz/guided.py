"""A target of :mod:`targets`, guided by coverage.

pip install atheris
python fuzz/guided.py command_line -runs=100000      # libFuzzer's options
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["ccperf"]):
    import targets

if len(sys.argv) < 2 or sys.argv[1] not in targets.TARGETS:
    sys.exit(f"usage: guided.py {'|'.join(targets.TARGETS)} [-runs=100000]")
name = sys.argv.pop(1)
with tempfile.TemporaryDirectory() as corpus:
    for number, example in enumerate(targets.examples(name)):
        Path(corpus, str(number)).write_bytes(example)
    atheris.Setup([*sys.argv, corpus], targets.TARGETS[name])
    atheris.Fuzz()
