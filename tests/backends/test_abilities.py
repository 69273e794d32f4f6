"""Backends say what they can, and another package may bring one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ccperf
from ccperf.errors import UsageError
from ccperf.runs import backends

OTHER = """
from ccperf.runs.backends import Abilities, get

class Slow:
    name = "slow"
    version = "1"
    abilities = Abilities(summary="the engine, slowly", speed=1e3, overhead_s=1.0)

    def available(self):
        return None

    def prepare(self, scenario):
        pass

    def simulate(self, scenario, *, packets=None, progress=None, user_code=None):
        return get("native").simulate(scenario, packets=packets, progress=progress)
"""


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that registers a backend, as installed."""
    (tmp_path / "other_backend.py").write_text(OTHER)
    about = tmp_path / "other_backend-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other-backend\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[ccperf.backends]\nslow = other_backend:Slow\n")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("other")
class TestOfAnotherPackage:
    def test_it_runs_what_ours_run(self) -> None:
        point = {"cc": "TcpNewReno", "k": 1, "qdisc": "CoDelQueueDisc", "stop_time": "1s"}
        ours, theirs = (ccperf.run("aqm", backend=name, **point) for name in ("native", "slow"))
        assert theirs.provenance.backend == "slow"
        assert theirs.id != ours.id
        assert theirs.flow_metrics["flow_1"] == ours.flow_metrics["flow_1"]

    def test_it_refuses_user_code_that_it_does_not_declare(self) -> None:
        with pytest.raises(UsageError, match=r"`slow` cannot run .*the backend `native`"):
            backends.user_code({"./mine.py:Mine": "flows[0].cc"}, backends.get("slow"))

    def test_it_is_found_by_its_name(self) -> None:
        assert backends.is_registered(backends.get("slow"))
        assert list(backends.known())[-1] == "slow"


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="native, ns3"):
        backends.get("nativ3")


def test_nobody_asks_for_a_backend_by_comparing_names() -> None:
    """Outside of the backends, and of what compares with ns-3."""
    package = Path(ccperf.__file__).parent
    known = backends.known()
    found = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in package.rglob("*.py")
        if not {"backends", "verify"} & set(path.relative_to(package).parts)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        if isinstance(side, ast.Constant) and side.value in known
    ]
    assert not found
