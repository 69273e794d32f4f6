"""``ccperf doctor``: what is installed, and what that allows."""

from __future__ import annotations

import platform
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from ccperf.base.wording import counted
from ccperf.cli.options import Json, databases
from ccperf.cli.output import note, print_json, progress_bar, say, table
from ccperf.cli.parameter import Parameter
from ccperf.errors import UsageError

#: What each extra of the package installs.
EXTRAS = {
    "figures": ("matplotlib",),
    "dask": ("cryptography", "distributed"),
    "gym": ("gymnasium", "pettingzoo"),
    "ns3": ("ns3",),
}


def command(
    *,
    db: Annotated[Path | None, Parameter(help="Check this database for damage instead.")] = None,
    mend: Annotated[
        bool, Parameter(help="Delete damaged runs; their command makes them again.")
    ] = False,
    json: Json = False,
) -> int:
    """Say which backends and extras are usable here, and what is missing for the others.

    With --db: read a whole database and compare it with its checksums; exit status 1 if not all of
    it can be read.
    """
    if db is not None:
        return _database(db, mend, json)
    if mend:
        raise UsageError("--mend", "is of a database; name it by --db")
    from ccperf import __version__
    from ccperf.cli.show import recorded_engine
    from ccperf.cli.things import backends as list_backends
    from ccperf.runs import backends
    from ccperf.runs.sources import sources_hash

    facts = {
        "ccperf": __version__,
        "engine": sources_hash()[:16],
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "C++ compiler": shutil.which("c++") or shutil.which("g++") or shutil.which("clang++") or "",
    }
    usable = {thing.name: thing.summary for thing in list_backends()}
    missing = {
        extra: [module for module in modules if find_spec(module) is None]
        for extra, modules in EXTRAS.items()
    }
    native = backends.get(backends.DEFAULT).available()
    facts["compared with ns-3"] = recorded_engine() or "this engine"
    facts["ns-3"] = _ns3()
    facts["Linux kernel"] = _kernel()
    if json:
        print_json({**facts, "backends": usable, "missing": missing, "usable": native is None})
        return 0 if native is None else 1
    say(table(["what", "found"], [[name, value or "none"] for name, value in facts.items()]))
    say()
    say(table(["backend", "state"], [[name, state] for name, state in usable.items()]))
    say()
    rows = [
        [
            extra,
            "installed" if not absent else f"pip install 'ccperf[{extra}]' ({', '.join(absent)})",
        ]
        for extra, absent in missing.items()
    ]
    say(table(["extra", "state"], rows))
    if native:
        print(f"the native engine cannot run: {native}", file=sys.stderr)
    return 0 if native is None else 1


def _ns3() -> str:
    """The ns-3 that is compared with, and as which release; or what is missing for one."""
    from ccperf.algorithms import releases
    from ccperf.runs.backends.ns3 import release

    try:
        found = release.find()
    except release.Unavailable as missing:
        return str(missing)
    commit = f", commit {found.commit[:9]}{found.commit[40:]}" if found.commit else ""
    where = f"{found.version} ({found.profile}{commit}), {found.root}"
    return f"{where}; compared as {releases.of_version(found.version)}"


def _kernel() -> str:
    """The kernel that was built, or what is missing for one."""
    from ccperf.runs.backends.linux import build

    try:
        build.check_host()
        if kernel := build.current():
            return f"{kernel.version}, {kernel.program}"
        build.check_machine()
    except build.Unavailable as missing:
        return str(missing)
    return "none: `ccperf linux build`"


def _database(path: Path, mends: bool, json: bool) -> int:
    from ccperf.store.check import check, mend

    (path,) = databases(path)

    if mends and (deleted := mend(path)):
        note(f"{counted(len(deleted), 'run')} deleted: {', '.join(deleted)}")
    with progress_bar("runs") as progress:
        found = check(path, progress)
    if json:
        print_json(
            {
                "runs": found.runs,
                "damaged": found.damaged,
                "file": found.file,
                "without_checksums": found.unchecked,
            }
        )
    else:
        for run, message in found.damaged.items():
            say(f"{run}: {message}")
        whole = found.runs - len(found.damaged)
        verb = "is" if whole == 1 else "are"
        say(f"{path}: {whole} of {counted(found.runs, 'run')} {verb} whole")
        if found.file:
            note(
                f"{path} itself is damaged ({found.file}): keep it for the runs that can be read, "
                "and make the others in a new database"
            )
        elif found.damaged:
            note(
                f"`ccperf doctor --db {path} --mend` deletes the others; what made them makes them "
                "again"
            )
        if found.unchecked:
            runs = counted(found.unchecked, "run")
            note(f"without checksums, since an older ccperf has stored them: {runs}")
    return 1 if found.damaged or found.file else 0
