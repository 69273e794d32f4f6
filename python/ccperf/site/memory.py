"""What a build remembers for the next one, so that one new run costs seconds, not minutes.

It lies beside the site's folder, which is what one publishes: what is known of each run (runs never
change; their id says what they are), and of each part of the site from what it was made and which
files that gave. A part is made again if one of its files is missing or was touched, or if this
package is another one. Nothing is lost with the file but time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import zlib
from array import array
from dataclasses import asdict
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ccperf import __version__, _native
from ccperf.evidence.cells import Record, record
from ccperf.runs import backends
from ccperf.runs.metrics import METRICS, SIZE_CLASSES
from ccperf.runs.result import Provenance
from ccperf.runs.sources import sources_hash
from ccperf.site import copies
from ccperf.store import DamagedRun, RunRow, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ccperf.site.output import Output

_SCHEMA = """
CREATE TABLE of (package TEXT NOT NULL);
CREATE TABLE run (
    database TEXT NOT NULL, id TEXT NOT NULL, points INTEGER NOT NULL, rows BLOB NOT NULL,
    metrics BLOB NOT NULL, PRIMARY KEY (database, id)
);
CREATE TABLE part (name TEXT PRIMARY KEY, made_of TEXT NOT NULL, files BLOB NOT NULL);
CREATE TABLE value (name TEXT PRIMARY KEY, made_of TEXT NOT NULL, value BLOB NOT NULL);
"""
_NAMES = (
    *METRICS,
    *(
        f"{of_class}.{name}"
        for of_class in SIZE_CLASSES
        for name, metric in METRICS.items()
        if metric.scope == "class"
    ),
)
_KNOWN = frozenset(_NAMES)
#: So many new runs are worth a process of their own, and so many are read at a time.
_WORTH_PROCESSES = 100
_TOGETHER = 25


def place(folder: Path) -> Path:
    """Return where the memory of a site's folder lies."""
    folder = folder.resolve()
    return folder.with_name(f".{folder.name}.ccperf-memory")


class Memory:
    """The memory of a site's folder; a context manager."""

    def __init__(self, path: Path) -> None:
        """Open it; one that cannot be read, or is of another version of this package, is begun.

        Where nothing can be written, nothing is remembered.
        """
        self._path = path if os.access(path.parent, os.W_OK) else Path(":memory:")
        #: The runs of each database that were read anew, and so compared with their checksums.
        self.intact: dict[Path, list[str]] = {}
        #: The runs that cannot be read, of each database.
        self.damaged: dict[Path, dict[str, DamagedRun]] = {}
        try:
            self._db = self._open()
        except sqlite3.Error:
            self._path.unlink(missing_ok=True)
            self._db = self._open()

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path)
        try:
            # What is lost in a crash is made again.
            db.execute("PRAGMA synchronous = OFF")
            known = db.execute("SELECT name FROM sqlite_master WHERE name = 'of'").fetchone()
            row = db.execute("SELECT package FROM of").fetchone() if known else None
            if row is None or row[0] != _package():
                for (name,) in db.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table'"
                ).fetchall():
                    db.execute(f'DROP TABLE "{name}"')
                db.executescript(_SCHEMA)
                db.execute("INSERT INTO of VALUES (?)", (_package(),))
                db.commit()
        except BaseException:
            db.close()
            raise
        return db

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._db.commit()
        self._db.close()

    def records(self, database: Path) -> Iterator[Record]:
        """Yield the runs of a database at their points; only what is new is read from it."""
        key = hashlib.sha256(str(database.resolve()).encode()).hexdigest()[:16]
        known = {
            run: (points, rows, metrics)
            for run, points, rows, metrics in self._db.execute(
                "SELECT id, points, rows, metrics FROM run WHERE database = ?", (key,)
            )
        }
        with Store(database, "r") as store:
            there = store.points()
        new = [run for run, points in there.items() if run not in known or known[run][0] != points]
        self.intact[database] = new
        read = _anew(database, new)
        for run, points in there.items():
            if run in known and known[run][0] == points:
                _, rows, blob = known[run]
            else:
                found = next(read)
                if isinstance(found, DamagedRun):
                    self.leave_out(found)
                    continue
                rows, blob = found
                self._db.execute(
                    "INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?)",
                    (key, run, points, rows, blob),
                )
            yield from _read(_unpacked(rows), blob, database)
        gone = [(key, run) for run in known if run not in there]
        self._db.executemany("DELETE FROM run WHERE database = ? AND id = ?", gone)

    def leave_out(self, run: DamagedRun) -> None:
        """Do without a run."""
        self.damaged.setdefault(run.path, {})[run.run] = run

    def is_whole(self, record: Record) -> bool:
        """Whether a run is not left out."""
        return record.row.id not in self.damaged.get(record.database, ())

    def keeps(self, part: str, made_of: Any, target: Output) -> bool:
        """Whether a part is there as it was made of the same; its files then stay."""
        row = self._db.execute("SELECT made_of, files FROM part WHERE name = ?", (part,)).fetchone()
        if row is None or row[0] != digest(made_of):
            return False
        return target.keep([(name, size, time) for name, size, time in _unpacked(row[1])])

    def value(self, name: str, made_of: Any, make: Callable[[], Any]) -> Any:
        """Return plain values that were made of the same before, or make them."""
        row = self._db.execute(
            "SELECT made_of, value FROM value WHERE name = ?", (name,)
        ).fetchone()
        known = digest(made_of)
        if row is not None and row[0] == known:
            return _unpacked(row[1])
        made = make()
        self._db.execute(
            "INSERT OR REPLACE INTO value VALUES (?, ?, ?)", (name, known, _packed(made))
        )
        return made

    def remember(self, part: str, made_of: Any, names: list[str], target: Output) -> None:
        """Remember the files of a part that was made."""
        stamps = [[name, *(target.stamp(name) or ())] for name in names]
        self._db.execute(
            "INSERT OR REPLACE INTO part VALUES (?, ?, ?)",
            (part, digest(made_of), _packed(stamps)),
        )


#: What is remembered of a run: its points, and its metrics.
_Remembered: TypeAlias = tuple[bytes, bytes]


def _anew(database: Path, runs: Sequence[str]) -> Iterator[_Remembered | DamagedRun]:
    """Yield what is remembered of each run, read from the store."""
    workers = copies.worth(len(runs), _WORTH_PROCESSES)
    size = _TOGETHER if workers > 1 else max(1, len(runs))
    parts = [runs[start : start + size] for start in range(0, len(runs), size)]
    for found in copies.mapped(partial(_remembered, database), parts, workers):
        yield from found


def _remembered(database: Path, runs: Sequence[str]) -> list[_Remembered | DamagedRun]:
    with Store(database, "r") as store:
        return [_of_run(store, run, database) for run in runs]


def _of_run(store: Store, run: str, database: Path) -> _Remembered | DamagedRun:
    try:
        records = list(_from_store(store, run, database))
    except DamagedRun as damaged:
        return damaged
    return _packed(_written(records)), _blob(records[0].metrics)


def _from_store(store: Store, run: str, database: Path) -> Iterator[Record]:
    scenario = store.scenario(run)
    metrics = store.reduced_metrics(run).get(run, {})
    for row in store.runs(run_id=run):
        yield record(row, database, scenario, metrics)


def _written(records: list[Record]) -> list[Any]:
    # Of classes that a scenario names, which are few.
    others = {name: v for name, v in records[0].metrics.items() if name not in _KNOWN}
    rows = [
        [
            *(each.settings, each.stop_time, each.draws, each.surely_draws, each.senders),
            {**asdict(each.row), "cc": list(each.row.cc)},
        ]
        for each in records
    ]
    return [others, *rows]


def _read(written: list[Any], blob: bytes, database: Path) -> Iterator[Record]:
    mixed = zlib.decompress(blob)
    size = len(mixed) // 8
    plain = bytearray(len(mixed))
    for place in range(8):
        plain[place::8] = mixed[place * size : (place + 1) * size]
    values = array("d", bytes(plain))
    # NaN is no value.
    metrics = {name: v for name, v in zip(_NAMES, values, strict=True) if v == v}
    others, *rows = written
    metrics.update(others)
    for settings, stop_time, is_drawn, is_sure, senders, row in rows:
        row["provenance"] = Provenance(**row["provenance"])
        row["cc"] = tuple(row["cc"])
        made = RunRow(**row), database, settings, stop_time, metrics, is_drawn, is_sure
        yield Record(*made, tuple(senders))


#: What is in most rows, so that it takes no room in each.
_COMMON = json.dumps(
    {
        "experiment": "",
        "parameters": {"aut": "TcpNewReno", "qdisc": "FqCoDelQueueDisc"},
        "label": None,
        "cc": ["TcpCubic"],
        "provenance": {
            "ccperf_version": __version__,
            "engine_hash": sources_hash(),
            "backend": backends.DEFAULT,
            "backend_version": __version__,
            "scenario_hash": "",
            "seed": 1,
            "user_code": {},
        },
        "wall_seconds": 0.0,
        "finished_at": "2026-01-01T00:00:00+00:00",
    }
).encode()


def _packed(rows: list[Any]) -> bytes:
    packer = zlib.compressobj(6, zdict=_COMMON)
    return packer.compress(json.dumps(rows).encode()) + packer.flush()


def _unpacked(data: bytes) -> Any:
    unpacker = zlib.decompressobj(zdict=_COMMON)
    return json.loads(unpacker.decompress(data) + unpacker.flush())


def _blob(metrics: Mapping[str, float]) -> bytes:
    values = array("d", [metrics.get(name, float("nan")) for name in _NAMES])
    # First bytes of all values, then the second ones: exponents are alike.
    plain = values.tobytes()
    return zlib.compress(b"".join(plain[i::8] for i in range(8)), 6)


def digest(made_of: Any) -> str:
    """Return a hash of plain values."""
    text = json.dumps(made_of, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _package() -> str:
    """Return a hash of all that decides what a site looks like."""
    digest = hashlib.sha256(f"{__version__} {_native.ENGINE_HASH} {_NAMES}".encode())
    root = Path(str(files("ccperf")))
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix not in (".pyc", ".so", ".pyd"):
            digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()
