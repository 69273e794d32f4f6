"""Recordings as Parquet blobs: small, the same bytes for the same values, readable anywhere."""

from __future__ import annotations

from io import BytesIO

from arro3.io import read_parquet, write_parquet

from ccperf.recording import Recording, Table


def encode(recording: Recording) -> dict[str, bytes]:
    """Return each table of `recording` as a Parquet file."""
    return {name: encode_table(table) for name, table in recording.tables.items()}


def encode_table(table: Table) -> bytes:
    """Return `table` as a Parquet file.

    Plain columns under zstd: on our counters and states, interleaved by flow, that is smaller than
    with Parquet's dictionaries or differences, and every reader has it.
    """
    buffer = BytesIO()
    write_parquet(table, buffer, compression="zstd(3)", dictionary_enabled=False)
    return buffer.getvalue()


def decode(blobs: dict[str, bytes]) -> Recording:
    """Return the recording that `encode` made `blobs` of."""
    return Recording({name: decode_table(name, blob) for name, blob in blobs.items()})


def decode_table(name: str, blob: bytes) -> Table:
    """Return the table that `encode_table` made `blob` of."""
    return Table.from_arrow(name, read_parquet(BytesIO(blob)))
