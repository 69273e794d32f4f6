"""What ns-3's own test suites of congestion controls expect of its classes, asked of the engine.

`expectations.toml` has the numbers: those that the suites of ns-3 3.44 write down, and those that
they compute by the formula of the algorithm's paper.  They are facts about inputs and results;
nothing of the suites' code is here.  `ccperf.verify.expectations` says which suites have no such
numbers, and why.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ccperf.verify import expectations

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
EXPECTED: dict[str, Any] = tomllib.loads((HERE / "expectations.toml").read_text(encoding="utf-8"))
SEGMENTS = (1, 536, 1446)
#: Where a replayed call's line has what a case asks for.
COLUMNS = {"cwnd": 2, "ssthresh": 3, "result": 10, "segments": 10}


def check(our_cc: Path, case: dict[str, Any]) -> None:
    """Replay a case's calls and compare what they leave."""
    calls = [call.partition(" => ") for call in case["calls"]]
    script = [f"algorithm {case['algorithm']}"]
    script += [f"attribute {name} {value}" for name, value in case.get("attributes", {}).items()]
    script += [call for call, _, _ in calls]
    done = subprocess.run(
        [our_cc], input="\n".join(script) + "\n", text=True, capture_output=True, check=True
    )
    for (call, _, expected), line in zip(calls, done.stdout.splitlines(), strict=True):
        if not expected:
            continue
        what, *rather, number = expected.split()
        found = int(line.split()[COLUMNS[what]])
        if rather:
            assert found <= int(number), call
        else:
            assert found == int(number), call


@pytest.mark.parametrize("case", EXPECTED["case"], ids=lambda c: f"{c['suite']} {c['name']}")
def test_a_case_of_ns3_s_suites_ends_as_ns3_expects(case: dict[str, Any], our_cc: Path) -> None:
    check(our_cc, case)


@pytest.mark.parametrize("segment", SEGMENTS)
def test_highspeed_moves_as_its_table_says(segment: int, our_cc: Path) -> None:
    rows = zip(EXPECTED["highspeed"]["windows"], EXPECTED["highspeed"]["decrease"], strict=True)
    for increase, (window, decrease) in enumerate(rows, 1):
        bytes_ = window * segment
        left = int(max(2.0, window * (1.0 - decrease))) * segment
        calls = [
            f"0 tcb cwnd={bytes_} ssthresh=0 segment_size={segment}",
            f"0 ssthresh {bytes_} => segments {left}",
            f"0 cong_avoid {window // increase + 1} => cwnd {bytes_ + segment}",
        ]
        check(our_cc, {"algorithm": "TcpHighSpeed", "calls": calls})


def test_the_page_counts_these_cases() -> None:
    found: dict[str, int] = {}
    for case in EXPECTED["case"]:
        found[case["suite"]] = found.get(case["suite"], 0) + 1
    found["tcp-highspeed-test"] = 2 * len(SEGMENTS) * len(EXPECTED["highspeed"]["windows"])
    by_calls = {suite.name: suite.same for suite in expectations.SUITES if suite.by_calls}
    assert found == by_calls
