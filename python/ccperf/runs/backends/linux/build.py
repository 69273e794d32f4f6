"""Builds the kernel, once, into the user's cache."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ccperf.base.folders import Temporary
from ccperf.base.process import cores
from ccperf.errors import RunError, UsageError
from ccperf.runs.backends.cache import cache_directory, is_whole, locked
from ccperf.runs.backends.linux import source, steps

#: Called with the number of files compiled, and how many there will be, about.
Progress = Callable[[int, int], None]

CONFIG = Path(__file__).parent / "kernel.config"
#: What has to be installed, and in which package of Debian's it is.
_NEEDED = {
    "gcc": "gcc",
    "make": "make",
    "bc": "bc",
    "ld": "binutils",
    "tar": "tar",
    "xz": "xz-utils",
}
#: Bytes that source, objects and kernel take while they are built.
ROOM = 4 << 30
#: Files of 7.3 with our options, for the display.
_FILES = 690
#: Options that not every version has: 6.12 has neither of the first two, and 7.3 calls the third
#: `CONFIG_SYSCTL`.
_OF_SOME = {
    "CONFIG_NET_SCH_DUALPI2=y",
    "CONFIG_UML_MAX_USERSPACE_ITERATIONS=0",
    "CONFIG_PROC_SYSCTL=y",
}
#: Lines of a compiler's output that an error message repeats.
_SHOWN_LINES = 20
#: The same kernel whenever, wherever and by whomever it is built.
_SAME = {
    "ARCH": "um",
    "SUBARCH": "x86_64",
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
    "KBUILD_BUILD_USER": "ccperf",
    "KBUILD_BUILD_HOST": "ccperf",
    "KBUILD_BUILD_VERSION": "1",
    "SOURCE_DATE_EPOCH": "0",
    "LC_ALL": "C",
}


class Unavailable(RunError):
    """No kernel can be built or run here; the message is one sentence that says why."""


@dataclass(frozen=True)
class Kernel:
    """A kernel in the cache."""

    program: Path
    version: str
    """Linux's, as in `7.3.4`."""
    key: str
    """Hash of all that it was built from."""
    controls: tuple[str, ...] = ()
    """Files of the user's that are linked in."""
    recipe: str = ""
    """Hash of the options and steps that it was asked for with."""


def build(
    tree: Path | None = None, controls: Sequence[Path] = (), progress: Progress | None = None
) -> Kernel:
    """The kernel of a tree, or of a package of the distribution's, with a user's own files in it.

    It is built if the cache does not have it. From then on it is the one that runs use.

    Raises:
        UsageError: if the tree or a file is not what it should be.
        Unavailable: if nothing can be built here.
        RunError: if a step does not fit, or something does not compile.
    """
    for path in controls:
        _check_control(path)
    check_machine()
    found = source.find(tree)
    key = _key(found, controls)
    folder = cache_directory("linux") / key
    kernel = _kept(folder, recipe())
    if kernel is None:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / "lock"):
            kernel = _kept(folder, recipe())
            if kernel is None:
                _build(found, controls, folder, progress)
                kernel = _read(folder, recipe())
    if current() != kernel:
        draft = folder / "current"
        draft.write_text(f"{key} {kernel.recipe}")
        draft.replace(cache_directory("linux") / "current")
    return kernel


def current() -> Kernel | None:
    """The kernel that was built, or asked for, last."""
    folder = cache_directory("linux")
    try:
        key, _, made_by = (folder / "current").read_text().strip().partition(" ")
    except (OSError, ValueError):
        return None
    return _kept(folder / key, made_by)


def _kept(folder: Path, made_by: str) -> Kernel | None:
    """The kernel of a folder of the cache, if it is there and whole."""
    try:
        kernel = _read(folder, made_by)
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return kernel if is_whole(kernel.program) else None


def recipe() -> str:
    """Hash of the options and steps of this ccperf."""
    return _hash([CONFIG.read_text(), steps.DATA.read_text()])


def _hash(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def check_host() -> None:
    """Raises `Unavailable` unless a kernel could run on a machine like this one."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        raise Unavailable(
            "the backend linux needs Linux on x86-64, because User-mode Linux runs on nothing else "
            f"(this is {sys.platform} on {platform.machine()})"
        )


def check_machine() -> None:
    """Raises `Unavailable` unless a kernel can be built here."""
    check_host()
    absent = {name: package for name, package in _NEEDED.items() if shutil.which(name) is None}
    if absent:
        raise Unavailable(
            f"building a kernel needs {', '.join(absent)}: "
            f"apt-get install {' '.join(dict.fromkeys(absent.values()))}"
        )
    found = subprocess.run(["gcc", "-print-file-name=libc.a"], capture_output=True, text=True)
    if not Path(found.stdout.strip()).is_file():
        raise Unavailable(
            "building a kernel needs the static library of C, libc.a: apt-get install libc6-dev"
        )
    place = cache_directory("linux")
    _check_name(place)
    while not place.exists():
        place = place.parent
    if (free := shutil.disk_usage(place).free) < ROOM:
        raise Unavailable(
            f"building a kernel needs {ROOM >> 30} GB of room, and {place} has {free / 2**30:.1f}; "
            "XDG_CACHE_HOME names another place"
        )


def _check_name(place: Path) -> None:
    """Raises `Unavailable` where the kernel's makefiles cannot work, which split such names."""
    if re.search(r"[\s:]", str(place)):
        raise Unavailable(
            f"nothing can be compiled in {place}: the kernel's makefiles take no spaces and "
            "colons; XDG_CACHE_HOME names another place"
        )


def _check_control(path: Path) -> None:
    if not path.is_file():
        raise UsageError("--cc", f"there is no file {path}")
    if not re.fullmatch(r"tcp_[a-z0-9_]+\.c", path.name):
        raise UsageError(
            "--cc", f"{path.name} is not named as Linux's congestion controls are: tcp_mine.c"
        )


def _key(found: source.Source, controls: Sequence[Path]) -> str:
    shown = subprocess.run(["gcc", "--version"], capture_output=True, text=True)
    parts = [found.identity, CONFIG.read_text(), steps.DATA.read_text()]
    parts += [shown.stdout.partition("\n")[0]]
    parts += [f"{path.name}\n{path.read_text()}" for path in controls]
    return _hash(parts)


def _read(folder: Path, made_by: str) -> Kernel:
    about = json.loads((folder / "kernel.json").read_text())
    controls = tuple(about["controls"])
    return Kernel(folder / "linux", about["version"], folder.name, controls, made_by)


@contextmanager
def _room(folder: Path) -> Iterator[Path]:
    """Yield a folder in one that is locked, and delete it.

    To delete gigabytes takes longer than an interrupted command may: what others left goes, too.
    """
    for left in folder.glob("build-*"):
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as room:
        yield Path(room)


def _build(
    found: source.Source, controls: Sequence[Path], folder: Path, progress: Progress | None
) -> None:
    with _room(folder) as room:
        tools = source.tools(room / "tools")
        tree = source.unpack(found, room)
        version = source.version_of(tree)
        _check_processor(tree, version)
        steps.apply(tree)
        for path in controls:
            _add(path, tree)
        env = environment(tools)
        make = ["make", "-C", str(tree), f"O={room / 'objects'}"]
        config = [*make, f"KCONFIG_ALLCONFIG={CONFIG}", "allnoconfig"]
        _run(config, env, "the kernel cannot be configured")
        _check_config(room / "objects" / ".config", version)
        compile_ = ["nice", "-n", "10", *make, f"-j{cores()}", "linux"]
        _run(compile_, env, f"Linux {version} does not compile", progress)
        made = room / "linux"
        _run(["strip", "-o", str(made), str(room / "objects" / "linux")], env, "strip failed")
        _check_start(made)
        _run([*make, "modules"], env, f"Linux {version} has no modules")
        _keep_headers(tree, room / "objects", room / "headers.tar.xz")
        (room / "headers.tar.xz").replace(folder / "headers.tar.xz")
        made.replace(folder / "linux")
        about = {"version": version, "controls": [path.name for path in controls]}
        (room / "kernel.json").write_text(json.dumps(about))
        (room / "kernel.json").replace(folder / "kernel.json")


#: What modules are compiled with: of the source, and of what was made of it.
_HEADERS_OF_SOURCE = (
    "Makefile", "Kbuild", "include", "scripts", "arch/um/include", "arch/um/Makefile*",
    "arch/um/scripts", "arch/x86/include", "arch/x86/Makefile*", "arch/x86/um", "arch/x86/scripts",
    "arch/x86/entry/syscalls",
)  # fmt: skip
_HEADERS_MADE = (
    ".config", "Module.symvers", "include", "scripts", "arch/um/include/generated",
    "arch/x86/include/generated",
)  # fmt: skip


def _keep_headers(tree: Path, objects: Path, archive: Path) -> None:
    """Pack what modules are compiled with: some 75 MB, and 9 MB packed."""

    def kept(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if info.name.endswith((".o", ".cmd", ".a")) else info

    with tarfile.open(archive, "w:xz", preset=1) as packed:
        for root, name, patterns in (
            (tree, "tree", _HEADERS_OF_SOURCE),
            (objects, "objects", _HEADERS_MADE),
        ):
            for path in sorted({path for pattern in patterns for path in root.glob(pattern)}):
                packed.add(path, f"{name}/{path.relative_to(root)}", filter=kept)


def headers(kernel: Kernel) -> Path:
    """What modules for a kernel are compiled with: a folder with `tree` and `objects`.

    Raises:
        Unavailable: if the kernel was built without.
    """
    archive = kernel.program.parent / "headers.tar.xz"
    _check_name(archive)
    made = archive.with_name("headers")
    if not archive.exists():
        raise Unavailable(f"Linux {kernel.version} was built without its headers: build it anew")
    with locked(archive.with_name("lock")):
        if not made.exists():
            with _room(made.parent) as room:
                done = subprocess.run(
                    ["tar", "-xf", archive, "-C", room], capture_output=True, text=True
                )
                if done.returncode:
                    said = done.stderr.strip().splitlines()[:1]
                    raise Unavailable(
                        f"{archive} cannot be unpacked ({''.join(said)}): delete {archive.parent}, "
                        "and `ccperf linux build` builds it anew"
                    )
                (room / "made").mkdir()
                for name in ("tree", "objects"):
                    (room / name).replace(room / "made" / name)
                (room / "made").replace(made)
    return made


def environment(tools: Mapping[str, str]) -> dict[str, str]:
    """What make is called with, `tools` being where bison, flex and m4 are."""
    return {**os.environ, **_SAME, **tools}


def _add(control: Path, tree: Path) -> None:
    """A user's congestion control, beside the kernel's or in place of the one of its name."""
    place = tree / "net" / "ipv4"
    made = place / f"{control.name}.ccperf"
    shutil.copyfile(control, made)
    made.replace(place / control.name)
    makefile, name = place / "Makefile", control.with_suffix(".o").name
    text = makefile.read_text()
    if name not in text.split():
        made = place / "Makefile.ccperf"
        made.write_text(f"{text}\nobj-y += {name}\n")
        made.replace(makefile)


def _check_processor(tree: Path, version: str, processor: Path = Path("/proc/cpuinfo")) -> None:
    """Old kernels have a fixed size for what a processor's registers take, and AMX's take more."""
    sizes = tree / "arch" / "x86" / "um" / "user-offsets.c"
    is_fixed = sizes.is_file() and "(HOST_FP_SIZE, 2696)" in sizes.read_text(errors="replace")
    if is_fixed and processor.is_file() and " amx_tile " in processor.read_text():
        raise Unavailable(
            f"Linux {version} starts no program on a processor with AMX, since it has no room for "
            "its registers; 7.3 has"
        )


def _check_config(path: Path, version: str) -> None:
    """Nothing may be dropped in silence, but for what an older kernel does not have."""
    got = set(path.read_text().splitlines())
    asked = [line for line in CONFIG.read_text().splitlines() if line.startswith("CONFIG_")]
    if absent := [line for line in asked if line not in got and line not in _OF_SOME]:
        raise RunError(f"Linux {version} does not take these options: {', '.join(absent)}")


def _check_start(program: Path) -> None:
    """Start the kernel without a program to run: it says so if it may work here at all."""
    with Temporary() as root:
        command = [str(program), "mem=64M", "rootfstype=hostfs", f"rootflags={root}", "init=/none"]
        command += [
            "time-travel=inf-cpu",
            "time-travel-start=0",
            "panic=-1",
            "con=null",
            "con0=null,fd:1",
        ]
        command += [f"uml_dir={root}", "seccomp=auto"]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                errors="replace", timeout=60,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Unavailable("the kernel was built, and does not start within 60 s") from None
    output = done.stdout + done.stderr
    if "Requested init /none failed" not in output:
        last = (output.strip().splitlines() or ["no output"])[-1]
        raise Unavailable(
            f"the kernel was built, and does not start here ({last}): a container must allow "
            "ptrace or seccomp (--cap-add SYS_PTRACE, --security-opt seccomp=unconfined)"
        )


def _run(
    command: Sequence[str],
    environment: dict[str, str],
    failure: str,
    progress: Progress | None = None,
) -> None:
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    lines: list[str] = []
    done = 0
    try:
        for line in process.stdout or ():
            lines.append(line.rstrip())
            done += bool(re.match(r"  (CC|AS|AR|LD) ", line))
            if progress and done:
                progress(min(done, _FILES), _FILES)
        status = process.wait()
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
    if status:
        first = next((i for i, line in enumerate(lines) if re.search(r"\b[Ee]rror\b", line)), -5)
        shown = "\n".join(lines[first:][:_SHOWN_LINES])
        raise RunError(f"{failure}:\n{shown}")
