"""The store: one SQLite file with the runs of a benchmark."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ccperf.errors import UsageError
from ccperf.metrics import MetricTables
from ccperf.result import Provenance, Result, canonical_json, title
from ccperf.store import blobs
from ccperf.store.schema import APPLICATION_ID, MIGRATIONS, VERSION
from ccperf.user_code.names import as_stored, label, without_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType

    from ccperf.recording import Recording
    from ccperf.scenario import Scenario

_BUSY_TIMEOUT_S = 60.0


class StoreError(UsageError):
    """A database that cannot be used: not there, not ours, too new, or not writable."""


@dataclass(frozen=True)
class RunRow:
    """One run of one experiment's point, without its series."""

    id: str
    experiment: str | None
    parameters: dict[str, Any]
    label: str | None
    cc: tuple[str, ...]
    provenance: Provenance
    wall_seconds: float | None
    finished_at: str

    @property
    def title(self) -> str:
        """The experiment with its parameters, or the scenario's label."""
        return title(self.experiment, self.parameters) or self.label or "scenario"

    @property
    def seed(self) -> int:
        """The scenario's seed."""
        return self.provenance.seed

    @property
    def backend(self) -> str:
        """The backend's name."""
        return self.provenance.backend


class Store:
    """Runs in one SQLite file, e.g. `benchmark_TcpNewReno.db`; a context manager.

    A run is added in one transaction, so that a killed process leaves whole runs only.  Any number
    of readers may have the file open while one process adds to it.
    """

    def __init__(self, path: str | Path, mode: Literal["r", "a"] = "a") -> None:
        """Open `path`; with mode `a` create it if need be, with mode `r` only read.

        A file of an older version is brought to this one, with mode `r` in memory only.  Raises
        `StoreError`, and leaves the file as it is, if it is not a ccperf database, was written by a
        newer version, does not exist (mode `r`) or cannot be written (mode `a`).
        """
        self.path = Path(path)
        self.mode = mode
        new = not self.path.exists()
        if new and mode == "r":
            raise StoreError(str(self.path), "no such database")
        version = 0 if new else _version(self.path)
        if mode == "r" and version == 0:
            raise StoreError(
                str(self.path),
                f"is empty; if it is the copy of a file in use, {self.path.name}-wal belongs to it",
            )
        try:
            self._db = sqlite3.connect(
                self.path if mode == "a" else f"{self.path.absolute().as_uri()}?mode=ro",
                uri=mode == "r",
                timeout=_BUSY_TIMEOUT_S,
                isolation_level=None,
            )
            self._db.execute("PRAGMA foreign_keys = ON")
            if mode == "a":
                _upgrade(self._db)
            elif version < VERSION:
                self._db = _upgraded_copy(self._db)
        except sqlite3.Error as error:
            raise StoreError(str(self.path), f"cannot be opened for writing: {error}") from error

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self.mode == "a":
            # Nobody who only reads leaves files beside it then. While others have it open, it stays
            # as it is.
            with suppress(sqlite3.OperationalError):
                self._db.execute("PRAGMA busy_timeout = 0")
                self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()

    # Writing.

    def add(self, result: Result) -> None:
        """Add a run, or its point if the run itself is there already."""
        series = blobs.encode(result.recording)
        with self._transaction():
            if not self.has(result.id):
                self._insert_run(result, series)
            self._insert_point(result.id, result.experiment, result.parameters)

    def add_point(self, run_id: str, experiment: str | None, parameters: Mapping[str, Any]) -> None:
        """Record that a run which is there already is also this point of an experiment."""
        with self._transaction():
            self._insert_point(run_id, experiment, parameters)

    def delete(self, run_id: str) -> None:
        """Delete a run with all that belongs to it; KeyError if there is none."""
        with self._transaction():
            if not self._db.execute("DELETE FROM run WHERE id = ?", (run_id,)).rowcount:
                raise self._no_run(run_id)

    # Reading.

    def has(self, run_id: str) -> bool:
        """Whether the run is in the store."""
        found = self._db.execute("SELECT 1 FROM run WHERE id = ?", (run_id,)).fetchone()
        return found is not None

    def resolve(self, prefix: str) -> str:
        """Return the id of the only run whose id starts with `prefix`; KeyError otherwise."""
        ids = self.beginning_with(prefix)
        if len(ids) == 1 and prefix:
            return ids[0]
        if not ids:
            raise self._no_run(prefix)
        raise KeyError(f"`{prefix}` is the beginning of several runs: {', '.join(ids)}, ...")

    def beginning_with(self, prefix: str) -> list[str]:
        """Return the ids that start with `prefix`, the first three of them."""
        found = self._db.execute(
            "SELECT id FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 3",
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
    ) -> list[RunRow]:
        """Return the runs that fit all the filters given, in the order in which they finished.

        `cc` is the class name of any flow's congestion control; `parameters` may be some of the
        point's.  A run that serves several points has a row for each.
        """
        rows = self._db.execute(
            """
            SELECT run.id, point.experiment, point.parameters, label,
                   (SELECT json_group_array(cc) FROM
                       (SELECT DISTINCT cc FROM flow WHERE run_id = run.id ORDER BY position)),
                   ccperf_version, engine_hash, backend, backend_version, scenario_hash, seed,
                   user_code, wall_seconds, finished_at
            FROM run JOIN point ON point.run_id = run.id
            WHERE (?1 IS NULL OR run.id = ?1)
              AND (?2 IS NULL OR point.experiment = ?2)
              AND (?3 IS NULL OR EXISTS (SELECT 1 FROM flow WHERE run_id = run.id AND cc = ?3))
              AND (?4 IS NULL OR backend = ?4)
              AND (?5 IS NULL OR seed = ?5)
            ORDER BY run.rowid, point.experiment, point.parameters
            """,
            (run_id, experiment, cc, backend, seed),
        )
        wanted = (parameters or {}).items()
        return [run for row in rows if wanted <= (run := _run_row(row)).parameters.items()]

    def metrics(self, run_id: str) -> MetricTables:
        """Return a run's metric tables; KeyError if there is no such run."""
        tables = MetricTables()
        scopes = {"flow": tables.flow, "link": tables.link, "network": tables.network}
        for scope, subject, name, value in self._db.execute(
            "SELECT scope, subject, name, value FROM metric WHERE run_id = ? ORDER BY position",
            (run_id,),
        ):
            scopes[scope].setdefault(subject, {})[name] = value
        if not tables.flow and not self.has(run_id):
            raise self._no_run(run_id)
        return tables

    def scenario(self, run_id: str) -> dict[str, Any]:
        """Return a run's canonical scenario; KeyError if there is no such run."""
        row = self._db.execute("SELECT scenario FROM run WHERE id = ?", (run_id,)).fetchone()
        if row is None:
            raise self._no_run(run_id)
        scenario: dict[str, Any] = without_paths(json.loads(row[0]))
        return scenario

    def recording(self, run_id: str) -> Recording:
        """Return a run's recording; KeyError if there is no such run."""
        found = self.parquet(run_id)
        if not found:
            raise self._no_run(run_id)
        return blobs.decode(found)

    def parquet(self, run_id: str) -> dict[str, bytes]:
        """Return the tables of a run's recording as Parquet files."""
        rows = self._db.execute("SELECT name, parquet FROM series WHERE run_id = ?", (run_id,))
        return dict(rows.fetchall())

    def series(self, run_id: str) -> list[str]:
        """Return the names of the tables of a run's recording."""
        rows = self._db.execute("SELECT name FROM series WHERE run_id = ?", (run_id,))
        return [str(row[0]) for row in rows]

    def load(self, run_id: str, experiment: str | None = None) -> Result:
        """Return a run, of `experiment` if it serves several; KeyError if there is none."""
        rows = self.runs(run_id=run_id, experiment=experiment)
        if not rows:
            raise self._no_run(run_id)
        row = rows[0]
        return Result(
            id=row.id,
            scenario=_scenario(self.scenario(run_id)),
            recording=self.recording(run_id),
            metrics=self.metrics(run_id),
            provenance=row.provenance,
            experiment=row.experiment,
            parameters=row.parameters,
            wall_seconds=row.wall_seconds,
        )

    # Inner workings.

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise StoreError(str(self.path), f"cannot be written: {error}") from error
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def _insert_run(self, result: Result, series: Mapping[str, bytes]) -> None:
        made = result.provenance
        canonical = result.scenario.portable()
        self._db.execute(
            "INSERT INTO run (id, label, scenario, scenario_hash, seed, backend, backend_version,"
            " engine_hash, ccperf_version, wall_seconds, finished_at, user_code)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                result.id,
                canonical.get("label"),
                canonical_json(canonical),
                made.scenario_hash,
                made.seed,
                made.backend,
                made.backend_version,
                made.engine_hash,
                made.ccperf_version,
                result.wall_seconds,
                datetime.now(timezone.utc).isoformat(timespec="seconds"),
                canonical_json(dict(made.user_code)),
            ),
        )
        counters = result.recording.flows
        self._db.executemany(
            "INSERT INTO flow VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    result.id,
                    position,
                    flow["name"],
                    flow["source"],
                    flow["destination"],
                    flow["cc"]["type"],
                    flow["recovery"],
                    int(counters["start_ns"][position]),
                    int(counters["stop_ns"][position]),
                    int(counters["base_rtt_ns"][position]),
                    counters["bottleneck"][position],
                )
                for position, flow in enumerate(canonical["flows"])
            ],
        )
        values = [
            (scope, subject, name, value)
            for scope, table in (
                ("flow", result.flow_metrics),
                ("link", result.link_metrics),
                ("network", result.network_metrics),
            )
            for subject, metrics in table.items()
            for name, value in metrics.items()
        ]
        self._db.executemany(
            "INSERT INTO metric VALUES (?, ?, ?, ?, ?, ?)",
            [(result.id, *value, position) for position, value in enumerate(values)],
        )
        self._db.executemany(
            "INSERT INTO series VALUES (?, ?, ?, ?)",
            [
                (result.id, name, result.recording.tables[name].rows, blob)
                for name, blob in series.items()
            ],
        )

    def _insert_point(
        self, run_id: str, experiment: str | None, parameters: Mapping[str, Any]
    ) -> None:
        self._db.execute(
            "INSERT OR IGNORE INTO point VALUES (?, ?, ?)",
            (run_id, experiment or "", json.dumps(dict(parameters), ensure_ascii=False)),
        )

    def _no_run(self, run_id: str) -> KeyError:
        return KeyError(f"no run `{run_id}` in {self.path}")


def _run_row(row: tuple[Any, ...]) -> RunRow:
    return RunRow(
        id=row[0],
        experiment=row[1] or None,
        parameters=_labelled(json.loads(row[2])),
        label=row[3],
        cc=tuple(map(label, json.loads(row[4]))),
        provenance=Provenance(*(*row[5:11], json.loads(row[11]))),
        wall_seconds=row[12],
        finished_at=row[13],
    )


def _labelled(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters as stored since version 2: without the paths of users' algorithms."""
    return {k: label(v) if isinstance(v, str) else v for k, v in parameters.items()}


def _scenario(stored: dict[str, Any]) -> Scenario:
    from ccperf.scenario import Scenario

    with as_stored():
        return Scenario.model_validate(stored)


def _version(path: Path) -> int:
    """Return the schema version of an existing file without touching it.

    Raises `StoreError` if the file is not ours or of a newer version.
    """
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=_BUSY_TIMEOUT_S)) as db:
            (application,) = db.execute("PRAGMA application_id").fetchone()
            (version,) = db.execute("PRAGMA user_version").fetchone()
            (tables,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error as error:
        raise StoreError(
            str(path), f"is not a ccperf database ({error}); name another file"
        ) from error
    if application == 0 and version == 0 and tables == 0:
        # An empty file, or one whose creation was interrupted.
        return 0
    if application != APPLICATION_ID:
        raise StoreError(str(path), "is a database of another program; name another file")
    if version > VERSION:
        raise StoreError(
            str(path),
            f"has schema version {version}, but this ccperf knows {VERSION} at most; "
            "use a newer ccperf",
        )
    return int(version)


def _upgrade(db: sqlite3.Connection) -> None:
    """Prepare an open file for writing, and bring it to this version."""
    db.execute("PRAGMA journal_mode = WAL")
    # With a write-ahead log this survives a killed process; a power cut may cost the last runs.
    db.execute("PRAGMA synchronous = NORMAL")
    _migrate(db)


def _upgraded_copy(db: sqlite3.Connection) -> sqlite3.Connection:
    """Return a file of an older version as one of this, in memory: who reads does not write."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    with closing(db):
        db.backup(copy)
    _migrate(copy)
    return copy


def _migrate(db: sqlite3.Connection) -> None:
    """Bring the tables to this version, in one transaction."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster.
        (version,) = db.execute("PRAGMA user_version").fetchone()
        for migration in MIGRATIONS[version:]:
            for statement in migration.split(";\n"):
                db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
