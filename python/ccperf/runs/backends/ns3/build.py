"""Compiles the C++ driver against an ns-3, once, into the user's cache."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ccperf.algorithms.user_code.content import digest_of_files, folders_of, with_includes
from ccperf.algorithms.user_code.names import is_cpp_source
from ccperf.errors import RunError
from ccperf.runs.backends.cache import cache_directory, is_whole, locked
from ccperf.runs.backends.ns3 import release, rows
from ccperf.runs.backends.ns3.release import MODULES, Release, Unavailable

_DRIVER = Path(__file__).parent / "driver"
_FLAGS = ("-std=c++20", "-O2")
#: The releases that the driver has been compiled against.
KNOWN = ("3.44", "3.48", "3-dev of July 2026")
#: A user's code is compiled as ns-3 is, where that has assertions and logging.
_USER_FLAGS = ("-DNS3_ASSERT_ENABLE", "-DNS3_LOG_ENABLE")
#: Lines of a compiler's output that an error message repeats.
_SHOWN_LINES = 20


@dataclass(frozen=True)
class Toolchain:
    """What a driver is built with."""

    ns3: Release
    compiler: str
    compiler_version: str


def toolchain() -> Toolchain:
    """Find ns-3 and a compiler.

    Raises:
        Unavailable: if something is missing.
    """
    machine = platform.machine()
    has_wheel = sys.platform == "linux" and machine in ("x86_64", "AMD64")
    if release.is_wheel() and not has_wheel:
        raise Unavailable(
            f"the backend ns3 needs Linux on x86-64, because the wheel of ns-3 exists for nothing "
            f"else (this is {sys.platform} on {machine}); {release.VARIABLE} names your own tree"
        )
    found = release.find()
    for name in filter(None, (os.environ.get("CXX"), "g++", "c++", "clang++")):
        if compiler := shutil.which(name):
            shown = subprocess.run([compiler, "--version"], capture_output=True, text=True)
            return Toolchain(found, compiler, shown.stdout.partition("\n")[0])
    raise Unavailable(
        "the backend ns3 needs a C++ compiler (g++ or clang++): apt-get install g++, or set CXX"
    )


def driver_digest() -> str:
    """Hash of the driver's sources, those that are generated included."""
    files = digest_of_files(
        path for path in sorted(_DRIVER.iterdir()) if path.suffix in (".cc", ".h")
    )
    return hashlib.sha256(f"{files}\n{rows.header()}".encode()).hexdigest()


def driver(sources: Sequence[Path] = ()) -> Path:
    """Return the driver's executable, compiling what has not been compiled yet.

    `sources` are a user's own files, `.cc` and headers: classes derived from ns-3's, registered
    with `NS_OBJECT_ENSURE_REGISTERED`.

    Raises:
        Unavailable: if ns-3 or a compiler is missing.
        RunError: if something does not compile.
    """
    tools = toolchain()
    own = driver_digest()
    base = _cached(tools, own, "driver.o", lambda target: _compile_driver(tools, target))
    if not sources:
        return _cached(tools, own, "driver", lambda target: _link(tools, [base], target))
    content = digest_of_files(with_includes(sources))
    return _cached(
        tools,
        f"{own} {content}",
        "driver",
        lambda target: _build_user(tools, base, sources, content, target),
    )


def classes(sources: Sequence[Path], parent: str) -> list[str]:
    """The classes derived from ns-3's `parent` that a user's files register.

    Raises:
        Unavailable: if ns-3 or a compiler is missing.
        RunError: if something does not compile.
    """
    before = set(classes_of(parent))
    return [name for name in _classes(driver(sources), parent) if name not in before]


def classes_of(parent: str) -> list[str]:
    """The classes derived from ns-3's `parent` that ns-3 and the driver have.

    Raises as `driver` does.
    """
    return _classes(driver(), parent)


@cache
def _classes(program: Path, parent: str) -> list[str]:
    command = [str(program), "--classes", parent]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise RunError(f"the driver with your classes does not start: {done.stderr.strip()}")
    return done.stdout.split()


def _cached(tools: Toolchain, content: str, name: str, build: Callable[[Path], None]) -> Path:
    # Where ns-3 is stands in the executable, so it is part of the key.
    compiler = (tools.compiler, tools.compiler_version, *_FLAGS, *_USER_FLAGS)
    parts = (content, str(tools.ns3.root), *_content(tools.ns3), *compiler)
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]
    directory = cache_directory("ns3") / key
    target = directory / name
    if is_whole(target):
        _not_of_others(directory, target)
        return target
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"cannot write the compiled driver to {directory}: {error}; "
            "XDG_CACHE_HOME names another place"
        ) from error
    _not_of_others(directory)
    with locked(directory / "lock"):
        if not is_whole(target):
            with tempfile.TemporaryDirectory(dir=directory) as scratch:
                made = Path(scratch) / name
                build(made)
                made.replace(target)
    return target


def _content(ns3: Release) -> tuple[str, ...]:
    """What a tree may change without changing its place; a wheel does not."""
    return () if ns3.profile == "wheel" else (ns3.digest,)


def _not_of_others(*paths: Path) -> None:
    """What is run was put there by this user, or by root. Raises `RunError`."""
    for path in paths:
        found = path.stat()
        if found.st_uid not in (os.geteuid(), 0) or found.st_mode & stat.S_IWOTH:
            raise RunError(
                f"others can write to {path}, a program that would be run; XDG_CACHE_HOME names "
                "another place"
            )


def _compile_driver(tools: Toolchain, target: Path) -> None:
    # ns-3's headers take most of the time, so all files are one translation unit.
    (target.parent / rows.NAME).write_text(rows.header())
    unit = target.parent / "unit.cc"
    names = sorted(path.name for path in _DRIVER.glob("*.cc"))
    unit.write_text("".join(f'#include "{name}"\n' for name in names))
    _compile(tools, unit, target, [_DRIVER, target.parent])


def _build_user(
    tools: Toolchain, base: Path, sources: Sequence[Path], content: str, target: Path
) -> None:
    objects = [base]
    for number, source in enumerate(file for file in sources if is_cpp_source(file.name)):
        objects.append(target.parent / f"{number}.o")
        flags = _USER_FLAGS if tools.ns3.has_assertions else ()
        _compile(tools, source, objects[-1], folders_of(sources), flags)
    _link(tools, objects, target)
    if digest_of_files(with_includes(sources)) != content:
        raise RunError(
            f"{sources[0].name} was changed while it was compiled; run the command again"
        )


def _compile(
    tools: Toolchain,
    source: Path,
    target: Path,
    include: Sequence[Path],
    flags: Sequence[str] = (),
) -> None:
    own = [f"-I{path}" for path in include]
    wheel = ["-isystem", str(tools.ns3.include)]
    files = ["-c", str(source), "-o", str(target)]
    _run([tools.compiler, *_FLAGS, *flags, *own, *wheel, *files], source, tools.ns3)


def _link(tools: Toolchain, objects: Sequence[Path], target: Path) -> None:
    libraries = tools.ns3.libraries
    names = [f"-l{tools.ns3.library(module)}" for module in MODULES]
    inputs = [str(path) for path in objects]
    where = [f"-L{libraries}", f"-Wl,-rpath,{libraries}"]
    # The names of functions, for what is said of a crash.
    named = ["-rdynamic", "-ldl"]
    _run([tools.compiler, *inputs, "-o", str(target), *where, *names, *named], target, tools.ns3)


def _run(command: Sequence[str], what: Path, ns3: Release) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        first = next((i for i, line in enumerate(lines) if "error" in line), 0)
        shown = "\n".join(lines[first : first + _SHOWN_LINES])
        known = "" if release.is_wheel() else f" (known to work: {', '.join(KNOWN)})"
        raise RunError(f"{what.name} does not compile against ns-3 {ns3.version}{known}:\n{shown}")
