"""The test cases of BBR's draft: what the page says of BBRv3 is so, case by case."""

from __future__ import annotations

from pathlib import Path

import pytest

import ccperf
from ccperf.evidence import bbr_draft

PAGE = Path(__file__).parents[2] / "docs" / "bbr-draft.md"
#: docs/bbr-draft.md says why.
FAILED = {"17"}


@pytest.mark.parametrize("case", bbr_draft.CASES)
def test_bbr3_does_what_the_page_says(case: str) -> None:
    verdict = bbr_draft.judge(case, ccperf.run("bbr_draft", cc="bbr3", case=case).recording)
    assert verdict.passed == (case not in FAILED), verdict.figure
    row = next(
        line
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith(f"| A.{case} ")
    )
    assert verdict.figure in row


@pytest.mark.parametrize("case", ["3", "10", "20"])
def test_an_algorithm_without_such_phases_fails(case: str) -> None:
    recording = ccperf.run("bbr_draft", cc="cubic", case=case).recording
    assert not bbr_draft.judge(case, recording).passed
