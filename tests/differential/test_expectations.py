"""What ns-3's own test suites of congestion controls expect of its classes, asked of the engine;
how many cases of all suites are asked.

`expectations.toml` has the numbers: those that the suites of ns-3 3.44 write down, and those that
they compute by the formula of the algorithm's paper.  They are facts about inputs and results;
nothing of the suites' code is here.  `ccperf.verify.expectations` says which suites have no such
numbers, and why.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sockets import ASKED, asks

from ccperf.verify import expectations

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
EXPECTED: dict[str, Any] = tomllib.loads((HERE / "expectations.toml").read_text(encoding="utf-8"))
SEGMENTS = (1, 536, 1446)
#: What a unit test of the engine says of itself.
IN_RUST = re.compile(r"/// ns-3's ([\w-]+), (\d+) cases?\.$", re.MULTILINE)
#: Where a replayed call's line has what a case asks for.
COLUMNS = {"cwnd": 2, "ssthresh": 3, "pacing": 4, "result": 10, "segments": 10}


def replay(our_cc: Path, script: list[str]) -> list[str]:
    text = "\n".join(script) + "\n"
    done = subprocess.run([our_cc], input=text, text=True, capture_output=True, check=True)
    return done.stdout.splitlines()


def check(our_cc: Path, case: dict[str, Any]) -> None:
    """Replay a case's calls and compare what they leave."""
    calls = [call.partition(" => ") for call in case["calls"]]
    script = [f"algorithm {case['algorithm']}"]
    script += [f"attribute {name} {value}" for name, value in case.get("attributes", {}).items()]
    script += [call for call, _, _ in calls]
    for (call, _, expected), line in zip(calls, replay(our_cc, script), strict=True):
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


@asks("tcp-dctcp-test", "segments", [2])
def test_dctcp_grows_in_slow_start_as_linux_reno_does(segments: int, our_cc: Path) -> None:
    calls = [
        "0 tcb cwnd=2892 ssthresh=5784 segment_size=1446 high_tx_mark=4753 last_acked_seq=3216",
        f"0 cong_avoid {segments}",
    ]
    ours, linux = (
        replay(our_cc, [f"algorithm {cc}", *calls]) for cc in ("TcpDctcp", "TcpLinuxReno")
    )
    cwnd = COLUMNS["cwnd"]
    assert ours[-1].split()[cwnd] == linux[-1].split()[cwnd]


def test_the_page_counts_these_cases() -> None:
    found: Counter[str] = Counter(case["suite"] for case in EXPECTED["case"])
    found["tcp-highspeed-test"] = 2 * len(SEGMENTS) * len(EXPECTED["highspeed"]["windows"])
    for path in HERE.glob("test_*.py"):
        importlib.import_module(path.stem)  # with what it asks
    found.update(ASKED)
    for path in (ROOT / "crates" / "engine" / "src").rglob("*.rs"):
        for suite, cases in IN_RUST.findall(path.read_text(encoding="utf-8")):
            found[suite] += int(cases)
    assert found == {suite.name: suite.same for suite in expectations.SUITES if suite.same}
    assert all(suite.same <= suite.cases for suite in expectations.SUITES)
