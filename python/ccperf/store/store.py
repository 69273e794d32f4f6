"""The store: one SQLite file with the runs of a benchmark."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ccperf.algorithms import registry, roles
from ccperf.algorithms.user_code.names import as_stored, label, without_paths
from ccperf.base.outputs import experiment_name
from ccperf.errors import CcperfError, UnknownKey, UsageError
from ccperf.runs import parquet
from ccperf.runs.consistency import Expected
from ccperf.runs.metrics import MetricTables
from ccperf.runs.recording import OPTIONAL_TABLES
from ccperf.runs.result import Result
from ccperf.scenario.canonical import canonical_json
from ccperf.store import checksums, metric_text
from ccperf.store.opening import (
    DamagedRun,
    DamagedStore,
    Home,
    StoreError,
    StoreWriteError,
    connect,
    has_tables,
    trouble,
)
from ccperf.store.packing import PackedRun, pack
from ccperf.store.rows import RunRow, check_row, run_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ccperf.runs.recording import Recording
    from ccperf.scenario import Scenario

#: A file of so many bytes is read as a whole before anything is added, which takes a moment.
_CHECKED_BYTES = 32 * 2**20


class Store:
    """Runs in one SQLite file, e.g. `benchmark_TcpNewReno.db`; a context manager.

    A run is added in one transaction, so that a killed process leaves whole runs only.  Any number
    of readers may have the file open while one process adds to it.
    """

    def __init__(
        self, path: str | Path, mode: Literal["r", "a"] = "r", *, mends: bool = False
    ) -> None:
        """Open `path` as `open` does: to read; or with mode `a` to add, and create it if need be.

        A file of an older version is brought to this one, with mode `r` in memory only.  Raises
        `StoreError`, and leaves the file as it is, if it is not a ccperf database, is damaged or
        locked, was written by a newer version, does not exist (mode `r`) or cannot be written (mode
        `a`).  With mode `a` a small file is read as a whole for that, unless it `mends`.
        """
        if mode not in ("r", "a"):
            raise UsageError("mode", f"`{mode}` must be `r` to read, or `a` to add")
        self.path = Path(path)
        self.mode = mode
        #: Runs whose checksums were compared.
        self._intact: set[str] = set()
        if mode == "a" and not mends and self._is_small() and has_tables(self.path):
            with Store(path, "r") as before:
                before.check()
        self._opened: sqlite3.Connection | None = connect(self.path, mode)
        self._home = Home(self.path) if mode == "a" else None
        self._thread = threading.get_ident()

    @property
    def paths(self) -> list[Path]:
        """The file, as `Several` has them."""
        return [self.path]

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _db(self) -> sqlite3.Connection:
        """Raises `StoreError` where SQLite's errors would look like a damaged file's."""
        if self._opened is None:
            raise StoreError(str(self.path), "is closed; open it again")
        if self._thread != threading.get_ident():
            raise StoreError(str(self.path), "is open in one thread only; open it in each")
        return self._opened

    def close(self) -> None:
        """Close the file. Raises `StoreWriteError` if it has lost its name meanwhile."""
        if self._opened is None:
            return
        try:
            if self._home:
                self._home.check(self._db)
        finally:
            self._close(self._db)

    def _close(self, db: sqlite3.Connection) -> None:
        if self.mode == "a":
            # Nobody who only reads leaves files beside it then. While others have it open, it stays
            # as it is.
            with suppress(sqlite3.OperationalError):
                db.execute("PRAGMA busy_timeout = 0")
                db.execute("PRAGMA journal_mode = DELETE")
        db.close()
        self._opened = None

    # Writing.

    def add(self, run: Result | PackedRun) -> None:
        """Add a run, or its point if the run itself is there already.

        Raises `StoreWriteError` if it cannot be stored, and `StoreError` if the file is open to
        read only; then nothing of it is.
        """
        packed = pack(run) if isinstance(run, Result) else run
        with self._transaction():
            if not self.has(packed.id):
                self._insert_run(packed)
            self._insert_point(packed.id, packed.experiment, packed.parameters)

    def add_point(self, run_id: str, experiment: str | None, parameters: Mapping[str, Any]) -> None:
        """Record that a run which is there already is also this point of an experiment."""
        with self._transaction():
            self._insert_point(run_id, experiment, parameters)

    def delete(self, *run_ids: str) -> None:
        """Delete runs with all that belongs to them: all, or none of them.

        KeyError if there is no such run, and `DamagedStore` where a damaged file keeps one.
        """
        with self._transaction():
            for run_id in run_ids:
                if not self._db.execute("DELETE FROM run WHERE id = ?", (run_id,)).rowcount:
                    raise self._no_run(run_id)

    # Reading.

    def has(self, run_id: str) -> bool:
        """Whether the run is in the store."""
        with self._reading():
            found = self._db.execute("SELECT 1 FROM run WHERE id = ?", (run_id,)).fetchone()
        return found is not None

    def ids(self) -> list[str]:
        """Return the ids of all runs, in the order in which they finished."""
        with self._reading():
            return [str(row[0]) for row in self._db.execute("SELECT id FROM run ORDER BY rowid")]

    def points(self) -> dict[str, int]:
        """Return how many points each run serves, in the order in which the runs finished."""
        with self._reading():
            query = (
                "SELECT run.id, count(*) FROM run JOIN point ON point.run_id = run.id"
                " GROUP BY run.id ORDER BY run.rowid"
            )
            return {str(run): int(count) for run, count in self._db.execute(query)}

    def latest(self) -> tuple[str, str] | None:
        """Return when the last run finished (ISO 8601, UTC), and its id; None without runs."""
        with self._reading():
            query = "SELECT finished_at, id FROM run ORDER BY rowid DESC LIMIT 1"
            row = self._db.execute(query).fetchone()
            return (str(row[0]), str(row[1])) if row else None

    def without_checksums(self) -> int:
        """Return how many runs an older ccperf has stored, without checksums."""
        with self._reading():
            query = "SELECT count(*) FROM run WHERE checksum IS NULL"
            return int(self._db.execute(query).fetchone()[0])

    def resolve(self, prefix: str) -> str:
        """Return the id of the only run whose id starts with `prefix`; KeyError otherwise."""
        ids = self.beginning_with(prefix)
        if len(ids) == 1 and prefix:
            return ids[0]
        if not ids:
            raise self._no_run(prefix)
        raise UnknownKey(f"`{prefix}` is the beginning of several runs: {', '.join(ids)}, ...")

    def beginning_with(self, prefix: str) -> list[str]:
        """Return the ids that start with `prefix`, the first three of them."""
        with self._reading():
            found = self._db.execute(
                # Looked up, not looked for: ids have digits up to f.
                "SELECT id FROM run WHERE id BETWEEN ?1 AND ?1 || 'g' ORDER BY id LIMIT 3",
                (prefix,),
            )
            return [str(row[0]) for row in found]

    def runs(
        self,
        *,
        run_id: str | None = None,
        experiment: str | None = None,
        cc: str | None = None,
        backend: str | None = None,
        seed: int | None = None,
        parameters: Mapping[str, Any] | None = None,
        under_test: str | None = None,
        against: str | None = None,
    ) -> list[RunRow]:
        """Return the runs that fit all the filters given, in the order in which they finished.

        `cc` is any flow's congestion control, with parameters (`TcpCubic(Beta=0.5)`) that of the
        point; `under_test` and `against` are those in these roles, by ns-3's name or Linux's;
        `parameters` may be some of the point's, `k=1` as a number or a text.  A run that serves
        several points has a row for each.
        """
        cc, against = (name and _stored("cc", name) for name in (cc, against))
        under_test = under_test and _stored("routing", _stored("qdisc", _stored("cc", under_test)))
        columns = ", ".join(f"run.{name}" for name in (*checksums.RUN, "checksum"))
        # Written so that the run is looked up, not looked for.
        of_run = "run.id = ?1" if run_id is not None else "?1 IS NULL"
        with self._reading():
            rows = self._db.execute(
                f"""
                SELECT {columns}, point.experiment, point.parameters, point.checksum,
                       (SELECT json_group_array(cc) FROM
                           (SELECT DISTINCT cc FROM flow WHERE run_id = run.id AND cc != ''
                            ORDER BY position))
                FROM run JOIN point ON point.run_id = run.id
                WHERE {of_run}
                  AND (?2 IS NULL OR point.experiment = ?2)
                  AND (?3 IS NULL OR ?3 IN (point.under_test, point.against)
                       OR EXISTS (SELECT 1 FROM flow WHERE run_id = run.id AND cc = ?3))
                  AND (?4 IS NULL OR backend = ?4)
                  AND (?5 IS NULL OR seed = ?5)
                  AND (?6 IS NULL OR point.under_test = ?6)
                  AND (?7 IS NULL OR point.against = ?7)
                ORDER BY run.rowid, point.experiment, point.parameters
                """,
                (run_id, experiment, cc, backend, seed, under_test, against),
            )
            wanted = {name: _texts(value) for name, value in (parameters or {}).items()}
            found = map(run_row, rows)
            return [
                run
                for run in found
                if all(run.parameters.get(name) in texts for name, texts in wanted.items())
            ]

    def metrics(self, run_id: str) -> MetricTables:
        """Return a run's metric tables; KeyError if there is no such run."""
        self._compare(run_id)
        tables = MetricTables()
        scopes = {str(scope): columns for scope, columns in tables.by_scope.items()}
        with self._reading(run_id):
            for _, scope, columns in self._metric_columns(run_id):
                scopes[scope].update(columns)
        return tables

    def reduced_metrics(self, run_id: str | None = None) -> dict[str, dict[str, float]]:
        """Return one value a metric for each run: the mean or the sum of its flows' or links'.

        Of the classes of transfers, which have flows in common, it is that of `all`; those of
        others have the class before a point, `small.mean_fct_l4`.
        """
        reduced: dict[str, dict[str, float]] = {}
        with self._reading(run_id or ""):
            for run, scope, columns in self._metric_columns(run_id):
                found = reduced.setdefault(run, {})
                if scope == "class":
                    for subject, values in columns.items():
                        of_class = "" if subject == "all" else f"{subject}."
                        found.update({f"{of_class}{name}": v for name, v in values.items()})
                else:
                    found.update(metric_text.reduced(columns))
        return reduced

    def _metric_columns(
        self, run_id: str | None
    ) -> Iterator[tuple[str, str, dict[str, dict[str, float]]]]:
        """Yield run, scope and the values of its columns; of all runs, or of one."""
        # Written so that one run is looked up, not looked for.
        of_run = "run_id = ?1" if run_id is not None else "?1 IS NULL"
        for run, scope, text in self._db.execute(
            f"SELECT run_id, scope, packed FROM metrics WHERE {of_run}", (run_id,)
        ):
            yield run, scope, metric_text.decode(text)
        rows = self._db.execute(
            f"SELECT run_id, scope, subject, name, value FROM metric WHERE {of_run}"
            " ORDER BY run_id, position",
            (run_id,),
        )
        for (run, scope), of_scope in groupby(rows, key=itemgetter(0, 1)):
            columns: dict[str, dict[str, float]] = {}
            for _, _, subject, name, value in of_scope:
                columns.setdefault(subject, {})[name] = value
            yield run, scope, columns

    def scenario(self, run_id: str) -> dict[str, Any]:
        """Return a run's portable scenario; KeyError if there is no such run."""
        self._compare(run_id)
        return self._stored_scenario(run_id)

    def recording(self, run_id: str, *, drawn: bool = False) -> Recording:
        """Return a run's recording; KeyError if there is no such run.

        With `drawn` samples lack the columns that no figure over time is made of.
        """
        return self._recording(run_id, Expected(self.scenario(run_id)), drawn)

    def parquet(self, run_id: str) -> dict[str, bytes]:
        """Return the tables of a run's recording as Parquet files; KeyError if there is no run."""
        self._compare(run_id)
        return self._stored_series(run_id)

    def take_as_intact(self, runs: Iterable[str]) -> None:
        """Compare these runs with their checksums no more: another reader of the file just did."""
        self._intact.update(runs)

    def content(self, run_id: str) -> str:
        """Return the hash of a run's flows, metrics and series: the same in any database."""

        def rows(table: str, columns: tuple[str, ...]) -> list[Any]:
            query = f"SELECT {', '.join(columns)} FROM {table} WHERE run_id = ?"
            return self._db.execute(query, (run_id,)).fetchall()

        return checksums.of_content(
            rows("flow", checksums.FLOW),
            rows("metric", checksums.METRIC),
            rows("series", ("name", "rows", "checksum")),
            self._packed_metrics(run_id),
        )

    def check(self) -> None:
        """Compare everything with its checksums, without decoding it. Raises `StoreError`."""
        ids = self.ids()
        with_points = {row.id for row in self.runs()}
        for run_id in ids:
            self.parquet(run_id)
            if run_id not in with_points:
                raise self._damaged(run_id, ValueError("it has no point"))

    def structure(self) -> str:
        """Return what SQLite finds wrong with the file, runs aside; an empty text if nothing."""
        try:
            (verdict,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.Error as error:
            verdict = str(error)
        return "" if verdict == "ok" else " ".join(str(verdict).split())

    def series(self, run_id: str) -> dict[str, int]:
        """Return the number of rows of each table of a run's recording."""
        with self._reading(run_id):
            query = "SELECT name, rows FROM series WHERE run_id = ?"
            return dict(self._db.execute(query, (run_id,)).fetchall())

    def row(
        self,
        run_id: str,
        experiment: str | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> RunRow:
        """Return a run without its series, as a point as `load` does."""
        for row in self.runs(run_id=run_id, experiment=experiment):
            if parameters is None or row.parameters == parameters:
                return row
        raise self._no_run(run_id)

    def load(
        self,
        run_id: str,
        experiment: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        *,
        drawn: bool = False,
    ) -> Result:
        """Return a run, as the point of `experiment` with exactly these `parameters` if it serves
        several; KeyError if there is none.

        With `drawn` its recording has of samples what figures over time are made of.
        """
        row = self.row(run_id, experiment, parameters)
        stored = self.scenario(run_id)
        expected = Expected(stored)
        recording = self._recording(run_id, expected, drawn)
        metrics = self.metrics(run_id)
        with self._reading(run_id):
            expected.check_subjects(metrics.flow, metrics.link, recording)
            scenario = _scenario(stored)
        return Result(
            id=row.id,
            scenario=scenario,
            recording=recording,
            metrics=metrics,
            provenance=row.provenance,
            experiment=row.experiment,
            parameters=row.parameters,
            wall_seconds=row.wall_seconds,
        )

    def load_series(self, run_id: str) -> Result:
        """Return a run without metrics, and without the optional tables of its recording.

        That is what series over time are drawn of, of many runs in a row: so of all checksums only
        those of what is read are compared. KeyError if there is no such run.
        """
        row = next(iter(self.runs(run_id=run_id)), None)
        if row is None:
            raise self._no_run(run_id)
        found = self._stored_series(run_id)
        with self._reading(run_id):
            needed = {name: blob for name, blob in found.items() if name not in OPTIONAL_TABLES}
            stored = self._stored_scenario(run_id)
            return Result(
                id=row.id,
                scenario=_scenario(stored),
                recording=self._decoded(run_id, needed, Expected(stored), drawn=True),
                metrics=MetricTables(),
                provenance=row.provenance,
                experiment=row.experiment,
                parameters=row.parameters,
            )

    # Inner workings.

    def _is_small(self) -> bool:
        try:
            return 0 < self.path.stat().st_size <= _CHECKED_BYTES
        except OSError:  # not there yet, or what `connect` has a word for
            return False

    def _stored_scenario(self, run_id: str) -> dict[str, Any]:
        with self._reading(run_id):
            (text,) = self._db.execute(
                "SELECT scenario FROM run WHERE id = ?", (run_id,)
            ).fetchone()
            scenario: dict[str, Any] = without_paths(json.loads(text))
            return scenario

    def _recording(self, run_id: str, expected: Expected, drawn: bool) -> Recording:
        found = self.parquet(run_id)
        with self._reading(run_id):
            return self._decoded(run_id, found, expected, drawn=drawn)

    def _decoded(
        self, run_id: str, files: Mapping[str, bytes], expected: Expected, *, drawn: bool
    ) -> Recording:
        """A recording, which may be that of the run's scenario. Raises ValueError."""
        return parquet.decode(files, self.series(run_id), drawn=drawn, expected=expected)

    def _stored_series(self, run_id: str) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        with self._reading(run_id):
            for name, blob, checksum in self._db.execute(
                "SELECT name, parquet, checksum FROM series WHERE run_id = ?", (run_id,)
            ):
                if checksum is not None and checksums.of_bytes(blob) != checksum:
                    raise ValueError(f"its series `{name}` is not what was stored")
                found[name] = blob
        return found

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        db = self._db
        if self.mode == "r":
            message = f'is open to read only; `Store("{self.path}", "a")` may change it'
            raise StoreError(str(self.path), message)
        if self._home:
            self._home.check(db)
        try:
            db.execute("BEGIN IMMEDIATE")
            yield
            db.execute("COMMIT")
        except sqlite3.Error as error:
            if db.in_transaction:
                db.execute("ROLLBACK")
            if isinstance(error, sqlite3.IntegrityError):  # what is ours keeps to our rules
                raise DamagedStore(self.path, str(error)) from error
            raise StoreWriteError(
                f"{self.path}: {trouble(error)}; what is stored is whole"
            ) from error
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    @contextmanager
    def _reading(self, run_id: str = "") -> Iterator[None]:
        """Turn whatever a damaged file makes of reading into `StoreError`."""
        try:
            yield
        except CcperfError as error:
            if isinstance(error, StoreError):
                raise
            raise self._damaged(run_id, error) from error
        except Exception as error:  # a stranger's values fit nothing that they are used for
            raise self._damaged(run_id, error) from error

    def _damaged(self, run_id: str, error: BaseException) -> StoreError:
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            return StoreError(str(self.path), trouble(error))
        text = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        if run_id:
            return DamagedRun(self.path, run_id, text)
        return DamagedStore(self.path, text)

    def _compare(self, run_id: str) -> None:
        """Compare a run with its checksums; KeyError if there is no such run."""
        if run_id in self._intact:
            return
        columns = ", ".join((*checksums.RUN, "checksum"))
        with self._reading(run_id):
            row = self._db.execute(f"SELECT {columns} FROM run WHERE id = ?", (run_id,)).fetchone()
            if row is not None:
                check_row(row)
                content = row[checksums.RUN.index("content")]
                if content is not None and content != self.content(run_id):
                    raise ValueError("its flows, metrics or series are not what was stored")
        if row is None:
            raise self._no_run(run_id)
        self._intact.add(run_id)

    def _packed_metrics(self, run_id: str) -> list[tuple[str, str]]:
        query = "SELECT scope, packed FROM metrics WHERE run_id = ?"
        return self._db.execute(query, (run_id,)).fetchall()

    def _insert_run(self, run: PackedRun) -> None:
        made = run.provenance
        row = (
            run.id,
            run.label,
            run.scenario,
            made.scenario_hash,
            made.seed,
            made.backend,
            made.backend_version,
            made.engine_hash,
            made.ccperf_version,
            run.wall_seconds,
            datetime.now(timezone.utc).isoformat(timespec="seconds"),
            canonical_json(dict(made.user_code)),
            run.content,
        )
        self._insert("run", (*checksums.RUN, "checksum"), [(*row, checksums.of_values(row))])
        self._insert("flow", ("run_id", *checksums.FLOW), [(run.id, *flow) for flow in run.flows])
        metrics = [(run.id, scope, packed) for scope, packed in run.metrics.items()]
        self._insert("metrics", ("run_id", "scope", "packed"), metrics)
        self._insert(
            "series",
            ("run_id", "name", "rows", "parquet", "checksum"),
            [(run.id, n, one.rows, one.parquet, one.checksum) for n, one in run.series.items()],
        )

    def _insert_point(
        self, run_id: str, experiment: str | None, parameters: Mapping[str, Any]
    ) -> None:
        try:
            experiment_name(experiment or "")
        except ValueError as error:
            raise StoreError("experiment", str(error)) from None
        row = (run_id, experiment or "", json.dumps(dict(parameters), ensure_ascii=False))
        who = roles.algorithms(parameters)
        columns = ("run_id", "experiment", "parameters", "checksum", *roles.LABELS)
        values = (*row, checksums.of_values(row), *(who.get(role) for role in roles.LABELS))
        self._insert("point", columns, [values], "OR IGNORE")

    def _insert(
        self, table: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]], how: str = ""
    ) -> None:
        places = ", ".join("?" * len(columns))
        query = f"INSERT {how} INTO {table} ({', '.join(columns)}) VALUES ({places})"
        self._db.executemany(query, rows)

    def _no_run(self, run_id: str) -> UnknownKey:
        message = f"no run `{run_id}` in {self.path}; `ccperf runs --db {self.path}` lists them"
        return UnknownKey(message)


def _scenario(stored: dict[str, Any]) -> Scenario:
    from ccperf.scenario import Scenario

    with as_stored():
        return Scenario.model_validate(stored)


def _texts(value: object) -> set[str]:
    """Return what a value of a parameter may be called in the file, where all are texts."""
    text = f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)
    return {text, *(_stored(kind, text) for kind in ("cc", "qdisc", "routing"))}


def _stored(kind: registry.Kind, name: str) -> str:
    """Return what an algorithm is called in the file; another's name stays."""
    with as_stored(), suppress(ValueError):
        name = registry.resolve(kind, name)
    return label(name)
