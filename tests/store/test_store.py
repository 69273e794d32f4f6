"""The store: what goes in comes out, whole runs only, and no other file is touched."""

from __future__ import annotations

import hashlib
import json
import pickle
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ccperf import campaign
from ccperf.errors import CcperfError
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs import backends
from ccperf.runs.parquet import NOT_DRAWN, decode, encode
from ccperf.runs.result import Result, identify
from ccperf.store import Store, StoreError, checksums, metric_text, schema
from ccperf.store.opening import DamagedStore
from recordings import ScriptedBackend, small_scenario

if TYPE_CHECKING:
    from pathlib import Path


def result(
    flows: int = 2, seed: int = 1, experiment: str | None = "aqm", **parameters: str
) -> Result:
    scenario, backend = small_scenario(flows, seed), ScriptedBackend()
    return Result.of(
        scenario,
        backend.simulate(scenario),
        backend,
        experiment=experiment,
        parameters=parameters,
        wall_seconds=0.25,
    )


def older(path: Path) -> None:
    """Make a file of version 4 of one of today: a row a metric, and the checksums of then."""
    with closing(sqlite3.connect(path)) as db, db:
        run_columns = ", ".join(checksums.RUN)
        for (run,) in db.execute("SELECT id FROM run").fetchall():
            packed = db.execute("SELECT scope, packed FROM metrics WHERE run_id = ?", (run,))
            values = [
                (scope, subject, name, value)
                for scope, data in packed.fetchall()
                for subject, metrics in metric_text.decode(data).items()
                for name, value in metrics.items()
            ]
            rows = [(*row, position) for position, row in enumerate(values)]
            db.executemany(
                "INSERT INTO metric VALUES (?, ?, ?, ?, ?, ?)", [(run, *r) for r in rows]
            )
            flows = db.execute(
                f"SELECT {', '.join(checksums.FLOW)} FROM flow WHERE run_id = ?", (run,)
            )
            series = db.execute("SELECT name, rows, checksum FROM series WHERE run_id = ?", (run,))
            content = checksums.of_content(flows.fetchall(), rows, series.fetchall())
            db.execute("UPDATE run SET content = ? WHERE id = ?", (content, run))
            row = db.execute(f"SELECT {run_columns} FROM run WHERE id = ?", (run,)).fetchone()
            db.execute("UPDATE run SET checksum = ? WHERE id = ?", (checksums.of_values(row), run))
        db.execute("DROP VIEW metric_value")
        db.execute("DROP TABLE metrics")
        db.execute("CREATE INDEX metric_by_name ON metric (name)")
        db.execute(f"PRAGMA user_version = {schema.MIGRATIONS.index(schema._METRICS)}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "benchmark_TcpNewReno.db"


def test_a_result_comes_back_the_same(path: Path) -> None:
    made = result(k="2", qdisc="FifoQueueDisc")
    with Store(path, "a") as store:
        store.add(made)
    with Store(path, "r") as store:
        loaded = store.load(made.id)
    assert loaded.recording.equals(made.recording)
    assert loaded.metrics == made.metrics
    # The order of the tables' rows and columns, too.
    assert [list(table) for table in loaded.flow_metrics.values()] == [
        list(table) for table in made.flow_metrics.values()
    ]
    assert loaded.scenario.canonical() == made.scenario.canonical()
    assert loaded.provenance == made.provenance
    assert (loaded.experiment, loaded.parameters) == ("aqm", {"k": "2", "qdisc": "FifoQueueDisc"})
    assert loaded.title == "aqm k=2 qdisc=FifoQueueDisc"


def test_two_runs_of_a_scenario_give_the_same_bytes() -> None:
    scenario = small_scenario(flows=3, seed=7)
    first, second = (encode(ScriptedBackend().simulate(scenario)) for _ in range(2))
    assert first == second
    recording = ScriptedBackend().simulate(scenario)
    rows = {name: table.rows for name, table in recording.tables.items()}
    assert decode(first, rows).equals(recording)
    assert encode(ScriptedBackend().simulate(small_scenario(flows=3, seed=8))) != first


def test_the_engine_gives_the_same_bytes_on_any_number_of_threads(tmp_path: Path) -> None:
    native = backends.get("native")
    scenarios = [
        dumbbell(rate="16Mbps", rtts=["15ms"] * 3, qlen="20p", cc="TcpNewReno", stop_time="300ms"),
        dumbbell(rate="8Mbps", rtts="30ms", qlen="9p", cc="TcpNewReno", stop_time="1s"),
    ]
    stored = []
    for jobs in (1, 4):
        with Store(tmp_path / f"{jobs}.db", "a") as store:
            report = campaign.run(map(campaign.Point, scenarios), store, native, jobs=jobs)
            assert report.ok
            stored.append([store.parquet(run) for run in report.run_ids])
    assert stored[0] == stored[1]


def test_the_id_is_of_what_the_outcome_depends_on() -> None:
    backend = ScriptedBackend()
    base = identify(small_scenario(), backend).id
    assert len(base) == 16
    assert int(base, 16) >= 0
    assert identify(small_scenario(label="another"), backend).id == base
    others = {
        identify(small_scenario(seed=43), backend).id,
        identify(small_scenario(flows=2), backend).id,
        identify(small_scenario(), ScriptedBackend(version="2")).id,
        identify(small_scenario(), ScriptedBackend(name="other")).id,
    }
    assert len(others | {base}) == 5


def test_runs_are_filtered(path: Path) -> None:
    with Store(path, "a") as store:
        for seed in (1, 2):
            store.add(result(seed=seed, k="2"))
        store.add(result(flows=1, seed=1, experiment=None))
        assert [run.seed for run in store.runs()] == [1, 2, 1]
        assert [run.seed for run in store.runs(experiment="aqm", seed=2)] == [2]
        assert len(store.runs(parameters={"k": "2"})) == 2
        assert store.runs(parameters={"k": "3"}) == []
        for same in (2, 2.0):
            assert len(store.runs(parameters={"k": same})) == 2
        assert store.runs(parameters={"k": 3}) == []
        assert len(store.runs(cc="TcpNewReno", backend="scripted")) == 3
        # By Linux's name as by ns-3's.
        assert len(store.runs(cc="newreno")) == 3
        assert store.runs(cc="TcpCubic") == []
        assert store.runs()[2].experiment is None
        assert store.runs()[2].title == "small"
        assert store.runs()[0].cc == ("TcpNewReno",)
        other = "TcpCubic(Beta=0.5)"
        store.add(result(seed=3, aut=other))
        assert [run.seed for run in store.runs(cc=other)] == [3]
        assert store.runs(cc="TcpCubic(Beta=0.6)") == []


def test_one_run_may_be_a_point_of_several_experiments(path: Path) -> None:
    made = result(k="2")
    with Store(path, "a") as store:
        store.add(made)
        store.add(made)
        store.add_point(made.id, "steady_state_single_flow", {"path": "static.default"})
        assert [(run.id, run.experiment) for run in store.runs()] == [
            (made.id, "aqm"),
            (made.id, "steady_state_single_flow"),
        ]
        assert store.load(made.id, "steady_state_single_flow").parameters == {
            "path": "static.default"
        }


def test_ids_are_found_by_their_beginning(path: Path) -> None:
    with Store(path, "a") as store:
        made = [result(seed=seed) for seed in range(20)]
        for one in made:
            store.add(one)
        assert store.resolve(made[3].id) == made[3].id
        assert store.resolve(made[3].id[:12]) == made[3].id
        with pytest.raises(KeyError, match="several runs"):
            store.resolve("")
        with pytest.raises(KeyError, match="no run `zz`"):
            store.resolve("zz")
        with pytest.raises(CcperfError) as error:
            store.load("zz")
    lists = f"`ccperf runs --db {path}` lists them"
    assert isinstance(error.value, KeyError)
    assert str(error.value) == f"no run `zz` in {path}; {lists}"


def test_deleting_a_run_leaves_nothing_of_it(path: Path) -> None:
    made = result()
    with Store(path, "a") as store:
        store.add(made)
        store.delete(made.id)
        assert not store.has(made.id)
        for read in (store.load, store.metrics, store.scenario, store.recording, store.delete):
            with pytest.raises(KeyError, match=made.id):
                read(made.id)
    with closing(sqlite3.connect(path)) as db:
        for table in ("run", "point", "flow", "metric", "metrics", "series"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_a_failed_add_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = result()
    with Store(path, "a") as store:
        monkeypatch.setattr(
            Store, "_insert_point", lambda *_: (_ for _ in ()).throw(RuntimeError("full"))
        )
        with pytest.raises(RuntimeError, match="full"):
            store.add(made)
        monkeypatch.undo()
        assert store.runs() == []
        store.add(made)
        assert store.has(made.id)


def test_readers_read_while_a_writer_writes(path: Path) -> None:
    with Store(path, "a") as store:
        store.add(result(seed=0))
        done = threading.Event()
        seen: list[int] = []

        def read() -> None:
            with Store(path, "r") as reader:
                while not done.is_set():
                    runs = reader.runs()
                    seen.append(len(runs))
                    # Whatever is listed is complete.
                    reader.load(runs[-1].id)

        thread = threading.Thread(target=read)
        thread.start()
        for seed in range(1, 30):
            store.add(result(seed=seed))
        done.set()
        thread.join()
    assert seen == sorted(seen)
    assert len(seen) > 1


# Files that are not ours.


def digest(path: Path) -> bytes:
    return path.read_bytes()


def test_nothing_but_the_database_is_left(path: Path) -> None:
    with Store(path, "a") as store:
        store.add(result())
    with Store(path, mode="r") as store:
        assert len(list(store.runs())) == 1
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_closing_one_of_two_writers_leaves_the_other_writing(path: Path) -> None:
    with Store(path, "a") as first:
        with Store(path, "a") as second:
            second.add(result(seed=1))
            first.add(result(seed=2))
        first.add(result(seed=3))
    with Store(path, mode="r") as store:
        assert len(list(store.runs())) == 3


@pytest.mark.parametrize("mode", ["r", "a"])
def test_a_closed_store_says_so_and_is_not_called_damaged(path: Path, mode: str) -> None:
    with Store(path, mode="a") as store:
        store.add(result())
    closed = Store(path, mode=mode)
    closed.close()
    closed.close()
    for use in (closed.ids, closed.check, lambda: closed.delete("0")):
        with pytest.raises(StoreError, match=r"is closed; open it again$"):
            use()


def test_a_store_that_is_open_to_read_is_not_changed(path: Path) -> None:
    with Store(path, mode="a") as store:
        store.add(result())
    with Store(path) as store:
        (run,) = store.ids()
        for change in (lambda: store.delete(run), lambda: store.add(result(seed=2))):
            with pytest.raises(StoreError, match=r'is open to read only; `Store\(".*", "a"\)`'):
                change()
        assert store.ids() == [run]


def test_a_store_in_another_thread_is_not_called_damaged(path: Path) -> None:
    with Store(path, mode="a") as store, ThreadPoolExecutor(1) as other:
        store.add(result())
        with pytest.raises(StoreError, match=r"one thread only; open it in each") as refused:
            other.submit(store.ids).result()
        with pytest.raises(StoreError, match=r"one thread only; open it in each"):
            other.submit(store.add, result(seed=2)).result()
    assert not isinstance(refused.value, DamagedStore)


@pytest.mark.parametrize("mode", ["r", "a"])
def test_a_file_that_is_no_database_is_refused(path: Path, mode: str) -> None:
    path.write_text("time,cwnd\n" * 200)
    before = digest(path)
    with pytest.raises(StoreError, match="is not a ccperf database"):
        Store(path, mode)  # type: ignore[arg-type]
    assert digest(path) == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mode", ["r", "a"])
def test_another_program_s_database_is_refused(path: Path, mode: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE run (id)")
    before = digest(path)
    with pytest.raises(StoreError, match="another program"):
        Store(path, mode)  # type: ignore[arg-type]
    assert digest(path) == before
    assert list(path.parent.iterdir()) == [path]


def test_a_newer_schema_is_refused(path: Path) -> None:
    Store(path, "a").close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    with pytest.raises(StoreError, match="use a newer ccperf"):
        Store(path, "a")


def test_an_older_schema_is_brought_up_to_date(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = result()
    with Store(path, "a") as store:
        store.add(made)
    from ccperf.store import opening as module

    migrations = (*schema.MIGRATIONS, "ALTER TABLE run ADD COLUMN note TEXT")
    monkeypatch.setattr(module, "MIGRATIONS", migrations)
    monkeypatch.setattr(module, "VERSION", len(migrations))
    before = digest(path)
    with Store(path, "r") as store:
        assert store.load(made.id).recording.equals(made.recording)
    assert digest(path) == before
    assert list(path.parent.iterdir()) == [path]
    with Store(path, "a") as store:
        assert store.load(made.id).recording.equals(made.recording)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT note FROM run").fetchall() == [(None,)]
        assert db.execute("PRAGMA user_version").fetchone() == (len(migrations),)


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    with Store(path, "a") as store:
        assert store.runs() == []


def test_several_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    """One found its tables between two looks of another, which took it for another program's."""
    refused: list[StoreError] = []

    def opened(path: Path, together: threading.Barrier) -> None:
        together.wait()
        try:
            for _ in range(3):
                Store(path, "a").close()
        except StoreError as error:
            refused.append(error)

    for number in range(30):
        together = threading.Barrier(4)
        arguments = (tmp_path / f"{number}.db", together)
        threads = [threading.Thread(target=opened, args=arguments) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not refused


def test_a_file_whose_making_was_killed_after_its_first_page_becomes_a_store(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
    assert path.stat().st_size > 0
    with Store(path, "a") as store:
        assert store.runs() == []


def test_reading_a_missing_database_says_so_and_makes_none(path: Path) -> None:
    with pytest.raises(StoreError, match="no such database"):
        Store(path, "r")
    assert not path.exists()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"missing/x\.db: cannot be opened"):
        Store(tmp_path / "missing" / "x.db", "a")
    assert list(tmp_path.iterdir()) == []


def test_runs_know_who_took_part_also_those_of_an_older_file(path: Path) -> None:
    met = {"aut": "TcpCubic", "against": "TcpNewReno", "k": "2"}
    with Store(path, "a") as store:
        store.add(result(seed=1, aut="TcpNewReno", k="2"))
        store.add(result(seed=2, **met))
        store.add(result(seed=3, experiment=None))
    older(path)
    with closing(sqlite3.connect(path)) as db, db:
        # As it was before there were columns for it.
        db.execute("DROP INDEX point_by_algorithm")
        for column in ("under_test", "against"):
            db.execute(f"ALTER TABLE point DROP COLUMN {column}")
        db.execute(f"PRAGMA user_version = {schema.MIGRATIONS.index(schema._ROLES)}")
    with Store(path, "a") as store:
        assert [run.seed for run in store.runs(under_test="TcpCubic")] == [2]
        assert [run.seed for run in store.runs(under_test="TcpNewReno")] == [1]
        assert [run.seed for run in store.runs(against="TcpNewReno")] == [2]
        (run,) = store.runs(under_test="TcpCubic")
        assert run.algorithms == {"under_test": "TcpCubic", "against": "TcpNewReno"}
        (own,) = store.runs(seed=3)
        assert own.algorithms == {}


def test_rows_are_sorted_for_their_checksum_as_json_writes_them() -> None:
    rows = [
        ("flow", subject, name, value, position)
        for position, (subject, name, value) in enumerate(
            (subject, name, value)
            for subject in ("flow_1", "flow_10", "flow 1", 'a"b', "é", "\u2028", "z\\", "")
            for name in ("mean", "mean_srtt", "min!")
            for value in (1, 1.5, -0.0, 1e300)
        )
    ]
    assert sorted(rows, key=checksums._order) == sorted(rows, key=lambda row: json.dumps(list(row)))


@pytest.mark.parametrize("name", ["flow_1", "flöw", 'a], ["b', "a, b", "tab\t\x1f"])
def test_a_checksum_is_that_of_the_rows_in_order_as_json_writes_them(name: str) -> None:
    rows = [
        ("flow", subject, "mean", value, position)
        for position, (subject, value) in enumerate([(name, 1.5), ("z", 1e-9), ("", 2)])
    ]
    series = [("flows", 2, "ab")]
    parts = [sorted(map(list, each), key=json.dumps) for each in (rows, [], series)]
    written = json.dumps(parts, ensure_ascii=False)
    wanted = hashlib.sha256(written.encode()).hexdigest()
    assert checksums.of_content(rows, [], series) == wanted
    assert checksums.of_content(rows[::-1], [], series) == wanted


def test_series_are_loaded_without_what_they_do_not_need(path: Path) -> None:
    made = result(k="2", qdisc="FifoQueueDisc")
    with Store(path, "a") as store:
        store.add(made)
    with Store(path, "r") as store:
        loaded = store.load_series(made.id)
        with pytest.raises(KeyError):
            store.load_series("0" * 16)
    assert loaded.recording.flow_samples.equals(made.recording.flow_samples)
    assert loaded.recording.link_samples.equals(made.recording.link_samples)
    assert loaded.scenario.canonical() == made.scenario.canonical()
    assert not loaded.flow_metrics


def test_series_that_are_damaged_are_not_loaded(path: Path) -> None:
    made = result()
    with Store(path, "a") as store:
        store.add(made)
    with closing(sqlite3.connect(path)) as database:
        # As many bytes, of which one is another.
        (blob,) = database.execute(
            "SELECT parquet FROM series WHERE name = 'flow_samples'"
        ).fetchone()
        other = blob[:100] + bytes([blob[100] ^ 1]) + blob[101:]
        database.execute("UPDATE series SET parquet = ? WHERE name = 'flow_samples'", (other,))
        database.commit()
    with Store(path, "r") as store, pytest.raises(StoreError, match="flow_samples"):
        store.load_series(made.id)


def test_what_is_drawn_is_read_without_the_rest(path: Path) -> None:
    made = result()
    with Store(path, "a") as store:
        store.add(made)
        drawn = store.load(made.id, drawn=True)
    for name, table in made.recording.tables.items():
        found = drawn.recording.tables[name]
        assert set(table) - set(found) == set(NOT_DRAWN.get(name, ()))
        assert found.rows == table.rows
        for column, values in found.items():
            assert list(map(repr, values)) == list(map(repr, table[column]))
    again = pickle.loads(pickle.dumps(drawn.recording.flow_samples))
    assert list(again) == list(drawn.recording.flow_samples)


def test_metrics_of_before_they_were_packed_are_read_as_they_were(path: Path) -> None:
    made = [result(flows=2, seed=seed, k="2") for seed in (1, 2)]
    with Store(path, "a") as store:
        for one in made:
            store.add(one)
        reduced = store.reduced_metrics()
    older(path)
    for mode in ("r", "a"):
        with Store(path, mode) as store:  # type: ignore[arg-type]
            assert [store.metrics(one.id) for one in made] == [one.metrics for one in made]
            again = store.reduced_metrics()
            assert again.keys() == reduced.keys()
            for run, values in again.items():
                assert values == pytest.approx(reduced[run], rel=1e-14)
    # And beside new ones, in one file.
    with Store(path, "a") as store:
        store.delete(made[0].id)
        store.add(made[0])
        assert [store.metrics(one.id) for one in made] == [one.metrics for one in made]
        assert len(store.reduced_metrics()) == 2


def test_a_flipped_metric_of_before_they_were_packed_is_noticed(path: Path) -> None:
    made = result()
    with Store(path, "a") as store:
        store.add(made)
    older(path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE metric SET value = value + 1 WHERE position = 3")
    with Store(path, "r") as store, pytest.raises(StoreError, match="not what was stored"):
        store.metrics(made.id)


def test_packed_metrics_are_all_there_and_nothing_else_is_taken_for_them() -> None:
    columns = {"a\n": {"mean_srtt_l4": -0.0, "own": 1e-320}, "ß": {"mean_cwnd_l4": 5e300}, "c": {}}
    packed = metric_text.encode(columns)
    assert repr(metric_text.decode(packed)) == repr(columns)

    for wrong in ("", packed[:-1], "[]", '{"a":1.0}', '{"a":{"b":"1"}}', '{"a":{"b":1e999}}'):
        with pytest.raises(ValueError, match=r"."):
            metric_text.decode(wrong)


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])),
        st.dictionaries(st.text('a"\\\n\x1f\x7fß\u2028'), st.floats(-1e11, 1e11)),
    )
)
@example(
    {
        "tie": {
            "of the shortest": 8589934592.4453125,
            "below": -0.00001,
            "at": 0.00009999,
            "not": 10.00005,
        }
    }
)
def test_metrics_are_packed_as_json_writes_them(columns: dict[str, dict[str, float]]) -> None:
    written = json.dumps(columns, ensure_ascii=False, separators=(",", ":"))
    assert metric_text.encode(columns) == written


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_packed_metric_keeps_its_last_bit(value: float) -> None:
    packed = metric_text.encode({"net": {"own": value}})
    assert repr(metric_text.decode(packed)["net"]["own"]) == repr(value)


def test_a_metric_that_is_no_number_is_named() -> None:
    columns = {"net": {"mean_fct_l4": 1.0}, "query": {"mean_slowdown_l4": float("inf")}}
    with pytest.raises(ValueError, match="metric mean_slowdown_l4 of query is inf"):
        metric_text.encode(columns)


def test_sql_has_a_row_a_metric_of_runs_old_and_new(path: Path) -> None:
    made = [result(flows=2, seed=seed, k="2") for seed in (1, 2)]
    with Store(path, "a") as store:
        store.add(made[0])
    older(path)
    with Store(path, "a") as store:
        store.add(made[1])
    query = "SELECT subject, name, value FROM metric_value WHERE run_id = ? AND scope = 'flow'"
    for one in made:
        with closing(sqlite3.connect(path)) as db:
            rows = db.execute(query, (one.id,)).fetchall()
        assert {(subject, name): value for subject, name, value in rows} == {
            (subject, name): pytest.approx(value, rel=1e-14)
            for subject, values in one.flow_metrics.items()
            for name, value in values.items()
        }
