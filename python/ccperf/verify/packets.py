"""Comparison of two packet traces: are they the same bytes, and if not, where do they part?

The common part is compared in large blocks, so a trace costs little more than reading it; only the
neighbourhood of the first difference is taken apart.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import threading
from collections import Counter
from dataclasses import dataclass
from itertools import groupby, islice, zip_longest
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

#: First line of a packet trace with headers; its columns: `crates/engine/src/packet/trace.rs`.
HEADER = (
    "time_ns,link,event,flow,seq,ack,payload_bytes,wire_bytes,flags,ecn,reason,"
    "protocol,source,destination,service,window,window_shift,sack_permitted,ts_val,ts_ecr,sacks"
)

#: How the name of a file ends whose trace has headers.
SUFFIX = ".headers.csv"

_BLOCK = 1 << 20
#: How long to wait for a pipe's bytes before looking whether there will be any.
_LOOK_MS = 20
# How much of the common part is searched for rows of the same link and flow.
_LOOK_BACK = 8 << 20


class Row(NamedTuple):
    """One row of a packet trace, as text."""

    time_ns: str
    link: str
    event: str
    flow: str
    seq: str
    ack: str
    payload_bytes: str
    wire_bytes: str
    flags: str
    ecn: str
    reason: str
    protocol: str
    source: str
    destination: str
    service: str
    window: str
    window_shift: str
    sack_permitted: str
    ts_val: str
    ts_ecr: str
    sacks: str

    @classmethod
    def parse(cls, line: bytes) -> Row:
        """Split a line; one that is cut short has empty fields at its end."""
        fields = line.decode(errors="replace").rstrip("\n").split(",", len(cls._fields) - 1)
        return cls(*fields, *[""] * (len(cls._fields) - len(fields)))


@dataclass(frozen=True)
class Divergence:
    """The first row in which two traces differ; None on the side whose trace has ended."""

    #: Number of the row, from 1; the header is not counted.
    row: int
    ours: Row | None
    theirs: Row | None
    #: The last rows, common to both sides, of the differing rows' links and flows.
    before: tuple[Row, ...]
    #: The rows from the differing one on, of all links and flows.
    ours_after: tuple[Row, ...]
    theirs_after: tuple[Row, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the columns that differ; none if a trace has ended."""
        if self.ours is None or self.theirs is None:
            return ()
        pairs = zip(Row._fields, self.ours, self.theirs, strict=True)
        return tuple(name for name, ours, theirs in pairs if ours != theirs)

    @property
    def time_ns(self) -> int:
        """The time at which the traces part: the earlier one of the two rows'."""
        return min(int(row.time_ns or 0) for row in (self.ours, self.theirs) if row)


@contextlib.contextmanager
def piped(path: Path, take: Callable[[bytes], object]) -> Iterator[None]:
    """Make `path` a pipe whose bytes `take` is given: a trace of gigabytes needs no disk.

    Who writes opens and closes it inside, at most once.
    """
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with contextlib.suppress(AttributeError, OSError):  # Linux, as far as it allows
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _BLOCK)
    is_over = threading.Event()
    reader = threading.Thread(target=_drain, args=(pipe, take, is_over), daemon=True)
    reader.start()
    try:
        yield
    finally:
        is_over.set()
        reader.join()
        os.close(pipe)
        path.unlink()


def _drain(pipe: int, take: Callable[[bytes], object], is_over: threading.Event) -> None:
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    while True:
        was_over = is_over.is_set()
        try:
            data = os.read(pipe, _BLOCK)
        except BlockingIOError:  # a writer is there, and has nothing yet
            data = b""
        if data:
            take(data)
        elif was_over:
            return
        else:
            waiting.poll(_LOOK_MS)


def compare(ours: Path, theirs: Path, context: int = 12) -> tuple[int, Divergence | None]:
    """Compare two packet traces byte by byte.

    Returns the number of rows that both begin with (the header not counted) and the first
    difference, with `context` rows before and after it, or None if there is none.
    """
    with ours.open("rb") as left, theirs.open("rb") as right:
        offset, lines = _common(left, right)
        left.seek(offset)
        right.seek(offset)
        first, second = left.readline(), right.readline()
        if not first and not second:
            return max(lines - 1, 0), None
        if lines == 0:
            # One side has ended before it wrote so much as its header.
            first, second = left.readline(), right.readline()
        lines_there = _whole(first, second), _whole(second, first)
        divergence = _divergence((left, right), offset, lines, lines_there, context)
        return max(lines - 1, 0), divergence


def compare_by_time(ours: Path, theirs: Path, context: int = 12) -> tuple[int, Divergence | None]:
    """As :func:`compare`, with the rows of one nanosecond in any order.

    What happens at several hosts at once has no order where one kernel stands for all of them.
    """
    with ours.open("rb") as left, theirs.open("rb") as right:
        offset = lines = 0
        groups = _by_time(left), _by_time(right)
        nothing: list[bytes] = []
        for mine, other in zip_longest(*groups, fillvalue=nothing):
            if mine != other and Counter(mine) != Counter(other):
                break
            offset += sum(map(len, mine))
            lines += len(mine)
        else:
            return max(lines - 1, 0), None
        in_common = sum((Counter(mine) & Counter(other)).values())
        first, second = (
            # One that has no row of this nanosecond of its own goes on with the next.
            next(_beyond(rows, those), None) or next(iter(next(group, nothing)), b"")
            for rows, those, group in zip((mine, other), (other, mine), groups, strict=True)
        )
        lines += in_common
        divergence = _divergence((left, right), offset, lines, (first, second), context)
        return max(lines - 1, 0), divergence


def count_timestamps(trace: Path) -> Path:
    """Write a trace with headers again, with each end's timestamps counted from its first.

    A host begins them where it likes (RFC 7323 section 7.1), Linux anew for each pair of addresses.
    """
    source, destination = map(Row._fields.index, ("source", "destination"))
    flags, value, echo = map(Row._fields.index, ("flags", "ts_val", "ts_ecr"))
    first: dict[tuple[bytes, bytes], int] = {}
    counted = trace.with_name(f"counted-{trace.name}")
    with trace.open("rb") as lines, counted.open("wb") as out:
        out.write(next(lines, b""))
        for line in lines:
            row = line.split(b",")
            # What is cut short, or has no timestamp, stays as it is.
            if len(row) == len(Row._fields) and row[value]:
                ends = (row[3], row[source]), (row[3], row[destination])
                begin = first.setdefault(ends[0], int(row[value]))
                row[value] = b"%d" % ((int(row[value]) - begin) % 2**32)
                has_echo = b"ACK" in row[flags]  # a SYN that is sent again has none either
                if has_echo and ends[1] in first:
                    row[echo] = b"%d" % ((int(row[echo]) - first[ends[1]]) % 2**32)
                line = b",".join(row)
            out.write(line)
    return counted


def _by_time(file: BinaryIO) -> Iterator[list[bytes]]:
    """Yield the rows of each nanosecond; the header is a group of its own."""
    for _, rows in groupby(file, key=lambda line: line.partition(b",")[0]):
        yield list(rows)


def _beyond(rows: list[bytes], others: list[bytes]) -> Iterator[bytes]:
    """Yield those rows that are not among the others, as often as they are more there."""
    left = Counter(others)
    for row in rows:
        left[row] -= 1
        if left[row] < 0:
            yield row


def _divergence(
    files: tuple[BinaryIO, BinaryIO],
    offset: int,
    number: int,
    lines: tuple[bytes, bytes],
    context: int,
) -> Divergence:
    """What is said of two rows that differ, in files that are alike up to an offset."""
    rows = [Row.parse(line) if line else None for line in lines]
    return Divergence(
        row=number,
        ours=rows[0],
        theirs=rows[1],
        before=tuple(_before(files[0], offset, [row for row in rows if row], context)),
        ours_after=_rows(files[0], offset, context),
        theirs_after=_rows(files[1], offset, context),
    )


def _whole(line: bytes, other: bytes) -> bytes:
    """Return a line, or nothing if it is the other one, cut short at the end of its trace."""
    return b"" if other.startswith(line) and not line.endswith(b"\n") else line


def _common(left: BinaryIO, right: BinaryIO) -> tuple[int, int]:
    """Return offset and number of the line at which the files part, or the end of both."""
    offset = lines = 0
    while True:
        left.seek(offset)
        right.seek(offset)
        ours, theirs = left.read(_BLOCK), right.read(_BLOCK)
        if ours == theirs and ours:
            # A line that the block cuts in two is read again.
            whole = ours.rfind(b"\n") + 1 or len(ours)
            offset += whole
            lines += ours.count(b"\n")
            continue
        start = ours.rfind(b"\n", 0, _common_length(ours, theirs)) + 1
        return offset + start, lines + ours.count(b"\n", 0, start)


def _common_length(ours: bytes, theirs: bytes) -> int:
    """Return the number of bytes that both begin with."""
    low, high = 0, min(len(ours), len(theirs))
    while low < high:
        middle = (low + high + 1) // 2
        if ours[low:middle] == theirs[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _before(file: BinaryIO, offset: int, rows: list[Row], context: int) -> Iterator[Row]:
    """Yield the last `context` rows before `offset` that belong to a link and flow of `rows`."""
    wanted = {(row.link, row.flow) for row in rows}
    start = max(0, offset - _LOOK_BACK)
    file.seek(start)
    lines = file.read(offset - start).splitlines()
    # The first one is the header or cut in two.
    backwards = map(Row.parse, reversed(lines[1:]))
    found = (row for row in backwards if (row.link, row.flow) in wanted)
    yield from reversed(list(islice(found, context)))


def _rows(file: BinaryIO, offset: int, count: int) -> tuple[Row, ...]:
    file.seek(offset)
    return tuple(Row.parse(line) for line in islice(file, count))


def report(divergence: Divergence, ours: str = "ours", theirs: str = "theirs") -> str:
    """Return the divergence as text: what differs, what came before, what each side goes on with.

    `ours` and `theirs` name the sides.
    """
    width = max(len(ours), len(theirs))
    text = [f"row {divergence.row:,}, {int(divergence.time_ns):,} ns:"]
    if divergence.fields:
        text.append("  differs in " + ", ".join(divergence.fields))
    for side, row in ((ours, divergence.ours), (theirs, divergence.theirs)):
        text.append(f"  {side:<{width}}  {_line(row) if row else 'has ended'}")
    if divergence.before:
        rows_at = filter(None, (divergence.ours, divergence.theirs))
        subjects = dict.fromkeys(f"{row.flow} on {row.link}" for row in rows_at)
        text.append(f"before that, on both sides, {' and '.join(subjects)}:")
        text += [f"  {_line(row)}" for row in divergence.before]
    for side, rows in ((ours, divergence.ours_after), (theirs, divergence.theirs_after)):
        if rows:
            text.append(f"{side} from there on, all links:")
            text += [f"  {_line(row)}" for row in rows]
    return "\n".join(text)


def _line(row: Row) -> str:
    time = int(row.time_ns) if row.time_ns.isdigit() else 0
    text = (
        f"{time:>15,} {row.link:<16} {row.event:<7} {row.flow:<8} "
        f"seq {row.seq:<10} ack {row.ack:<10} {row.payload_bytes:>5} B ({row.wire_bytes} B) "
        f"{row.flags} {row.ecn} {row.reason}"
    ).rstrip()
    if row.window:
        text += f" window {row.window}"
    return f"{text} sacks {row.sacks}" if row.sacks else text
