"""What a database is written with where machines share it, and what a killed process leaves."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal

import pytest

from ccperf import campaign
from ccperf.store import Store, StoreError, opening
from recordings import ScriptedBackend, small_scenario


def fill(path: Path, count: int) -> None:
    """Make so many runs."""
    wanted = [campaign.Point(small_scenario(seed=seed)) for seed in range(count)]
    with Store(path, "a") as store:
        campaign.run(wanted, store, ScriptedBackend())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "benchmark.db"


def mounted(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a folder be that of a file system of this kind."""
    lines = f"""22 1 0:21 / / rw - ext4 /dev/sda rw
23 22 0:22 / {folder} rw,relatime shared:2 - xfs /dev/sdb rw
24 22 0:23 / {folder} rw - {kind} server:/home rw
25 22 0:24 / {folder}-of-others rw - tmpfs tmpfs rw
"""
    file = folder / "mountinfo"
    file.write_text(lines)
    monkeypatch.setattr(opening, "_MOUNTS", file)


@pytest.mark.parametrize(
    ("kind", "is_shared"), [("nfs4", True), ("lustre", True), ("fuse.sshfs", True), ("xfs", False)]
)
def test_machines_that_share_a_file_need_no_memory_in_common(
    path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, is_shared: bool
) -> None:
    """Two machines with one write-ahead log wrote to the same pages, and no run was left."""
    mounted(path.parent, kind, monkeypatch)
    with Store(path, "a") as one, Store(path, "a") as other:
        for seed in range(4):
            point = campaign.Point(small_scenario(seed=seed))
            (one, other)[seed % 2].add(campaign.simulate(point, ScriptedBackend()))
        assert path.with_name(f"{path.name}-shm").exists() is not is_shared
        with Store(path) as reader:
            reader.check()
            assert len(reader.ids()) == 4


def half_written(path: Path, left: Path) -> None:
    """Make what a process leaves that is killed while it writes, with 20 runs before."""
    fill(path, 20)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN IMMEDIATE")
        db.execute("DELETE FROM series")
        for name in ("", "-journal"):
            shutil.copy(f"{path}{name}", f"{left}{name}")


@pytest.mark.parametrize("mode", ["r", "a"])
def test_what_a_killed_process_had_half_written_is_undone(
    path: Path, tmp_path: Path, mode: Literal["r", "a"]
) -> None:
    half_written(path, left := tmp_path / "left.db")
    with Store(left, mode) as store:
        store.check()
        assert len(store.ids()) == 20


def test_a_journal_that_names_another_file_is_not_played(path: Path, tmp_path: Path) -> None:
    """SQLite deletes that file."""
    half_written(path, left := tmp_path / "left.db")
    with (tmp_path / "left.db-journal").open("ab") as journal:
        journal.write(bytes.fromhex("d9d505f920a163d7"))
    before = left.read_bytes()
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(left, "a")
    assert left.read_bytes() == before
