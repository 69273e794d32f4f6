"""The process that runs a scenario with user code.

:mod:`ccperf.runs.backends.sandbox` starts it and says what is in its folder. All that this needs is
imported before user code can put anything in its place.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import ccperf.algorithms  # noqa: F401  # before user code can stand in for it
from ccperf import _native
from ccperf.algorithms.user_code import loading
from ccperf.algorithms.user_code.content import ChangedError
from ccperf.algorithms.user_code.loading import Held
from ccperf.errors import RunError
from ccperf.runs.parquet import encode_table
from ccperf.runs.recording import Recording


def main(folder: Path) -> None:
    """Run the job in `folder`; leave the tables there, or the text of an error."""
    own = os.getpid()
    job = json.loads((folder / "job.json").read_text())
    lowered = (folder / "lowered.json").read_text(encoding="utf-8")
    _limit_resources(job["memory"])
    if job["is_confined"]:
        _confine(folder, job["packets"])
    sys.path[:] = job["path"]
    random.seed(job["seed"])
    try:
        held = Held(job["user_code"])
        simulation = _native.Simulation(lowered, job["packets"], folder / "monitor")
        held.loaded()
        if loading.misspelt:
            (folder / "warnings.json").write_text(json.dumps([*loading.misspelt]))
        if job.get("load_only"):
            (folder / job["tables"]).mkdir()
            return
        tables = simulation.finish()
        held.check()
        if os.getpid() == own:
            _leave(folder / job["tables"], tables)
    except Exception as error:  # user code may have taken anything away from this process
        if os.getpid() != own:
            return
        changed = error.name if isinstance(error, ChangedError) else None
        # What the system says names neither who nor when, and other mistakes not even what.
        is_placed = isinstance(error, RunError | ValueError)
        is_said = is_placed or isinstance(error, OSError)
        message = str(error) if is_said else f"{type(error).__name__}: {error}"
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            message = f"{folder.parent} is full; TMPDIR names another place"
        # On a full disk it takes the place of the tables.
        shutil.rmtree(folder / job["tables"], ignore_errors=True)
        _report(folder, {"message": message, "changed": changed, "is_placed": is_placed})


def _leave(folder: Path, tables: Mapping[str, Any]) -> None:
    """Leave a run's tables in their folder. A copy of this process that user code made does not."""
    folder.mkdir()
    for name, table in Recording(tables).tables.items():
        (folder / f"{name}.parquet").write_bytes(encode_table(table, compressed=False))


def _confine(folder: Path, packets: str | None) -> None:
    """Let this process write in its folder and to the trace only, and reach no network."""
    files = [os.devnull]
    if packets:
        Path(packets).touch()  # to make a file takes its folder
        files.append(packets)
    _native.confine([str(folder)], files)


def _report(folder: Path, error: dict[str, object]) -> None:
    with contextlib.suppress(OSError):  # nowhere to say it
        (folder / "error.json").write_text(json.dumps(error))


def _limit_resources(memory: int) -> None:
    """No core dumps, and no more than so many bytes of memory."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def start(folder: str) -> NoReturn:
    """Run the job in `folder`, and end this process."""
    main(Path(folder))
    # Whatever user code has left behind (threads, handlers) must not hold up the end.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
