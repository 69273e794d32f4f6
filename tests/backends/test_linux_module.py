"""One's own congestion control in the kernel's C: it runs, or its run says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccperf import Scenario
from ccperf.algorithms.user_code import names
from ccperf.errors import RunError, UsageError
from ccperf.experiments import catalogue
from ccperf.runs.backends.linux import backend, build, module
from ccperf.runs.recording import Recording

LINUX = backend.Linux()
#: Reno, as short as it can be; `@` is what a wrong one does for each ACK.
SOURCE = """\
// SPDX-License-Identifier: GPL-2.0
#include <linux/delay.h>
#include <linux/module.h>
#include <net/tcp.h>

static int share __read_mostly = 512;
module_param(share, int, 0644);
static int zero;
static int *nowhere;

static void test_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
\tif (READ_ONCE(zero) > 1)
\t\tprintk("%d %p", zero, nowhere);
\t@
\ttcp_reno_cong_avoid(sk, ack, acked);
}

static u32 test_ssthresh(struct sock *sk)
{
\treturn max(tcp_snd_cwnd(tcp_sk(sk)) * share / 1024, 2U);
}

static struct tcp_congestion_ops test __read_mostly = {
\t.ssthresh = test_ssthresh,
\t.cong_avoid = test_cong_avoid,
\t.undo_cwnd = tcp_reno_undo_cwnd,
\t.owner = THIS_MODULE,
\t.name = "test",
};

static int __init test_register(void) { return tcp_register_congestion_control(&test); }
module_init(test_register);
MODULE_LICENSE("GPL");
"""
LINE = SOURCE.splitlines().index("\t@") + 1


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    path = tmp_path / "tcp_test.c"
    path.write_text(SOURCE.replace("@", ";"))
    return path


def test_a_file_is_named_by_its_place_and_called_what_it_registers(file: Path) -> None:
    assert names.declared("cc", str(file)) == f"{file}:test"
    assert names.kind(f"{file}:test") == names.KERNEL
    assert names.label(f"{file}:test") == "tcp_test.c:test"
    assert names.files(f"{file}:test") == [file]


def test_a_file_that_registers_nothing_is_refused(file: Path) -> None:
    file.write_text("int main(void) { return 0; }\n")
    with pytest.raises(ValueError, match="registers no tcp_congestion_ops"):
        names.declared("cc", str(file))
    file.write_text(SOURCE.replace("tcp_register_congestion_control(&test)", "0"))
    with pytest.raises(ValueError, match="does not call tcp_register_congestion_control"):
        names.declared("cc", str(file))


def run(cc: str, stop: str = "2s") -> Recording:
    made = catalogue.get("dumbbell").scenario(cc, buffer="20p", stop_time=stop)
    return LINUX.simulate(Scenario.model_validate(made.canonical()))


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_reno_as_a_module_is_the_kernels_reno_and_its_parameters_count(file: Path) -> None:
    def timeline(cc: str) -> list[int]:
        samples = run(cc, "4s").tables["flow_samples"]
        return [int(value) for value in samples.array("cwnd_bytes")]

    assert timeline(str(file)) == timeline("linux:reno")
    assert timeline(f"{file}:share=900") != timeline(str(file))


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_a_parameter_that_there_is_not_is_refused(file: Path) -> None:
    """The kernel would leave it out, and the run look like one with it."""
    for cc, said in (
        (f"{file}:shar=900", "of tcp_test.c `shar` .did you mean `share`"),
        ("linux:cdg:windw=8", "of tcp_cdg `windw` .did you mean `window`"),
    ):
        with pytest.raises(UsageError, match=said):
            run(cc)


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_parameters_of_the_kernels_own_modules_are_found_in_it() -> None:
    """Of Vegas, names of two follow each other without a gap."""
    kernel = build.current()
    assert kernel is not None
    assert module.built_in_parameters(kernel.program, "tcp_vegas") == {"alpha", "beta", "gamma"}
    for cc in ("vegas:Alpha=3:Beta=5:Gamma=2", "cubic:Beta=0.5:HyStart=false"):
        made = catalogue.get("dumbbell").scenario(cc, stop_time="1s")
        LINUX.prepare(Scenario.model_validate(made.canonical()))


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_a_module_that_the_kernel_refuses_is_refused_in_its_words(file: Path) -> None:
    file.write_text(SOURCE.replace("@", ";").replace("\t.ssthresh = test_ssthresh,\n", ""))
    with pytest.raises(RunError, match=r"(?s)cannot be loaded.*does not implement required ops"):
        run(str(file))


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_a_name_that_is_taken_and_a_refused_parameter_are_told_as_such(file: Path) -> None:
    file.write_text(SOURCE.replace("@", ";").replace('.name = "test"', '.name = "cubic"'))
    with pytest.raises(RunError, match="cannot be loaded: the kernel has one of its name already"):
        run(str(file))
    # No power of two.
    with pytest.raises(RunError, match="flow_1: cdg is not there: it refused its parameters"):
        run("linux:cdg:window=9")


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
@pytest.mark.parametrize("control", ["cdg", "nv"])
def test_the_kernels_other_algorithms_are_there_by_its_own_names(control: str) -> None:
    assert run(f"linux:{control}").tables["links"].array("tx_packets")[0] > 1000


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        pytest.param("not_c;", rf"tcp_test.c does not compile .*tcp_test.c:{LINE}", id="no C"),
        pytest.param("*READ_ONCE(nowhere) = 1;", f"tcp_test.c:{LINE}", id="null pointer"),
        pytest.param(
            "zero = (int)acked / READ_ONCE(zero);", "SIGFPE: a division by zero", id="division"
        ),
        pytest.param("for (;;) cpu_relax();", "endless loop in tcp_test.c", id="endless loop"),
        pytest.param("msleep(1);", "scheduling while atomic", id="sleeps"),
    ],
)
def test_what_a_wrong_module_does_ends_its_run_in_the_kernels_words(
    file: Path, wrong: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "PATIENCE_S", 3.0)
    file.write_text(SOURCE.replace("@", wrong))
    with pytest.raises(RunError, match=rf"(?s){said}"):
        run(str(file))
