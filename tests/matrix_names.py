"""The names of the matrix' cases, for ids of tests: to build the scenarios takes seconds.

They are those of the fingerprints; `tests/verify/test_matrix.py` compares them with the matrix.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from ccperf import data
from ccperf.verify import matrix

RECORD = Path(__file__).parent / "verify" / "fingerprints.json"


@cache
def every() -> tuple[str, ...]:
    """All of them."""
    return tuple(json.loads(RECORD.read_text())["tables"])


def groups() -> list[str]:
    """What stands before the first slash, once each."""
    return list(dict.fromkeys(name.partition("/")[0] for name in every()))


def representative() -> list[str]:
    """Those of every day."""
    names: list[str] = json.loads(data.text("slice.json"))
    return names


@cache
def _by_name() -> dict[str, matrix.Case]:
    return {case.name: case for case in matrix.cases()}


def case(name: str) -> matrix.Case:
    """The case of this name, built with all others when the first is asked for."""
    return _by_name()[name]
