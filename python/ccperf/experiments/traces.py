"""Traces of links as columns of a schedule: recorded ones, and random walks.

Three formats are read. A *Mahimahi* trace (R. Netravali et al., "Mahimahi: accurate
record-and-replay for HTTP", USENIX ATC 2015) has a whole number of milliseconds a line: at that
time one full packet may leave; where the trace ends it begins again, its last line being its
length. A *rate trace* is CSV with a header: ``time_s,rate_mbps``, and optionally ``delay_ms`` (one
way), ``loss``, and for the return direction ``return_rate_mbps`` and ``return_loss``; each row
holds until the next one, the last one to the end. CellReplay's *trains* (W. Sentosa et al.,
"CellReplay", NSDI 2025) have a line for each train of packets that was sent over an idle link: its
time, its base delay one way, and how much later than the first its packets came, all in whole
milliseconds; it begins again as Mahimahi's do. Each line holds until the next one: its delay, and
the rate at which its train came. (CellReplay's other file, of a saturated link, is Mahimahi's.)

A link has no slots for packets but a rate, so opportunities become one: between two of them it is
that at which a full frame of the link takes just as long. A link that always has something to send
sends one full frame for each opportunity; a packet that comes to an idle link waits as long as its
bytes take at the present rate instead of for the next slot.
"""

from __future__ import annotations

import math
import operator
import random
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from ccperf import _native, data
from ccperf.errors import UsageError, suggestion, unknown
from ccperf.experiments.bounds import few_enough

#: A full packet of 1500 bytes with the link's framing of 2.
FRAME_BITS = 8 * 1502
#: A packet of CellReplay's trains.
TRAIN_BITS = 8 * 1402


@dataclass(frozen=True)
class Trace:
    """A recorded link: rows that may be repeated."""

    times_ns: tuple[int, ...]
    rates_bps: tuple[int, ...]
    delays_ns: tuple[int, ...] | None = None
    losses: tuple[float, ...] | None = None
    #: After this time it begins again; None: its last row holds to the end.
    period_ns: int | None = None
    #: The return direction's, if it has its own.
    return_rates_bps: tuple[int, ...] | None = None
    return_losses: tuple[float, ...] | None = None

    def schedules(self, stop_ns: int, direction: str = "forward") -> list[dict[str, Any]]:
        """The fields of a link's schedules up to `stop_ns`: rates and losses of one direction, and
        delays, which are the link's, if the trace has some."""
        whole, rest = divmod(stop_ns, self.period_ns) if self.period_ns else (0, stop_ns)
        count = whole * len(self.times_ns) + bisect_left(self.times_ns, rest)
        length = _native.format_time(stop_ns)
        few_enough("rows", count, fix="end the run sooner", stop_time=length)
        rows = list(self._rows(stop_ns))
        times = [time for time, _ in rows]

        def column(values: Sequence[float]) -> list[float]:
            return [values[row] for _, row in rows]

        found = [{"direction": direction, "times_ns": times, "rates_bps": column(self.rates_bps)}]
        if self.losses is not None:
            found[0]["losses"] = column(self.losses)
        if self.delays_ns is not None:
            found.append({"times_ns": times, "delays_ns": column(self.delays_ns)})
        back: dict[str, Any] = {}
        if self.return_rates_bps is not None:
            back["rates_bps"] = column(self.return_rates_bps)
        if self.return_losses is not None:
            back["losses"] = column(self.return_losses)
        if back:
            other = "reverse" if direction == "forward" else "forward"
            found.append({"direction": other, "times_ns": times, **back})
        return found

    def mean_bps(self) -> float:
        """The mean rate over one period; of a trace without one, up to its last row."""
        end = self.period_ns or max(self.times_ns[-1], 1)
        ends = (*self.times_ns[1:], end)
        spans = [max(b - a, 0) for a, b in zip(self.times_ns, ends, strict=True)]
        if not sum(spans):
            return self.rates_bps[0]
        return float(sum(map(operator.mul, spans, self.rates_bps)) / sum(spans))

    def _rows(self, stop_ns: int) -> Iterator[tuple[int, int]]:
        """Time and row, until `stop_ns`."""
        start = 0
        while True:
            for row, time in enumerate(self.times_ns):
                if start + time >= stop_ns:
                    return
                yield start + time, row
            if self.period_ns is None:
                return
            start += self.period_ns


def packaged() -> list[str]:
    """The names of the traces in the package."""
    folder = data.FOLDER / "traces"
    return sorted(f.name for f in folder.iterdir() if f.name.endswith((".trace", ".csv")))


def load(name: str) -> Trace:
    """A trace of the package by name, or a file: ``.csv`` is a rate trace, others are Mahimahi's or
    CellReplay's, which have several numbers a line.

    Raises:
        UsageError: if there is none, or if it is not one, with line and column.
    """
    if name in packaged():
        text = data.text(f"traces/{name}")
    else:
        try:
            text = Path(name).read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            message = f"there is no file `{name}` and no trace of this name in the package"
            known = f"{suggestion(name, packaged())}; it has {', '.join(packaged())}"
            raise UsageError("trace", message + known) from None
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError("trace", f"`{name}` cannot be read: {error}") from None
    try:
        return _parsed(text, is_table=name.endswith(".csv"))
    except ValueError as error:
        raise UsageError("trace", f"{Path(name).name}: {error}") from None


@lru_cache(maxsize=16)  # the points of a campaign replay the same few
def _parsed(text: str, *, is_table: bool) -> Trace:
    if is_table:
        return parse_rates(text)
    first = next(_numbers(text), [])
    return parse_trains(text) if len(first) > 1 else parse_mahimahi(text)


@dataclass(frozen=True)
class _Number:
    """A whole number of milliseconds, and where it stands."""

    value: int
    place: str


def _numbers(text: str) -> Iterator[list[_Number]]:
    """Those of each line that has some. Raises :class:`ValueError` with line and column."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith("#"):
            continue
        found = []
        for match in re.finditer(r"\S+", line):
            word, place = match[0], f"line {number}, column {match.start() + 1}"
            if not (word.isascii() and word.isdigit() and len(word) <= 12):
                raise ValueError(f"{place}: `{word[:40]}` is not a whole number of milliseconds")
            found.append(_Number(int(word), place))
        if found:
            yield found


def parse_trains(text: str) -> Trace:
    """CellReplay's trains. Raises :class:`ValueError` with line and column of what is wrong."""
    times: list[int] = []
    delays: list[int] = []
    rates: list[int] = []
    for time, *rest in _numbers(text):
        if len(rest) < 3:
            raise ValueError(
                f"{time.place}: has {1 + len(rest)} numbers; a train has its time, its base delay "
                "and at least two packets"
            )
        delay, *offsets = rest
        if times and time.value <= times[-1]:
            raise ValueError(f"{time.place}: {time.value} comes after {times[-1]}; times ascend")
        for before, after in pairwise(offsets):
            if after.value < before.value:
                raise ValueError(
                    f"{after.place}: {after.value} comes after {before.value}; packets come in turn"
                )
        # What comes within a millisecond comes at a rate that the file does not know.
        span = max(1, offsets[-1].value - offsets[0].value)
        times.append(time.value)
        delays.append(delay.value * 1_000_000)
        rates.append((len(offsets) - 1) * TRAIN_BITS * 1000 // span)
    if len(times) < 2:
        raise ValueError("has no length: it needs two trains at least")
    # The last line is its end, as in Mahimahi's.
    starts = [(start - times[0]) * 1_000_000 for start in times]
    return Trace(tuple(starts[:-1]), tuple(rates[:-1]), tuple(delays[:-1]), period_ns=starts[-1])


def parse_mahimahi(text: str) -> Trace:
    """A Mahimahi trace. Raises :class:`ValueError` with line and column of what is wrong."""
    opportunities: list[int] = []
    for opportunity, *more in _numbers(text):
        if more:
            raise ValueError(f"{more[0].place}: {more[0].value} is one number too many")
        if opportunities and opportunity.value < opportunities[-1]:
            before = opportunities[-1]
            raise ValueError(
                f"{opportunity.place}: {opportunity.value} comes after {before}; times ascend"
            )
        opportunities.append(opportunity.value)
    if not opportunities or opportunities[-1] == 0:
        raise ValueError("has no length: its last time must be above 0")
    length = opportunities[-1]
    # What leaves at 0 belongs to the end of the round before.
    at: dict[int, int] = {}
    for time in opportunities:
        at[time or length] = at.get(time or length, 0) + 1
    starts, rates = [], []
    before = 0
    for time in sorted(at):
        starts.append(before * 1_000_000)
        # Rounded down: a frame ends just behind the slot, and the next one has the slot's new rate.
        rates.append(max(1, at[time] * FRAME_BITS * 1000 // (time - before)))
        before = time
    return Trace(tuple(starts), tuple(rates), period_ns=length * 1_000_000)


_COLUMNS: Mapping[str, tuple[str, float]] = {
    "time_s": ("times_ns", 1e9),
    "rate_mbps": ("rates_bps", 1e6),
    "delay_ms": ("delays_ns", 1e6),
    "loss": ("losses", 1.0),
    "return_rate_mbps": ("return_rates_bps", 1e6),
    "return_loss": ("return_losses", 1.0),
}
_NEEDED = ("time_s", "rate_mbps")
#: What may stand around a number.
_AROUND = ' \t"'


def parse_rates(text: str) -> Trace:
    """A rate trace. Raises :class:`ValueError` with line and column of what is wrong."""
    written = [
        (n, line) for n, line in enumerate(text.splitlines(), 1) if line[:1] not in ("#", "")
    ]
    # Numbers have no commas, so there is nothing else to quotes than to take them away.
    lines = ((number, line.split(",")) for number, line in written)
    _, names = next(lines, (1, [""]))
    head = [name.strip(_AROUND) for name in names]
    for name in _NEEDED:
        if name not in head:
            must = f"its first line must name {' and '.join(_NEEDED)}"
            others = ", ".join(each for each in _COLUMNS if each not in _NEEDED)
            raise ValueError(f"has no column {name}; {must}, and may name {others}")
    for name in head:
        if name not in _COLUMNS:
            raise ValueError(unknown("column", name, _COLUMNS))
        if head.count(name) > 1:
            raise ValueError(f"names the column {name} twice")
    columns: dict[str, list[float]] = {name: [] for name in head}
    for number, row in lines:
        if len(row) != len(head):
            raise ValueError(f"line {number} has {len(row)} fields, not {len(head)}")
        column = 1
        for name, word in zip(head, row, strict=True):
            place = f"line {number}, column {column + len(word) - len(word.lstrip(_AROUND))}"
            value = _value(place, name, word.strip(_AROUND))
            if (
                name == "time_s"
                and columns[name]
                and round(1e9 * columns[name][-1]) >= round(1e9 * value)
            ):
                raise ValueError(f"{place}: time_s must ascend")
            if name == "time_s" and not columns[name] and value:
                message = "time_s must begin with 0; before its first row nothing is said of a link"
                raise ValueError(f"{place}: {message}")
            if name.endswith("rate_mbps") and value * 1e6 < 0.5:
                message = "must be above 0; write a low one for a link that stands still"
                raise ValueError(f"{place}: {name} {message}")
            columns[name].append(value)
            column += len(word) + 1
    if not columns["time_s"]:
        raise ValueError("has no rows")
    fields: dict[str, Any] = {}
    for name, values in columns.items():
        target, scale = _COLUMNS[name]
        exact = not name.endswith("loss")
        fields[target] = tuple(round(v * scale) if exact else v for v in values)
    return Trace(**fields)


def _value(place: str, name: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1e9 or (name.endswith("loss") and value > 1):
        raise ValueError(f"{place}: {name} cannot be `{word[:40]}`")
    return value


@dataclass(frozen=True)
class Walk:
    """A bounded walk with correlated steps: d[n] = rho d[n-1] + e[n], e normal with mean 0 and
    standard deviation `step`; x[n] = x[n-1] + d[n], kept between `low` and `high`."""

    low: float
    high: float
    #: rho, from 0 to 1.
    correlation: float
    step: float
    #: Its own stream of numbers, by any text.
    stream: str = field(default="", compare=False)

    def values(self, count: int) -> list[float]:
        """`count` values, from the middle of the range."""
        rng = random.Random(self.stream)
        x, d = (self.low + self.high) / 2, 0.0
        found = []
        for _ in range(count):
            found.append(x)
            d = self.correlation * d + rng.gauss(0, self.step)
            x = min(max(x + d, self.low), self.high)
        return found
