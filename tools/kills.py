"""Kill ccperf at random moments: nothing finished is lost, nothing half made looks whole.

`bench` here, on Dask and with the Linux kernel, a site build, an export and a comparison are ended
by SIGKILL again and again, each going on from what the one before has left. After each kill the
database is whole and has every run that it had, pages and tables are as an undisturbed command
makes them or are not there, the site has no index unless it has all its pages, and the processes
that a command has started end by themselves, kernels too. In the end everything is made to its
end, and is the same to the byte.

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
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from ccperf.runs import backends
from ccperf.store import Store
from ccperf.store.check import check

#: 24 short runs.
BENCH = ["bench", "cubic,bbr", "--experiments", "aqm", "--stop-time", "1s", "--no-site"]
#: The name of those runs, each a Linux kernel of its own.
LINUX = "bench with Linux"

#: What a killed command has started is to end within so many seconds.
PATIENCE_S = 60


def ccperf(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own; `said` is what it prints."""
    with (folder / "said").open("wb") as said:
        return subprocess.Popen(
            [sys.executable, "-m", "ccperf", *words],
            cwd=folder,
            stdout=said,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def processes() -> dict[str, tuple[str, int, int]]:
    """What runs, where there is /proc: by number and start, its number, parent and session."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, parent, _, session, *rest = stat.read_text().rpartition(") ")[2].split()
            if state != "Z":
                number = stat.parent.name
                found[f"{number} of {rest[15]}"] = (number, int(parent), int(session))
    return found


def below(command: int) -> set[str]:
    """The processes that a command has started, and those that they have, and so on."""
    there = processes()
    found, numbers = set[str](), {command}
    while more := {key for key, (_, parent, _) in there.items() if parent in numbers} - found:
        found |= more
        numbers = {int(there[key][0]) for key in more}
    return found


def left(session: int, started: set[str]) -> list[str]:
    """Of a session, and of what was started in it, what still runs; a kernel has its own."""
    there = processes().items()
    return [key for key, (_, _, of) in there if of == session or key in started]


def finish(folder: Path, words: Sequence[str]) -> float:
    """Run a command to its end; returns how long it took."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "ccperf", *words], cwd=folder, capture_output=True, text=True
    )
    (folder / "said").write_text(done.stdout)
    if done.returncode != 0:
        raise AssertionError(
            f"`ccperf {' '.join(words)}` ended with {done.returncode} in {folder}:\n{done.stderr}"
        )
    return time.monotonic() - started


def contents(database: Path) -> dict[str, str]:
    """Each run with the hash of its flows, metrics and series."""
    with Store(database, "r") as store:
        return {run: store.content(run) for run in store.ids()}


def files(folder: Path) -> dict[str, bytes]:
    """What is there, drafts left out, by its name below the folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


class Bench:
    """Runs that are made and stored."""

    def __init__(self, folder: Path, expected: dict[str, str], *more: str) -> None:
        self.folder, self.expected = folder, expected
        self.words = (*BENCH, "--db", "x.db", *more)
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


class Read:
    """A command that only reads a database, and prints."""

    def __init__(self, folder: Path, words: Sequence[str], database: Path, expected: bytes) -> None:
        self.folder, self.words, self.expected = folder, tuple(words), expected
        self.database, self.content = database, database.read_bytes()

    def look(self) -> bool:
        """Check what is left; whether it is all."""
        assert self.database.read_bytes() == self.content, "a reader has changed the database"
        said = (self.folder / "said").read_bytes()
        assert self.expected.startswith(said), f"it said something else: {said!r}"
        return said == self.expected

    def clear(self) -> None:
        """Nothing is left."""


Target = Bench | Written | Read


def attack(target: Target, kills: int, longest: float, draw: random.Random) -> int:
    """Kill it so many times; returns how often it had come to its end before."""
    ends = 0
    for _ in range(kills):
        process = ccperf(target.folder, *target.words)
        time.sleep(draw.uniform(0.2, longest))
        started = below(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
        until = time.monotonic() + PATIENCE_S
        while there := left(process.pid, started):
            assert time.monotonic() < until, f"processes {there} outlive the command"
            time.sleep(0.05)
        if target.look():
            ends += 1
            target.clear()
    finish(target.folder, target.words)
    assert target.look(), "in the end something is missing"
    return ends


def _bench(root: Path, expected: dict[str, str]) -> tuple[Target, float]:
    seconds = finish(root, [*BENCH, "--db", "y.db"])
    assert expected == contents(root / "y.db")
    return Bench(root / "bench", expected), seconds


def _on_linux(root: Path, _: dict[str, str]) -> tuple[Target, float]:
    """The runs of `bench` once more, each a kernel of its own."""
    target = Bench(root / "bench with Linux", {}, "--backend", "linux")
    seconds = finish(target.folder, target.words)
    target.expected = contents(target.folder / "x.db")
    target.clear()
    return target, seconds


def _on_dask(root: Path, expected: dict[str, str]) -> tuple[Target, float]:
    target = Bench(root / "bench on Dask", expected, "--on", "dask", "--jobs", "2")
    seconds = finish(target.folder, target.words)
    target.clear()
    return target, seconds


def _written(folder: Path, words: Sequence[str], last: str = "") -> tuple[Target, float]:
    words = [*words, "--db", "../x.db", "-o", "out"]
    seconds = finish(folder, words)
    target = Written(folder, words, files(folder / "out"), last)
    target.clear()
    return target, seconds


def _site(root: Path, _: dict[str, str]) -> tuple[Target, float]:
    return _written(root / "site", ["site", "build"], "index.html")


def _export(root: Path, _: dict[str, str]) -> tuple[Target, float]:
    return _written(root / "export", ["export", "--format", "csv", "--series"])


def _compare(root: Path, _: dict[str, str]) -> tuple[Target, float]:
    folder = root / "compare"
    words = ["compare", "cubic", "bbr", "--db", "../x.db", "--each"]
    seconds = finish(folder, words)
    return Read(folder, words, root / "x.db", (folder / "said").read_bytes()), seconds


#: What is attacked, by its name: each makes it in a folder of this name, beside a database `x.db`
#: of the runs that are expected, and says how long that took undisturbed.
TARGETS: dict[str, Callable[[Path, dict[str, str]], tuple[Target, float]]] = {
    "bench": _bench,
    LINUX: _on_linux,
    "bench on Dask": _on_dask,
    "site": _site,
    "export": _export,
    "compare": _compare,
}


def there() -> list[str]:
    """What can be attacked on this machine."""
    absent = set()
    if backends.get("linux").available():
        absent.add(LINUX)
    if not find_spec("distributed"):
        absent.add("bench on Dask")
    return [what for what in TARGETS if what not in absent]


def kill(kills: int, seed: int, chosen: Sequence[str], say: Callable[[str], None] = print) -> None:
    """Attack what is chosen, each equally often.

    Raises:
        AssertionError: if something is lost, half made, or outlives its command.
    """
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="ccperf-kills-") as name:
        root = Path(name)
        finish(root, [*BENCH, "--db", "x.db"])
        expected = contents(root / "x.db")
        for position, what in enumerate(chosen):
            (root / what).mkdir()
            target, seconds = TARGETS[what](root, expected)
            count = len(range(position, kills, len(chosen)))
            ends = attack(target, count, seconds, draw)
            say(f"{what}: {count} kills, {ends} of them after its end; nothing lost, nothing half")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--only", default="", help="what to kill: a part of its name, as Linux")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    chosen = [what for what in there() if asked.only in what]
    kill(asked.kills, asked.seed, chosen, lambda text: print(text, flush=True))


if __name__ == "__main__":
    main()
