"""Mistakes planted in the engine: the recorded comparison with ns-3 notices a random thirtieth of
those that a tool makes, and those that a reviewer thought of, or says why it cannot.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ccperf.verify import matrix, record

TOOL = Path(__file__).parents[2] / "tools" / "mutants.py"
MEASURED = json.loads(Path(__file__).with_name("mutants.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.timeout(580)  # it compiles an engine: two to three minutes, seven on a slow machine
def test_a_random_part_of_the_mistakes_is_noticed() -> None:
    seed = os.environ.get("CCPERF_TEST_SEED")
    done = subprocess.run(
        [sys.executable, str(TOOL), "--share", str(1 / 30), "--jobs", "1"]
        + (["--seed", seed] if seed else []),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    last = re.fullmatch(r"(\d+) planted, (\d+) killed", done.stdout.splitlines()[-1])
    assert last
    assert int(last[1]) >= 26 + 300 // 30  # the review's, and of at least 300 others
    assert re.search(r"^seed \d+;", done.stdout, re.MULTILINE)


def test_places_that_only_unit_tests_judge_are_there() -> None:
    """Else the comparison with ns-3, which never calls them, is asked about a renamed one."""
    listed = subprocess.run(
        [sys.executable, "-c", "from mutation import places; print(places.missing())"],
        cwd=TOOL.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout == "[]\n"


def test_enough_of_all_mistakes_was_noticed() -> None:
    areas = record.mutants()["areas"].values()
    planted = sum(area["planted"] for area in areas)
    caught = sum(area["matrix"] for area in areas)
    daily = sum(area["slice"] for area in areas)
    equivalent = sum(
        each["mistakes"] for each in record.mutants()["survivors"] if each["equivalent"]
    )
    assert planted == len(MEASURED["by"]) >= 300
    assert caught >= 0.97 * (planted - equivalent)
    assert daily >= 0.98 * caught
    assert sum(area["explained"] for area in areas) == planted - caught


def test_enough_of_the_mistakes_was_noticed_where_ns3_is_no_judge() -> None:
    """RACK-TLP, L4S, BBRv3: by tests from RFCs, drafts and papers."""
    own = record.mutants()["own"]
    noticed = own["unit"] + own["whole"]
    explained = sum(each["mistakes"] for each in own["unnoticed"])
    equivalent = sum(each["mistakes"] for each in own["unnoticed"] if each["equivalent"])
    assert own["planted"] == len(MEASURED["own"]) >= 140
    assert noticed == sum(map(bool, MEASURED["own"].values())) == own["planted"] - explained
    assert noticed >= 0.84 * (own["planted"] - equivalent)


def test_the_record_speaks_of_today_s_matrix_and_slice() -> None:
    noticed = {name for name in MEASURED["by"].values() if name}
    assert noticed <= {case.name for case in matrix.cases()}
    daily = {case.name for case in matrix.representative()}
    found = sum(name in daily for name in MEASURED["by"].values())
    assert found == sum(area["slice"] for area in record.mutants()["areas"].values())
