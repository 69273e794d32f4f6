"""The figures that texts quote, in one file: each benchmark writes its part of ``figures.json``.

A benchmark that is given ``--record`` writes down what it found, on which day, of which revision,
and by which clock. The tables of ``docs/speed.md`` are made of it (``make docs``), and
``tests/test_speed.py`` compares what README, documents and site say: see `benchmarks.claims`.
"""

from __future__ import annotations

import json
import platform
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("figures.json")


def read() -> dict[str, Any]:
    """All parts, by name."""
    parts: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return parts


def record(part: str, by: str, values: Any) -> None:
    """Write a part anew: `by` says what was measured and how, `values` is what came out."""
    parts = read() if FILE.exists() else {}
    parts[part] = {
        "on": date.today().isoformat(),
        "revision": _revision(),
        "machine": _machine(),
        "by": by,
        "values": values,
    }
    text = json.dumps(dict(sorted(parts.items())), indent=1, ensure_ascii=False)
    FILE.write_text(text + "\n", encoding="utf-8")


def _revision() -> str:
    said = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=FILE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return said.stdout.strip()


def _machine() -> str:
    models = (
        line.partition(":")[2].strip()
        for line in _lines(Path("/proc/cpuinfo"))
        if line.startswith("model name")
    )
    return next(models, platform.processor() or platform.machine())


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []
