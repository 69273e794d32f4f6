"""One planted line in somebody's ns-3 is told apart: the first packet that differs, and where.

With real ns-3 that takes a built source tree (`./ns3 build`), which CCPERF_NS3_BUILT names: one
file is compiled anew with the line changed, and its library linked beside links to the others.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ccperf.cli.app import invoke
from ccperf.runs import backends
from ccperf.runs.backends.ns3 import release
from ccperf.verify import compare, matrix

if TYPE_CHECKING:
    from ccperf.runs.recording import Recording
    from ccperf.scenario import Scenario

NATIVE = backends.get("native")
CASE = "cc/TcpCubic-shallow"
#: The line of CUBIC that says how far ssthresh falls, and what somebody makes of it.
LINE, PLANTED = "segCwnd * m_beta)", "segCwnd * (m_beta + 0.05))"
BUILT = os.environ.get("CCPERF_NS3_BUILT", "")


class WithBeta:
    """Stands for a tree whose CUBIC has another beta."""

    name = "ns3"
    version = "1"
    abilities = NATIVE.abilities

    def available(self) -> str | None:
        return None

    def simulate(
        self, scenario: Scenario, *, packets: Path | None = None, progress: Any = None
    ) -> Recording:
        (flow,) = scenario.flows
        assert flow.cc
        cc = flow.cc.model_copy(update={"attributes": {"Beta": "0.75"}})
        changed = scenario.model_copy(update={"flows": (flow.model_copy(update={"cc": cc}),)})
        return NATIVE.simulate(changed, packets=packets, progress=progress)


def test_another_beta_shows_in_the_first_packet_after_the_first_loss() -> None:
    (case,) = matrix.cases(CASE)
    found = compare(case.scenario, NATIVE, WithBeta())  # type: ignore[arg-type]
    assert found.verdict == "packets differ"
    assert found.rows > 100
    assert found.divergence
    assert found.divergence.ours != found.divergence.theirs
    before, *_, after = found.state.splitlines()
    report = found.report()
    assert f"{found.rows:,} packet-trace rows in common" in report
    # What was different first is ssthresh, at the loss.
    native, other = found.state.split("ns3, sender of")
    assert "native, sender of flow_1" in before
    assert "ssthresh" in native
    assert "ssthresh" in other
    assert after


def planted(built: Path, root: Path) -> Path:
    """The tree `built` with the line planted, at `root`."""
    lib = root / "build" / "lib"
    lib.mkdir(parents=True)
    (root / "build" / "include").symlink_to(built / "build" / "include")
    for library in (built / "build" / "lib").glob("libns3*.so"):
        if "-internet.so" not in library.name and "-internet-default" not in library.name:
            (lib / library.name).symlink_to(library)
    cache = built / "cmake-cache"
    cubic = built / "src" / "internet" / "model" / "tcp-cubic.cc"
    text = cubic.read_text()
    assert text.count(LINE) == 1
    source, made = root / cubic.name, root / "tcp-cubic.o"
    source.write_text(text.replace(LINE, PLANTED))
    commands = json.loads((cache / "compile_commands.json").read_text())
    (command,) = (one["command"] for one in commands if one["file"] == str(cubic))
    words = shlex.split(command)
    words[words.index("-o") + 1] = str(made)
    words[words.index("-c") + 1] = str(source)
    words.append(f"-I{cubic.parent}")
    subprocess.run(words, cwd=cache, check=True)
    of_module = cache / "src" / "internet" / "CMakeFiles" / "internet.dir"
    objects = [str(path) for path in of_module.rglob("*.o") if path.name != "tcp-cubic.cc.o"]
    (whole,) = (built / "build" / "lib").glob("libns3*-internet.so")
    used = [
        f"-l{library.stem.removeprefix('lib')}"
        for module in ("traffic-control", "bridge", "network", "stats", "core")
        for library in lib.glob(f"libns3*-{module}.so")
    ]
    link = ["c++", "-shared", "-o", str(lib / whole.name), f"-Wl,-soname,{whole.name}"]
    link.append(f"-Wl,-rpath,{lib}")
    subprocess.run([*link, str(made), *objects, f"-L{lib}", *used], check=True)
    return root


@pytest.mark.ns3
@pytest.mark.slow
@pytest.mark.timeout(1_800)  # two drivers are compiled
@pytest.mark.skipif(not BUILT, reason="CCPERF_NS3_BUILT names no built source tree of ns-3")
def test_a_line_planted_in_cubic_of_a_built_tree_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(release.VARIABLE, "")
    built = Path(BUILT).absolute()
    root = planted(built, tmp_path / "mine")
    words = ["verify", "ns3", "--pattern", f"{CASE},cc/TcpBic-shallow", "--jobs", "1"]
    assert invoke([*words, "--ns3", str(root)]) == 1
    out = capsys.readouterr().out
    # Only CUBIC is touched, and what differs first is a packet, with the sender's state before it.
    assert "1 of 2 scenarios packet-identical" in out
    assert f"{CASE}: packets differ (" in out
    assert "ssthresh" in out
    monkeypatch.setenv(release.VARIABLE, "")
    assert invoke([*words, "--ns3", str(built)]) == 0
    shutil.rmtree(root)
