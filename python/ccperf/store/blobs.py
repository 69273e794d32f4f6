"""Recordings as Parquet blobs: small, the same bytes for the same values, readable anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO

import arro3.core as arrow
from arro3.io import read_parquet, write_parquet

from ccperf.recording import TABLES, Recording, Table

#: A file of a stranger's may be made to expand without end. Honest ones do not exceed this: their
#: times and counters never repeat as a whole.
_LARGEST_RATIO = 1000
_SMALL = 2**24
#: Up to so many rows a table is stored as it is.
_FEW_ROWS = 32


def encode(recording: Recording) -> dict[str, bytes]:
    """Return each table of `recording` as a Parquet file."""
    return {name: encode_table(table) for name, table in recording.tables.items()}


def encode_table(table: Table) -> bytes:
    """Return `table` as a Parquet file.

    Plain columns under zstd: on our counters and states, interleaved by flow, that is smaller than
    with Parquet's dictionaries or differences, and every reader has it.  A few rows are not smaller
    for it, and would take five times as long.
    """
    buffer = BytesIO()
    compression = "zstd(3)" if table.rows > _FEW_ROWS else "uncompressed"
    write_parquet(table, buffer, compression=compression, dictionary_enabled=False)
    return buffer.getvalue()


def decode(blobs: dict[str, bytes], rows: Mapping[str, int]) -> Recording:
    """Return the recording that `encode` made `blobs` of; `rows` is how many each table has.

    Raises ValueError for tables that are larger than their files can honestly be.
    """
    return Recording({name: decode_table(name, blob, rows[name]) for name, blob in blobs.items()})


def decode_table(name: str, blob: bytes, rows: int) -> Table:
    """Return the table that `encode_table` made `blob` of."""
    size = 8 * rows * len(TABLES[name])
    if size > _LARGEST_RATIO * len(blob) + _SMALL:
        raise ValueError(f"table `{name}` of {len(blob)} bytes claims to be {size} bytes large")
    batches, found = [], 0
    try:
        # In one piece, which NumPy then takes as it is.
        reader = read_parquet(BytesIO(blob), batch_size=max(rows, 1))
        for batch in reader:
            batches.append(batch)
            found += batch.num_rows
            if found > rows:
                break
    except Exception as error:  # for some damages the library has no type of its own
        raise ValueError(f"table `{name}` cannot be read: {error}") from error
    if found != rows:
        raise ValueError(f"table `{name}` has {found} rows or more instead of {rows}")
    return Table.from_arrow(name, arrow.Table.from_batches(batches, schema=reader.schema))
