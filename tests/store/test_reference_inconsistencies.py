"""Two inconsistencies of the published result pages that cannot happen here: a network table that
belongs to another run, and a run whose id changes from build to build."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from ccperf import _native, campaign
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs import backends, sources
from ccperf.runs.metrics import compute
from ccperf.runs.result import identify
from ccperf.store import Store, StoreError

ROOT = Path(__file__).parent.parent.parent
NATIVE = backends.get("native")


def stored(path: Path) -> list[str]:
    """Two runs with other rates and so other network tables."""
    settings = {"qlen": "20p", "rtts": ["15ms"] * 2, "cc": ["TcpCubic"] * 2, "stop_time": "2s"}
    points = [campaign.Point(dumbbell(rate=rate, **settings)) for rate in ("8Mbps", "16Mbps")]
    with Store(path, "a") as store:
        return campaign.run(points, store, NATIVE).run_ids


def test_every_table_is_that_of_its_own_run(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    for run in stored(path):
        with Store(path, "r") as store:
            found = store.load(run)
        assert found.metrics == compute(found.scenario, found.recording)
        flows = found.flow_metrics.values()
        total = sum(flow["mean_throughput_l4"] for flow in flows)
        assert found.network_metrics["net"]["mean_agg_throughput_l4"] == pytest.approx(total)


def test_a_network_table_of_another_run_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    one, other = stored(path)
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM metrics WHERE run_id = ? AND scope = 'network'", (one,))
        database.execute(
            "INSERT INTO metrics SELECT ?, scope, packed FROM metrics"
            " WHERE run_id = ? AND scope = 'network'",
            (one, other),
        )
    database.close()
    with Store(path, "r") as store:
        assert store.metrics(other).network
        with pytest.raises(StoreError, match="not what was stored"):
            store.metrics(one)


def test_an_id_depends_on_no_build_and_no_process(tmp_path: Path) -> None:
    """Not on the order of hashes, the folder, the time zone or the language."""
    program = (
        "from ccperf.runs import backends; from ccperf.experiments.catalogue import get;"
        "from ccperf.runs.result import identify;"
        "print(identify(get('aqm').scenario('cubic', k=2), backends.get('native')).id)"
    )
    ids = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            check=True,
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C"},
        ).stdout
        for folder, seed, zone in ((ROOT, "1", "UTC"), (tmp_path, "2", "Asia/Tokyo"))
    }
    assert len(ids) == 1


@pytest.mark.skipif(not (ROOT / "crates").is_dir(), reason="needs the engine's sources")
def test_the_engine_is_known_by_its_sources_whoever_built_it_when() -> None:
    """The engine's part of an id, calculated again from the files."""
    sources = [
        *(
            file
            for crate in ("engine", "metrics", "plugin", "scenario", "schema")
            for file in (ROOT / "crates" / crate / "src").rglob("*.rs")
        ),
        ROOT / "crates/engine/Cargo.toml",
    ]
    named = {source: os.path.relpath(source, ROOT / "crates/py") for source in sources}
    digest = hashlib.sha256()
    for source in sorted(sources, key=lambda source: Path(named[source]).parts):
        for part in (named[source].encode(), source.read_bytes()):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    assert digest.hexdigest() == _native.ENGINE_HASH


def test_a_metric_that_is_defined_anew_makes_other_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its values may be others, so what is stored is not taken for what is asked for."""
    folder = shutil.copytree(Path(sources.metrics.__file__).parent, tmp_path / "metrics")
    scenario = dumbbell(rate="8Mbps", qlen="20p", rtts="15ms", cc="TcpCubic", stop_time="1s")
    before = identify(scenario, NATIVE).id
    assert sources.of_folder(folder) == sources._of_metrics()
    with (folder / "link.py").open("a") as file:
        file.write("\n")
    monkeypatch.setattr(sources, "_of_metrics", lambda: sources.of_folder(folder))
    assert identify(scenario, NATIVE).id != before
