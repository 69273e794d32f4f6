"""What an experiment varies: names, kinds and canonical values of its parameters."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.algorithms.user_code import names
from ccperf.errors import UsageError, unknown
from ccperf.scenario import flow_trace

Kind = Literal[
    "count",
    "number",
    "rate",
    "time",
    "times",
    "probability",
    "load",
    "level",
    "size",
    "word",
    "qdisc",
    "cc",
    "trace",
    "flows",
    "buffer",
    "routing",
]
Value = int | float | str


#: What stands for a unit in the sentence of a parameter.
_MEASURES = {", in bandwidth-delay products": "BDP", ", in segments": "segments"}
#: Words of names that are written in capitals.
_ACRONYMS = {"ce": "CE", "ecn": "ECN", "pfc": "PFC", "rtt": "RTT", "rtts": "RTTs"}
#: So many letters stand beside an axis.
_AXIS = 45


class File(str):
    """The path of a user's file, which labels of points give by its name."""

    @property
    def name(self) -> str:
        return Path(self).name


_LARGEST_COUNT = 1_000_000
_LARGEST_NUMBER = 1_000_000_000

#: A value that follows from the point's other parameters; the experiment says how.
AUTO = "auto"

_UNITS: Mapping[Kind, str] = {
    "count": "count",
    "number": "number",
    "rate": "bit/s",
    "time": "time",
    "times": "list of times",
    "probability": "probability",
    "load": "share",
    "level": "rate, time or probability",
    "size": "size",
    "word": "word",
    "qdisc": "queue discipline",
    "cc": "congestion control",
    "routing": "load balancer",
    "trace": "trace, or a file with one",
    "flows": "file with a flow trace",
    "buffer": "size, or bdp",
}


@dataclass(frozen=True)
class Parameter:
    """One thing that an experiment varies."""

    name: str
    kind: Kind
    #: The values of the catalogue.
    grid: tuple[Value, ...]
    #: The value of the point whose tables are published; of experiments of our own, the usual one.
    default: Value
    #: One sentence.
    doc: str
    #: All there are, if it is a word; of other kinds words beside their values.
    words: tuple[str, ...] = ()
    #: The least and the largest, if it is a count.
    least: int = 1
    most: int = _LARGEST_COUNT

    @property
    def unit(self) -> str:
        """How its values are written."""
        return _UNITS[self.kind]

    @property
    def label(self) -> str:
        """What an axis calls it, in words."""
        first = re.split(r"[,;:.](?=\s|$)", self.doc, maxsplit=1)[0].removeprefix("The ")
        if self.kind == "word" or len(first) > _AXIS:
            words = [_ACRONYMS.get(word, word) for word in self.name.split("_")]
            first = " ".join(words)
        return first[:1].upper() + first[1:]

    @property
    def measure(self) -> str:
        """The unit of a number that its sentence names, as an axis has it."""
        return next((unit for words, unit in _MEASURES.items() if words in self.doc), "")

    def value(self, given: object) -> Value:
        """The canonical form of a value: ``"5"`` -> 5, ``"0.001s"`` -> ``"1ms"``, ``"codel"`` ->
        ``"CoDelQueueDisc"``.  Raises :class:`~ccperf.errors.UsageError`."""
        text = str(given).strip()
        if text == AUTO and AUTO in (self.default, *self.grid):
            return AUTO
        try:
            return self._parse(text)
        except ValueError as error:
            message = error.message if isinstance(error, UsageError) else str(error)
            raise UsageError(self.name, message) from None

    def _parse(self, text: str) -> Value:
        if text in self.words:
            return text
        if self.kind == "qdisc" or self.kind == "cc" or self.kind == "routing":
            return registry.resolve(self.kind, text)
        if self.kind == "word":
            raise ValueError(unknown(self.name, text, self.words))
        if self.kind == "count":
            return _count(text, self.least, self.most)
        return _PARSERS[self.kind](text)


def times(text: Value) -> list[str]:
    """The entries of a list of times: ``[97ms,76ms]``."""
    return str(text)[1:-1].split(",")


def written(entries: list[str]) -> str:
    """A list as a value: ``[97ms,76ms]``."""
    return f"[{','.join(entries)}]"


def _count(text: str, least: int, most: int) -> int:
    is_whole = re.fullmatch(r"0*[0-9]{1,7}", text)
    if not is_whole or not least <= int(text) <= most:
        raise ValueError(f"`{text}` must be a whole number from {least} to {most:,}")
    return int(text)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= _LARGEST_NUMBER or not text.isascii() or "_" in text:
        raise ValueError(f"`{text}` must be a number from 0 to {_LARGEST_NUMBER:,}")
    return int(value) if value.is_integer() else value


def _probability(text: str) -> float:
    value = float(_number(text)) if re.fullmatch(r"[-+0-9.eE]+", text) else math.nan
    if not value <= 1:
        raise ValueError(f"`{text}` is not a probability from 0 to 1{_of_percent(text)}")
    return value


def _load(text: str) -> float:
    if meant := _of_percent(text):
        raise ValueError(f"`{text}` is not between 0 and 1{meant}")
    value = _number(text)
    if not 0 < value < 1:
        raise ValueError(f"`{text}` is not between 0 and 1, as 0.6 for 60 %")
    return value


def _of_percent(text: str) -> str:
    """What to write instead of a percentage; nothing if it is none."""
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) *%", text)
    return f"; write {float(found[1]) / 100:g}" if found else ""


def _above_zero(parse: Callable[[str], int], write: Callable[[int], str]) -> Callable[[str], str]:
    """What reads a quantity, which must not be 0, and writes it as results have it."""

    def canonical(text: str) -> str:
        found = parse(text)
        if found == 0:
            raise ValueError(f"`{text}` must be above 0")
        return write(found)

    return canonical


_rate = _above_zero(_native.parse_rate, _native.format_rate)
_time = _above_zero(_native.parse_time, _native.format_time)
_size = _above_zero(_native.parse_size, _native.format_size)


def _times(text: str) -> str:
    if not re.fullmatch(r"\[[^\[\]]+\]", text):
        raise ValueError(f"`{text}` is not a list of times; write it like [97ms,76ms]")
    return written([_native.format_time(_native.parse_time(part.strip())) for part in times(text)])


def _level(text: str) -> Value:
    if text.endswith(("bps", "bit", "/s")):
        return _rate(text)
    return _time(text) if text.endswith("s") else _probability(text)


def products(buffer: str) -> float | None:
    """The bandwidth-delay products of a buffer that is given in these: ``1.5bdp``."""
    return float(buffer[: -len("bdp")]) if buffer.endswith("bdp") else None


def _buffer(text: str) -> str:
    if text.lower().endswith("bdp"):
        try:
            number = _number(text[: -len("bdp")])
        except ValueError:
            number = 0
        if not number:
            raise ValueError(f"`{text}` must be a number above 0, as 1.5bdp")
        return f"{number}bdp"
    try:
        size = _native.parse_queue_size(text)
    except ValueError as error:  # the engine knows nothing of products
        raise ValueError(str(error).replace("20p or 30kB", "20p, 30kB or 1bdp")) from None
    if 0 in size:
        raise ValueError(f"`{text}` would drop everything; it must be above 0, as 1p")
    return _native.format_queue_size(*size)


def _trace(text: str) -> File:
    from ccperf.experiments import traces

    traces.load(text)
    return File(text if names.are_stored() else Path(text).absolute())


def _flows(text: str) -> File:
    path = Path(text).absolute()
    if not names.are_stored():
        flow_trace.read(path)
    return File(text if names.are_stored() else path)


_PARSERS: Mapping[Kind, Callable[[str], Value]] = {
    "number": _number,
    "rate": _rate,
    "time": _time,
    "times": _times,
    "probability": _probability,
    "load": _load,
    "level": _level,
    "size": _size,
    "buffer": _buffer,
    "trace": _trace,
    "flows": _flows,
}
