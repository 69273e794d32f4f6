"""Recordings as Parquet files: small, the same bytes for the same values, readable anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.runs.recording import TABLES, Recording, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.runs.consistency import Expected

#: A file of a stranger's may be made to expand without end. Of tables whose size nothing else says,
#: honest ones expand to 60 times as much at most: their times and counters never repeat as a whole.
_LARGEST_RATIO = 250
_SMALL = 2**24
#: Up to so many rows a table is stored as it is.
_FEW_ROWS = 32

#: Columns of samples that neither figures over time nor diagnoses are made of: a fifth of what
#: reading a run takes.
NOT_DRAWN: dict[str, tuple[str, ...]] = {
    "flow_samples": (
        "sent_bytes",
        "read_bytes",
        "idt_ewma_ns",
        "one_way_delay_ns",
        "pacing_rate_bps",
    ),
    "link_samples": ("qdisc_bytes",),
}


def encode(recording: Recording) -> dict[str, bytes]:
    """Return each table of `recording` as a Parquet file."""
    return {name: encode_table(table) for name, table in recording.tables.items()}


def encode_table(table: Table, *, compressed: bool | None = None) -> bytes:
    """Return `table` as a Parquet file.

    Plain columns under zstd: on our counters and states, interleaved by flow, that is smaller than
    with Parquet's dictionaries or differences, and every reader has it.  A few rows are not smaller
    for it, so that by default they are stored as they are.
    """
    if compressed is None:
        compressed = table.rows > _FEW_ROWS
    return _native.write_parquet(list(table.items()), compressed)


def decode(
    files: Mapping[str, bytes],
    rows: Mapping[str, int],
    *,
    drawn: bool = False,
    expected: Expected | None = None,
) -> Recording:
    """Return the recording that `encode` made `files` of; `rows` is how many each table has.

    With `drawn` samples lack the columns that no figure over time is made of.  Raises ValueError
    for tables that are larger than their files can honestly be, or than is `expected`.
    """
    left_out = NOT_DRAWN if drawn else {}
    tables: dict[str, Table] = {}
    for name in sorted(files, key=list(TABLES).index):
        # The first table says how many flows there are.
        flows = tables["flows"].rows if "flows" in tables else None
        most = expected.most_bytes(name, flows) if expected else None
        tables[name] = decode_table(
            name, files[name], rows[name], left_out.get(name, ()), most=most
        )
    recording = Recording(tables, left_out)
    if expected:
        expected.check(recording)
    return recording


def decode_table(
    name: str,
    file: bytes,
    rows: int | None = None,
    left_out: Sequence[str] = (),
    *,
    most: int | None = None,
) -> Table:
    """Return the table of so many rows that `encode_table` made `file` of, but for some columns.

    It may become `most` bytes large; None: what is likely. Raises ValueError for any other file.
    No library for all of Parquet, or of Arrow, does that: those that there are end the whole
    process at some of what a stranger can write into a file.
    """
    allowed = _LARGEST_RATIO * len(file) + _SMALL if most is None else most
    size = 8 * (rows or 0) * len(TABLES[name])
    if size > allowed:
        raise ValueError(f"table `{name}` of {len(file)} bytes claims to be {size} bytes large")
    try:
        return Table(name, _native.read_parquet(file, rows, allowed, left_out), left_out)
    except ValueError as error:
        raise ValueError(f"table `{name}` cannot be read: {error}") from error
