"""What is loaded when it is asked for is found, and is what its name says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccperf.base import lazy, libraries
from ccperf.cli import plot
from ccperf.errors import UsageError
from ccperf.experiments import catalogue, programs


def test_experiments_are_found_by_their_own_names() -> None:
    for name, experiment in catalogue.EXPERIMENTS.items():
        assert experiment.name == name
        assert isinstance(experiment, catalogue.Experiment)


def test_two_shelves_together_hold_the_same_things() -> None:
    both = catalogue.REGISTRY | catalogue.DATACENTRE
    assert [*both] == [*catalogue.REGISTRY, *catalogue.DATACENTRE]
    assert both["ecn"] is catalogue.REGISTRY["ecn"]
    assert both["dwrr"] is catalogue.DATACENTRE["dwrr"]
    assert "hermes_parts" not in both
    assert both.get("hermes_parts") is None


def test_a_module_offers_the_names_of_others_and_no_more() -> None:
    assert {name for name in programs.__all__ if getattr(programs, name)} == {*programs.__all__}
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        lazy.names("ccperf.experiments.programs", {})("absent")


def test_what_keeps_a_library_from_being_loaded_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matplotlib's is a backend that it does not know, in MPLBACKEND: that was a traceback."""
    (tmp_path / "refuses.py").write_text("raise ValueError('Key backend: nonsense')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UsageError, match="refuses cannot be loaded: ValueError: Key backend"):
        libraries.library("refuses")


def test_a_library_that_is_absent_is_named_as_no_option_is() -> None:
    """`plot` said `--matplotlib: is not installed`."""
    with (
        pytest.raises(UsageError, match=r"^absent is not installed: pip install 'ccperf"),
        plot._named_options(),
    ):
        libraries.library("absent.part", "'ccperf[figures]'")
