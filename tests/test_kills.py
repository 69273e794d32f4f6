"""A few of the kills of `tools/kills.py`; two hundred of them take some minutes."""

from __future__ import annotations

import importlib.util

import pytest

from user_scenarios import ROOT, drawn_seed


@pytest.mark.slow
def test_nothing_finished_is_lost_and_nothing_half_looks_whole() -> None:
    pytest.importorskip("jinja2")
    spec = importlib.util.spec_from_file_location("kills", ROOT / "tools" / "kills.py")
    assert spec
    assert spec.loader
    kills = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kills)
    kills.kill(10, drawn_seed())
