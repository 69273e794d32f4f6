"""Export: the same values in every format, with their units."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from ccperf.errors import UsageError
from ccperf.runs.parquet import encode_table
from ccperf.runs.recording import Table
from ccperf.runs.result import Result
from ccperf.store import Store
from ccperf.store.export import export
from recordings import ScriptedBackend, small_scenario

if TYPE_CHECKING:
    from pathlib import Path

pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "benchmark.db", "a")
    backend = ScriptedBackend()
    for seed in (1, 2):
        scenario = small_scenario(flows=2, seed=seed)
        recording = backend.simulate(scenario)
        store.add(Result.of(scenario, recording, backend, experiment="aqm", parameters={"k": "2"}))
    return store


def read(path: Path) -> list[dict[str, object]]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    with path.open() as file:
        return json.load(file) if path.suffix == ".json" else list(csv.DictReader(file))


@pytest.mark.parametrize("format", ["parquet", "csv", "json"])
def test_every_value_arrives_with_its_unit(store: Store, tmp_path: Path, format: str) -> None:
    files = export(store, tmp_path / "out", format)  # type: ignore[arg-type]
    assert [file.name for file in files] == [f"runs.{format}", f"metrics.{format}"]
    runs, metrics = map(read, files)
    assert [run["run"] for run in runs] == [run.id for run in store.runs()]
    assert json.loads(str(runs[0]["parameters"])) == {"k": "2"}
    exported = {
        (row["run"], row["subject"], row["metric"]): float(str(row["value"])) for row in metrics
    }
    expected = {
        (run.id, subject, name): value
        for run in store.runs()
        for tables in [store.metrics(run.id)]
        for table in (tables.flow, tables.link, tables.network)
        for subject, values in table.items()
        for name, value in values.items()
    }
    assert exported == expected
    units = {row["metric"]: row["unit"] for row in metrics}
    assert units["mean_throughput_l4"] == "Mbps"


@pytest.mark.parametrize("format", ["parquet", "csv", "json"])
def test_series_go_to_a_folder_per_run(store: Store, tmp_path: Path, format: str) -> None:
    files = export(store, tmp_path / "out", format, series=True)  # type: ignore[arg-type]
    run = store.runs()[1]
    path = tmp_path / "out" / "series" / run.id / f"flow_samples.{format}"
    assert path in files
    rows = read(path)
    received = [int(str(row["received_bytes"])) for row in rows]
    samples = store.recording(run.id).flow_samples
    assert received == samples.array("received_bytes").tolist()
    if format == "json":
        assert rows[0]["srtt_ns"] is None


def test_a_choice_of_runs(store: Store, tmp_path: Path) -> None:
    chosen = store.runs(seed=2)
    files = export(store, tmp_path / "out", "json", runs=chosen)
    assert {row["run"] for row in read(files[1])} == {chosen[0].id}


def test_a_wrong_format_and_an_unwritable_folder(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean `parquet`"):
        export(store, tmp_path / "out", "parket")  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        export(store, tmp_path / "file" / "out", "csv")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a file's size differ elsewhere")
@pytest.mark.parametrize("format", ["csv", "parquet", "json"])
def test_a_full_disk_is_one_line(store: Store, tmp_path: Path, format: str) -> None:
    """A file that may not grow is as a disk that is full; what is half written is gone."""
    assert store.ids()
    limited = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))\n"
        "sys.argv = ['ccperf', 'export', '--db', 'benchmark.db', '-o', 'out', '--series',"
        f" '--format', '{format}']\n"
        "runpy.run_module('ccperf', run_name='__main__')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", limited], capture_output=True, text=True, cwd=tmp_path
    )
    assert (ended.returncode, ended.stderr) == (
        1,
        "error: out: cannot be written: File too large\n",
    )
    assert all(path.stat().st_size < 1_000 for path in (tmp_path / "out").rglob("*.*"))


def test_series_that_are_exported_say_their_units(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "out", "parquet", series=True)
    (run_id, *_) = store.ids()
    found = pq.read_table(tmp_path / "out" / "series" / run_id / "flow_samples.parquet")
    assert found.schema.field("cwnd_bytes").metadata == {b"unit": b"B"}
    samples = store.recording(run_id).flow_samples
    assert Table.from_arrow("flow_samples", found).equals(samples)


@pytest.mark.parametrize("compressed", [False, True])
def test_tables_as_they_are_stored_are_parquet_to_others(store: Store, compressed: bool) -> None:
    """Who reads the database by SQL finds them, and has no `ccperf`."""
    (run_id, *_) = store.ids()
    for table in store.recording(run_id).tables.values():
        file = encode_table(table, compressed=compressed)
        assert Table.from_arrow(table.name, pq.read_table(BytesIO(file))).equals(table)
        about = pq.ParquetFile(BytesIO(file)).metadata
        assert about.num_rows == table.rows
        assert about.num_row_groups == bool(table.rows)
