"""Kill ccperf at random moments: nothing finished is lost, nothing half made looks whole.

`bench`, a site build and an export are ended by SIGKILL again and again, each going on from what
the one before has left. After each kill the database is whole and has every run that it had, pages
and tables are as an undisturbed command makes them or are not there, and the site has no index
unless it has all its pages. In the end everything is made to its end, and is the same to the byte.

    .venv/bin/python tools/kills.py --kills 200 --seed 1
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ccperf.store import Store
from ccperf.store.check import check

#: 24 short runs.
BENCH = ["bench", "cubic,bbr", "--experiments", "aqm", "--stop-time", "1s", "--no-site"]


def ccperf(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "ccperf", *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def finish(folder: Path, words: Sequence[str]) -> float:
    """Run a command to its end; returns how long it took."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "ccperf", *words], cwd=folder, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise AssertionError(
            f"`ccperf {' '.join(words)}` ended with {done.returncode} in {folder}:\n{done.stderr}"
        )
    return time.monotonic() - started


def contents(database: Path) -> dict[str, str]:
    """Each run with the hash of its flows, metrics and series."""
    with Store(database, "r") as store:
        return {run: store._content(run) for run in store.ids()}


def files(folder: Path) -> dict[str, bytes]:
    """What is there, drafts left out, by its name below the folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


class Bench:
    """Runs that are made and stored."""

    words = (*BENCH, "--db", "x.db")

    def __init__(self, folder: Path, expected: dict[str, str]) -> None:
        self.folder, self.expected = folder, expected
        self.before: set[str] = set()

    def look(self) -> bool:
        """Check what is left; whether it is all."""
        database = self.folder / "x.db"
        if not database.exists():
            assert not self.before
            return False
        connection = sqlite3.connect(database)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        connection.close()
        if empty:
            assert not self.before
            return False
        assert not check(database, lambda *_: None).damaged
        found = contents(database)
        assert self.before <= found.keys(), "a run that was finished is gone"
        assert found.items() <= self.expected.items(), "a run is not what it should be"
        self.before = set(found)
        return found == self.expected

    def clear(self) -> None:
        self.before = set()
        for path in self.folder.glob("x.db*"):
            path.unlink()


class Written:
    """Files that are written from a database."""

    def __init__(
        self, folder: Path, words: Sequence[str], expected: dict[str, bytes], last: str = ""
    ) -> None:
        self.folder, self.words, self.expected = folder, tuple(words), expected
        #: What is there only if everything is.
        self.last = last

    def look(self) -> bool:
        """Check what is left; whether it is all."""
        found = files(self.folder / "out")
        for name, content in found.items():
            assert content == self.expected[name], f"{name} is neither whole nor absent"
        if self.last in found:
            assert found == self.expected, f"{self.last} is there, others are not"
        return found == self.expected

    def clear(self) -> None:
        shutil.rmtree(self.folder / "out", ignore_errors=True)


def attack(target: Bench | Written, kills: int, longest: float, draw: random.Random) -> int:
    """Kill it so many times; returns how often it had come to its end before."""
    ends = 0
    for _ in range(kills):
        process = ccperf(target.folder, *target.words)
        time.sleep(draw.uniform(0.2, longest))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if target.look():
            ends += 1
            target.clear()
    finish(target.folder, target.words)
    assert target.look(), "in the end something is missing"
    return ends


def kill(kills: int, seed: int, say: Callable[[str], None] = print) -> None:
    """Attack all three, each by a third of the kills. Raises AssertionError."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="ccperf-kills-") as name:
        root = Path(name)
        finish(root, Bench.words)
        seconds = finish(root, [*BENCH, "--db", "y.db"])
        expected = contents(root / "x.db")
        assert expected == contents(root / "y.db")
        targets: dict[str, tuple[Bench | Written, float]] = {}
        (root / "bench").mkdir()
        targets["bench"] = (Bench(root / "bench", expected), seconds)
        for what, words, last in (
            ("site", ["site", "build"], "index.html"),
            ("export", ["export", "--format", "csv", "--series"], ""),
        ):
            folder = root / what
            folder.mkdir()
            words = [*words, "--db", "../x.db", "-o", "out"]
            seconds = finish(folder, words)
            written = Written(folder, words, files(folder / "out"), last)
            written.clear()
            targets[what] = (written, seconds)
        for position, (what, (target, seconds)) in enumerate(targets.items()):
            count = len(range(position, kills, len(targets)))
            ends = attack(target, count, seconds, draw)
            say(f"{what}: {count} kills, {ends} of them after its end; nothing lost, nothing half")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    kill(asked.kills, asked.seed, lambda text: print(text, flush=True))


if __name__ == "__main__":
    main()
