"""Databases of strangers, and damaged ones: noticed, harmless, never silent."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arro3.io import write_parquet

from ccperf.cli.app import invoke
from ccperf.runs import parquet
from ccperf.runs.recording import TABLES, Table
from ccperf.runs.result import Result
from ccperf.store import Store, StoreError, StoreWriteError, schema
from ccperf.store.check import check
from recordings import ScriptedBackend, small_scenario

COMMANDS = (
    ["runs", "--db", "x.db"],
    ["export", "--db", "x.db", "--series", "-o", "out"],
    ["run", "aqm", "--k", "1", "--qdisc", "codel", "--stop-time", "60ms", "--db", "x.db"],
)


def results(count: int = 3) -> list[Result]:
    backend = ScriptedBackend()
    return [
        Result.of(
            scenario := small_scenario(flows=2, seed=seed),
            backend.simulate(scenario),
            backend,
            experiment="aqm",
            parameters={"k": "2"},
        )
        for seed in range(1, count + 1)
    ]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with Store("x.db", "a") as store:
        for result in results():
            store.add(result)
    return tmp_path / "x.db"


def edit(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        for statement in statements:
            db.execute(statement)
        db.commit()


def rename_run(new: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        of_run = ("point", "flow", "metric", "metrics", "series")
        columns = {"run": "id", **dict.fromkeys(of_run, "run_id")}
        edit(path, *(f"UPDATE {table} SET {column} = '{new}'" for table, column in columns.items()))

    def one_run(path: Path) -> None:
        with Store(path, "a") as store:
            for run in store.ids()[1:]:
                store.delete(run)
        change(path)

    return one_run


HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "an id with a way": (rename_run("../../../x"), "is none"),
    "an id that is a folder": (rename_run(".."), "is none"),
    "an experiment with a way": (
        lambda path: edit(path, "UPDATE point SET experiment = '../../EXPOUT'"),
        "is no name",
    ),
    "a series with a way": (
        lambda path: edit(path, "UPDATE series SET name = '../../../OUT' WHERE name = 'drops'"),
        "which no recording has",
    ),
    "a trigger": (
        lambda path: edit(
            path, "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM point; END"
        ),
        "has the trigger `t`",
    ),
    "a view": (
        lambda path: edit(
            path,
            "ALTER TABLE run RENAME TO real_run",
            "CREATE VIEW run AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
            "SELECT real_run.* FROM real_run, r",
        ),
        "which ccperf did not make",
    ),
    "another table": (lambda path: edit(path, "CREATE TABLE more (x)"), "has the table `more`"),
    "a column": (
        lambda path: edit(path, "ALTER TABLE flow ADD COLUMN x TEXT"),
        "has another table `flow`",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_could_do_harm_is_refused_on_opening(
    path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change, message = HOSTILE[what]
    change(path)
    before = path.read_bytes()
    for mode in ("r", "a"):
        with pytest.raises(StoreError, match=r"x\.db: ") as error:
            Store(path, mode)  # type: ignore[arg-type]
        assert message in str(error.value)
    for command in (*COMMANDS, ["site", "build", "--db", "x.db"]):
        assert invoke(command) == 2
        assert message in capsys.readouterr().err
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["x.db"]


def test_a_small_file_that_expands_without_end_is_refused(path: Path) -> None:
    rows = 3_000_000
    names = [column.name for column in TABLES["flow_samples"]]
    zeros = np.zeros(rows, np.int64)
    table = Table("flow_samples", dict.fromkeys(names, zeros))
    bomb = BytesIO()
    write_parquet(table, bomb, compression="zstd(19)", dictionary_enabled=False)
    blob = bomb.getvalue()
    assert rows * 8 * len(names) > 300 * len(blob)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE run SET content = NULL, checksum = NULL")
        where = "WHERE name = 'flow_samples'"
        db.execute(f"UPDATE series SET parquet = ?, checksum = NULL {where}", (blob,))
        db.commit()
        claimed = db.execute(f"SELECT rows FROM series {where}").fetchone()[0]
    with Store(path, "r") as store:
        for claims, message in ((claimed, "expands to more than"), (rows, "claims to be")):
            edit(path, f"UPDATE series SET rows = {claims} WHERE name = 'flow_samples'")
            with pytest.raises(StoreError, match=message):
                store.load(store.ids()[0])


@pytest.mark.parametrize("value", ["[]", "null", "[" * 100_000, "{}", '{"x": [1e999]}', "9" * 5000])
@pytest.mark.parametrize("column", ["point.parameters", "run.scenario", "run.user_code"])
def test_values_that_fit_nothing_are_damage(
    path: Path, column: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table, name = column.split(".")
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE run SET content = NULL, checksum = NULL")
        db.execute("UPDATE point SET checksum = NULL")
        db.execute(f"UPDATE {table} SET {name} = ?", (value,))
        db.commit()
    for command in (COMMANDS[0], COMMANDS[1], ["diff", "latest", "latest", "--db", "x.db"]):
        status = invoke(command)
        err = capsys.readouterr().err
        assert status == 0 or (status in (1, 2) and ("is damaged" in err or "no run" in err)), err


@pytest.mark.parametrize("checksums", ["right", "none"])
def test_a_table_at_which_a_library_would_end_the_process_is_damaged(
    path: Path,
    checksums: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A column claims a dictionary that the file has not."""
    encode = parquet.encode_table

    def crafted(table: Table) -> bytes:
        plain, claimed = b"\x15\x00\x15\x06\x15\x06", b"\x15\x10\x15\x06\x15\x06"
        blob = encode(table)
        return blob.replace(plain, claimed, 1) if table.name == "flow_samples" else blob

    with monkeypatch.context() as patched, Store(path, "a") as store:
        patched.setattr(parquet, "encode_table", crafted)
        whole, made = store.ids()[0], results(4)[3]
        store.add(made)
    if checksums == "none":
        tables = ("run", "point", "series")
        edit(
            path,
            "UPDATE run SET content = NULL",
            *(f"UPDATE {t} SET checksum = NULL" for t in tables),
        )
    message = "`flow_samples` cannot be read: column `time_ns` has a page that is not plain"
    assert list(check(path).damaged) == [made.id]
    assert message in check(path).damaged[made.id]
    for status, command in (
        *((1, ["export", "--series", "--format", f, "-o", f]) for f in ("csv", "parquet")),
        (2, ["diff", whole, made.id]),
        (2, ["plot", made.id, "-o", "x.svg"]),
        (1, ["site", "build", "-o", "site"]),
        (1, ["doctor"]),
    ):
        assert invoke([*command, "--db", "x.db"]) == status, command
        assert message in "".join(capsys.readouterr())
    with Store(path, "r") as store:
        assert store.load(whole).id == whole


def test_escape_sequences_of_a_strangers_label_do_not_reach_the_terminal(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    label = "\x1b]0;TITLE\x07\x1b[2J\u202e"
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE run SET label = ?, content = NULL, checksum = NULL", (label,))
        db.execute("UPDATE point SET experiment = '', parameters = '{}', checksum = NULL")
        db.commit()
    assert invoke(["runs", "--db", "x.db"]) == 0
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "\u202e" not in out
    assert r"\x1b]0;TITLE\x07\x1b[2J\u202e" in out


# Damage.


def test_a_flipped_bit_anywhere_is_noticed(path: Path) -> None:
    """Without checksums some of these gave other numbers, and nobody knew."""
    original = path.read_bytes()
    with Store(path, "r") as store:
        expected = {run: store.load(run).json() for run in store.ids()}
        stored = {run: store.parquet(run) for run in expected}
    draw = random.Random(1)
    noticed = 0
    for _ in range(150):
        damaged = bytearray(original)
        for _ in range(draw.choice([1, 1, 8])):
            damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        try:
            with Store(path, "r") as store:
                assert {run: store.load(run).json() for run in store.ids()} == expected
                assert {run: store.parquet(run) for run in expected} == stored
        except (StoreError, KeyError):
            noticed += 1
    assert noticed > 75


@pytest.mark.parametrize("seed", range(3))
def test_no_damage_ends_in_a_traceback_or_is_written_to(
    path: Path, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    original = path.read_bytes()
    draw = random.Random(seed)
    for _ in range(12):
        damaged = bytearray(original)
        kind = draw.choice(["cut", "zero", "noise", "other page"])
        at = draw.randrange(len(damaged))
        if kind == "cut":
            del damaged[at:]
        else:
            page = at // 4096 * 4096
            size = len(damaged[page : page + 4096])
            other = draw.randrange(1, len(damaged) // 4096) * 4096
            damaged[page : page + 4096] = {
                "zero": bytes(size),
                "noise": draw.randbytes(size),
                "other page": original[other : other + size],
            }[kind]
        path.write_bytes(damaged)
        for command in COMMANDS:
            status = invoke(command)
            err = capsys.readouterr().err
            assert status in (0, 1, 2), (kind, at)
            assert "Traceback" not in err
            if status == 2:
                assert path.read_bytes() == damaged, (kind, at, err)
            path.write_bytes(damaged)


def test_doctor_names_the_runs_that_are_damaged(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(path).damaged == {}
    assert invoke(["doctor", "--db", "x.db"]) == 0
    assert "x.db: 3 of 3 runs are whole" in capsys.readouterr().out
    with Store(path, "r") as store:
        first, second, third = store.ids()
    edit(
        path,
        f"UPDATE metrics SET packed = '[]' WHERE run_id = '{first}' AND scope = 'flow'",
        f"UPDATE series SET parquet = zeroblob(100) WHERE run_id = '{second}' AND name = 'flows'",
    )
    found = check(path)
    assert set(found.damaged) == {first, second}
    assert found.unchecked == 0
    assert invoke(["doctor", "--db", "x.db"]) == 1
    assert "x.db: 1 of 3 runs is whole" in capsys.readouterr().out
    with Store(path, "r") as store:
        assert store.load(third).id == third
        with pytest.raises(StoreError, match="its flows, metrics or series are not what was"):
            store.metrics(first)
        with pytest.raises(StoreError, match="its series `flows` is not what was stored"):
            store.recording(second)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE metrics SET packed = '[]' WHERE run_id = '{}' AND scope = 'flow'",
        "UPDATE series SET parquet = zeroblob(100) WHERE run_id = '{}' AND name = 'flows'",
        "UPDATE point SET parameters = '{{\"k\":\"9\"}}' WHERE run_id = '{}'",
        "DELETE FROM point WHERE run_id = '{}'",
    ],
    ids=["metric", "series", "point", "no point"],
)
def test_nothing_is_added_to_a_damaged_file_until_it_is_mended(
    path: Path, change: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """SQLite finds nothing wrong with it."""
    with Store(path, "r") as store:
        first, second, third = store.ids()
    edit(path, change.format(second))
    before = path.read_bytes()
    assert invoke(COMMANDS[2]) == 2
    assert "x.db: is damaged: " in capsys.readouterr().err
    assert path.read_bytes() == before
    assert invoke(["doctor", "--db", "x.db"]) == 1
    assert "`ccperf doctor --db x.db --mend` deletes the others" in capsys.readouterr().err
    assert invoke(["doctor", "--db", "x.db", "--mend"]) == 0
    out, err = capsys.readouterr()
    assert f"1 run deleted: {second}" in err
    assert "2 of 2 runs are whole" in out
    assert invoke(COMMANDS[2]) == 0
    with Store(path, "r") as store:
        assert store.ids()[:2] == [first, third]


def put_page(path: Path, of: str, into: str, source: Path | None = None) -> None:
    """Let the first page of a table or index be that of another one, or of another file's."""
    with closing(sqlite3.connect(path)) as db:
        pages = dict(db.execute("SELECT name, 4096 * (rootpage - 1) FROM sqlite_schema").fetchall())
    content = bytearray(path.read_bytes())
    page = (source or path).read_bytes()[pages[of] : pages[of] + 4096]
    content[pages[into] : pages[into] + 4096] = page
    path.write_bytes(content)


def test_rows_of_another_table_are_no_runs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They have fewer columns, and so no checksums."""
    put_page(path, "series", "run")
    assert invoke(["runs", "--db", "x.db"]) == 2
    assert "x.db: is damaged: run " in capsys.readouterr().err


def test_a_file_is_not_whole_because_each_run_can_be_read(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_page(path, "series", "point_by_algorithm")
    assert check(path).damaged == {}
    assert invoke(["doctor", "--db", "x.db"]) == 1
    shown = capsys.readouterr()
    assert "x.db: 3 of 3 runs are whole" in shown.out
    assert "x.db itself is damaged (" in shown.err


def test_damage_that_keeps_a_run_from_being_deleted_is_said(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store("first.db", "a") as store:
        store.add(results(1)[0])
    put_page(path, "metrics", "metrics", Path("first.db"))  # a write that never reached the disk
    assert invoke(["doctor", "--db", "x.db", "--mend"]) == 2
    assert "in more than single runs, so nothing is deleted" in capsys.readouterr().err


@pytest.mark.parametrize("part", [0.02, 0.3, 0.9])
def test_doctor_says_what_to_do_with_a_file_that_is_cut_off(
    path: Path, capsys: pytest.CaptureFixture[str], part: float
) -> None:
    """It is where all other commands send to."""
    whole = path.read_bytes()
    path.write_bytes(cut := whole[: int(part * len(whole))])
    assert invoke(["runs", "--db", "x.db"]) == 2
    assert "; `ccperf doctor --db x.db` says what of it can be read" in capsys.readouterr().err
    for more in ([], ["--mend"]):
        assert invoke(["doctor", "--db", "x.db", *more]) == 2
        err = capsys.readouterr().err
        assert len(err.splitlines()) == 1
        assert "no run of it can be read; put a copy of it in its place, or delete it" in err
        assert "ccperf doctor" not in err
    assert path.read_bytes() == cut


def test_doctor_deletes_nothing_if_more_than_runs_is_damaged(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = bytearray(path.read_bytes())
    half = len(content) // 2
    content[half : half + 9000] = b"\xff" * 9000
    path.write_bytes(content)
    assert invoke(["doctor", "--db", "x.db"]) == 1
    shown = capsys.readouterr()
    (last,) = [line for line in shown.out.splitlines() if "whole" in line]
    readable = last.split()[1]
    assert 0 < int(readable) < 3
    assert invoke(["doctor", "--db", "x.db", "--mend"]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert f"; of 3 runs {readable} can be read: keep it for " in err
    assert "ccperf doctor" not in err
    assert path.read_bytes() == content


def test_in_a_large_file_damage_is_noticed_when_it_is_read_and_by_doctor(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ccperf.store.store._CHECKED_BYTES", 1)
    with Store(path, "r") as store:
        first, second, third = store.ids()
    edit(path, f"UPDATE series SET parquet = zeroblob(100) WHERE run_id = '{second}'")
    assert invoke(COMMANDS[2]) == 0
    with Store(path, "r") as store:
        assert [store.load(run).id for run in (first, third)] == [first, third]
        with pytest.raises(StoreError, match=f"run {second} of it cannot be read"):
            store.load(second)
    assert invoke(["doctor", "--db", "x.db"]) == 1
    assert second in "".join(capsys.readouterr())


def test_runs_of_before_the_checksums_are_read_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    made = results(1)[0]
    with Store(path, "a") as store:
        store.add(made)
    new = sqlite3.connect(path)
    with closing(new), closing(sqlite3.connect(tmp_path / "v2.db")) as old:
        for migration in schema.MIGRATIONS[:2]:
            old.executescript(migration)
        old.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        old.execute("PRAGMA user_version = 2")
        for table in ("run", "point", "flow", "metric", "series"):
            columns = [row[1] for row in old.execute(f"PRAGMA table_info({table})")]
            names = ", ".join(columns)
            rows = new.execute(f"SELECT {names} FROM {table}").fetchall()
            old.executemany(
                f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})", rows
            )
        old.commit()
    with Store(tmp_path / "v2.db", "r") as store:
        assert store.load(made.id).recording.equals(made.recording)
    assert check(tmp_path / "v2.db").unchecked == 1


# In use, full, no file at all.


def test_a_locked_database_is_said_to_be_locked_at_once(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for command in (COMMANDS[0], COMMANDS[2]):
            started = time.monotonic()
            assert invoke(command) == 2
            assert time.monotonic() - started < 10
            assert "x.db: is in use by another process" in capsys.readouterr().err


def test_a_full_disk_is_no_wrong_usage(path: Path) -> None:
    """What was stored stays, and the error has the status of a run that failed."""
    with Store(path, "a") as store:
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages}")

        def add() -> None:
            for result in results(20):
                store.add(result)

        with pytest.raises(StoreWriteError, match=r"x\.db: cannot be written \(.*full") as error:
            add()
        assert error.value.exit_status == 1
        assert len(store.ids()) >= 3
    assert check(path).damaged == {}


@pytest.mark.parametrize("name", ["/dev/null", "fifo", "folder", "x" * 5000])
def test_what_is_no_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    import os

    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")
    Path("folder").mkdir()
    for mode in ("r", "a"):
        with pytest.raises(StoreError):
            Store(name, mode)  # type: ignore[arg-type]


def test_the_copy_of_a_file_in_use_without_its_log(tmp_path: Path) -> None:
    """After a kill everything may stand in the `-wal`, which belongs to the file."""
    script = (
        "import os, signal, sys\n"
        "from ccperf.store import Store\n"
        "Store(sys.argv[1], 'a')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "x.db")])
    (tmp_path / "copy.db").write_bytes((tmp_path / "x.db").read_bytes())
    if (tmp_path / "x.db-wal").stat().st_size:
        with pytest.raises(StoreError, match=r"is empty; .*copy\.db-wal belongs to it"):
            Store(tmp_path / "copy.db", "r")
    assert Store(tmp_path / "x.db", "r").ids() == []


def test_names_of_sites_stay_inside(tmp_path: Path) -> None:
    from ccperf.site.output import Output

    output: Any = Output(tmp_path / "site")
    for name in ("../x", "runs/../../x", "/etc/x", "", ".ccperf-site", "runs/.ccperf-site"):
        with pytest.raises(ValueError, match="site"):
            output.path(name)
    output.write("runs/0/index.html", "fine")


@pytest.mark.parametrize("how", ["deleted", "moved", "replaced", "folder"])
def test_a_file_that_loses_its_name_is_kept_under_another(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite goes on without a word: what hours had made was gone at the end."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    path = tmp_path / "there" / "runs.db"
    first, second = results(2)
    store = Store(path, "a")
    store.add(first)
    if how == "deleted":
        path.unlink()
    elif how == "folder":
        shutil.rmtree(path.parent)
    else:
        path.rename(tmp_path / "there" / "other.db")
    if how == "replaced":
        path.write_bytes(b"")
    with pytest.raises(StoreWriteError, match=r"was deleted, moved or .*; what it had is in /"):
        store.add(second)
    store.close()
    (kept,) = tmp_path.rglob("runs-kept-*.db")
    with Store(kept) as again:
        assert again.load(first.id).recording.equals(first.recording)


def test_a_file_that_is_gone_at_the_end_is_kept_too(path: Path) -> None:
    more = results(4)

    def add() -> None:
        with Store(path, "a") as store:
            store.add(more[-1])
            path.unlink()

    with pytest.raises(StoreWriteError, match="what it had is in"):
        add()
    (kept,) = path.parent.glob("*-kept-*")
    with Store(kept) as again:
        assert {*again.ids()} == {each.id for each in more}
