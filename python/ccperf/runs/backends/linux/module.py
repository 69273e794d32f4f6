"""A user's own congestion control, `tcp_mine.c`, compiled as a module for the kernel that is here.

The file registers a `tcp_congestion_ops`, as those of the kernel do, and includes the kernel's
headers, so it is under GPL-2.0. A module is kept by the content of its file, beside its kernel.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ccperf.errors import RunError
from ccperf.runs.backends.cache import is_whole
from ccperf.runs.backends.linux import build

#: Symbols for the lines of the file, which the kernel's words lack.
_BUILD = "obj-m := {name}.o\nccflags-y := -g\n"
_PLACE = re.compile(r"(\w+)\+0x([0-9a-f]+)/0x[0-9a-f]+ \[(\w+)\]")
_ADDRESS = re.compile(r"\bip (?:0x)?([0-9a-f]{6,16})\b")
_SHOWN_LINES = 20


@dataclass(frozen=True)
class Module:
    """A file that the kernel can load."""

    source: Path
    file: Path


def compiled(path: Path, kernel: build.Kernel) -> Module:
    """The module of a file, compiled if it is not there yet.

    Raises:
        RunError: with the compiler's own words, file and line.
    """
    content = path.read_bytes()
    folder = kernel.program.parent / "modules" / hashlib.sha256(content).hexdigest()[:24]
    made = Module(path, folder / f"{path.stem}.ko")
    if not is_whole(made.file):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            found = _compile(path, content, kernel, Path(scratch))
            found.replace(made.file)
    return made


@cache
def parameters(file: Path) -> frozenset[str]:
    """What a compiled module takes (`module_param`), as modinfo(8) lists it."""
    return _found(file, rb"\0parmtype=(\w+):")


@cache
def built_in_parameters(program: Path, name: str) -> frozenset[str]:
    """The same of a module that is a part of the kernel: `tcp_cdg`."""
    return _found(program, rb"\0" + name.encode() + rb"\.(\w+)(?=\0)")


def _found(file: Path, pattern: bytes) -> frozenset[str]:
    return frozenset(word.decode() for word in re.findall(pattern, file.read_bytes()))


def _compile(path: Path, content: bytes, kernel: build.Kernel, folder: Path) -> Path:
    headers = build.headers(kernel)
    (folder / path.name).write_bytes(content)
    (folder / "Kbuild").write_text(_BUILD.format(name=path.stem))
    # The kernel is configured: of the tools that this takes, modules need none.
    environment = build.environment({})
    command = ["make", "-s", "-C", str(headers / "tree"), f"O={headers / 'objects'}"]
    command += [f"M={folder}", "modules"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, errors="replace"
    )
    found = folder / f"{path.stem}.ko"
    if done.returncode or not found.exists():
        said = (done.stdout + done.stderr).replace(f"{folder}/", "").splitlines()
        lines = [line for line in said if line.strip() and not line.startswith("make")]
        first = next((i for i, line in enumerate(lines) if re.search(r"\b[Ee]rror\b", line)), 0)
        shown = "\n".join(lines[first:][:_SHOWN_LINES])
        raise RunError(f"{path.name} does not compile for Linux {kernel.version}:\n{shown}")
    return found


def placed(text: str, module: Module, loaded: str = "") -> str:
    """The kernel's words, with the lines of the user's file where they name places in it.

    `loaded` is `/proc/modules` of the kernel, which says where the module is.
    """
    name = module.file.stem.replace("-", "_")
    base = re.search(rf"^{name} (\d+) .* 0x([0-9a-f]+)", loaded, re.MULTILINE)

    def line_of(found: re.Match[str]) -> str:
        start = _symbol(module.file, found[1]) if found[3] == name else None
        return _with_place(found[0], module, None if start is None else start + int(found[2], 16))

    def line_at(found: re.Match[str]) -> str:
        offset = int(found[1], 16) - int(base[2], 16) if base else -1
        is_inside = base is not None and 0 <= offset < int(base[1])
        return _with_place(found[0], module, offset if is_inside else None)

    return _ADDRESS.sub(line_at, _PLACE.sub(line_of, text))


def _with_place(text: str, module: Module, offset: int | None) -> str:
    place = "" if offset is None else _line(module.file, offset)
    return f"{text} ({place})" if place else text


def _symbol(file: Path, name: str) -> int | None:
    """Where a function begins in its section."""
    if shutil.which("nm") is None:
        return None
    said = subprocess.run(["nm", file], capture_output=True, text=True).stdout
    found = re.search(rf"^([0-9a-f]+) [tT] {re.escape(name)}$", said, re.MULTILINE)
    return int(found[1], 16) if found else None


def _line(file: Path, offset: int) -> str:
    if shutil.which("addr2line") is None:
        return ""
    command = ["addr2line", "-e", str(file), "-j", ".text", hex(offset)]
    said = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    place = said.partition(" ")[0].rpartition("/")[2]
    return "" if place.startswith("?") else place
