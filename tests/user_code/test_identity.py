"""The built-in NewReno, FIFO and ECMP, written again in every way: recordings equal to the bit."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ccperf.cli.app import invoke
from ccperf.include import get_include
from ccperf.runs.backends import get
from user_scenarios import EXAMPLES, balanced, scenario, with_qdisc

if TYPE_CHECKING:
    from ccperf.runs.recording import Recording
    from ccperf.scenario import Scenario


def assert_same(one: Recording, other: Recording) -> None:
    assert one.tables.keys() == other.tables.keys()
    for name, table in one.tables.items():
        assert table.keys() == other.tables[name].keys()
        for column, values in table.items():
            expected, found = (np.asarray(v) for v in (values, other.tables[name][column]))
            assert expected.dtype == found.dtype, (name, column)
            assert expected.tobytes() == found.tobytes(), (name, column)


def run(scenario: Scenario, folder: Path, name: str) -> tuple[Recording, bytes]:
    """The recording and the packet trace."""
    trace = folder / f"{name}.csv"
    recording = get("native").simulate(scenario, packets=trace)
    return recording, trace.read_bytes()


@pytest.mark.parametrize("way", ["python", "c", "rust"])
def test_newreno_is_the_built_in_one(
    way: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    name = (
        f"{EXAMPLES}/python/mycca.py:MyCca"
        if way == "python"
        else request.getfixturevalue(f"{way}_library")
    )
    # The examples keep `beta` of what is in flight; RFC 5681 keeps half.
    mine = scenario({"type": name, "attributes": {"beta": 0.5}})
    built_in, trace = run(scenario("TcpNewReno"), tmp_path, "built-in")
    recording, my_trace = run(mine, tmp_path, way)
    assert_same(built_in, recording)
    assert my_trace == trace
    # And the attribute makes a difference.
    other, _ = run(scenario(name), tmp_path, "other")
    assert list(other.flows["segments_sent"]) != list(built_in.flows["segments_sent"])


def test_a_window_may_be_a_whole_number_of_numpy_s(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import ccperf\nimport numpy as np\n\nclass Mine(ccperf.CongestionControl):\n"
        "    def ssthresh(self, tcb, flight):\n"
        "        return np.maximum(np.int64(flight) // 2, 2 * tcb.segment_size)\n"
    )
    built_in, trace = run(scenario("TcpNewReno"), tmp_path, "built-in")
    recording, my_trace = run(scenario(f"{tmp_path}/mine.py:Mine"), tmp_path, "numpy")
    assert_same(built_in, recording)
    assert my_trace == trace


CPP = """\
#include <ccperf.h>
#include <algorithm>

static int64_t ssthresh(void *, ccperf_tcb *tcb, int64_t bytes_in_flight) {
    return std::max(bytes_in_flight / 2, 2 * tcb->segment_size);
}

static void cong_avoid(void *, ccperf_tcb *tcb, int64_t segments_acked) {
    if (segments_acked > 0 && tcb->cwnd < tcb->ssthresh) {
        tcb->cwnd += tcb->segment_size;
        segments_acked--;
    }
    if (segments_acked > 0 && tcb->cwnd >= tcb->ssthresh)
        tcb->cwnd += std::max<int64_t>(tcb->segment_size * tcb->segment_size / tcb->cwnd, 1);
}

CCPERF_EXPORT const ccperf_cca ccperf_cca_v2 = {
    CCPERF_CCA_HEADER, FUNCTIONS
};
"""


@pytest.mark.parametrize(
    ("standard", "functions"),
    [
        ("c++20", ".ssthresh = ssthresh, .cong_avoid = cong_avoid"),
        ("c++11", "nullptr, nullptr, nullptr, nullptr, ssthresh, cong_avoid"),
    ],
)
def test_newreno_in_cpp_is_the_built_in_one(tmp_path: Path, standard: str, functions: str) -> None:
    if (compiler := shutil.which("c++")) is None:
        pytest.skip("needs a C++ compiler")
    (tmp_path / "mine.cpp").write_text(CPP.replace("FUNCTIONS", functions))
    library = tmp_path / "libmine.so"
    flags = [f"-std={standard}", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{get_include()}"]
    subprocess.run([compiler, *flags, "-o", library, tmp_path / "mine.cpp"], check=True)
    built_in, trace = run(scenario("TcpNewReno"), tmp_path, "built-in")
    recording, my_trace = run(scenario(str(library)), tmp_path, "c++")
    assert_same(built_in, recording)
    assert my_trace == trace


def test_a_stored_run_is_simulated_again_where_its_library_is(
    c_library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database has a library's name alone; the process that loads it wants its folder, too."""
    monkeypatch.chdir(Path(c_library).parent)
    db, out = str(tmp_path / "x.db"), tmp_path / "out"
    asked = ["aqm", "--cc", "./libmycca.so", "--k", "1", "--qdisc", "codel", "--stop-time", "200ms"]
    assert invoke(["run", *asked, "--db", db]) == 0
    for format in ("pcapng", "flowmonitor", "hpcc"):
        assert invoke(["export", "--db", db, "--format", format, "-o", str(out), "--trust"]) == 0
    assert len(list(out.iterdir())) == 3


@pytest.mark.parametrize("way", ["python", "c", "rust"])
def test_fifo_is_the_built_in_one(way: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    name = (
        f"{EXAMPLES}/python/myqdisc.py:MyQueue"
        if way == "python"
        else request.getfixturevalue("c_queue" if way == "c" else "rust_library")
    )
    built_in, trace = run(scenario("TcpNewReno"), tmp_path, "built-in")
    mine = with_qdisc({"type": name, "attributes": {"MaxSize": "20p"}})
    recording, my_trace = run(mine, tmp_path, way)
    assert_same(built_in, recording)
    assert my_trace == trace
    assert built_in.links["qdisc_dropped"][2] > 0


def own_balancer(way: str, request: pytest.FixtureRequest) -> str:
    if way == "python":
        return f"{EXAMPLES}/python/mybalancer.py:MyBalancer"
    return str(request.getfixturevalue("c_balancer" if way == "c" else "rust_library"))


@pytest.mark.parametrize("way", ["python", "c", "rust"])
def test_ecmp_is_the_built_in_one(way: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    name = own_balancer(way, request)
    ecmp = {"type": "ecmp", "attributes": {"Seed": 3}}
    built_in, trace = run(balanced(ecmp), tmp_path, "built-in")
    # Bursts without an end.
    mine = balanced({"type": name, "attributes": {"gap": 10**12, "seed": 3}})
    recording, my_trace = run(mine, tmp_path, way)
    assert_same(built_in, recording)
    assert my_trace == trace
    assert all(built_in.flows["segments_sent"])


def test_balancers_in_all_languages_move_the_same_bursts(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    attributes = {"gap": 1_000_000, "seed": 3}
    names = {way: own_balancer(way, request) for way in ("python", "c", "rust")}
    traces = {
        way: run(balanced({"type": name, "attributes": attributes}), tmp_path, way)[1]
        for way, name in names.items()
    }
    assert traces["python"] == traces["c"] == traces["rust"]
    _, ecmp = run(balanced("ecmp"), tmp_path, "ecmp")
    assert traces["c"] != ecmp


def test_what_switches_write_and_measure_is_there_for_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "notes.py").write_text(
        "import ccperf\n\n"
        "class Notes(ccperf.LoadBalancer):\n"
        "    every_hop = True\n"
        "    period_ns = 1_000_000\n"
        "    ticks = 0\n\n"
        "    def pick(self, packet):\n"
        "        hops, last, _ = packet.notes\n"
        "        # The leaf of the source has nothing to read, each other one what that wrote.\n"
        "        first = self.switch.node == packet.source_leaf\n"
        "        assert (hops == 0) == first, packet.notes\n"
        "        assert first or last == packet.source_leaf + 1\n"
        "        packet.notes = (hops + 1, packet.source_leaf + 1, 0)\n"
        "        ports = self.switch.ports\n"
        "        return min(range(len(ports)), key=lambda i: ports[i].waiting_bytes)\n\n"
        "    def tick(self):\n"
        "        self.ticks += 1\n"
        "        assert self.switch.now_ns == self.ticks * self.period_ns\n"
        "        assert len(self.switch.ports) == (2 if self.switch.node > 1 else 5)\n"
        "        rates = {port.rate_bps // 10**6 for port in self.switch.ports}\n"
        "        assert rates <= {4, 10, 20}, rates\n"
    )
    recording, _ = run(balanced(f"{tmp_path}/notes.py:Notes"), tmp_path, "notes")
    assert all(recording.flows["segments_sent"])


def test_marks_of_a_python_queue_disc_reach_the_sender(tmp_path: Path) -> None:
    name = f"{EXAMPLES}/python/myqdisc.py:MyQueue"
    attributes = {"MaxSize": "20p", "threshold": 5}
    ecn = with_qdisc({"type": name, "attributes": attributes}, tcp={"UseEcn": "On"})
    recording, trace = run(ecn, tmp_path, "ecn")
    row = list(recording.links["name"]).index("btl_forward")
    assert recording.links["qdisc_marked"][row] > 10
    assert b"Above threshold" in trace
    assert {"cwr"} <= _states(recording)


def _states(recording: Recording) -> set[str]:
    words = ("open", "disorder", "cwr", "recovery", "loss")
    rows = np.asarray(recording.changes["name"]) == "cong_state"
    return {words[int(v)] for v in np.asarray(recording.changes["value"])[rows]}


def test_init_is_called_when_the_connection_opens(tmp_path: Path) -> None:
    """At the sender when it starts; at the receiver when the SYN is there, 12 ms and more later."""
    calls = tmp_path / "calls"
    (tmp_path / "late.py").write_text(
        "import ccperf\n\nclass Late(ccperf.CongestionControl):\n"
        "    def init(self, tcb):\n"
        f"        with open({str(calls)!r}, 'a') as file:\n"
        "            print(tcb.now_ns, file=file)\n"
    )
    get("native").simulate(scenario(f"{tmp_path}/late.py:Late"))
    times = [int(line) for line in calls.read_text().split()]
    assert [time for time in times if time % 100_000_000 == 0] == [0, 0, 1_500_000_000]
    assert len(times) == 6
    assert all(0 <= time % 1_500_000_000 < 13_000_000 for time in times)
