"""Foreign and broken environments: each command ends well there, with the same numbers, or says so.

What is not tried here: a real NFS (its locks are, by a library that refuses them).
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what is broken is Linux's here")

RUN = (
    *("run", "aqm", "--cc", "cubic", "--k", "1", "--qdisc", "codel,fifo", "--stop-time", "90ms"),
    *("-j", "2", "--db", "x.db"),
)


def ccperf(
    folder: Path, *words: str, before: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, after some shell commands of the same process."""
    given = {**os.environ, **environment}
    given = {name: value for name, value in given.items() if value != "-"}
    script = f'{before}\nexec "$@"'
    return subprocess.run(
        ["/bin/bash", "-c", script, "-", sys.executable, "-m", "ccperf", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env=given,
        timeout=120,
    )


def content(database: Path) -> list[tuple[str, str]]:
    """The runs, and checksums of all that they are."""
    with closing(sqlite3.connect(database)) as db:
        return db.execute("SELECT id, content FROM run ORDER BY id").fetchall()


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    folder = tmp_path_factory.mktemp("usual")
    assert ccperf(folder, *RUN).returncode == 0
    return content(folder / "x.db")


ENVIRONMENTS: dict[str, dict[str, str]] = {
    "a home that is none": {"HOME": "/dev/null", "XDG_CACHE_HOME": "-", "MPLCONFIGDIR": "-"},
    "no home": {"HOME": "-", "USER": "-", "LOGNAME": "-"},
    "64 file descriptors": {"before": "ulimit -n 64"},
    "256 MB": {"before": "ulimit -d 262144"},
    "the locale C without UTF-8": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "no AVX2": {
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX",
        "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3",
    },
    "temporary files on another file system": {"TMPDIR": "/dev/shm"},
}


@pytest.mark.parametrize("what", ENVIRONMENTS)
def test_the_numbers_are_the_same_there(
    tmp_path: Path, usual: list[tuple[str, str]], what: str
) -> None:
    done = ccperf(tmp_path, *RUN, **ENVIRONMENTS[what])
    assert done.returncode == 0, done.stderr
    assert content(tmp_path / "x.db") == usual


def test_a_machine_without_shared_memory_makes_campaigns_and_sites(
    tmp_path: Path, usual: list[tuple[str, str]]
) -> None:
    hidden = "mount -t tmpfs -o ro tmpfs /dev/shm"
    if subprocess.run(["unshare", "-m", "sh", "-c", hidden], capture_output=True).returncode:
        pytest.skip("/dev/shm cannot be hidden here")
    within = ["unshare", "-m", "sh", "-c", f'{hidden}; exec "$@"', "-", sys.executable]
    for words in (RUN, ("site", "build", "--db", "x.db", "-o", "site")):
        done = subprocess.run(
            [*within, "-m", "ccperf", *words], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
    assert content(tmp_path / "x.db") == usual


def test_a_clock_that_jumps_changes_nothing_but_the_times_of_day(
    tmp_path: Path, usual: list[tuple[str, str]]
) -> None:
    """Forth by a year and back by two at each look; what lasts is measured by another clock."""
    (tmp_path / "sitecustomize.py").write_text(
        "import itertools, time\n"
        "real, year = time.time, 31_536_000\n"
        "jumps = itertools.cycle([0, year, -year])\n"
        "time.time = lambda: real() + next(jumps)\n"
    )
    done = ccperf(tmp_path, *RUN, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert content(tmp_path / "x.db") == usual


#: As a file server without locks answers.
_NO_LOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#define WITHOUT_LOCKS(name)                                                        \\
  int name(int file, int command, ...) {                                           \\
    va_list rest; va_start(rest, command);                                         \\
    void *argument = va_arg(rest, void *); va_end(rest);                           \\
    if (command == F_SETLK || command == F_SETLKW) { errno = ENOLCK; return -1; }  \\
    int (*real)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, #name);  \\
    return real(file, command, argument);                                          \\
  }
WITHOUT_LOCKS(fcntl)
WITHOUT_LOCKS(fcntl64)
"""


def test_a_file_system_without_locks_is_said_to_be_one(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler")
    (tmp_path / "nolock.c").write_text(_NO_LOCKS)
    library = tmp_path / "nolock.so"
    command = [compiler, "-shared", "-fPIC", "-o", str(library), "nolock.c", "-ldl"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = ccperf(tmp_path, *RUN, LD_PRELOAD=str(library))
    assert done.returncode == 2
    assert "its file system cannot lock files" in done.stderr
    assert "Traceback" not in done.stderr
