"""A few of the kills of `tools/kills.py`; two hundred of them take some minutes.

Campaigns of Linux kernels have some of their own; `CCPERF_LINUX_KILLS=20` says how many.
"""

from __future__ import annotations

import importlib.util
import os
from types import ModuleType

import pytest

from ccperf.runs import backends
from user_scenarios import ROOT, drawn_seed

KERNELS = int(os.environ.get("CCPERF_LINUX_KILLS", "3"))


def kills() -> ModuleType:
    """The tool."""
    spec = importlib.util.spec_from_file_location("kills", ROOT / "tools" / "kills.py")
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.slow
def test_nothing_finished_is_lost_and_nothing_half_looks_whole() -> None:
    pytest.importorskip("jinja2")
    kills().kill(10, drawn_seed())


@pytest.mark.slow
@pytest.mark.kernel
def test_no_kernel_outlives_its_campaign_and_no_finished_run_is_lost() -> None:
    if missing := backends.get("linux").available():
        pytest.skip(missing)
    said: list[str] = []
    kills().kill(KERNELS, drawn_seed(), said.append, "Linux")
    assert [line.partition(",")[0] for line in said] == [f"bench with Linux: {KERNELS} kills"]
