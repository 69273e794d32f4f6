"""Plants one-line mistakes in the engine and counts those that the comparison with ns-3 notices.

    python tools/mutants.py               the review's mistakes and a random tenth of the others
    python tools/mutants.py --share 1     all of them
    python tools/mutants.py --seed 7      the tenth that seed 7 draws

All mistakes are built into one copy of the engine and switched on one at a time, at run time.  A
mistake is killed when the engine, with it, records another table or another packet than what real
ns-3 confirmed for some scenario of the matrix (`tests/verify/fingerprints.json`), or never ends.
Mistakes that cannot be seen have a reason in `tools/mutants.toml`; any other survivor fails.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    import tomllib
except ImportError:  # before Python 3.11
    import tomli as tomllib
import tree_sitter_rust
from tree_sitter import Language, Node, Parser

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "crates" / "engine" / "src"
RECORD = ROOT / "tests" / "verify" / "fingerprints.json"
REASONS = Path(__file__).with_name("mutants.toml")
WORK = ROOT / "target" / "mutants"

#: What is not the engine's behaviour but how it is described, checked and read.
LEFT_OUT = (
    "scenario/",
    "properties.rs",
    "tests.rs",
    "bench.rs",
    "driver.rs",
    "units.rs",
    "user.rs",
)
#: Of processor time: a run with a mistake in it may never end; one without takes a fraction of one.
LIMIT_S = 10

SWITCH = """//! The mistake that is switched on.
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
static ACTIVE: AtomicU32 = AtomicU32::new(0);
#[inline]
pub(crate) fn is(number: u32) -> bool {
    ACTIVE.load(Relaxed) == number
}
#[unsafe(no_mangle)]
pub extern "C" fn ccperf_switch_on(number: u32) {
    ACTIVE.store(number, Relaxed);
}
"""

OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "+": "-", "-": "+", "*": "/", "/": "*", "&&": "||", "||": "&&",
    "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "%": "/", "<<": ">>", ">>": "<<",
}  # fmt: skip
METHODS = {"min": "max", "max": "min", "is_some": "is_none", "is_none": "is_some"}
#: Where the compiler wants a constant, or no expression stands.
NO_EXPRESSION = {
    "const_item", "static_item", "attribute_item", "inner_attribute_item", "macro_invocation",
    "macro_definition", "match_pattern", "range_pattern", "tuple_struct_pattern", "array_type",
    "type_arguments", "enum_variant", "token_tree", "const_block", "use_declaration",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A place of the source, and what stands there when its number is switched on."""

    file: str
    start: int
    end: int
    line: int
    original: str
    mutated: str
    #: Of those written by hand: what it is.
    about: str = ""

    @property
    def is_statement(self) -> bool:
        return not self.mutated

    @property
    def name(self) -> str:
        """Stays when lines move."""
        return f"{self.file}: {_line(self.original)} -> {_line(self.mutated) or 'nothing'}"


def _line(text: str) -> str:
    return " ".join(text.split())


# Where mistakes can be made.


def find(path: Path) -> Iterator[Mutant]:
    """Every mistake that the tool can think of in one file, outer ones before inner ones."""
    source = path.read_bytes()
    file = path.relative_to(SOURCES).as_posix()

    def mutant(node: Node, mutated: str) -> Mutant:
        original = source[node.start_byte : node.end_byte].decode()
        return Mutant(
            file, node.start_byte, node.end_byte, node.start_point[0] + 1, original, mutated
        )

    def walk(node: Node) -> Iterator[Mutant]:
        if node.type in NO_EXPRESSION or _is_test(node) or _is_const(node):
            return
        for mutated in mistakes(node):
            yield mutant(node, mutated)
        for i, child in enumerate(node.children):
            field = node.field_name_for_child(i)
            if node.type == "array_expression" and field == "length":
                continue
            if node.type.endswith("_pattern") or field == "pattern":
                continue
            yield from walk(child)

    yield from walk(Parser(Language(tree_sitter_rust.language())).parse(source).root_node)


def mistakes(node: Node) -> Iterator[str]:
    """What may stand in place of an expression or a statement; nothing: it is left out."""
    text = (node.text or b"").decode()
    if node.type in ("binary_expression", "compound_assignment_expr"):
        left, sign, right = (node.child_by_field_name(f) for f in ("left", "operator", "right"))
        if left and sign and right and (sign.text or b"").decode() in OPERATORS:
            other = OPERATORS[(sign.text or b"").decode()]
            if "let " not in text:
                yield f"{(left.text or b'').decode()} {other} {(right.text or b'').decode()}"
    elif node.type == "integer_literal" and text.isdigit():
        yield str(int(text) + 1)
    elif node.type == "float_literal":
        yield f"({text} * 1.25 + 0.001)"
    elif node.type == "boolean_literal":
        yield "false" if text == "true" else "true"
    elif node.type == "unary_expression" and text.startswith("!"):
        yield text[1:]
    elif node.type == "call_expression":
        function = node.child_by_field_name("function")
        name = function and function.child_by_field_name("field")
        if function and name and (method := (name.text or b"").decode()) in METHODS:
            before = text[: name.start_byte - node.start_byte]
            yield before + METHODS[method] + text[name.end_byte - node.start_byte :]
    elif node.type == "expression_statement":
        inner = node.children[0]
        if inner.type in ("call_expression", "assignment_expression") and text.endswith(";"):
            yield ""


def _is_test(node: Node) -> bool:
    before = node.prev_sibling
    while before is not None and before.type in ("attribute_item", "line_comment"):
        if b"test" in (before.text or b""):
            return True
        before = before.prev_sibling
    return False


def _is_const(node: Node) -> bool:
    return node.type == "function_item" and any(
        child.type == "function_modifiers" and b"const" in (child.text or b"")
        for child in node.children
    )


def catalogue() -> list[Mutant]:
    """All mistakes that are built in, those written by hand first; no two overlap.

    Of places inside one another one is taken, by a hash, so that the choice stays as code moves.
    """
    chosen: list[Mutant] = []
    for path in sorted(SOURCES.rglob("*.rs")):
        file = path.relative_to(SOURCES).as_posix()
        by_hand = list(_by_hand(path, file))
        taken = [(mutant.start, mutant.end) for mutant in by_hand]
        chosen += by_hand
        if any(part in file for part in LEFT_OUT):
            continue
        found = sorted(find(path), key=lambda m: hashlib.sha256(m.name.encode()).digest())
        for mutant in found:
            if all(mutant.end <= start or end <= mutant.start for start, end in taken):
                taken.append((mutant.start, mutant.end))
                chosen.append(mutant)
    return sorted(chosen, key=lambda mutant: (not mutant.about, mutant.file, mutant.start))


def _by_hand(path: Path, file: str) -> Iterator[Mutant]:
    source = path.read_text()
    for entry in _toml().get("planted", ()):
        if entry["file"] != file:
            continue
        if source.count(entry["find"]) != 1:
            raise SystemExit(f"{REASONS}: {file} does not have exactly one `{entry['find']}`")
        at = len(source[: source.index(entry["find"])].encode())
        end = at + len(entry["find"].encode())
        line = source[: source.index(entry["find"])].count("\n") + 1
        yield Mutant(file, at, end, line, entry["find"], entry["replace"], entry["about"])


def _toml() -> dict[str, Any]:
    return tomllib.loads(REASONS.read_text()) if REASONS.exists() else {}


# One engine with all of them.


def plant(mutants: list[Mutant]) -> None:
    """Write a copy of the crates in which each mistake can be switched on."""
    for name in ("crates", "examples", "python"):
        shutil.copytree(ROOT / name, WORK / name, dirs_exist_ok=True)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, WORK)
    engine = WORK / "crates" / "engine" / "src"
    numbered: dict[str, list[tuple[int, Mutant]]] = {}
    for number, mutant in enumerate(mutants, 1):
        numbered.setdefault(mutant.file, []).append((number, mutant))
    for file, inside in numbered.items():
        source = (SOURCES / file).read_bytes()
        for number, mutant in sorted(inside, key=lambda item: -item[1].start):
            text = _switched(number, mutant).encode()
            source = source[: mutant.start] + text + source[mutant.end :]
        (engine / file).write_bytes(source)
    (engine / "mutants.rs").write_text(SWITCH)
    library = engine / "lib.rs"
    library.write_text(library.read_text() + "\nmod mutants;\n")


def _switched(number: int, mutant: Mutant) -> str:
    switch = f"crate::mutants::is({number})"
    if mutant.is_statement:
        return f"if !{switch} {{ {mutant.original} }}"
    if _is_assignment(mutant.original):
        return f"(if {switch} {{ {mutant.mutated}; }} else {{ {mutant.original}; }})"
    # On one line each, so that the compiler's complaints name the right one.
    return f"(if {switch} {{ {mutant.mutated} }} else {{ {mutant.original} }})"


def _is_assignment(text: str) -> bool:
    return any(f" {sign} " in text for sign in ("+=", "-=", "*=", "/="))


def build(mutants: list[Mutant]) -> list[Mutant]:
    """Build the engine; return the mistakes that compile."""
    while True:
        plant(mutants)
        bad = _compile()
        if not bad:
            return mutants
        mutants = [mutant for number, mutant in enumerate(mutants, 1) if number not in bad]


def _compile() -> set[int]:
    """Build; return the numbers of the mistakes that the compiler refuses."""
    settings = {
        "CARGO_PROFILE_RELEASE_LTO": "off",
        "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
        "CARGO_PROFILE_RELEASE_OPT_LEVEL": "2",
        "CARGO_PROFILE_RELEASE_INCREMENTAL": "true",
        "CARGO_TARGET_DIR": str(WORK / "target"),
        "RUSTFLAGS": "--cap-lints=warn -Aunconditional_panic -Aarithmetic_overflow",
    }
    command = ["cargo", "build", "--release", "--locked", "-p", "ccperf-py"]
    done = subprocess.run(
        [*command, "--message-format=json"],
        cwd=WORK,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        built = WORK / "target" / "release" / "lib_native.so"
        for old in (WORK / "python" / "ccperf").glob("_native*.so"):
            old.unlink()
        shutil.copy(built, WORK / "python" / "ccperf" / "_native.abi3.so")
        return set()
    bad: set[int] = set()
    for line in done.stdout.splitlines():
        message = json.loads(line).get("message") or {}
        if message.get("level") != "error":
            continue
        for span in message["spans"]:
            text = span["text"][0]["text"] if span["text"] else ""
            bad |= _numbers_at(text, span["column_start"])
    if not bad:
        raise SystemExit(f"the engine with mistakes in it does not build:\n{done.stderr}")
    return bad


def _numbers_at(text: str, column: int) -> set[int]:
    """The numbers of the switches on a line: the one around a column, or else all."""
    import re

    found = [(m.start(), int(m[1])) for m in re.finditer(r"crate::mutants::is\((\d+)\)", text)]
    before = [number for start, number in found if start < column]
    return {before[-1]} if before else {number for _, number in found}


# Each of them against the record.


@dataclass(frozen=True)
class Verdict:
    """What became of a mistake: by what it was noticed, or nothing."""

    mutant: Mutant
    killed_by: str
    seconds: float


class Judge:
    """Runs the matrix with one mistake after the other, each in a forked process."""

    def __init__(self) -> None:
        sys.path.insert(0, str(WORK / "python"))
        sys.path.insert(1, str(ROOT / "tools"))
        import fingerprints

        from ccperf import _native
        from ccperf.verify import matrix

        self._library = ctypes.CDLL(_native.__file__)
        self._record = json.loads(RECORD.read_text())
        self._of = fingerprints.views(self._record)["all"]
        slice_ = {case.name for case in matrix.representative()}
        cases = [case for case in matrix.cases() if case.name in self._record["all"]]
        # The daily slice first; heavy ones last.
        self._cases = sorted(cases, key=lambda c: (c.heavy, c.name not in slice_))
        self._slice = sum(case.name in slice_ and not case.heavy for case in self._cases)
        for case in self._cases:
            case.scenario.lowered()

    def run(self, number: int) -> str:
        """What notices mistake `number`; in the process that calls."""
        self._library.ccperf_switch_on(number)
        for i, case in enumerate(self._cases):
            signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
            try:
                same = self._of(case) == self._record["all"][case.name]
            except BaseException:  # a panic of the engine is no Exception
                same = False
            if not same:
                return f"{'slice' if i < self._slice else 'matrix'} {case.name}"
        return ""

    def all(self, mutants: list[tuple[int, Mutant]], jobs: int) -> Iterator[Verdict]:
        """Judge mistakes side by side."""
        waiting = list(reversed(mutants))
        running: dict[int, tuple[Mutant, float, int]] = {}
        while waiting or running:
            while waiting and len(running) < jobs:
                number, mutant = waiting.pop()
                child, pipe = self._start(number)
                running[child] = mutant, time.monotonic(), pipe
            child, status = os.wait()
            mutant, began, pipe = running.pop(child)
            said = os.read(pipe, 4096).decode()
            os.close(pipe)
            if os.WIFSIGNALED(status):
                said = "never ends" if os.WTERMSIG(status) == signal.SIGPROF else "crash"
            yield Verdict(mutant, said, time.monotonic() - began)

    def _start(self, number: int) -> tuple[int, int]:
        """Fork; the child writes into the pipe what notices mistake `number`."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.write(write, self.run(number).encode())
            os._exit(0)
        os.close(write)
        return child, read


def main() -> int:
    """Plant, judge, report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--share", type=float, default=0.1, help="of those not written by hand")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="print the mistakes and stop")
    options = parser.parse_args()
    everything = catalogue()
    if options.list:
        for mutant in everything:
            print(f"{mutant.file}:{mutant.line}: {mutant.name.partition(': ')[2]}")
        print(f"{len(everything)} mistakes")
        return 0
    reasons = {entry["mutant"]: entry["reason"] for entry in _toml().get("survivor", ())}
    print(f"seed {options.seed}; building an engine with {len(everything)} mistakes", flush=True)
    built = build(everything)
    numbered = list(enumerate(built, 1))
    by_hand = [item for item in numbered if item[1].about]
    others = [item for item in numbered if not item[1].about]
    drawn = random.Random(options.seed).sample(others, round(options.share * len(others)))
    judge = Judge()
    none = Mutant("", 0, 0, 0, "", "")
    for verdict in judge.all([(0, none)], 1):
        if verdict.killed_by:
            print(f"without a mistake the record does not hold: {verdict.killed_by}")
            return 1
        print(f"the matrix takes {verdict.seconds:.1f} s", flush=True)
    verdicts = []
    for verdict in judge.all(by_hand + sorted(drawn, key=lambda item: item[0]), options.jobs):
        verdicts.append(verdict)
        mutant = verdict.mutant
        fate = verdict.killed_by or (
            f"SURVIVES: {reasons[mutant.name]}" if mutant.name in reasons else "SURVIVES"
        )
        print(f"{mutant.about or mutant.name} (line {mutant.line}): {fate}", flush=True)
    return report(verdicts, reasons)


def report(verdicts: list[Verdict], reasons: dict[str, str]) -> int:
    """Print the table; 1 if a mistake survives for no recorded reason."""
    by = Counter(v.killed_by.partition(" ")[0] or "survives" for v in verdicts)
    print("\nkilled by")
    for what, count in by.most_common():
        print(f"  {what:20}{count:6}")
    planted = len(verdicts)
    killed = sum(bool(verdict.killed_by) for verdict in verdicts)
    unexplained = [v.mutant for v in verdicts if not v.killed_by and v.mutant.name not in reasons]
    for mutant in unexplained:
        print(f"survives without a reason: {mutant.name} (line {mutant.line})")
    print(f"{planted} planted, {killed} killed")
    return bool(unexplained)


if __name__ == "__main__":
    sys.exit(main())
