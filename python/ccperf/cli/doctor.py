"""``ccperf doctor``: what is installed, and what that allows."""

from __future__ import annotations

import platform
import shutil
import sys
from importlib.util import find_spec

from ccperf.cli.options import Json
from ccperf.cli.output import print_json, table


def command(*, json: Json = False) -> int:
    """Say which backends and extras are usable here, and what is missing for the others."""
    from ccperf import __version__, _native, backends
    from ccperf.cli.things import backends as list_backends

    extras = {"figures": ("matplotlib", "jinja2"), "ns3": ("ns3",)}
    facts = {
        "ccperf": __version__,
        "engine": _native.ENGINE_HASH[:16],
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "C++ compiler": shutil.which("c++") or shutil.which("g++") or shutil.which("clang++") or "",
    }
    usable = {thing.name: thing.summary for thing in list_backends()}
    missing = {
        extra: [module for module in modules if find_spec(module) is None]
        for extra, modules in extras.items()
    }
    native = backends.get("native").available()
    if json:
        print_json({**facts, "backends": usable, "missing": missing, "usable": native is None})
        return 0 if native is None else 1
    print(table(["what", "found"], [[name, value or "none"] for name, value in facts.items()]))
    print()
    print(table(["backend", "state"], [[name, state] for name, state in usable.items()]))
    print()
    rows = [
        [
            extra,
            "installed" if not absent else f"pip install 'ccperf[{extra}]' ({', '.join(absent)})",
        ]
        for extra, absent in missing.items()
    ]
    print(table(["extra", "state"], rows))
    if native:
        print(f"the native engine cannot run: {native}", file=sys.stderr)
    return 0 if native is None else 1
