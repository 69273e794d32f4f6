"""Whom a cluster serves: those who have its credentials, and nobody else on the machine."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("distributed")

import dask
import psutil
from distributed import SpecCluster

from campaign.clusters import Processes, credentials, points, processes
from ccperf import campaign
from ccperf.campaign.dask_here import DaskHere
from ccperf.campaign.on_dask import Cluster
from ccperf.errors import UsageError
from ccperf.runs import backends
from ccperf.store import Store

NATIVE = backends.get("native")

#: A scheduler, and the settings that name its credentials.
Encrypted = tuple[Processes, dict[str, str]]

#: What another user of the machine can try: to have code run by whatever listens at these ports,
#: without encryption and with credentials of his own. It prints the user whose code was run.
ATTACK = """
import os, sys
from distributed import Client, Security
import distributed.comm.tcp, distributed.diagnostics, distributed.recreate_tasks
with_credentials = Security.temporary()
if os.getuid() == 0:
    os.setuid(65534)
for port in sys.argv[1:]:
    for address, security in (("tcp", None), ("tls", with_credentials)):
        try:
            client = Client(f"{address}://127.0.0.1:{port}", timeout=1, security=security)
            print("reached as", os.getuid(), client.run_on_scheduler(os.getuid), flush=True)
            os._exit(0)
        except Exception as error:
            print(type(error).__name__, error)
os._exit(0)
"""


def listening(process: psutil.Process) -> dict[int, str]:
    """The ports that a process and those below it listen at, and their hosts."""
    family = (process, *process.children(recursive=True))
    found = [each for one in family for each in one.net_connections("inet")]
    return {each.laddr.port: each.laddr.ip for each in found if each.status == "LISTEN"}


def attack(ports: list[int]) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", ATTACK, *map(str, ports)],
        capture_output=True,
        text=True,
        timeout=100,
        cwd="/",
        check=True,
    )
    return ended.stdout


def test_a_cluster_of_this_machine_serves_nobody_else() -> None:
    before = listening(psutil.Process())
    with Cluster("dask", NATIVE, 1):
        ports = listening(psutil.Process())
        for port in before:
            del ports[port]
        assert set(ports.values()) == {"127.0.0.1"}
        # Scheduler, worker and the worker's nanny: no HTTP server.
        assert len(ports) == 3
        assert "reached" not in attack(list(ports))


def test_the_attack_succeeds_where_there_are_no_credentials(tmp_path: Path) -> None:
    """So what the test above sees is the cluster's doing."""
    with processes(tmp_path, workers=0) as made:
        said = attack([int(made.address.rpartition(":")[2])])
    as_whom = 65534 if os.getuid() == 0 else os.getuid()
    assert f"reached as {as_whom} {os.getuid()}" in said


def test_what_a_worker_writes_lies_in_a_folder_of_its_own() -> None:
    with Cluster("dask", NATIVE, 1) as cluster:
        (folder,) = cluster.client.run(os.getcwd).values()
        (space,) = cluster.client.run(lambda dask_worker: dask_worker.local_directory).values()
        above = [Path(space), *Path(space).parents]
        (own,) = [each for each in above if each.name.startswith("ccperf-dask-")]
        assert own.stat().st_mode & 0o077 == 0
    assert folder
    assert not own.exists()


def test_a_cluster_that_does_not_end_in_time_leaves_neither_thread_nor_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = set(threading.enumerate())
    cluster = DaskHere(1)
    folder, end = Path(cluster._folder.name), SpecCluster._close
    assert Path(cluster.scheduler.local_directory).is_relative_to(folder)

    async def never(self: SpecCluster) -> None:
        await end(self)
        await asyncio.sleep(3600)

    monkeypatch.setattr(SpecCluster, "_close", never)
    with pytest.raises((TimeoutError, asyncio.TimeoutError)):
        cluster.close(timeout=5)
    assert not folder.exists()
    ours = {each for each in threading.enumerate() if "IO loop" in each.name}
    assert not ours - threads


def test_without_what_makes_credentials_nothing_is_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(UsageError, match=r"needs Dask: pip install 'ccperf\[dask\]'"):
        Cluster("dask", NATIVE, 1)


@pytest.fixture(name="encrypted", scope="module")
def _encrypted(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Processes, dict[str, str]]]:
    """A scheduler with one worker, and the settings with its credentials."""
    folder = tmp_path_factory.mktemp("encrypted")
    settings = credentials(folder)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            variable = name.replace(".", "__").replace("-", "_").upper()
            patch.setenv(f"DASK_{variable}", value)
        with processes(folder, workers=1, protocol="tls") as made:
            yield made, settings


@pytest.mark.parametrize("scheme", ["tls", "dask+tls", "dask"])
def test_runs_are_made_with_the_credentials_of_dasks_configuration(
    tmp_path: Path, encrypted: Encrypted, scheme: str
) -> None:
    """With `dask`, the configuration says that all has to be encrypted."""
    made, settings = encrypted
    settings = {**settings, "distributed.comm.require-encryption": scheme == "dask"}
    where = made.address.replace("tls", scheme)
    with dask.config.set(settings), Store(tmp_path / "runs.db", "a") as store:
        with Cluster(where, NATIVE) as cluster:
            report = campaign.run(points(3), store, NATIVE, executor=cluster.executor)
        assert report.ok
        assert len(report.made) == 3


def test_without_credentials_an_encrypted_scheduler_is_refused_by_name(
    encrypted: Encrypted,
) -> None:
    made, _ = encrypted
    lacks = r"needs credentials: Dask's configuration lacks distributed\.comm\.tls\.ca-file and"
    with pytest.raises(UsageError, match=lacks):
        Cluster(made.address, NATIVE)


@pytest.mark.parametrize("scheme", ["tls", "dask"])
def test_with_other_credentials_or_none_the_scheduler_does_not_answer(
    tmp_path: Path,
    encrypted: Encrypted,
    scheme: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ccperf.campaign.on_dask._PATIENCE_S", 2.0)
    made, _ = encrypted
    with dask.config.set(credentials(tmp_path)), pytest.raises(UsageError) as seen:
        Cluster(made.address.replace("tls", scheme), NATIVE)
    assert "no scheduler answers at" in str(seen.value)
    assert "\n" not in str(seen.value)
