"""Where mistakes can be made in the source, and which of them are planted."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

try:
    import tomllib
except ImportError:  # before Python 3.11
    import tomli as tomllib
import tree_sitter_rust
from tree_sitter import Language, Node, Parser

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "crates" / "engine" / "src"
#: Mistakes written by hand, and the reasons for which others cannot be noticed.
WRITTEN = ROOT / "tools" / "mutants.toml"

#: What is judged, by the beginnings of files.
AREAS: Mapping[str, tuple[str, ...]] = {
    "tcp": ("host/tcp/",),
    "recovery": ("host/recovery/",),
    "congestion": ("host/congestion/",),
    "slow start": ("host/slow_start/counted.rs", "host/slow_start/hystart_"),
    "qdisc": ("net/qdisc/",),
    "event order": ("base/event", "base/time.rs", "base/seq.rs", "base/ring.rs"),
    "links": (
        "net/network/port/",
        "net/network/lanes.rs",
        "net/network/common.rs",
        "run/schedule.rs",
    ),
    "random streams": ("base/rng.rs",),
    "lossless fabrics": (
        "host/hosts/roce.rs",
        "host/rate_control/",
        "net/network/pauses.rs",
        "net/network/telemetry.rs",
        "packet/ingress.rs",
        "packet/telemetry.rs",
    ),
    "trimming": ("host/hosts/trimming/", "host/trimming/", "net/network/pull_queue.rs"),
}
#: Tests, and what only tests and the registry use.
LEFT_OUT = (
    "tests.rs",
    "bench.rs",
    "timelines",
    "ns3_suites.rs",
    "driver.rs",
    "host/congestion/path.rs",
    "properties.rs",
    "net/qdisc/mod.rs",
)
#: What ns-3 does not have, so that no comparison with it notices mistakes there: unit tests do.
OWN = (
    "base/event/journal.rs",
    "base/event/journal/",
    "base/event/queue/calendar.rs",
    "base/event/queue/heads.rs",
    "host/congestion/bbr3/",
    "host/congestion/bbr_linux",
    "host/congestion/bic_linux.rs",
    "host/congestion/copa.rs",
    "host/congestion/cube_root.rs",
    "host/congestion/dctcp_linux.rs",
    "host/congestion/highspeed_linux.rs",
    "host/congestion/htcp_linux.rs",
    "host/congestion/hybla_linux.rs",
    "host/congestion/illinois_linux.rs",
    "host/congestion/ledbat_pp.rs",
    "host/congestion/prague.rs",
    "host/congestion/scalable_linux.rs",
    "host/congestion/vegas_linux.rs",
    "host/congestion/veno_linux.rs",
    "host/congestion/westwood_linux.rs",
    "host/congestion/yeah_linux.rs",
    "host/hosts/trimming/",
    "host/hosts/roce.rs",
    "host/rate_control/",
    "host/slow_start/counted.rs",
    "host/slow_start/hystart_linux.rs",
    "host/slow_start/hystart_pp.rs",
    "host/slow_start/search.rs",
    "host/tcp/ecn/accurate.rs",
    "host/tcp/ecn/option.rs",
    "host/tcp/acks/compression.rs",
    "host/tcp/acks/offered.rs",
    "host/tcp/acks/quick.rs",
    "host/tcp/acks/receiver_rtt.rs",
    "host/tcp/acks/timeout.rs",
    "host/tcp/loss/forward.rs",
    "host/tcp/loss/rack.rs",
    "host/tcp/loss/reordering_window.rs",
    "host/tcp/loss/tail_probe.rs",
    "host/tcp/loss/undo.rs",
    "host/tcp/memory.rs",
    "host/tcp/pacing/departure_time.rs",
    "host/tcp/profile/linux.rs",
    "host/tcp/reassembly/",
    "host/tcp/resequencing.rs",
    "host/tcp/rtt/deliveries.rs",
    "host/tcp/rtt/windowed.rs",
    "host/tcp/scoreboard/pieces.rs",
    "host/tcp/segmentation/burst.rs",
    "host/tcp/segmentation/deferral.rs",
    "host/tcp/segmentation/write_queue.rs",
    "host/tcp/ticks.rs",
    "host/tcp/validation/",
    "host/trimming/",
    "net/network/crossing.rs",
    "net/network/pauses.rs",
    "net/network/port/pausable.rs",
    "net/network/pull_queue.rs",
    "net/network/telemetry.rs",
    "net/qdisc/dual_pi2.rs",
    "net/qdisc/marking_red.rs",
    "net/qdisc/ndp.rs",
    "net/qdisc/scheduled.rs",
    "packet/ingress.rs",
    "packet/telemetry.rs",
)
#: What answers whether a scenario makes sense, before it runs.
CHECKS = ("check",)
#: Functions that do nothing in what ns-3 has: of data that is held back until it is in order, of
#: losses that wait for late segments, or are marked one by one, of runs in parts, of networks
#: larger than those of the comparison, and of packets that come in the nanosecond of a wake.  Unit
#: tests judge them, too.
OFF_IN_NS3 = {
    "host/congestion/highspeed_table.rs": ("reduction",),
    "base/event/queue.rs": (
        "keep_journal",
        "note_running",
        "note_skipped",
        "begin_window",
        "end_window",
        "expect_many",
        "timer_soon",
        "keeps_heads",
        "set_head",
        "next_of_many",
        "first",
        "next_time",
    ),
    "base/event/queue/pending.rs": ("expect_many", "keep_pace", "soon"),
    "host/hosts/mod.rs": ("keep_finished", "take_finished", "is_over", "let_go", "expect"),
    "net/network/lanes.rs": ("take_apart",),
    "net/network/port/one_place.rs": ("put_back",),
    "net/network/port/transmitter.rs": ("let_leave",),
    "host/tcp/rate.rs": ("on_ack_begins", "by_clock"),
    "host/tcp/scoreboard/losses.rs": (
        "first_left_from",
        "mark_overdue",
        "mark_each_lost",
        "first_lost_of_all",
        "lost_together",
    ),
    "host/tcp/reassembly.rs": ("duplicate", "touched_block", "extend_block"),
    "host/tcp/scoreboard.rs": (
        "may_be_overdue",
        "oldest_departure",
        "end_burst",
        "end_burst_here",
        "count_segments",
        "count_new",
        "padding",
        "outstanding",
    ),
    "host/tcp/scoreboard/sacks.rs": ("first_repeated_and_sacked",),
    "host/tcp/scoreboard/sizes.rs": ("join_what_fits",),
    "host/tcp/socket/acceptance.rs": (
        "refuse_late",
        "is_challenged",
        "send_challenge_ack",
        "may_refuse",
        "is_unheard_of",
        "is_fin_again",
    ),
    "host/tcp/socket/ack.rs": (
        "duplicate_delivery",
        "take_round_trips",
        "on_old_ack",
        "keep_open",
        "open_as_may_be",
    ),
    "host/tcp/socket/close.rs": (
        "close_behind_data",
        "queue_fin",
        "on_segment_in_time_wait",
        "answer_in_time_wait",
        "hear_fin_beyond_hole",
    ),
    "host/tcp/socket/episode.rs": (
        "on_loss_found",
        "probe_for_losses",
        "reduce_at_once",
        "note_window",
    ),
    "host/tcp/socket/ecn.rs": (
        "ecn_option_to_send",
        "repeat_mark",
        "repeated_answer",
        "settles_echoes",
        "count_echo",
        "answer_echo",
        "reduce_for_echo",
        "remember_ect",
        "repeat_ect",
        "with_owed_cwr",
    ),
    "host/tcp/socket/handshake.rs": ("heed_lost_syns",),
    "host/tcp/socket/input.rs": (
        "announce_what_is_read",
        "displaces_block",
        "resequence",
        "hand_on",
        "await_order",
        "note_duplicate",
        "hear_duplicate",
        "hear_duplicate_timestamp",
        "answers_displaced",
        "send_what_is_due",
    ),
    "host/tcp/socket/round_trips.rs": ("mark_syn", "syn_sent", "fall_back"),
    "host/tcp/socket/writing.rs": ("before_write", "ask_segmentation"),
    "host/tcp/socket/output.rs": (
        "gather",
        "is_cut_next",
        "is_deferred",
        "judge_window",
        "note_control_left",
        "repeat_together",
        "send_lost",
        "send_new_as_probe",
    ),
    "host/tcp/socket/segments.rs": ("duplicate_to_send",),
    "host/tcp/socket/timers.rs": ("on_loss_timer",),
    "host/tcp/tcb.rs": ("window_rate",),
    "host/tcp/loss/rfc6675.rs": ("threshold",),
}
#: Of so many places one is planted: enough to find what nobody looks at, few enough to try all.
PLACES_PER_MISTAKE = 6

OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "+": "-", "-": "+", "*": "/", "/": "*", "&&": "||", "||": "&&",
    "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "%": "/", "<<": ">>", ">>": "<<",
}  # fmt: skip
#: These differ only where both sides are equal.
COMPARISONS = ("<", "<=", ">", ">=")
METHODS = {"min": "max", "max": "min", "is_some": "is_none", "is_none": "is_some"}
#: Where the compiler wants a constant, or no expression stands.
NO_EXPRESSION = {
    "const_item", "static_item", "attribute_item", "inner_attribute_item", "macro_invocation",
    "macro_definition", "match_pattern", "range_pattern", "tuple_struct_pattern", "array_type",
    "type_arguments", "enum_variant", "token_tree", "const_block", "use_declaration",
}  # fmt: skip
#: How much memory is set aside is nobody's business.
NO_BEHAVIOUR = ("with_capacity", "reserve", "reserve_exact", "shrink_to_fit")
#: What changes what it is called on, besides the engine's own functions that take `&mut`.
CHANGING = {
    "append", "clear", "dedup", "drain", "entry", "extend", "fill", "get_or_insert",
    "get_or_insert_with", "insert", "next", "next_back", "pop", "pop_back", "pop_first",
    "pop_front", "pop_last", "push", "push_back", "push_front", "remove", "replace", "resize",
    "retain", "sort", "split_off", "store", "swap", "swap_remove", "take", "truncate",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A place of the source, and what stands there when the mistake is switched on."""

    file: str
    start: int
    end: int
    line: int
    #: The function that it is in.
    function: str
    original: str
    mutated: str
    #: Of those written by hand: what it is.
    about: str = ""
    #: Which of several that read the same in one function.
    repetition: int = 1
    #: Whether both sides may be evaluated, to see if they ever differ.
    comparable: bool = False

    @property
    def is_statement(self) -> bool:
        return not self.mutated

    @property
    def is_own(self) -> bool:
        """Whether unit tests judge it, not the comparison with ns-3."""
        off = self.function in OFF_IN_NS3.get(self.file, ())
        return not self.about and (off or self.file.startswith(OWN))

    @property
    def area(self) -> str:
        """The part of the engine that it is in."""
        if self.about:
            return "by hand"
        return next(area for area, files in AREAS.items() if self.file.startswith(files))

    @property
    def name(self) -> str:
        """Stays when lines move."""
        if self.about:
            return self.about
        which = f" ({self.repetition})" if self.repetition > 1 else ""
        change = f"{_line(self.original)} -> {_line(self.mutated) or 'nothing'}"
        return f"{self.file} {self.function}: {change}{which}"


def _line(text: str) -> str:
    return " ".join(text.split())


def missing() -> list[str]:
    """What `OWN` and `OFF_IN_NS3` name and the engine does not have."""
    files = [name for name in OWN if not list(SOURCES.glob(f"{name}*"))]
    functions = [
        f"{file} {name}"
        for file, names in OFF_IN_NS3.items()
        for name in names
        if not re.search(rf"\bfn {name}\b", (SOURCES / file).read_text(encoding="utf-8"))
    ]
    return files + functions


def catalogue() -> list[Mutant]:
    """All mistakes that are planted, those written by hand first; no two overlap.

    Of places inside one another one is taken, and of all one in `PLACES_PER_MISTAKE`, by a hash, so
    that the choice stays as code moves.
    """
    chosen: list[Mutant] = []
    for path in sorted(SOURCES.rglob("*.rs")):
        file = path.relative_to(SOURCES).as_posix()
        by_hand = list(_by_hand(path, file))
        taken = [(mutant.start, mutant.end) for mutant in by_hand]
        chosen += by_hand
        if not _is_judged(file):
            continue
        for mutant in sorted(find(path), key=lambda mutant: _draw(mutant.name)):
            if all(mutant.end <= start or end <= mutant.start for start, end in taken):
                taken.append((mutant.start, mutant.end))
                if _draw(mutant.name)[0] % PLACES_PER_MISTAKE == 0:
                    chosen.append(mutant)
    return sorted(chosen, key=lambda mutant: (not mutant.about, mutant.file, mutant.start))


def _is_judged(file: str) -> bool:
    inside = any(file.startswith(files) for files in AREAS.values())
    return inside and not any(part in file for part in LEFT_OUT)


def _draw(name: str) -> bytes:
    """What mistakes are chosen by: the room of a file is no part of it, so that files may move."""
    name = name.partition("/")[2]
    return hashlib.sha256(name.encode()).digest()[::-1]


@cache
def written() -> Mapping[str, Any]:
    """What `tools/mutants.toml` says."""
    return tomllib.loads(WRITTEN.read_text())


def _by_hand(path: Path, file: str) -> Iterator[Mutant]:
    source = path.read_text()
    for entry in written()["planted"]:
        if entry["file"] != file:
            continue
        if source.count(entry["find"]) != 1:
            raise SystemExit(f"{WRITTEN}: {file} does not have exactly one `{entry['find']}`")
        before = source[: source.index(entry["find"])]
        if "//" in before.rpartition("\n")[2]:
            raise SystemExit(f"{WRITTEN}: {file} has `{entry['find']}` in a comment")
        start = len(before.encode())
        yield Mutant(
            file,
            start,
            start + len(entry["find"].encode()),
            before.count("\n") + 1,
            "",
            entry["find"],
            entry["replace"],
            entry["about"],
        )


def find(path: Path) -> Iterator[Mutant]:
    """Every mistake that the tool can think of in one file, outer ones before inner ones."""
    source = path.read_bytes()
    tree = Parser(Language(tree_sitter_rust.language())).parse(source)
    file = path.relative_to(SOURCES).as_posix()
    return _numbered(_walk(tree.root_node, file, ""))


def _numbered(found: Iterable[Mutant]) -> Iterator[Mutant]:
    """Tell those apart that read the same."""
    met: Counter[str] = Counter()
    for mutant in found:
        met[mutant.name] += 1
        yield replace(mutant, repetition=met[mutant.name])


def _walk(node: Node, file: str, function: str) -> Iterator[Mutant]:
    if node.type in NO_EXPRESSION or _is_test(node) or _is_const(node):
        return
    if _called(node) in NO_BEHAVIOUR:
        return
    if node.type == "function_item":
        function = _text(node.child_by_field_name("name"))
        if function in CHECKS:
            return
    for mutated, comparable in mistakes(node):
        line = node.start_point[0] + 1
        yield Mutant(
            file,
            node.start_byte,
            node.end_byte,
            line,
            function,
            _text(node),
            mutated,
            comparable=comparable,
        )
    for i, child in enumerate(node.children):
        field = node.field_name_for_child(i)
        if node.type == "array_expression" and field == "length":
            continue
        if node.type.endswith("_pattern") or field == "pattern":
            continue
        yield from _walk(child, file, function)


def mistakes(node: Node) -> Iterator[tuple[str, bool]]:
    """What may stand in place of an expression or a statement (nothing: it is left out), and
    whether both may be evaluated one after the other.
    """
    text = _text(node)
    if _is_beginning(node):
        return
    if node.type in ("binary_expression", "compound_assignment_expr"):
        left, sign, right = (_text(node.child_by_field_name(f)) for f in _OPERATION)
        if sign in OPERATORS and "let " not in text:
            yield f"{left} {OPERATORS[sign]} {right}", sign in COMPARISONS and _is_pure(node)
    elif node.type == "integer_literal" and text.isdigit() and not _is_field(node):
        yield str(int(text) + 1), False
    elif node.type == "float_literal":
        yield f"({text} * 1.25 + 0.001)", False
    elif node.type == "boolean_literal":
        yield ("false" if text == "true" else "true"), False
    elif node.type == "unary_expression" and text.startswith("!"):
        yield text[1:], False
    elif node.type == "call_expression":
        function = node.child_by_field_name("function")
        name = function and function.child_by_field_name("field")
        if function and name and (method := _text(name)) in METHODS:
            before = text[: name.start_byte - node.start_byte]
            yield before + METHODS[method] + text[name.end_byte - node.start_byte :], False
    elif node.type == "expression_statement":
        inner = node.children[0]
        if inner.type in ("call_expression", "assignment_expression") and text.endswith(";"):
            yield "", False


def _is_beginning(node: Node) -> bool:
    """Whether it is the nothing with which a field begins, mostly to be set before it is read."""
    initial = node.parent is not None and node.parent.type == "field_initializer"
    return initial and _text(node) in ("0", "0.0", "false")


def _is_field(node: Node) -> bool:
    """Whether a number is the name of a tuple's field."""
    return node.parent is not None and node.parent.type == "field_expression"


_OPERATION = ("left", "operator", "right")


def _text(node: Node | None) -> str:
    return (node.text or b"").decode() if node else ""


def _called(node: Node) -> str:
    """The name of the function that a node calls, if it is a call."""
    if node.type == "expression_statement":
        node = node.children[0]
    if node.type != "call_expression":
        return ""
    function = node.child_by_field_name("function")
    name = function and (
        function.child_by_field_name("field") or function.child_by_field_name("name") or function
    )
    return _text(name)


def _is_pure(node: Node) -> bool:
    """Whether nothing changes when it is evaluated."""
    if node.type in ("macro_invocation", "try_expression", "closure_expression", "block"):
        return False
    if node.type == "call_expression" and _called(node) in _changing():
        return False
    return all(map(_is_pure, node.children))


@cache
def _changing() -> set[str]:
    """Names of functions one of which takes something by `&mut`."""
    names = set(CHANGING)
    for path in SOURCES.rglob("*.rs"):
        found = re.findall(r"\bfn (\w+)[^{;]*?\([^{;]*?&(?:'\w+ )?mut ", path.read_text())
        names.update(found)
    return names


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
