"""Runs in other programs' formats: read back by those programs, or against what they document."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
import subprocess
import sys
import weakref
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccperf.base.outputs import stem
from ccperf.cli.app import invoke
from ccperf.errors import RunError, UsageError
from ccperf.experiments import catalogue
from ccperf.experiments.topologies import star
from ccperf.present.exporters import EXPORTERS, export, tidy
from ccperf.runs import backends
from ccperf.runs.result import Result
from ccperf.store import DamagedRun, Store
from user_scenarios import EXAMPLES


def made(cc: str = "TcpBbr", **point: str) -> Result:
    engine = backends.get("native")
    point = {"k": "2", "qdisc": "CoDelQueueDisc", **point}
    scenario = catalogue.get("aqm").scenario(cc, stop_time="3s", **point)
    return Result.of(
        scenario,
        engine.simulate(scenario),
        engine,
        experiment="aqm",
        parameters={"aut": cc, **point},
    )


@pytest.fixture(scope="module")
def result() -> Result:
    return made()


def written(name: str, result: Result, folder: Path) -> Path:
    (path,) = export(name, [result], folder)
    return path


def document(name: str, result: Result, folder: Path) -> dict[str, Any]:
    return json.loads(written(name, result, folder).read_text(encoding="utf-8"))


def series(result: Result, column: str) -> Any:
    values = np.asarray(result.recording.flow_samples.array(column), dtype=float)
    return values.reshape(-1, result.recording.flows.rows)


def test_files_are_named_so_that_people_can_read_it(result: Result) -> None:
    name = stem(result)
    assert name == f"aqm_TcpBbr_k-2_qdisc-CoDelQueueDisc_seed-42_{result.id[:8]}"


def test_flent_has_throughput_rtt_and_window_of_each_flow(result: Result, tmp_path: Path) -> None:
    data = document("flent", result, tmp_path)
    assert data["version"] == 4
    assert data["metadata"]["NAME"] == "tcp_nup"
    assert [data["metadata"]["DATA_FILENAME"]] == [path.name for path in tmp_path.iterdir()]
    assert data["metadata"]["TEST_PARAMETERS"] == {"upload_streams": "2"}
    mean = np.mean(data["results"]["TCP upload::1"])
    assert mean == pytest.approx(result.flow_metrics["flow_1"]["mean_throughput_l4"])
    rtts = [value for value in data["results"]["TCP upload::2::tcp_rtt"] if value is not None]
    assert np.mean(rtts) == pytest.approx(result.flow_metrics["flow_2"]["mean_srtt_l4"])
    for name, values in data["results"].items():
        assert len(values) == len(data["x_values"])
        assert name in data["metadata"]["SERIES_META"]


def test_flent_itself_reads_it(result: Result, tmp_path: Path) -> None:
    resultset = pytest.importorskip("flent.resultset", reason="needs flent (pip install flent)")
    path = written("flent", result, tmp_path)
    loaded = resultset.load(str(path))
    assert loaded.meta("TITLE") == result.title
    assert {"TCP upload::1", "TCP upload::2"} <= set(loaded.series_names)
    assert len(list(loaded.series("TCP upload::1"))) == len(loaded.x_values)


def test_flent_s_program_plots_it(result: Result, tmp_path: Path) -> None:
    pytest.importorskip("flent", reason="needs flent (pip install flent)")
    program = shutil.which("flent", path=Path(sys.executable).parent)
    assert program
    path = written("flent", result, tmp_path)
    subprocess.run(
        [program, "-i", path, "-p", "upload", "-o", tmp_path / "upload.svg"],
        check=True,
        capture_output=True,
    )
    assert "<svg" in (tmp_path / "upload.svg").read_text()


def test_qlog_events_add_up_to_the_recording(result: Result, tmp_path: Path) -> None:
    """What draft-ietf-quic-qlog-main-schema-02 requires, and the values by replaying the events."""
    data = document("qlog", result, tmp_path)
    assert (data["qlog_version"], data["qlog_format"]) == ("0.3", "JSON")
    assert [trace["title"] for trace in data["traces"]] == ["flow_1", "flow_2"]
    cwnd, times = series(result, "cwnd_bytes"), series(result, "time_ns")[:, 0] / 1e6
    for flow, trace in enumerate(data["traces"]):
        assert trace["vantage_point"]["type"] == "client"
        assert trace["common_fields"]["time_format"] == "relative"
        at = [event["time"] for event in trace["events"]]
        assert at == sorted(at)
        state: dict[str, float] = {}
        events = iter([*trace["events"], {"time": float("inf")}])
        event = next(events)
        for index, time in enumerate(times.tolist()):
            while event["time"] <= time:
                assert event["name"] == "recovery:metrics_updated"
                assert event["data"]
                state |= event["data"]
                event = next(events)
            assert state["congestion_window"] == cwnd[index, flow]
            assert state.get("ssthresh", 1) > 0


#: Definitions of draft-ietf-quic-qlog-main-schema-02 and, for the event, quic-events-02: each field
#: with its type; fields with a question mark may be absent.
QLOG: dict[str, dict[str, Any]] = {
    "QlogFile": {
        "qlog_version": str,
        "?qlog_format": str,
        "?title": str,
        "?description": str,
        "?summary": dict,
        "?traces": ["Trace"],
    },
    "Trace": {
        "?title": str,
        "?description": str,
        "?configuration": dict,
        "?common_fields": "CommonFields",
        "?vantage_point": "VantagePoint",
        "events": ["Event"],
    },
    "VantagePoint": {"?name": str, "type": str, "?flow": str},
    "CommonFields": {
        "?time_format": str,
        "?reference_time": float,
        "?protocol_type": [str],
        "?group_id": str,
    },
    "Event": {"time": float, "name": str, "data": "RecoveryMetricsUpdated"},
    "RecoveryMetricsUpdated": {
        **dict.fromkeys(("?min_rtt", "?smoothed_rtt", "?latest_rtt", "?rtt_variance"), float),
        **dict.fromkeys(("?pto_count", "?congestion_window", "?bytes_in_flight"), int),
        **dict.fromkeys(("?ssthresh", "?packets_in_flight", "?pacing_rate"), int),
    },
}


def is_of(value: Any, kind: Any) -> bool:
    """Whether a value of JSON is of a type, or of a definition of `QLOG` without other fields."""
    if isinstance(kind, list):
        return isinstance(value, list) and all(is_of(each, kind[0]) for each in value)
    if isinstance(kind, str):
        fields = {name.removeprefix("?"): field for name, field in QLOG[kind].items()}
        needed = {name for name in QLOG[kind] if not name.startswith("?")}
        return needed <= value.keys() <= fields.keys() and all(
            is_of(each, fields[name]) for name, each in value.items()
        )
    if kind is int:
        return isinstance(value, int) and 0 <= value < 2**64
    return isinstance(value, (int, float) if kind is float else kind)


def test_qlog_is_of_its_schema(result: Result, tmp_path: Path) -> None:
    data = document("qlog", result, tmp_path)
    assert is_of(data, "QlogFile")
    assert data["traces"]
    for trace in data["traces"]:
        assert trace["vantage_point"]["type"] in ("client", "server", "network", "unknown")
        assert trace["common_fields"]["time_format"] in ("absolute", "delta", "relative")
        assert {event["name"] for event in trace["events"]} == {"recovery:metrics_updated"}
    data["traces"][0]["events"][0]["data"]["congestion_window"] = -1
    assert not is_of(data, "QlogFile")


def test_iperf3_s_python_module_reads_it(result: Result, tmp_path: Path) -> None:
    iperf3 = pytest.importorskip("iperf3", reason="needs iperf3-python (pip install iperf3)")
    read = iperf3.TestResult(written("iperf3", result, tmp_path).read_text(encoding="utf-8"))
    flows = result.flow_metrics.values()
    assert read.error is None
    assert (read.protocol, read.num_streams, read.duration) == ("TCP", 2, 3)
    assert (read.local_host, read.remote_host, read.tcp_mss_default) == ("src_0", "dst_0", 1448)
    assert read.sent_bytes == int(series(result, "written_bytes")[-1].sum())
    assert read.retransmits == sum(flow["total_retransmissions_l4"] for flow in flows)
    received = int(series(result, "read_bytes")[-1].sum())
    seconds = read.json["end"]["sum_received"]["seconds"]
    assert read.received_Mbps == pytest.approx(received * 8e-6 / seconds)


def test_iperf3_has_what_its_readers_expect(result: Result, tmp_path: Path) -> None:
    data = document("iperf3", result, tmp_path)
    assert data["start"]["test_start"]["protocol"] == "TCP"
    assert data["start"]["test_start"]["num_streams"] == 2
    sent, read = series(result, "written_bytes"), series(result, "read_bytes")
    assert data["end"]["sum_sent"]["bytes"] == int(sent[-1].sum())
    # Of what is sent again nothing is read twice: iperf3 counts what applications write and read.
    assert data["end"]["sum_received"]["bytes"] == int(read[-1].sum())
    assert read[-1].sum() < series(result, "received_bytes")[-1].sum()
    by_interval = sum(interval["sum"]["bytes"] for interval in data["intervals"])
    assert by_interval == int(sent[-1].sum() - sent[0].sum())
    again = sum(interval["sum"]["retransmits"] for interval in data["intervals"])
    assert again == data["end"]["sum_sent"]["retransmits"] > 0
    assert data["end"]["sender_tcp_congestion"] == "TcpBbr"
    for interval in data["intervals"]:
        for stream in interval["streams"]:
            assert stream["seconds"] == pytest.approx(0.03)
            assert stream["bits_per_second"] == pytest.approx(
                8 * stream["bytes"] / stream["seconds"]
            )


def test_a_tidy_table_has_a_row_a_value_and_a_column_a_parameter(
    result: Result, tmp_path: Path
) -> None:
    other = made("TcpCubic", k="1")
    with Store(tmp_path / "runs.db", "a") as store:
        store.add(result)
        store.add(other)
        path = tidy(store, store.runs(), tmp_path / "out" / "tidy.csv")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == (
        "run experiment cca k qdisc seed backend scope subject metric unit value".split()
    )
    assert {(row["cca"], row["k"]) for row in rows} == {("TcpBbr", "2"), ("TcpCubic", "1")}
    for row in rows:
        run = result if row["run"] == result.id else other
        assert float(row["value"]) == run.metrics.of(row["scope"])[row["subject"]][row["metric"]]


def test_a_tidy_table_leaves_out_what_cannot_be_read(
    result: Result,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    other = made("TcpCubic", k="1")
    with Store("x.db", "a") as store:
        store.add(result)
        store.add_point(result.id, "again", {})
        store.add(other)
    with closing(sqlite3.connect("x.db", isolation_level=None)) as db:
        db.execute("UPDATE metrics SET packed = '{}' WHERE run_id = ?", (result.id,))
    assert invoke(["export", "--db", "x.db", "--format", "tidy"]) == 1
    assert capsys.readouterr().err.count(f"left out: x.db: is damaged: run {result.id}") == 1
    with Path("export/tidy.csv").open(newline="", encoding="utf-8") as file:
        assert {row["run"] for row in csv.DictReader(file)} == {other.id}
    with Store("x.db") as store, pytest.raises(DamagedRun):
        tidy(store, store.runs(), tmp_path / "tidy.csv")


def test_runs_are_exported_one_at_a_time(result: Result, tmp_path: Path) -> None:
    """A benchmark's recordings do not fit into memory together."""
    read: list[weakref.ref[Result]] = []

    def runs() -> Iterator[Result]:
        for k in range(4):
            run = replace(result, parameters={"k": k})
            read.append(weakref.ref(run))
            assert sum(each() is not None for each in read) <= 2
            yield run
            del run

    assert len(export("qlog", runs(), tmp_path)) == len(list(tmp_path.iterdir())) == 4


def test_a_capture_is_made_of_a_stored_run(result: Result, tmp_path: Path) -> None:
    path = written("pcapng", result, tmp_path)
    assert path.suffix == ".pcapng"
    assert path.stat().st_size > 10_000
    backends.get("native").simulate(result.scenario, packets=tmp_path / "again.pcapng")
    assert path.read_bytes() == (tmp_path / "again.pcapng").read_bytes()


@pytest.mark.parametrize("name", ["pcapng", "flowmonitor"])
def test_what_another_engine_has_made_is_not_simulated_again(
    name: str, result: Result, tmp_path: Path
) -> None:
    of_another = replace(result.provenance, engine_hash="0" * 64)
    run = replace(result, id="0" * 16, provenance=of_another)
    with pytest.raises(UsageError, match="the engine was 000000000000, and is"):
        export(name, [run], tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a file's size differ elsewhere")
@pytest.mark.parametrize("name", ["pcapng", "flent", "qlog", "iperf3", "flowmonitor"])
def test_a_full_disk_leaves_nothing(name: str, result: Result, tmp_path: Path) -> None:
    """A file that may not grow is as a disk that is full."""
    with Store(tmp_path / "x.db", "a") as store:
        store.add(result)
    limited = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        f"sys.argv = ['ccperf', 'export', '--db', 'x.db', '-o', 'out', '--format', '{name}']\n"
        "runpy.run_module('ccperf', run_name='__main__')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", limited], capture_output=True, text=True, cwd=tmp_path
    )
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1), ended.stderr
    assert "File too large" in ended.stderr
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("name", EXPORTERS)
def test_an_export_replaces_its_own_file_and_no_other(
    name: str, result: Result, tmp_path: Path
) -> None:
    path = written(name, result, tmp_path)
    assert written(name, result, tmp_path) == path
    path.write_text("{my notes")
    with pytest.raises(UsageError, match="name another"):
        export(name, [result], tmp_path)
    assert path.read_text() == "{my notes"


@pytest.mark.parametrize("name", ["flent", "iperf3", "qlog"])
def test_a_run_that_ends_before_its_first_sample_can_be_exported(name: str, tmp_path: Path) -> None:
    engine = backends.get("native")
    scenario = catalogue.get("aqm").scenario("TcpNewReno", stop_time="20ms", k="1")
    short = Result.of(scenario, engine.simulate(scenario), engine)
    json.loads(written(name, short, tmp_path).read_text())


@pytest.mark.parametrize("name", ["flent", "iperf3", "qlog"])
def test_sampled_transfers_of_workloads_can_be_exported(name: str, tmp_path: Path) -> None:
    engine = backends.get("native")
    scenario = star(2).scenario(
        [],
        stop_time="20ms",
        stacks=[{"name": "dc", "profile": "datacentre"}],
        workloads=[
            {
                "name": "w",
                "stack": "dc",
                "arrivals": {"type": "Times", "times": ["1ms", "2ms"]},
                "sizes": {"type": "Constant", "bytes": "1MB"},
            }
        ],
        recording={"interval": "1ms", "flows": ["w"]},
    )
    text = written(name, Result.of(scenario, engine.simulate(scenario), engine), tmp_path)
    found = json.loads(text.read_text())
    if name == "iperf3":
        assert found["start"]["test_start"]["num_streams"] == 2
        assert found["end"]["sum_received"]["bytes"] == 2_000_000
        assert found["end"]["sender_tcp_congestion"] == "TcpDctcp"
    elif name == "flent":
        assert len(found["results"]) == 2 * len(("throughput", "rtt", "cwnd"))
    else:
        assert [trace["title"] for trace in found["traces"]] == ["w_1", "w_2"]


@pytest.mark.parametrize("name", ["flent", "iperf3", "qlog"])
def test_what_has_flows_over_time_refuses_a_run_that_samples_none(
    name: str, result: Result, tmp_path: Path
) -> None:
    engine = backends.get("native")
    scenario = catalogue.get("load_balancing").scenario(
        "ecmp", leaves=2, spines=2, servers=2, arrivals="5ms"
    )
    none = Result.of(scenario, engine.simulate(scenario), engine)
    with pytest.raises(UsageError, match=f"run {none.id} samples none"):
        export(name, [result, none], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["hpcc", "htsim"])
def test_the_ends_of_a_run_with_user_code_can_be_exported(
    name: str, result: Result, tmp_path: Path
) -> None:
    """It keeps none, so it is simulated again, where its code may run."""
    mine = made(f"{EXAMPLES / 'python' / 'mycca.py'}:MyCca")
    assert mine.recording.completions is None
    assert written(name, mine, tmp_path).read_text() == ""
    assert written(name, result, tmp_path).read_text() == ""


@pytest.mark.parametrize("name", ["pcapng", "flowmonitor", "hpcc"])
def test_what_user_code_does_otherwise_the_second_time_is_not_exported(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "moody.py").write_text(
        "import ccperf\n\nclass Moody(ccperf.CongestionControl):\n"
        "    def ssthresh(self, tcb, bytes_in_flight):\n"
        f"        with open({str(tmp_path / 'calls')!r}, 'a+') as file:\n"
        "            file.write('.')\n            count = file.tell()\n"
        "        return (2 + count) * tcb.segment_size\n"
    )
    moody = made(f"{tmp_path / 'moody.py'}:Moody")
    with pytest.raises(RunError, match=r"moody\.py:Moody depends on more than the scenario"):
        written(name, moody, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_the_command_exports_runs_or_all(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store("runs.db", "a") as store:
        store.add(result)
    assert invoke(["export", "--db", "runs.db", "--format", "tidy"]) == 0
    assert invoke(["export", result.id[:6], "--db", "runs.db", "--format", "flent"]) == 0
    for without in ("qlog", "tidy"):
        assert invoke(["export", "--db", "runs.db", "--format", without, "--series"]) == 2
    assert invoke(["export", "ffff", "--db", "runs.db", "--format", "flent"]) == 2
    assert {path.suffix for path in Path("export").iterdir()} == {".csv", ".flent"}
