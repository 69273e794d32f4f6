"""Building the driver and running it: user code, aborts, interruptions, what is missing."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

import ccperf
from ccperf.algorithms.user_code.content import Contents
from ccperf.cli.app import invoke
from ccperf.errors import RunError, UsageError
from ccperf.experiments import catalogue
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs import backends
from ccperf.runs.backends.ns3 import Ns3, Ns3Aborted, _report, build
from ccperf.runs.backends.ns3.release import Release
from ccperf.scenario import Algorithm, Scenario

from .ns3_runs import edited, read_packets, run

needs_ns3 = [
    pytest.mark.ns3,
    pytest.mark.skipif(Ns3().available() is not None, reason=str(Ns3().available())),
]

EXAMPLE = Path(__file__).parents[2] / "examples" / "ns3"

ASSERTING_CC = """
#include "ns3/assert.h"
#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"

class TcpAsserting : public ns3::TcpNewReno
{
  public:
    static ns3::TypeId GetTypeId()
    {
        static ns3::TypeId tid = ns3::TypeId("ns3::TcpAsserting")
                                     .SetParent<ns3::TcpNewReno>()
                                     .AddConstructor<TcpAsserting>();
        return tid;
    }

    void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> tcb, uint32_t) override
    {
        NS_ASSERT_MSG(tcb->m_cWnd < 20000, "window \\"" << tcb->m_cWnd << "\\" too large");
        tcb->m_cWnd += tcb->m_segmentSize;
    }

    ns3::Ptr<ns3::TcpCongestionOps> Fork() override { return ns3::CopyObject<TcpAsserting>(this); }
};

NS_OBJECT_ENSURE_REGISTERED(TcpAsserting);
"""


def write(folder: Path, **files: str) -> list[Path]:
    paths = [folder / name.replace("__", "-").replace("_dot_", ".") for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text)
    return paths


def with_cc(cc: Algorithm) -> Scenario:
    return dumbbell(rate="10Mbps", rtts="20ms", qlen="20p", cc=cc, stop_time="1s")


SCENARIO = with_cc(Algorithm(type="TcpNewReno"))


def of_type(name: str, **attributes: str) -> str:
    algorithm = {"type": name, "attributes": attributes, "stream": 0, "children": []}
    return edited(SCENARIO, congestion_control=algorithm)


class TestUserCode:
    pytestmark = needs_ns3

    @pytest.fixture
    def fixed_window(self, tmp_path: Path) -> str:
        """The documented example, in a folder where it can be changed."""
        for name in ("tcp-fixed-window.h", "tcp-fixed-window.cc"):
            shutil.copy(EXAMPLE / name, tmp_path)
        return f"{tmp_path}/tcp-fixed-window.cc:TcpFixedWindow"

    def test_a_class_and_its_attributes(self, fixed_window: str) -> None:
        for segments, cc in (
            (20, Algorithm(type=fixed_window)),
            (7, Algorithm(type=fixed_window, attributes={"Segments": "7"})),
        ):
            result = run(with_cc(cc))
            assert result.flow("cwnd_bytes")[-1] == segments * 1448
            # One window per round trip, which is longer where the window fills the path.
            rounds = result.flow("acked_bytes")[-1] / (segments * 1448)
            assert 1 / (0.021 + segments * 0.0013) < rounds < 1 / 0.020

    @pytest.mark.parametrize("name", ["tcp-fixed-window.cc", "tcp-fixed-window.h"])
    def test_its_content_is_part_of_the_run(
        self, fixed_window: str, tmp_path: Path, name: str
    ) -> None:
        scenario = with_cc(Algorithm(type=fixed_window))
        before = Contents().of(scenario.user_code)
        changed = tmp_path / name
        changed.write_text(changed.read_text() + "// another line\n")
        assert Contents().of(scenario.user_code) != before

    def test_a_changed_file_is_compiled_again(self, fixed_window: str, tmp_path: Path) -> None:
        source = tmp_path / "tcp-fixed-window.cc"
        source.write_text(source.read_text().replace("UintegerValue(20)", "UintegerValue(6)"))
        result = run(with_cc(Algorithm(type=fixed_window)))
        assert result.flow("cwnd_bytes")[-1] == 6 * 1448

    def test_other_backends_refuse_it(self, fixed_window: str) -> None:
        scenario = with_cc(Algorithm(type=fixed_window))
        with pytest.raises(UsageError, match="needs the backend `ns3`"):
            backends.user_code(scenario.user_code, backends.get("native"))

    def test_what_does_not_compile_is_shown(self, tmp_path: Path) -> None:
        (source,) = write(tmp_path, bad_dot_cc="int f() { return nonsense; }")
        with pytest.raises(RunError, match=r"bad\.cc does not compile.*\n.*nonsense"):
            run(with_cc(Algorithm(type=f"{source}:TcpBad")))

    def test_an_assertion_is_told_apart(self, tmp_path: Path) -> None:
        (source,) = write(tmp_path, asserting_dot_cc=ASSERTING_CC)
        packets = tmp_path / "packets.csv"
        with pytest.raises(Ns3Aborted) as caught:
            Ns3().simulate(with_cc(Algorithm(type=f"{source}:TcpAsserting")), packets=packets)
        aborted = caught.value
        assert aborted.condition == "tcb->m_cWnd < 20000"
        assert aborted.message == 'window "20272" too large'
        assert aborted.location is not None
        assert aborted.location.startswith("asserting.cc:")
        assert aborted.time_s is not None
        assert 0.02 < aborted.time_s < 0.1
        # The packet trace goes on until then.
        rows = read_packets(packets)
        assert rows[-1].time_ns == pytest.approx(aborted.time_s * 1e9, abs=1)


@pytest.mark.parametrize(
    ("text", "condition", "message", "location", "time_s"),
    [
        (
            'NS_ASSERT failed, cond="m_x > 0", +1.25s 3 file=/b/src/tcp-tx-buffer.cc, line=12\n'
            "NS_FATAL, terminating\n",
            "m_x > 0",
            None,
            "tcp-tx-buffer.cc:12",
            1.25,
        ),
        (
            'aborted. cond="!a", msg="no, "b" is\nnot", +2e-09s -1 file=/b/a.cc, line=7\n',
            "!a",
            'no, "b" is\nnot',
            "a.cc:7",
            2e-9,
        ),
        (
            'msg="Attribute x", file=/b/type-id.cc, line=702\n',
            None,
            "Attribute x",
            "type-id.cc:702",
            None,
        ),
        ("terminate called\n", None, None, None, None),
    ],
)
def test_messages_of_ns3(
    text: str,
    condition: str | None,
    message: str | None,
    location: str | None,
    time_s: float | None,
) -> None:
    aborted = Ns3Aborted(text)
    assert (aborted.condition, aborted.message) == (condition, message)
    assert (aborted.location, aborted.time_s) == (location, time_s)
    assert "\n\n" not in str(aborted)


class TestProcess:
    pytestmark = needs_ns3

    def test_progress_goes_from_0_to_1(self) -> None:
        seen: list[float] = []
        Ns3().run_lowered(SCENARIO.lowered(), progress=seen.append)
        assert len(seen) > 50
        assert (np.diff(seen) >= 0).all()
        assert seen[0] == 0
        assert seen[-1] > 0.98

    def test_an_interruption_ends_the_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        started: list[subprocess.Popen[bytes]] = []
        popen = subprocess.Popen

        def note(*args: object, **options: object) -> subprocess.Popen[bytes]:
            started.append(popen(*args, **options))  # type: ignore[call-overload]
            return started[-1]

        build.driver()
        monkeypatch.setattr(subprocess, "Popen", note)

        def interrupt(part: float) -> None:
            if part > 0.2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Ns3().run_lowered(SCENARIO.lowered(), progress=interrupt)
        assert started[-1].returncode == -9

    def test_an_unknown_class_is_named(self) -> None:
        with pytest.raises(RunError, match="no class `TcpNonsense`"):
            Ns3().run_lowered(of_type("TcpNonsense"))

    def test_an_unknown_attribute_is_named(self) -> None:
        with pytest.raises(RunError, match="TcpCubic has no attribute `Nonsense`"):
            Ns3().run_lowered(of_type("TcpCubic", Nonsense="1"))

    def test_a_trace_that_cannot_be_written(self, tmp_path: Path) -> None:
        with pytest.raises(RunError, match="cannot write"):
            Ns3().run_lowered(SCENARIO.lowered(), packets=tmp_path / "absent" / "packets.csv")


class TestWhatIsMissing:
    def test_another_platform(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("platform.machine", lambda: "arm64")
        assert "needs Linux on x86-64" in str(Ns3().available())

    def test_the_wheel(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
        assert "pip install ns3==3.44" in str(Ns3().available())

    def test_another_release(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "lib64").mkdir()
        (tmp_path / "lib64" / "libns3.45-core.so").touch()

        class Spec:
            submodule_search_locations = (str(tmp_path),)

        monkeypatch.setattr("importlib.util.find_spec", lambda _: Spec)
        assert "libns3.45-core.so is another release" in str(Ns3().available())

    @pytest.mark.skipif(Ns3().available() is not None, reason="needs the wheel")
    def test_the_compiler(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("CXX", raising=False)
        assert "needs a C++ compiler" in str(Ns3().available())


class TestCache:
    """Compiled programs that are run again."""

    NS3 = Release(Path("/ns3"), Path("/ns3/include"), Path("/ns3/lib64"), "3.44", "wheel")
    TOOLS = build.Toolchain(NS3, "c++", "1")

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_what_others_can_write_to_is_not_run(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        if when == "after":
            made = build._cached(self.TOOLS, "x", "driver", lambda path: path.write_text("ours"))
            assert made.read_text() == "ours"
            made.chmod(0o777)
        else:
            folder = build._cached(self.TOOLS, "x", "other", lambda path: path.touch()).parent
            folder.chmod(0o777)
        with pytest.raises(RunError, match=r"others can write to .* XDG_CACHE_HOME names another"):
            build._cached(self.TOOLS, "x", "driver", lambda path: path.write_text("theirs"))


@pytest.mark.parametrize(
    ("status", "output", "says", "is_own"),
    [
        (
            -signal.SIGSEGV,
            "ended in libns3.44-internet.so: ns3::TcpSocketBase::PersistTimeout()\n",
            "ns-3 ended by SIGSEGV in ns3::TcpSocketBase::PersistTimeout()",
            False,
        ),
        (
            -signal.SIGABRT,
            "vector::_M_range_check\nended in libns3.44-internet-apps.so\n",
            "ns-3 ended by SIGABRT in libns3.44-internet-apps.so: vector::_M_range_check",
            False,
        ),
        (
            -signal.SIGABRT,
            "map::at\nended in driver: ccperf::CongaBalancer::UplinkOf(unsigned long)\n",
            "ns-3's driver ended by SIGABRT in ccperf::CongaBalancer::UplinkOf(unsigned long): "
            "map::at",
            True,
        ),
        (2, "unknown option\n", "ns-3's driver cannot run this: unknown option", True),
    ],
)
def test_an_end_is_told_apart_by_whose_function_was_running(
    status: int, output: str, says: str, is_own: bool
) -> None:
    with pytest.raises(RunError) as failed:
        _report(status, output)
    assert (str(failed.value), failed.value.is_own) == (says, is_own)


class TestWhatNs3Lacks:
    """It is refused before anything runs or is written."""

    pytestmark = needs_ns3

    @pytest.mark.parametrize(
        ("words", "lacks"),
        [
            (["aqm", "--cc", "copa", "--k", "1"], "TcpCopa"),
            (["aqm", "--cc", "cubic,prague", "--k", "1"], "TcpPrague"),
            (["aqm", "--cc", "cubic", "--k", "1", "--qdisc", "dualpi2"], "DualPi2QueueDisc"),
            (["load_balancing", "--routing", "presto", "--load", "0.3"], "presto"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    @pytest.mark.usefixtures("own_folder")
    def test_an_algorithm_without_a_class(
        self, words: list[str], lacks: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert invoke(["run", *words, "--backend", "ns3"]) == 2
        err = capsys.readouterr().err
        assert err.startswith(f"error: backend: `ns3` cannot run {lacks}: ns-3 ")
        assert len(err.splitlines()) == 1
        assert list(Path().iterdir()) == []

    @pytest.mark.usefixtures("own_folder")
    def test_a_setting_that_the_driver_cannot_be_told(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert invoke(["run", "pfc_victim", "--backend", "ns3"]) == 2
        assert "the backend native's" in capsys.readouterr().err
        assert list(Path().iterdir()) == []

    def test_python_is_told_the_same(self) -> None:
        with pytest.raises(UsageError, match="`ns3` cannot run TcpCopa"):
            ccperf.run("aqm", cc="copa", k=1, backend="ns3")

    def test_whatever_the_driver_brings_is_not_refused(self) -> None:
        for name, qdisc in (("TcpDctcpReno", "WfqQueueDisc"), ("TcpCubic", "FqCoDelQueueDisc")):
            point = {"k": 1, "qdisc": qdisc} if qdisc.startswith("Fq") else {"k": 1}
            Ns3().prepare(catalogue.get("aqm").scenario(name, **point))
        for routing in ("ecmp", "conga"):
            Ns3().prepare(catalogue.get("load_balancing").scenario(routing, load=0.3))
