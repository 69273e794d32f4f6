"""The engine still does what it did when the whole matrix was compared with real ns-3."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from ccperf import _native
from ccperf.algorithms.releases import default, releases
from ccperf.experiments.topologies.shorthand import dumbbell

TOOL = Path(__file__).parents[2] / "tools" / "fingerprints.py"


def assert_none_differs(capsys: pytest.CaptureFixture[str], *words: str) -> None:
    """In this process, which makes the scenarios of the matrix once."""
    spec = importlib.util.spec_from_file_location("fingerprints", TOOL)
    assert spec
    assert spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    status = tool.main(words)
    said = capsys.readouterr().out
    assert status == 0, said
    assert " 0 differ" in said


@pytest.mark.parametrize("profile", [name for name in releases() if name != default()])
def test_other_releases_of_ns3_are_what_they_were(
    profile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each fourth of those that the release itself has agreed with."""
    known = json.loads(
        TOOL.parents[1].joinpath("tests/verify/fingerprints-releases.json").read_text()
    )
    assert len(known[profile]) > 100
    assert_none_differs(capsys, "--profile", profile, "--every", "4")


def test_a_fingerprint_is_of_packets_as_well() -> None:
    """A type of service is in the headers of packets, and nowhere in the tables of this run."""

    def seen(**flow: Any) -> tuple[str, str]:
        scenario = dumbbell(rate="8Mbps", rtts="20ms", qlen="30p", cc="cubic", stop_time="300ms")
        flows = (scenario.flows[0].model_copy(update=flow),)
        tables, digest = _native.run_for_digest(
            scenario.model_copy(update={"flows": flows}).lowered()
        )
        return repr(sorted(tables["flow_samples"].items())), digest

    plain, again, other = seen(), seen(), seen(tos=8)
    assert plain == again
    assert plain[0] == other[0]
    assert plain[1] != other[1]


def test_every_recorded_run_is_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    assert_none_differs(capsys, "--packets")
