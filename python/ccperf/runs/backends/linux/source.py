"""Where a kernel's source comes from: the user's tree, an installed package, or apt."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ccperf.base.folders import Temporary
from ccperf.errors import RunError, UsageError

#: The oldest kernel that the steps are known to fit.
OLDEST = (6, 12)
#: What is fetched if there is a choice; the newest other one if not.
PREFERRED = "linux-source-7.3"
#: Where packages with a kernel's source put it.
INSTALLED = Path("/usr/src")
#: Whoever has Debian's keys can have its backports, whatever release this machine is.
_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_BACKPORTS = "trixie-backports"
#: What building takes besides a compiler, all of it in packages that need no installation.
TOOLS = ("bison", "flex", "m4")
#: Of a tree in which somebody has built: what its makefile refuses, and history.
_LEFT_OUT = {".config", ".git", "include/config", "include/generated", "arch/x86/include/generated"}


@dataclass(frozen=True)
class Source:
    """A kernel's source that has been found."""

    identity: str
    """What it is: the package with its version, or what is in the user's tree."""
    place: Path | None
    """A tree or an archive; None: the package is still to be fetched."""
    package: str = ""


def find(tree: Path | None = None) -> Source:
    """The user's tree, or else the newest package that is installed, or else one that apt has.

    Raises:
        UsageError: if the tree is none, or too old.
        RunError: if there is no source.
    """
    if tree is not None:
        return Source(_identity_of_tree(tree), tree.resolve())
    archives = [
        (version, path)
        for path in INSTALLED.glob("linux-source-*.tar.*")
        if (version := _version_in(path.name)) >= OLDEST
    ]
    if archives:
        newest = max(archives)[1]
        found = newest.stat()
        return Source(f"{newest.name} {found.st_size} {found.st_mtime_ns}", newest)
    package, release = _offered()
    return Source(f"{package} {release}", None, package)


def version_of(tree: Path) -> str:
    """The kernel's version, as its makefile has it.

    Raises:
        UsageError: if this is no kernel's source.
    """
    try:
        head = (tree / "Makefile").read_text(errors="replace")[:2000]
    except OSError:
        head = ""
    parts = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *= *(\S*)$", head, re.M))
    if not parts.get("VERSION") or not (tree / "arch" / "um").is_dir():
        raise UsageError(
            "--tree",
            f"{tree} is no source of Linux: it has no Makefile with a VERSION, or no arch/um",
        )
    numbers: str = ".".join(
        parts.get(name) or "0" for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL")
    )
    return f"{numbers}{parts.get('EXTRAVERSION', '')}"


def unpack(source: Source, folder: Path) -> Path:
    """The source as a tree that may be edited, below `folder`; fetched first if need be.

    Raises:
        RunError: if it cannot be fetched or unpacked.
    """
    place = source.place
    if place is None:
        fetched = folder / "package"
        _download(Apt(folder / "apt"), source.package, fetched)
        place = next((fetched / "usr" / "src").glob("linux-source-*.tar.*"))
    if place.is_dir():
        made = folder / "tree"
        shutil.copytree(place, made, symlinks=True, ignore=_left_out(place), copy_function=_link)
        return made
    unpacked = folder / "unpacked"
    unpacked.mkdir()
    done = subprocess.run(["tar", "-xf", place, "-C", unpacked], capture_output=True, text=True)
    if done.returncode:
        raise RunError(f"{place} cannot be unpacked: {done.stderr.strip()}")
    return next(path for path in unpacked.iterdir() if path.is_dir())


def tools(folder: Path) -> dict[str, str]:
    """The environment that finds bison, flex and m4; absent ones are fetched into `folder`.

    Raises:
        RunError: if apt does not have them.
    """
    absent = [tool for tool in TOOLS if shutil.which(tool) is None]
    if not absent:
        return {}
    try:
        for tool in absent:
            _download(Apt(folder / "apt"), tool, folder)
    except RunError as error:
        raise RunError(
            f"building a kernel needs {', '.join(absent)}: "
            f"apt-get install {' '.join(absent)} ({error})"
        ) from error
    found = {"PATH": os.pathsep.join([str(folder / "usr" / "bin"), os.environ.get("PATH", "")])}
    if "bison" in absent:
        found["BISON_PKGDATADIR"] = str(folder / "usr" / "share" / "bison")
    if "m4" in absent:
        found["M4"] = str(folder / "usr" / "bin" / "m4")
    return found


class Apt:
    """apt for anybody: it keeps what it knows in a folder, and installs nothing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._is_fresh = False

    def run(self, *words: str, cwd: Path | None = None) -> str:
        """What a command of apt's prints; raises `RunError` with its last words if it fails."""
        if not self._is_fresh:
            self._is_fresh = True
            self._set_up()
            self.run("apt-get", "-q", "update")
        command, *rest = words
        if (path := shutil.which(command)) is None:
            raise RunError(f"there is no {command} here")
        done = subprocess.run(
            [path, *self._options(), *rest],
            cwd=cwd,
            capture_output=True,
            text=True,
            errors="replace",
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise RunError(f"`{' '.join(words)}` failed: {last}")
        return done.stdout

    def _set_up(self) -> None:
        for name in ("state/lists/partial", "cache/archives/partial", "sources"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        for place in ("/etc/apt/sources.list", "/etc/apt/sources.list.d"):
            for path in [Path(place)] if place.endswith(".list") else sorted(Path(place).glob("*")):
                if path.is_file() and path.suffix in (".list", ".sources"):
                    shutil.copy(path, self._folder / "sources" / path.name)
        if _KEYS.exists():
            line = f"deb [signed-by={_KEYS}] {_mirror()} {_BACKPORTS} main\n"
            (self._folder / "sources" / "ccperf.list").write_text(line)

    def _options(self) -> list[str]:
        import getpass

        return [
            *("-o", f"Dir::State={self._folder / 'state'}"),
            *("-o", f"Dir::Cache={self._folder / 'cache'}"),
            *("-o", "Dir::State::status=/var/lib/dpkg/status"),
            *("-o", "Dir::Etc::sourcelist=/dev/null"),
            *("-o", f"Dir::Etc::sourceparts={self._folder / 'sources'}"),
            *("-o", f"APT::Sandbox::User={getpass.getuser()}"),
        ]


def _mirror() -> str:
    """The server that this machine has its packages from, if that is Debian's."""
    done = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)"], capture_output=True, text=True
    )
    mirrors = [uri for uri in done.stdout.split() if "debian" in uri and "security" not in uri]
    return mirrors[0] if mirrors else "http://deb.debian.org/debian/"


def _offered() -> tuple[str, str]:
    """The package with a kernel's source that apt offers, and its version."""
    if shutil.which("apt-get") is None:
        raise RunError(
            "there is no kernel source: no package linux-source is installed, and there is no apt "
            "to fetch one with; `--tree DIR` names an unpacked source of Linux 6.12 or newer"
        )
    with Temporary("apt-") as folder:
        apt = Apt(Path(folder))
        names = apt.run("apt-cache", "pkgnames", "linux-source-").split()
        package = choose(names)
        shown = apt.run("apt-cache", "show", "--no-all-versions", package)
    version = re.search(r"^Version: (\S+)$", shown, re.M)
    return package, version[1] if version else ""


def choose(names: Sequence[str]) -> str:
    """Of packages' names the preferred one, or the newest; raises `RunError` if all are too old."""
    kernels = [name for name in names if re.fullmatch(r"linux-source-\d+\.\d+", name)]
    if PREFERRED in kernels:
        return PREFERRED
    newest = max(kernels, key=_version_in, default="")
    if _version_in(newest) < OLDEST:
        raise RunError(
            f"apt has no kernel source that is new enough (its newest is {newest or 'none'}, "
            f"{'.'.join(map(str, OLDEST))} is needed); `--tree DIR` names an unpacked one"
        )
    return newest


def _version_in(name: str) -> tuple[int, int]:
    found = re.search(r"(\d+)\.(\d+)", name)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _download(apt: Apt, package: str, folder: Path) -> None:
    """Fetch a package and unpack it into `folder`."""
    archives = folder / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    apt.run("apt-get", "-q", "download", package, cwd=archives)
    for archive in archives.glob(f"{package}_*.deb"):
        done = subprocess.run(["dpkg", "-x", archive, folder], capture_output=True, text=True)
        archive.unlink()
        if done.returncode:
            raise RunError(f"{archive.name} cannot be unpacked: {done.stderr.strip()}")


def _identity_of_tree(tree: Path) -> str:
    """Version of a tree, and a hash of what is where in it and how old."""
    version = version_of(tree)
    if _version_in(version) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise UsageError("--tree", f"{tree} is Linux {version}; {oldest} or newer is needed")
    digest, ignore = hashlib.sha256(), _left_out(tree)
    for folder, folders, files in os.walk(tree):
        names = ignore(folder, [*folders, *files])
        folders[:] = sorted(name for name in folders if name not in names)
        for name in sorted(name for name in files if name not in names):
            found = os.lstat(os.path.join(folder, name))
            place = os.path.join(os.path.relpath(folder, tree), name)
            digest.update(f"{place} {found.st_size} {found.st_mtime_ns}\n".encode())
    return f"tree {version} {digest.hexdigest()}"


def _left_out(tree: Path) -> Callable[[str, list[str]], set[str]]:
    def ignore(folder: str, names: list[str]) -> set[str]:
        inside = os.path.relpath(folder, tree)
        whole = {name: name if inside == "." else f"{inside}/{name}" for name in names}
        return {name for name in names if whole[name] in _LEFT_OUT or name.endswith((".o", ".a"))}

    return ignore


def _link(source: str, target: str) -> None:
    """Nothing is copied where files may have two names; the steps replace what they edit."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
