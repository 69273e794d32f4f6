"""One engine with all mistakes, each of which can be switched on while it runs."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutation.places import ROOT, SOURCES, Mutant

WORK = ROOT / "target" / "mutants"
ENGINE = Path("crates", "engine", "src")
#: What a build needs of the project.
COPIED = ("Cargo.toml", "Cargo.lock", "crates", "examples/rust", "fuzz", "python")
NOT_COPIED = ("corpus", "target", "__pycache__")

#: What a site's byte says: nothing is wrong here; the mistake is made; it is looked whether the
#: place is reached; it was, and both sides were the same so far.
OFF, ON, WATCHED, SAME = range(4)

SWITCH = """//! The mistakes that are switched on, a byte for each.
#[allow(unused_imports)]
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

// Unit tests are linked with the crate as others see it as well.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub static CCPERF_SITES: [AtomicU8; COUNT] = [const { AtomicU8::new(0) }; COUNT];

/// Unit tests are asked for one mistake by the environment.
#[cfg(test)]
static ASKED: std::sync::LazyLock<usize> = std::sync::LazyLock::new(|| {
    std::env::var("CCPERF_MISTAKE").map_or(usize::MAX, |number| number.parse().unwrap())
});

#[inline(always)]
pub(crate) fn at(number: usize) -> u8 {
    #[cfg(test)]
    return u8::from(*ASKED == number);
    #[cfg(not(test))]
    CCPERF_SITES[number].load(Relaxed)
}

#[inline(always)]
pub(crate) fn is(number: usize) -> bool {
    match at(number) {
        0 => false,
        1 => true,
        _ => reached(number),
    }
}

#[cold]
fn reached(number: usize) -> bool {
    CCPERF_SITES[number].store(0, Relaxed);
    false
}

#[cold]
pub(crate) fn compared(number: usize, same: bool) {
    CCPERF_SITES[number].store(if same { 3 } else { 0 }, Relaxed);
}
"""

#: Built for speed of building, most of all what runs once a scenario. A sum that does not fit is a
#: mistake like another: CI checks sums elsewhere.
PROFILE = b"".join(
    b"""
[profile.release.package.%b]
opt-level = %d
codegen-units = 16
overflow-checks = false
"""
    % (crate, level)
    for crate, level in ((b"ccperf-engine", 1), (b"ccperf-scenario", 0), (b"ccperf-schema", 0))
)
#: Lints that see that a mistake is one, or that object to the switches.
ALLOWED = b"""#![allow(unconditional_panic, arithmetic_overflow, overflowing_literals, unsafe_code)]
"""
#: The copy's extension module, so that it does not take the place of the project's.
MODULE = "_mistaken"


def _settings() -> dict[str, str]:
    """Cargo's, so that what the engine depends on is what the project's build has compiled."""
    settings = {
        "CARGO_TARGET_DIR": str(ROOT / "target"),
        "CARGO_PROFILE_RELEASE_INCREMENTAL": "true",
    }
    for file in (ROOT / "target" / "maturin").glob("pyo3-config-*.txt"):
        settings["PYO3_CONFIG_FILE"] = str(file)
    return settings


@dataclass(frozen=True)
class Planted:
    """A mistake where it stands in the copy of a file."""

    number: int
    file: str
    start: int
    end: int


class Builder:
    """Builds the engine with as many of the mistakes as the compiler takes."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self.mutants = list(mutants)
        #: Of those that can be compared, the ones where the compiler objects.
        self._plain: set[str] = set()

    def build(self) -> list[Mutant]:
        """Build; return the mistakes in the order of their numbers, from 0."""
        while True:
            planted = self._plant()
            refused = self._compile(planted)
            if not refused:
                return self.mutants
            left = []
            for number, mutant in enumerate(self.mutants):
                if number in refused and (not mutant.comparable or mutant.name in self._plain):
                    continue
                if number in refused:
                    self._plain.add(mutant.name)
                left.append(mutant)
            self.mutants = left

    def _plant(self) -> list[Planted]:
        """Write a copy of the project in which each mistake can be switched on."""
        numbered: dict[str, list[tuple[int, Mutant]]] = {}
        for number, mutant in enumerate(self.mutants):
            numbered.setdefault(mutant.file, []).append((number, mutant))
        planted: list[Planted] = []
        contents = dict(_copied())
        for file, inside in numbered.items():
            source, text, done = (SOURCES / file).read_bytes(), b"", 0
            for number, mutant in sorted(inside, key=lambda item: item[1].start):
                text += source[done : mutant.start]
                switched = self._switched(number, mutant).encode()
                planted.append(Planted(number, file, len(text), len(text) + len(switched)))
                text += switched
                done = mutant.end
            contents[ENGINE / file] = text + source[done:]
        contents[ENGINE / "mutants.rs"] = SWITCH.replace("COUNT", str(len(self.mutants))).encode()
        contents[ENGINE / "lib.rs"] = ALLOWED + contents[ENGINE / "lib.rs"] + b"\nmod mutants;\n"
        contents[Path("Cargo.toml")] += PROFILE
        binding = Path("crates", "py", "Cargo.toml")
        contents[binding] = contents[binding].replace(b'"_native"', f'"{MODULE}"'.encode())
        _write(contents)
        return planted

    def _switched(self, number: int, mutant: Mutant) -> str:
        original, mutated = mutant.original, mutant.mutated
        if mutant.is_statement:
            return f"if !crate::mutants::is({number}) {{ {original} }}"
        if mutant.comparable and mutant.name not in self._plain:
            return (
                f"(match crate::mutants::at({number}) {{ 0 => {original}, 1 => {mutated}, _ => {{"
                f" let (right, wrong) = ({original}, {mutated});"
                f" crate::mutants::compared({number}, right == wrong); right }} }})"
            )
        end = ";" if any(f" {sign} " in original for sign in ("+=", "-=", "*=", "/=")) else ""
        switch = f"crate::mutants::is({number})"
        return f"(if {switch} {{ {mutated}{end} }} else {{ {original}{end} }})"

    def _compile(self, planted: Sequence[Planted]) -> set[int]:
        """Build; return the numbers of the mistakes that the compiler refuses."""
        done = _cargo("build", "--release", "-p", "ccperf-py", "--message-format=json")
        if done.returncode == 0:
            _install()
            return set()
        refused: set[int] = set()
        for message in _errors(done.stdout):
            refused |= _blamed(message, planted)
        if not refused:
            raise SystemExit(f"the engine with mistakes in it does not build:\n{done.stderr}")
        return refused


def _cargo(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["cargo", *words, "--locked"],
        cwd=WORK,
        env={**os.environ, **_settings()},
        capture_output=True,
        text=True,
        check=False,
    )


def build_tests() -> Path:
    """Build the engine's unit tests with the mistakes last planted; return the program."""
    lib = ("-p", "ccperf-engine", "--lib")
    done = _cargo("test", "--release", "--no-run", *lib, "--message-format=json")
    if done.returncode:
        raise SystemExit(f"the tests with mistakes in them do not build:\n{done.stderr}")
    lines = map(json.loads, done.stdout.splitlines())
    return next(Path(line["executable"]) for line in lines if line.get("executable"))


def _errors(output: str) -> Iterator[dict[str, Any]]:
    for line in output.splitlines():
        message = json.loads(line).get("message") or {}
        if message.get("level") == "error":
            yield message


def _blamed(message: dict[str, Any], planted: Sequence[Planted]) -> set[int]:
    """The mistakes in which an error is, or the one before it: it may have left out what a later
    line needs.
    """
    places = [
        (span["file_name"].removeprefix(f"{ENGINE.as_posix()}/"), span["byte_start"])
        for span in message["spans"]
        if span["is_primary"]
    ]
    found = {
        each.number
        for each in planted
        for file, at in places
        if each.file == file and each.start <= at < each.end
    }
    if not found:
        for file, at in places:
            before = [each for each in planted if each.file == file and each.start <= at]
            found |= {before[-1].number} if before else set()
    return found


def _copied() -> Iterator[tuple[Path, bytes]]:
    """The files of the project that a build needs."""
    for name in COPIED:
        path = ROOT / name
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            built = file.suffix in (".so", ".wasm") or set(NOT_COPIED) & set(file.parts)
            if file.is_file() and not built:
                yield file.relative_to(ROOT), file.read_bytes()


def _write(contents: dict[Path, bytes]) -> None:
    """Write what is not so already: what cargo built of the rest stays."""
    for name in ("crates", "python"):
        for file in (WORK / name).rglob("*"):
            if file.suffix in (".rs", ".py") and file.relative_to(WORK) not in contents:
                file.unlink()
    for file, content in contents.items():
        path = WORK / file
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _install() -> None:
    target = WORK / "python" / "ccperf" / "_native.abi3.so"
    target.unlink(missing_ok=True)
    target.write_bytes((ROOT / "target" / "release" / f"lib{MODULE}.so").read_bytes())


class Switches:
    """The bytes of the engine that is loaded in this process."""

    def __init__(self, count: int) -> None:
        from ccperf import _native

        library = ctypes.CDLL(_native.__file__)
        self._sites = (ctypes.c_uint8 * count).in_dll(library, "CCPERF_SITES")

    def switch_on(self, number: int) -> None:
        """Make a mistake from now on."""
        self._sites[number] = ON

    def watch(self) -> None:
        """Look from now on which places are reached."""
        ctypes.memset(self._sites, WATCHED, len(self._sites))

    def seen(self) -> bytes:
        """What has become of the bytes: `WATCHED` still where nothing came by."""
        return bytes(self._sites)

    def switch_off(self) -> None:
        """Make no mistakes from now on."""
        ctypes.memset(self._sites, OFF, len(self._sites))
