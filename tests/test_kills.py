"""A few of the kills of `tools/kills.py`; two hundred of them take some minutes.

Campaigns of Linux kernels have some of their own: `--only Linux --kills 20` are more of these.
"""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from user_scenarios import ROOT, drawn_seed


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
    tool = kills()
    tool.kill(10, drawn_seed(), [what for what in tool.there() if what != tool.LINUX])


@pytest.mark.sweep
@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_no_kernel_outlives_its_campaign_and_no_finished_run_is_lost() -> None:
    tool = kills()
    tool.kill(5, drawn_seed(), [tool.LINUX])
