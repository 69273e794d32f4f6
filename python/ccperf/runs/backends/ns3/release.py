"""The ns-3 that the driver is compiled against: the wheel, or any installed or built tree.

A tree is given by `--ns3 PATH` or the environment's `CCPERF_NS3`; without one it is the wheel of
the release that the engine equals.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from ccperf.errors import RunError

#: The release that the engine equals, and the wheel that has it.
VERSION = "3.44"
WHEEL = "ns3==3.44.post0"
#: What names another ns-3.
VARIABLE = "CCPERF_NS3"
#: ns-3's libraries that programs of ours are linked with.
MODULES = (
    "applications",
    "internet-apps",
    "flow-monitor",
    "point-to-point",
    "internet",
    "bridge",
    "traffic-control",
    "network",
    "stats",
    "core",
)
_DEVELOPMENT = "3-dev"
#: `libns3.48-core-default.so`: a build profile stands last, but for `release`.
_LIBRARY = re.compile(r"libns(3-dev|3(?:\.\d+)*)-core(?:-(\w+))?\.so")
#: Where libraries and headers are in a wheel, an installed and a built tree.
_LIBRARIES = ("lib64", "lib", "build/lib", "lib/x86_64-linux-gnu")
_HEADERS = ("include", "build/include")


class Unavailable(RunError):
    """The driver cannot be built here; the message is one sentence that says what is missing."""


@dataclass(frozen=True)
class Release:
    """An ns-3 that is here."""

    root: Path
    include: Path
    libraries: Path
    #: ``3.44``, ``3-dev``.
    version: str
    #: ns-3's build profile; ``wheel`` for that.
    profile: str

    def library(self, module: str) -> str:
        """What the linker calls the library of a module."""
        suffix = "" if self.profile in ("wheel", "release") else f"-{self.profile}"
        return f"ns{self.version}-{module}{suffix}"

    @property
    def has_assertions(self) -> bool:
        """Whether its own code was compiled with assertions and logging, as a user's is then."""
        return self.profile in ("wheel", "default")

    @cached_property
    def digest(self) -> str:
        """Hash of its libraries: a tree is what it was compiled to, modified or not."""
        made = hashlib.sha256()
        for module in MODULES:
            made.update((self.libraries / f"lib{self.library(module)}.so").read_bytes())
        return made.hexdigest()

    @cached_property
    def commit(self) -> str:
        """What a checkout says that it is, with a word if its sources are not that; else empty."""
        git = shutil.which("git")
        if git is None or not (self.root / ".git").exists():
            return ""

        def asked(*words: str) -> str:
            done = subprocess.run(
                [git, "-C", str(self.root), *words], capture_output=True, text=True, check=False
            )
            return done.stdout.strip()

        # Modules that are left out are no change of those that are compiled.
        is_changed = asked("diff", "--name-only", "--diff-filter=d", "HEAD", "--", "src")
        return asked("rev-parse", "HEAD") + (" and changes" if is_changed else "")

    def __str__(self) -> str:
        return f"ns-3 {self.version} ({self.profile}, {self.root})"


def find() -> Release:
    """The ns-3 that is asked for: that of :data:`VARIABLE`, else the wheel.

    Raises:
        Unavailable: if it is not there, or none that the driver can be compiled against.
    """
    given = os.environ.get(VARIABLE)
    return _tree(Path(given).expanduser().absolute()) if given else _wheel()


def is_wheel() -> bool:
    """Whether nothing but the wheel is asked for."""
    return not os.environ.get(VARIABLE)


@cache
def _tree(root: Path) -> Release:
    found = list(_found(root))
    if not found:
        raise Unavailable(
            f"`{root}` holds no ns-3: name the folder of a built tree (with build/lib) or the "
            "prefix of an installed one"
        )
    if len(found) > 1:
        several = ", ".join(sorted(path.name for path, _ in found))
        raise Unavailable(
            f"`{root}` holds several: {several}; name a tree with one (./ns3 clean removes them)"
        )
    ((library, match),) = found
    version, profile = match[1], match[2] or "release"
    if _is_older(version):
        raise Unavailable(f"`{root}` is ns-3 {version}; those from {VERSION} on are supported")
    if profile == "debug":
        raise Unavailable(
            f"`{root}` is a debug build, many times as slow: configure it by "
            "./ns3 configure --build-profile=release"
        )
    headers = [root / folder for folder in _HEADERS if (root / folder / "ns3").is_dir()]
    if not headers:
        raise Unavailable(f"`{root}` has ns-3's libraries without its headers (include/ns3)")
    release = Release(root, headers[0], library.parent, version, profile)
    absent = [
        module
        for module in MODULES
        if not (release.libraries / f"lib{release.library(module)}.so").exists()
    ]
    if absent:
        raise Unavailable(f"`{root}` was built without {', '.join(absent)}: enable these modules")
    return release


def _found(root: Path) -> Iterator[tuple[Path, re.Match[str]]]:
    for folder in _LIBRARIES:
        for path in sorted((root / folder).glob("libns3*-core*.so")):
            if match := _LIBRARY.fullmatch(path.name):
                yield path, match


def _is_older(version: str) -> bool:
    if version == _DEVELOPMENT:
        return False
    return [*map(int, version.split("."))] < [*map(int, VERSION.split("."))]


def _wheel() -> Release:
    spec = importlib.util.find_spec("ns3")
    roots = [Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    for root in roots:
        if (root / "lib64" / f"libns{VERSION}-core.so").exists():
            return Release(root, root / "include", root / "lib64", VERSION, "wheel")
    for root in roots:
        if other := sorted((root / "lib64").glob("libns3*-core.so")):
            raise Unavailable(
                f"the backend ns3 needs ns-3 {VERSION}, and {other[0]} is another release: "
                f"pip install {WHEEL}, or name a tree by {VARIABLE}"
            )
    raise Unavailable(
        f"the backend ns3 needs the wheel of ns-3: pip install {WHEEL}; or a tree that {VARIABLE} "
        "names"
    )
