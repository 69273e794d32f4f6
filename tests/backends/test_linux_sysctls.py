"""Sysctls as a setting of all runs of a command, in place of a field of one scenario."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import ccperf
from ccperf.cli.app import invoke
from ccperf.errors import UsageError
from ccperf.experiments import catalogue
from ccperf.scenario import sysctl
from ccperf.store import Store

ONE = ["run", "jitter", "--cc", "cubic", "--spread", "5ms", "--order", "kept", "--stop-time", "2s"]


@pytest.mark.parametrize(
    ("given", "is_called"),
    [
        ("tcp_recovery=0", "tcp_recovery=0"),
        ("net.ipv4.tcp_recovery=0,net/core/rmem_max=9", "net.core.rmem_max=9 tcp_recovery=0"),
        ("tcp_sack=0 tcp_rmem=4096  131072 6291456", "tcp_rmem=4096 131072 6291456 tcp_sack=0"),
        ({"tcp_sack": 0, "tcp_rmem": [1, 2, 3]}, "tcp_rmem=1 2 3 tcp_sack=0"),
    ],
)
def test_sysctls_have_one_spelling(given: Any, is_called: str) -> None:
    assert sysctl.one_spelling(given) == is_called
    assert sysctl.one_spelling(is_called) == is_called
    assert all(name.startswith("net.") for name in sysctl.read(is_called))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("", "names no sysctl"),
        ("tcp_sack", "`tcp_sack` has no value: tcp_sack=1"),
        ("tcp_sack=,tcp_ecn=1", "`tcp_sack` has no value"),
        ("tcp_sack=1,tcp_sack=0", "`tcp_sack` is there twice"),
        ("tcp_sack=1,net.ipv4.tcp_sack=0", "`net.ipv4.tcp_sack` is there twice"),
        ("kernel.panic=1", "`kernel.panic` is no sysctl of the network"),
        ({"tcp_sack": None}, "tcp_sack = None: a sysctl is a number"),
    ],
)
def test_what_is_no_sysctl_is_refused(given: Any, says: str) -> None:
    with pytest.raises(UsageError, match="sysctl") as error:
        sysctl.one_spelling(given)
    assert says in error.value.message


def test_they_are_in_the_scenario_its_labels_and_its_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = [*ONE, "--sysctl", "tcp_sack=0,tcp_ecn=1", "--backend", "linux", "-n"]
    assert invoke(line) == 0
    (again,) = capsys.readouterr().out.splitlines()
    assert "--sysctl 'tcp_ecn=1 tcp_sack=0'" in again
    assert invoke([*shlex.split(again)[1:], "-n"]) == 0
    assert capsys.readouterr().out.splitlines() == [again]
    found = catalogue.get("jitter").scenario("cubic", sysctl="tcp_sack=0,tcp_ecn=1")
    assert found.linux == {"net.ipv4.tcp_sack": "0", "net.ipv4.tcp_ecn": "1"}


@pytest.mark.parametrize("backend", ["native", "ns3"])
def test_only_hosts_of_linux_have_some(capsys: pytest.CaptureFixture[str], backend: str) -> None:
    for line in (ONE, ["bench", "cubic", "--experiments", "jitter"]):
        assert invoke([*line, "--sysctl", "tcp_sack=0", "--backend", backend, "-n"]) == 2
        said = capsys.readouterr().err
        assert f"--sysctl: `{backend}` has no sysctls; they need the backend linux" in said
    with pytest.raises(UsageError, match=r"^sysctl: "):
        ccperf.run("jitter", cc="cubic", sysctl={"tcp_sack": 0}, backend=backend)


def test_plans_and_scenarios_in_files_take_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'experiment = "jitter"\ncc = "cubic"\nsysctl = "tcp_sack=0"\n'
        'parameters = { spread = "1ms", order = "kept" }\n'
    )
    assert invoke(["run", str(plan), "--backend", "linux", "-n"]) == 0
    assert "--sysctl tcp_sack=0 " in capsys.readouterr().out
    assert invoke(["run", str(plan), "--backend", "linux", "-n", "--sysctl", "tcp_ecn=1"]) == 0
    assert "--sysctl tcp_ecn=1 " in capsys.readouterr().out
    assert invoke(["run", str(plan), "-n"]) == 2
    assert "sysctl: `native` has no sysctls" in capsys.readouterr().err
    scenario = tmp_path / "mine.toml"
    scenario.write_text(
        '[dumbbell]\nrate = "10Mbps"\nqlen = "20p"\nrtts = ["20ms"]\ncc = ["cubic"]\n'
    )
    line = ["run", str(scenario), "--sysctl", "tcp_sack=0", "-n", "--backend"]
    assert invoke([*line, "linux"]) == 0
    assert "--sysctl tcp_sack=0" in capsys.readouterr().out
    assert invoke([*line, "native"]) == 2
    assert "--sysctl: `native` has no sysctls" in capsys.readouterr().err


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_a_window_that_cannot_grow_is_compared_with_one_that_can(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "a.db"
    line = [*ONE, "--backend", "linux", "--db", str(db)]
    for more in ([], ["--sysctl", "tcp_window_scaling=0"]):
        assert invoke([*line, *more]) == 0
    with Store(db) as store:
        plain, other = sorted(store.runs(), key=lambda row: "sysctl" in row.parameters)
        losses = [
            store.reduced_metrics(row.id)[row.id]["retransmission_rate_l4"]
            for row in (plain, other)
        ]
    assert other.parameters["sysctl"] == "tcp_window_scaling=0"
    # 64 KiB are less than the path and its buffer hold, so nothing is lost.
    assert losses[0] > 0 == losses[1]
    capsys.readouterr()
    by = "sysctl=none,tcp_window_scaling=0"
    assert invoke(["compare", "cubic", "--db", str(db), "--by", by]) == 0
    assert "sysctl=tcp_window_scaling=0" in capsys.readouterr().out
