"""Command lines of programs written for ns-3, as ns-3's ``CommandLine`` reads them.

A program is a module with a :class:`Program`: its options with their defaults, and the function
that makes a scenario of them. Of options that are given twice the last one counts; an option may
begin with one dash; a boolean without a value is switched over; times without a unit are seconds,
or microseconds where an option says so, rates bit/s.
"""

from __future__ import annotations

import re
import shlex
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.errors import ScenarioError, UsageError, suggestion, unknown
from ccperf.experiments.programs import attributes as ns3_attributes
from ccperf.runs import backends

if TYPE_CHECKING:
    from pathlib import Path

    from ccperf.base.outputs import Kind
    from ccperf.runs.result import Result
    from ccperf.scenario import Scenario

Value = str | bool | int | float
#: ns-3's fundamental types, by the name of their kind.
_INTEGERS = {"uint16": 2**16 - 1, "uint32": 2**32 - 1, "uint64": 2**64 - 1}
_NS3_RUN = re.compile(r"(?:.*/)?(?:ns3|waf)")
_BUILT = re.compile(r"(?:ns3(?:\.\d+|-dev)?-)?(.+?)(?:-(?:default|debug|optimized|release))?")


class HelpRequested(UsageError):
    """A line that asks for the program's options and runs nothing; ``message`` has them."""


@dataclass(frozen=True)
class Option:
    """One option of a program: ``kind`` is ``text``, ``bool``, ``time``, ``microseconds``,
    ``rate``, ``optional_rate`` (0: none), ``real`` or an integer type of C++; ``files`` says
    which files it would have written."""

    kind: str
    default: Value
    help: str
    files: str = ""


@dataclass(frozen=True)
class Values:
    """What a command line says: times in ns, rates in bit/s."""

    given: Mapping[str, str]
    parsed: Mapping[str, Value]
    #: What was spelt as the program spells it, and what the option is called here.
    spelt: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.parsed[name]


@dataclass(frozen=True)
class File:
    """A file that a program leaves in the current folder."""

    name: str
    kind: Kind
    write: Callable[[Result, Path], None]


@dataclass(frozen=True)
class Report:
    """What a program leaves behind beside a recording: lines on stdout, and files."""

    lines: Callable[[Values, Result], list[str]]
    files: Callable[[Values], list[File]] = lambda _: []


@dataclass(frozen=True)
class Program:
    """A program written for ns-3."""

    name: str
    options: Mapping[str, Option]
    #: Of the values, the attributes and the ``RngRun``.
    build: Callable[[Values, Defaults, int], Scenario]
    #: What the real program writes without being asked.
    files: str = ""
    #: What else sets an option's field of the scenario, for error messages: path pattern to option.
    paths: tuple[tuple[str, str], ...] = ()
    #: Other spellings of options, which are read with a note.
    spellings: Mapping[str, str] = field(default_factory=dict)
    #: What is to be said about the values that were given.
    notes: Callable[[Values], list[str]] | None = None
    #: Whether the real program looks at its command line.
    reads_words: bool = True
    #: Attributes whose defaults the program leaves to its command line, among `LEFT_OPEN`; and
    #: those that it sets itself, whatever its command line says.
    leaves: Collection[str] = ()
    sets: Collection[str] = ()
    #: If the program's own output is made here, too.
    report: Report | None = None

    def run(self, words: Sequence[str]) -> ProgramRun:
        """Read the program's arguments."""
        given: dict[str, str] = {}
        spelt: dict[str, str] = {}
        attributes: list[tuple[str, str, str]] = []
        rng_run = 1
        for word in words:
            name, value = self._split(word)
            if name in ("help", "h", "PrintHelp"):
                raise HelpRequested(f"--{name}", self.usage())
            if not self.reads_words:
                raise UsageError(
                    f"--{name}", f"{self.name} does not look at its command line; leave it out"
                )
            if name.startswith("ns3::"):
                class_name, _, attribute = name.removeprefix("ns3::").rpartition("::")
                ns3_attributes.check(class_name, attribute)
                attributes.append((class_name, attribute, value or ""))
            elif name == "RngRun":
                rng_run = int(_integer("--RngRun", value, 2**64 - 1))
            elif self.spellings.get(name, name) in self.options:
                if name in self.spellings:
                    spelt[name] = self.spellings[name]
                    name = self.spellings[name]
                option = self.options[name]
                if value is None and option.kind == "bool":
                    value = str(not option.default).lower()
                if value is None:
                    raise UsageError(f"--{name}", f"has no value; write --{name}={option.default}")
                given[name] = value
            else:
                known = [*self.options, "RngRun"]
                raise UsageError(
                    f"--{name}",
                    f"is not an option of {self.name} that runs here{suggestion(name, known)}; "
                    f"see {self.name} --help",
                )
        parsed = {
            name: _parse(f"--{name}", option.kind, given[name])
            if name in given
            else _default(option)
            for name, option in self.options.items()
        }
        return ProgramRun(self, Values(given, parsed, spelt), tuple(attributes), rng_run)

    def _split(self, word: str) -> tuple[str, str | None]:
        match = re.fullmatch(r"--?([A-Za-z][\w:<>,]*)(?:=(.*))?", word, re.DOTALL)
        if match is None:
            raise UsageError("command line", f"`{word}` is not an option; write --name=value")
        return match[1], match[2]

    def usage(self) -> str:
        """The options with their defaults, one a line."""
        if not self.options:
            return f"{self.name}, without options"
        shown = [(f"--{n}={_text(o.default)}", o.help) for n, o in self.options.items()]
        width = max(len(option) for option, _ in shown)
        lines = [f"  {option:{width}}  {about}" for option, about in shown]
        return "\n".join([f"{self.name} [--option=value ...]", "", *lines])


@dataclass(frozen=True)
class ProgramRun:
    """One run of an example program; to `exec` the same as a published command line."""

    program: Program
    values: Values
    attributes: tuple[tuple[str, str, str], ...] = ()
    rng_run: int = 1
    recovery: str | None = None
    #: A published line may name its experiment, its point and its database; these programs do not.
    experiment: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    db_path: str = ""

    def with_recovery(self, recovery: str) -> ProgramRun:
        """The same run with one recovery for all flows."""
        return replace(self, recovery=recovery)

    def command(self) -> str:
        """The command line."""
        words = [self.program.name]
        words += [f"--{name}={value}" for name, value in self.values.given.items()]
        words += [f"--ns3::{c}::{a}={value}" for c, a, value in self.attributes]
        if self.rng_run != 1:
            words.append(f"--RngRun={self.rng_run}")
        return shlex.join(words)

    def reproduce(self, backend: str = backends.DEFAULT, *, options: Sequence[str] = ()) -> str:
        """The one command that makes this run again, with more options of `exec`."""
        words = ["ccperf", "exec"]
        if backend != backends.DEFAULT:
            words += ["--backend", backend]
        if self.recovery:
            words += ["--recovery", self.recovery]
        return f"{shlex.join([*words, *options])} -- {self.command()}"

    def scenario(self) -> tuple[Scenario, list[str]]:
        """The scenario that the real program simulates, and warnings about what is different."""
        defaults = Defaults(self.attributes)
        try:
            scenario = self.program.build(self.values, defaults, self.rng_run)
            scenario = defaults.applied(scenario, self.program.leaves)
            if self.recovery:
                own = {"recovery": self.recovery}
                flows = tuple(flow.model_copy(update=own) for flow in scenario.flows)
                stacks = tuple(stack.model_copy(update=own) for stack in scenario.stacks)
                scenario = scenario.model_copy(update={"flows": flows, "stacks": stacks})
            scenario.lowered()
        except ScenarioError as error:
            raise self._usage_error(error) from None
        said = [f"--{name} is read as --{meant}" for name, meant in self.values.spelt.items()]
        said += self.program.notes(self.values) if self.program.notes else []
        return scenario, [*said, *self._files(), *defaults.unused(self.program)]

    def files(self) -> list[File]:
        """The files that the program leaves behind."""
        return self.program.report.files(self.values) if self.program.report else []

    def lines(self, result: Result) -> list[str] | None:
        """What the program prints; None if it is left to `exec`."""
        return self.program.report.lines(self.values, result) if self.program.report else None

    def _files(self) -> list[str]:
        asked = [
            f"--{name} ({option.files})"
            for name, option in self.program.options.items()
            if option.files and self.values[name]
        ]
        files = [self.program.files] * bool(self.program.files) + asked
        if not files:
            return []
        return [
            f"not written: {', '.join(files)}; --db and --packets of `ccperf exec` take their place"
        ]

    def _usage_error(self, error: ScenarioError) -> UsageError:
        problem = error.problems[0]
        for pattern, option in self.program.paths:
            if re.fullmatch(pattern, problem.path):
                return UsageError(option, problem.message)
        return UsageError(problem.path or self.program.name, problem.message)


class Defaults:
    """``--ns3::Class::Attribute=value``: new defaults, which a program's own settings override."""

    def __init__(self, attributes: Sequence[tuple[str, str, str]] = ()) -> None:
        self._given = {(c, a): _as_read(value) for c, a, value in attributes}
        self._used: set[tuple[str, str]] = set()
        #: The algorithms of the run.
        self._present: set[str] = set()

    def tcp(self, **own: Any) -> dict[str, Any]:
        """Attributes of the sockets, the program's ``own`` among them."""
        return {**self._known(ns3_attributes.TCP_CLASSES, registry.socket_parameters()), **own}

    def given(self, class_name: str, attribute: str, otherwise: Any) -> Any:
        """An attribute that a program leaves to whoever gives it."""
        key = (class_name, attribute)
        self._used |= self._given.keys() & {key}
        return self._given.get(key, otherwise)

    def cc(self, name: str, **own: Any) -> dict[str, Any]:
        """A congestion control."""
        self._present.add(name)
        attributes = self._known((name,), registry.parameters("cc", name))
        return {"type": name, "attributes": {**attributes, **own}}

    def qdisc(self, name: str, **own: Any) -> dict[str, Any]:
        """A queue discipline."""
        self._present.add(name)
        attributes = self._known((name,), registry.parameters("qdisc", name))
        return {"type": name, "attributes": {**attributes, **own}}

    def applied(self, scenario: Scenario, leaves: Collection[str]) -> Scenario:
        """The scenario with what was given of attributes that the program leaves open."""
        given = {
            f"{c}::{a}": value for (c, a), value in self._given.items() if f"{c}::{a}" in leaves
        }
        if not given:
            return scenario
        changed = scenario.canonical()
        for name, value in given.items():
            class_name, _, attribute = name.rpartition("::")
            self._used.add((class_name, attribute))
            LEFT_OPEN[name](self, changed, value)
        return type(scenario).model_validate(changed)

    def unused(self, program: Program) -> list[str]:
        """Warnings about attributes that have no effect.

        Raises :class:`UsageError` for those that would have one.
        """
        unused = [key for key in self._given if key not in self._used]
        return [
            f"--ns3::{c}::{a} has no effect: {program.name} sets it itself"
            if f"{c}::{a}" in program.sets
            else ns3_attributes.no_effect(c, a, self._present)
            for c, a in unused
        ]

    def _known(self, classes: Sequence[str], names: Any) -> dict[str, str]:
        found = {
            (c, a): value for (c, a), value in self._given.items() if c in classes and a in names
        }
        self._used |= found.keys()
        return {a: value for (_, a), value in found.items()}


def _flows(scenario: dict[str, Any], **fields: str) -> list[dict[str, Any]]:
    """The flows that have such an application or transport."""
    return [
        flow
        for flow in scenario["flows"]
        if all(
            fields[name]
            == (of.get("type") if isinstance(of := flow.get(name, "TCP"), dict) else of)
            for name in fields
        )
    ]


def _set_application(kind: str, field: str) -> Callable[[Defaults, dict[str, Any], str], None]:
    def change(_: Defaults, scenario: dict[str, Any], value: str) -> None:
        of_bytes = field != "rate"
        for flow in _flows(scenario, application=kind):
            flow["application"][field] = f"{value}B" if of_bytes and value.isdecimal() else value

    return change


def _set_socket_type(defaults: Defaults, scenario: dict[str, Any], value: str) -> None:
    name = algorithm("--ns3::TcpL4Protocol::SocketType", "cc", value)
    for flow in _flows(scenario, transport="TCP"):
        flow["cc"] = defaults.cc(name)


def _set_recovery(_: Defaults, scenario: dict[str, Any], value: str) -> None:
    name = algorithm("--ns3::TcpL4Protocol::RecoveryType", "recovery", value)
    for flow in _flows(scenario, transport="TCP"):
        flow["recovery"] = name


def _set_direction(field: str, unit: str) -> Callable[[Defaults, dict[str, Any], str], None]:
    def change(_: Defaults, scenario: dict[str, Any], value: str) -> None:
        for link in scenario["links"]:
            for way in ("forward", "reverse"):
                link[way][field] = f"{value}{unit}" if value.isdecimal() else value

    return change


#: What an attribute that a program leaves open changes in its scenario.
LEFT_OPEN: dict[str, Callable[[Defaults, dict[str, Any], str], None]] = {
    "OnOffApplication::DataRate": _set_application("OnOff", "rate"),
    "OnOffApplication::PacketSize": _set_application("OnOff", "write"),
    "OnOffApplication::MaxBytes": _set_application("OnOff", "bytes"),
    "BulkSendApplication::SendSize": _set_application("Greedy", "write"),
    "BulkSendApplication::MaxBytes": _set_application("Greedy", "bytes"),
    "TcpL4Protocol::SocketType": _set_socket_type,
    "TcpL4Protocol::RecoveryType": _set_recovery,
    "PointToPointNetDevice::Mtu": _set_direction("mtu", "B"),
    "DropTailQueue<Packet>::MaxSize": _set_direction("device_queue", ""),
}
#: Those of sockets, of devices, and of programs whose applications say no more than where to.
SOCKETS = ("TcpL4Protocol::SocketType", "TcpL4Protocol::RecoveryType")
DEVICES = ("PointToPointNetDevice::Mtu", "DropTailQueue<Packet>::MaxSize")
ON_OFF = tuple(name for name in LEFT_OPEN if name.startswith("OnOffApplication::"))


def program_words(words: Sequence[str]) -> tuple[str, list[str]] | None:
    """Program and arguments of a command line as people type it; None if it begins with an option.

    ``./ns3 run "NAME --option=value"``, ``./ns3 run NAME -- --option=value``,
    ``./waf --run "NAME"``, ``ns3.44-NAME-default --option=value``, ``NAME --option=value``, all in
    one text or in words.
    """
    if len(words) == 1:
        words = _shell_words(words[0])
    words = [word.strip() for word in words if word.strip()]
    if words and _NS3_RUN.fullmatch(words[0]):
        rest = [word for word in words[1:] if word not in ("run", "--no-build", "--run")]
        rest = [word.removeprefix("--run=") for word in rest]
        words = [*_shell_words(rest[0]), *rest[1:]] if rest else []
        words = [word for word in words if word != "--"]
    if not words or words[0].startswith("-"):
        return None
    match = _BUILT.fullmatch(words[0].replace("\\", "/").rsplit("/", 1)[-1])
    return (match[1] if match else words[0]), list(words[1:])


def _shell_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError("command line", f"{error}: a quote is not closed") from None


def ns_of(seconds: float) -> int:
    """ns-3's ``Seconds(double)``: the nearest ns, ties away from zero."""
    from fractions import Fraction

    return int(Fraction(seconds) * 10**9 + Fraction(1, 2))


def float32(value: float) -> float:
    """The nearest number that a ``float`` of C++ holds."""
    nearest: float = struct.unpack("f", struct.pack("f", value))[0]
    return nearest


def time(ns: int) -> str:
    """A time of the scenario."""
    return f"{ns}ns"


def rate(bps: int) -> str:
    """A rate of the scenario."""
    return f"{bps}bps"


def algorithm(option: str, kind: registry.Kind, name: str) -> str:
    """The algorithm that ns-3 knows by this very name, or :class:`UsageError`."""
    known = list(registry.algorithms(kind))
    plain = name.removeprefix("ns3::")
    if plain not in known:
        raise UsageError(option, unknown(f"{kind} of ns-3", plain, known))
    return plain


def choice(option: str, given: str, allowed: Sequence[str]) -> str:
    """One of the words that the program knows, or :class:`UsageError`."""
    if given not in allowed:
        raise UsageError(option, unknown("value", given, allowed))
    return given


def _parse(option: str, kind: str, text: str) -> Value:
    if kind == "text":
        return text
    if kind == "bool":
        words = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
        if text.lower() not in words:
            raise UsageError(option, f"`{text}` is neither true nor false")
        return words[text.lower()]
    if kind in _INTEGERS:
        return _integer(option, text, _INTEGERS[kind])
    is_number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII)
    if kind == "real":
        if is_number is None:
            raise UsageError(option, f"`{text}` is not a number")
        return float(text)
    try:
        if kind == "microseconds":
            return ns_of(float(text) / 1e6) if is_number else _native.parse_time(text)
        if kind == "time":
            return ns_of(float(text)) if is_number else _native.parse_time(text)
        bps = int(float(text)) if is_number else _bps(text)
    except ValueError as error:
        raise UsageError(option, str(error)) from None
    if bps < 0 or (bps == 0 and kind == "rate"):
        raise UsageError(option, f"`{text}` is no rate; it must be above 0")
    return bps


def _bps(text: str) -> int:
    """A rate as ns-3 reads it: through a double, of which it keeps whole bits. Its ``8.03Mbps`` is
    8,029,999 bit/s; a scenario's is what it says.
    """
    decimal = re.fullmatch(r"(\d+\.\d*|\.\d+)\s*([A-Za-z/]+)", text, re.ASCII)
    if decimal is None:
        return _native.parse_rate(text)
    return int(float(decimal[1]) * _native.parse_rate(f"1{decimal[2]}"))


def _as_read(value: str) -> str:
    """An attribute's value, if it is a rate as ns-3 reads it."""
    with suppress(ValueError):
        return rate(_bps(value))
    return value


def _integer(option: str, text: str | None, most: int) -> int:
    if not re.fullmatch(r"\d{1,20}", text or "", re.ASCII) or int(text or "") > most:
        raise UsageError(option, f"`{text}` is not a whole number from 0 to {most}")
    return int(text or "")


def _default(option: Option) -> Value:
    if option.kind in ("time", "microseconds", "rate", "optional_rate"):
        return _parse("default", option.kind, str(option.default))
    return option.default


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
