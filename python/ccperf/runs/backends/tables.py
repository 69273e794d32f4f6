"""Tables as other programs hand them over: a line of JSON, then the columns as they are in memory.

The driver of ns-3 writes them (`ns3/driver/table.h`), and so does the guest in a Linux kernel
(`crates/guest/src/linux/tables.rs`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ccperf.errors import RunError

Tables: TypeAlias = dict[str, dict[str, "npt.NDArray[Any] | list[str]"]]

_DTYPES = {"int": np.dtype("<i8"), "float": np.dtype("<f8"), "str": np.dtype("<i8")}


def read_tables(path: Path) -> Tables:
    """Read a file of tables. Raises :class:`~ccperf.errors.RunError` for any other file."""
    try:
        return _read(path)
    except Exception as error:  # a program that went wrong may have written anything
        what = str(error) or type(error).__name__
        raise RunError(f"{path.name}: what was handed over is no tables ({what:.200})") from error


def _read(path: Path) -> Tables:
    tables: Tables = {}
    with path.open("rb") as file:
        for column in json.loads(file.readline()):
            dtype = _DTYPES[column["kind"]]
            values = np.frombuffer(file.read(column["rows"] * dtype.itemsize), dtype)
            if len(values) != column["rows"]:
                raise ValueError("it ends too soon")
            words = column["words"]
            tables.setdefault(column["table"], {})[column["column"]] = (
                [words[code] for code in values] if column["kind"] == "str" else values
            )
    return tables
