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

Tables: TypeAlias = dict[str, dict[str, "npt.NDArray[Any] | list[str]"]]

_DTYPES = {"int": np.dtype("<i8"), "float": np.dtype("<f8"), "str": np.dtype("<i8")}


def read_tables(path: Path) -> Tables:
    """Read a file of tables."""
    tables: Tables = {}
    with path.open("rb") as file:
        for column in json.loads(file.readline()):
            dtype = _DTYPES[column["kind"]]
            values = np.frombuffer(file.read(column["rows"] * dtype.itemsize), dtype)
            words = column["words"]
            tables.setdefault(column["table"], {})[column["column"]] = (
                [words[code] for code in values] if column["kind"] == "str" else values
            )
    return tables
