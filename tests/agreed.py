"""The engine against real ns-3, or against what ns-3 has recorded before.

A question to ns-3 is its release, the driver's sources and a scenario: the answer is always one.
`verify/answers.json` has those to which it has given the answers that stand in
`verify/fingerprints.json`; `tools/fingerprints.py --answers` asks and writes them.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ccperf.runs import backends
from ccperf.verify import agreed
from ccperf.verify.compare import recorded

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

ANSWERS = Path(__file__).parent / "verify" / "answers.json"
#: One of so many known answers is asked for again, so that nobody has to believe the record.
ASKED_AGAIN = 10


def assert_identical_to_ns3(scenario: Scenario) -> None:
    """Compare with real ns-3, or with what it has recorded before."""
    comparison = agreed.compare(scenario, backends.get("native"), backends.get("ns3"))
    assert comparison.identical, comparison.report()


def question(scenario: Scenario) -> str:
    """A hash of what ns-3's answer depends on."""
    asked = f"{backends.get('ns3').version}\n{recorded(scenario).lowered()}"
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


@cache
def _answered() -> dict[str, str]:
    answered: dict[str, str] = json.loads(ANSWERS.read_text())
    return answered


def is_answered(name: str, scenario: Scenario) -> bool:
    """Whether ns-3 has answered this before, as the fingerprint of this name says."""
    return _answered().get(name) == question(scenario)


def is_drawn(name: str) -> bool:
    """Whether ns-3 is asked in any case: a share, another by each seed; `CCPERF_NS3_AGAIN`: all."""
    seed = os.environ.get("CCPERF_TEST_SEED", "")
    drawn = hashlib.sha256(f"{seed} {name}".encode()).digest()
    return agreed.AGAIN in os.environ or drawn[0] % ASKED_AGAIN == 0
