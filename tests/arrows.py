"""Which module uses which: read from the sources, for `test_layers.py`.

A module is named by its dotted path below the package or crate (`host.tcp.socket.ack`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "ccperf"
#: By what the names of their modules begin with: nothing for the engine's.
CRATES = {
    crate: ROOT / "crates" / (crate or "engine") / "src" for crate in ("", "scenario", "schema")
}

#: From each module, the modules that it uses.
Arrows = Mapping[str, set[str]]


def unit(module: str, units: Container[str]) -> str:
    """The unit that a module is in: itself, or the nearest above it; else the empty name."""
    while module and module not in units:
        module = module.rpartition(".")[0]
    return module


def between_units(arrows: Arrows, units: Container[str]) -> Iterator[tuple[str, str, str]]:
    """Each arrow that leaves a unit: its two units and the module that it starts from."""
    for module, used in sorted(arrows.items()):
        for other in sorted(used):
            here, there = unit(module, units), unit(other, units)
            if here != there:
                yield here, there, module


def circles(arrows: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The groups of modules that all use each other, directly or not."""
    reach: dict[str, set[str]] = {}

    def reachable(start: str) -> set[str]:
        if start not in reach:
            found: set[str] = set()
            waiting = list(arrows.get(start, ()))
            while waiting:
                module = waiting.pop()
                if module not in found:
                    found.add(module)
                    waiting += arrows.get(module, ())
            reach[start] = found
        return reach[start]

    groups = {
        tuple(sorted(other for other in reachable(module) if module in reachable(other)))
        for module in arrows
        if module in reachable(module)
    }
    return [list(group) for group in sorted(groups)]


# Python.


def python(folder: Path = PACKAGE, *, types: bool = False) -> dict[str, set[str]]:
    """What each module of the package imports, at its head or inside a function.

    What is imported for the type checker only makes nothing depend on it, and is left out unless
    `types`.
    """
    files = {_dotted(file, folder): file for file in sorted(folder.rglob("*.py"))}
    known = {*files, "_native"}
    return {
        module: {
            used
            for name in _imported(ast.parse(file.read_text()), types)
            if (used := unit(name.removeprefix(f"{folder.name}."), known)) != module
        }
        for module, file in files.items()
    }


def _imported(tree: ast.AST, types: bool) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and _is_for_types(node) and not types:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            yield from _imported(node, types)
            continue
        yield from (name for name in names if name.startswith("ccperf."))


def _is_for_types(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _dotted(file: Path, folder: Path) -> str:
    parts = file.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] in ("__init__", "mod") else parts)


# Rust.


def rust(crates: Mapping[str, Path] = CRATES) -> dict[str, set[str]]:
    """What each module of the crates names by a path: `use`, re-exports and paths inside functions.

    What is compiled for tests only is left out.
    """
    sources: dict[str, str] = {}
    crate_of: dict[str, str] = {}
    for crate, folder in crates.items():
        for file in sorted(folder.rglob("*.rs")):
            inside = "" if file.name == "lib.rs" else _dotted(file, folder)
            module = ".".join(filter(None, (crate, inside)))
            if module and not _is_for_tests(inside, folder):
                sources[module], crate_of[module] = _code(file.read_text()), crate
    known = set(sources)
    return {
        module: {
            used
            for path in [*_paths(code, module, crate_of[module]), *_children(code, module, known)]
            if (used := unit(path, known)) not in (module, "")
        }
        for module, code in sources.items()
    }


def _is_for_tests(module: str, folder: Path) -> bool:
    """Whether a module that declares this one, or one above it, does so for tests only."""
    above, _, name = module.rpartition(".")
    if not name:
        return False
    if above and _is_for_tests(above, folder):
        return True
    place = folder.joinpath(*above.split(".")) if above else folder / "lib"
    files = [place / "mod.rs", place.with_suffix(".rs")]
    text = "".join(file.read_text() for file in files if file.is_file())
    return re.search(rf"#\[cfg\(test\)\]\s*(?:pub(?:\([a-z]+\))? )?mod {name};", text) is not None


def _code(text: str) -> str:
    """The text without comments, string contents and modules for tests."""
    text = re.sub(r'//[^\n]*|"(?:[^"\\]|\\.)*"', '""', text)
    while found := re.search(r"#\[cfg\(test\)\]\s*(?:pub(?:\([a-z]+\))? )?mod \w+ \{", text):
        text = text[: found.start()] + text[_closing(text, found.end()) :]
    return text


def _closing(text: str, start: int) -> int:
    """Where the brace that was opened before `start` has been closed."""
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[start], 0)
        start += 1
    return start


def _paths(code: str, module: str, crate: str) -> Iterator[str]:
    """Every path that begins with `crate`, `super` or the name of a crate."""
    for found in re.finditer(r"\b(crate|ccperf_\w+|(?:super::)*super|self)::(?=[\w{*])", code):
        word, above = found[1], module.split(".")
        if word.startswith("ccperf_"):
            other = word.removeprefix("ccperf_")
            above = [] if other == "engine" else [other]
        elif word == "crate":
            above = [crate] if crate else []
        elif word != "self":
            above = above[: len(above) - len(word.split("::"))]
        for path in _tree(code, found.end()):
            yield ".".join([*above, *path])


def _children(code: str, module: str, known: set[str]) -> Iterator[str]:
    """The modules below this one that it names without `self`."""
    for other in known:
        above, _, name = other.rpartition(".")
        if above == module and re.search(rf"(?<![\w:]){name}::", code):
            yield other


def _tree(code: str, start: int) -> Iterator[list[str]]:
    """The paths of a `use` tree: `a::{b, c::d}`."""
    if code[start] == "{":
        end = _closing(code, start + 1)
        for part in _split(code[start + 1 : end - 1]):
            yield from _tree(part, 0)
    elif name := re.match(r"\w+", code[start:]):
        rest = start + name.end()
        if code.startswith("::", rest) and re.match(r"[\w{*]", code[rest + 2 :]):
            for path in _tree(code, rest + 2):
                yield [name[0], *path]
        else:
            yield [name[0]]
    else:
        yield []


def _split(text: str) -> Iterator[str]:
    depth, part = 0, ""
    for char in text:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if char == "," and depth == 0:
            if part.strip():
                yield part.strip()
            part = ""
        else:
            part += char
    if part.strip():
        yield part.strip()
