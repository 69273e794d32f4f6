"""``ccperf new``: the beginning of an algorithm of one's own, with its test."""

from __future__ import annotations

import keyword
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from ccperf import data
from ccperf.base.outputs import unwritable, whole
from ccperf.cli.options import Json, writable_folder
from ccperf.cli.output import note, print_json, say
from ccperf.cli.parameter import Parameter
from ccperf.errors import UsageError

_SUFFIXES: dict[str, Literal["python", "c", "cpp", "rust"]] = {
    ".py": "python",
    ".c": "c",
    ".cpp": "cpp",
    ".cc": "cpp",
    ".rs": "rust",
}
#: What an algorithm of each kind is compared with first.
_FIRST = {
    "cc": "ccperf watch {} --against cubic",
    "qdisc": "ccperf watch {} --against codel",
    "balancer": "ccperf watch {} --against ecmp",
    "scheduler": "ccperf run schedulers --qdisc DWRR,{}",
}
#: Languages that have no interface for a kind.
_PYTHON_ONLY = ("scheduler",)
#: How long the name of a congestion control of Linux is at most (`TCP_CA_NAME_MAX`, less its end).
_LONGEST = 15


def command(
    kind: Annotated[Literal["cc", "qdisc", "balancer", "scheduler"], Parameter(help="What it is.")],
    name: Annotated[str, Parameter(help="Its name, or its file: MyCca, my_cca.py.")],
    /,
    *,
    language: Annotated[
        Literal["python", "c", "cpp", "rust", "kernel"] | None,
        Parameter(help="Default: Python; kernel: a module of Linux, for --backend linux."),
    ] = None,
    output: Annotated[
        Path, Parameter(name=["--output", "-o"], help="Folder to write to.")
    ] = Path(),
    json: Json = False,
) -> None:
    """Write a congestion control, queue discipline, load balancer or scheduler that runs, and its
    test.

    It is small and works; change what you like. Nothing is overwritten.
    """
    written = Path(name)
    language = language or _SUFFIXES.get(written.suffix, "python")
    if kind in _PYTHON_ONLY and language != "python":
        raise UsageError("--language", f"a {kind} is written in python; others have no interface")
    if written.suffix in _SUFFIXES:
        output, name = output / written.parent, written.stem
    stem, cls = _names(name, language)
    control = stem.removeprefix("tcp_")
    if language == "kernel":
        stem = _module(kind, control)
    if language == "rust" and re.search(rf"(?m)^use .*\b{cls}\b", data.text(f"new/{kind}.rs.txt")):
        raise UsageError("name", f"`{cls}` is what the file uses; choose another name")
    writable_folder(output)
    folder = output / stem if language == "rust" else output
    suffix = written.suffix if _SUFFIXES.get(written.suffix) == "cpp" else ".cpp"
    # The source file, its template, and what is named on a command line.
    source, template, own = {
        "python": (f"{stem}.py", f"{kind}.py", f"{stem}.py:{cls}"),
        "c": (f"{stem}.c", f"{kind}.c", f"lib{stem}.so"),
        "cpp": (f"{stem}{suffix}", f"{kind}.cpp", f"lib{stem}.so"),
        "rust": ("src/lib.rs", f"{kind}.rs", f"target/release/lib{stem}.so"),
        "kernel": (f"{stem}.c", f"{kind}.kernel.c", f"{stem}.c"),
    }[language]
    texts = {
        source: template,
        f"test_{stem}.py": f"test_{kind}.py",
        **({"Cargo.toml": "Cargo.toml"} if language == "rust" else {}),
    }
    words = {
        "Name": cls,
        "stem": stem,
        "control": control,
        "backend": ', backend="linux"' if language == "kernel" else "",
        "own": own,
        "place": f"./{own}",
        "test": f"test_{stem}.py",
        "plugin": _plugin() if language == "rust" else "",
    }
    for path in (folder / file for file in texts):
        if path.exists():
            raise UsageError("name", f"`{path}` is there already; choose another name")
    _write({folder / file: _filled(text, words) for file, text in texts.items()})
    files = [str(folder / file) for file in texts]
    place = f"./{folder / own}" if not folder.is_absolute() else str(folder / own)
    commands = [
        *_building(language, folder / source, folder / f"lib{stem}.so"),
        f"python {shlex.quote(str(folder / f'test_{stem}.py'))}",
        f"ccperf bench {shlex.quote(place)} --backend linux"
        if language == "kernel"
        else _FIRST[kind].format(shlex.quote(place)),
    ]
    if json:
        print_json({"files": files, "name": place, "commands": commands})
        return
    say("\n".join(files))
    note("next:\n  " + "\n  ".join(commands))


def _write(texts: Mapping[Path, str]) -> None:
    """Write all the files, or none: a part of them would be in the way of the same command."""
    written: list[Path] = []
    path = Path()
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole(path) as draft:
                draft.write_text(text)
            written.append(path)
    except OSError as error:
        for each in written:
            each.unlink()
        raise unwritable(path, error) from error


def _names(name: str, language: str) -> tuple[str, str]:
    """The file's and the class's: `my_cca` and `MyCca` of `my_cca`, `mycca` and `MyCca` of
    `MyCca`."""
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_-]*", name, re.ASCII):
        raise UsageError("name", f"`{name}` is no name; write letters, digits and _, as MyCca")
    cls = "".join(word[:1].upper() + word[1:] for word in re.split("[-_]+", name))
    stem = name.replace("-", "_").lower()
    taken = {*sys.stdlib_module_names, "ccperf"}
    if language == "python" and (stem in taken or keyword.iskeyword(cls)):
        raise UsageError("name", f"`{name}` is a word of Python or a module; choose another name")
    return stem, cls


def _module(kind: str, control: str) -> str:
    """The file of a congestion control in a kernel, as the kernel calls its own: `tcp_mine`."""
    if kind != "cc":
        raise UsageError(
            "--language", f"kernel is for cc; write a {kind} in python, c, cpp or rust"
        )
    if len(control) > _LONGEST:
        raise UsageError(
            "name", f"Linux takes {_LONGEST} letters, `{control}` has {len(control)}; shorten it"
        )
    return f"tcp_{control}"


def _filled(template: str, words: dict[str, str]) -> str:
    text = data.text(f"new/{template}.txt")
    return re.sub("@([A-Za-z]+)@", lambda found: words[found[1]], text)


def _building(language: str, source: Path, library: Path) -> list[str]:
    compiler = {"c": "cc", "cpp": "c++ -std=c++20"}.get(language)
    if compiler:
        include = '-I"$(python -m ccperf.include)"'
        files = f"-o {shlex.quote(str(library))} {shlex.quote(str(source))}"
        return [f"{compiler} -shared -fPIC -O2 {include} {files}"]
    if language == "rust":
        return [f"(cd {shlex.quote(str(library.parent))} && cargo build --release)"]
    return []


def _plugin() -> str:
    """The folder of the crate that speaks ccperf's interface: a part of a checkout."""
    import ccperf

    folder = Path(ccperf.__file__).resolve().parents[2] / "crates" / "plugin"
    if not folder.is_dir():
        message = "rust needs ccperf's sources, where crates/plugin is; work in a checkout"
        raise UsageError("--language", message)
    return str(folder)
