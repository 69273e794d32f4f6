"""The options of the published ccperf programs, and how their texts are split.

Only syntax lives here: which options there are, and how a command line becomes a mapping of option
names to texts. What the texts mean is in :mod:`ccperf.experiments.programs.published.parse`.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ccperf.errors import UsageError, suggestion

#: Programs that run here, by the word in ``ns3-dev-ccperf-<word>-default``.
STATIC = "static-dumbbell"
RESPONSIVENESS = "responsiveness"
ACK_COMPRESSION = "ack-compression"
REPLAY = "replay-rate-trace"

#: In the order in which published command lines print them.
HEAD = ("experiment-name", "db-path", "parameters", "aut", "stop-time", "seed")
SERIES = ("time-series", "rate-series", "rtt-series", "loss-series")
BURST = ("interval", "quota")
TRACE = ("trace-file",)
BOTTLENECK = ("bw", "loss", "qlen", "qdisc")
#: One entry a flow.
PER_FLOW = (
    "rtts",
    "sources",
    "destinations",
    "protocols",
    "algs",
    "recoveries",
    "start-times",
    "stop-times",
    "traffic-models",
)
COMMON = HEAD + BOTTLENECK + PER_FLOW

PROGRAMS: dict[str, tuple[str, ...]] = {
    STATIC: COMMON,
    RESPONSIVENESS: COMMON + SERIES,
    ACK_COMPRESSION: COMMON + BURST,
    REPLAY: (*COMMON, *TRACE, "trace-dir"),
}
#: What each option is; of flows, one entry a flow with commas between them.
HELP: dict[str, str] = {
    "experiment-name": "the experiment, as a label of the run",
    "db-path": "the database",
    "parameters": "the point, as a label: {aut:TcpNewReno,k:1}",
    "aut": "the algorithm under test, as a label",
    "stop-time": "length of the run, e.g. 15s (needed)",
    "seed": "of random numbers; 42",
    "bw": "rate of the bottleneck, e.g. 16Mbps (needed)",
    "loss": "probability that it loses a packet; 0.0",
    "qlen": "limit of its queue, e.g. 20p (needed)",
    "qdisc": "its queue discipline; FifoQueueDisc",
    "rtts": "of flows: round trips without queues, at least 4ms (needed)",
    "sources": "of flows: the hosts that send",
    "destinations": "of flows: the hosts that receive",
    "protocols": "of flows: TCP or UDP",
    "algs": "of flows: congestion controls (needed)",
    "recoveries": "of flows: loss recoveries",
    "start-times": "of flows: when they start",
    "stop-times": "of flows: when they stop",
    "traffic-models": "of flows: applications, e.g. Greedy(bytes=0)",
    "time-series": "when the bottleneck changes (needed)",
    "rate-series": "its rates from these times on (needed)",
    "rtt-series": "round trips from these times on",
    "loss-series": "loss probabilities from these times on",
    "interval": "time between two releases of acknowledgements (needed)",
    "quota": "how many packets a release lets go (needed)",
    "trace-file": "a trace of the package or a file: Mahimahi's, or CSV (needed)",
    "trace-dir": "the folder of the trace",
}
#: A published program of which no command line is known, and the experiment that it ran.
UNKNOWN = {"random-walk": "random_walk"}

_PROGRAM = re.compile(r"ns3-dev-ccperf-([a-z-]+?)-(?:default|debug|optimized|release)")


@dataclass(frozen=True)
class Tokens:
    """A command line taken apart: texts only, nothing interpreted."""

    program: str
    options: dict[str, str] = field(default_factory=dict)
    #: ``(class, attribute, value)`` of each ``--ns3::Class::Attribute=value``.
    attributes: tuple[tuple[str, str, str], ...] = ()


def usage(program: str) -> str:
    """The options of a published program, one a line.

    Raises :class:`~ccperf.errors.UsageError` if there is none.
    """
    _program(f"ns3-dev-ccperf-{program}-default", {})
    width = max(map(len, HELP))
    lines = [f"  --{name:{width}}  {HELP[name]}" for name in PROGRAMS[program]]
    head = f"ns3-dev-ccperf-{program}-default --option=value ..., or --ns3::Class::Attribute=value"
    return "\n".join([head, "", *lines])


def tokenize(words: Sequence[str], others: Mapping[str, Sequence[str]]) -> Tokens:
    """Split a command line: a list of words as a shell hands them over, or one text.

    Quotes that survived copying are removed. ``--parameters={a:1,b:2}`` without quotes reaches us
    as ``--parameters=a:1 --parameters=b:2``, since shells expand the braces: the pieces are put
    together again.
    """
    if len(words) == 1 and any(c.isspace() for c in words[0].strip()):
        try:
            words = shlex.split(words[0])
        except ValueError as error:
            raise UsageError("command line", f"{error}: a quote is not closed") from None
    words = [_unquote(word.strip()) for word in words if word.strip()]
    if not words:
        raise UsageError("command line", "is empty; give a command line after `--`")
    program = _program(words[0], others)
    options: dict[str, str] = {}
    attributes: dict[tuple[str, str], str] = {}
    pieces: list[str] = []
    for word in words[1:]:
        name, value = _option(word)
        if name.startswith("ns3::"):
            class_name, _, attribute = name.removeprefix("ns3::").rpartition("::")
            if not class_name or not attribute:
                raise UsageError(f"--{name}", "write an attribute as --ns3::Class::Attribute=value")
            if (class_name, attribute) in attributes:
                raise UsageError(f"--{name}", "is given twice; leave one")
            attributes[class_name, attribute] = value
        elif name == "parameters":
            pieces.append(value)
        elif name not in PROGRAMS[program]:
            raise UsageError(f"--{name}", _unknown_option(name, program))
        elif name in options:
            raise UsageError(f"--{name}", "is given twice; leave one")
        else:
            options[name] = value
    if pieces:
        text = ",".join(pieces)
        options["parameters"] = text if len(pieces) == 1 else f"{{{text}}}"
    return Tokens(program, options, tuple((c, a, v) for (c, a), v in attributes.items()))


def split_list(option: str, text: str) -> list[str]:
    """Split at commas that are not inside brackets: ``Greedy(bytes=0),CBR(bytes=0,rate=1Mbps)``."""
    items: list[str] = []
    depth = 0
    start = 0
    for i, char in enumerate(text):
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth < 0:
                raise UsageError(option, f"`{text}` closes a bracket that was never opened")
        elif char == "," and depth == 0:
            items.append(text[start:i].strip())
            start = i + 1
    if depth:
        raise UsageError(option, f"`{text}` leaves a bracket open")
    items.append(text[start:].strip())
    if "" in items:
        raise UsageError(option, f"`{text}` has an empty entry; separate entries by one comma")
    return items


def parse_parameters(text: str) -> dict[str, str]:
    """``{aut:TcpNewReno,rtts:[97ms,76ms]}`` as a mapping of texts.

    The parameters label the run in the database; they do not configure it.
    """
    option = "--parameters"
    form = "write it like '{aut:TcpNewReno,k:1}'"
    if not (text.startswith("{") and text.endswith("}")):
        raise UsageError(option, f"`{text}` has no braces around it; {form}")
    parameters: dict[str, str] = {}
    inner = text[1:-1].strip()
    for item in split_list(option, inner) if inner else ():
        name, colon, value = (part.strip() for part in item.partition(":"))
        if not colon or not value:
            raise UsageError(option, f"`{item}` is not name:value; {form}")
        if not re.fullmatch(r"[A-Za-z_][\w.-]*", name):
            raise UsageError(option, f"`{name}` is not a name; {form}")
        if name in parameters:
            raise UsageError(option, f"`{name}` is given twice; leave one")
        parameters[name] = value
    return parameters


def _program(word: str, others: Mapping[str, Sequence[str]]) -> str:
    name = word.replace("\\", "/").rsplit("/", 1)[-1]
    match = _PROGRAM.fullmatch(name)
    if match is None or match[1] not in {*PROGRAMS, *UNKNOWN}:
        known = {"ccperf.net": [f"ns3-dev-ccperf-{p}-default" for p in PROGRAMS], **others}
        meant = suggestion(name, itertools.chain(*known.values()))
        lines = (f"  of {family}: {', '.join(sorted(names))}" for family, names in known.items())
        message = f"unknown program `{name}`{meant}; known:"
        raise UsageError("program", "\n".join([message, *lines]))
    program = match[1]
    if program in UNKNOWN:
        experiment = UNKNOWN[program]
        message = f"no command line of `{name}` was published; `ccperf run {experiment}` runs it"
        raise UsageError("program", message)
    return program


def _option(word: str) -> tuple[str, str]:
    if not word.startswith("--"):
        raise UsageError("command line", f"`{word}` is not an option; write --name=value")
    name, equals, value = word[2:].partition("=")
    if not equals:
        raise UsageError(f"--{name}", f"has no value; write --{name}=VALUE in one word")
    return name, _unquote(value.strip())


def _unknown_option(name: str, program: str) -> str:
    for other, options in PROGRAMS.items():
        if name in options:
            return f"belongs to ns3-dev-ccperf-{other}-default, not to this program; leave it out"
    known = PROGRAMS[program]
    return f"is not an option of this program{suggestion(name, known)}; options: " + ", ".join(
        f"--{option}" for option in known
    )


def _unquote(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text
