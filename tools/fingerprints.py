"""Fingerprints of what the engine records for every scenario of the matrix.

    python tools/fingerprints.py              compare tables with the record
    python tools/fingerprints.py --packets    packet traces as well
    python tools/fingerprints.py --write      record both

Exit status 1 where one differs.  The record is made when the whole matrix has been compared with
real ns-3; after that a change that means to leave behaviour alone is checked in seconds, without
ns-3.  A fingerprint is of all tables with every change of the senders' state, in the columns that
the record names, so that a new column changes none; a second one is of the packet trace, which has
the order of events at one time, too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ccperf import backends
from ccperf.recording import TABLES, Recording
from ccperf.verify import matrix

RECORD = Path(__file__).parents[1] / "tests" / "verify" / "fingerprints.json"

Columns = dict[str, list[str]]


def fingerprint(recording: Recording, columns: Columns) -> str:
    """Return 16 hex digits of SHA-256 over the named columns of each table there is."""
    digest = hashlib.sha256()
    for name, wanted in columns.items():
        table = recording.tables.get(name)
        if table is None:
            continue
        digest.update(f"{name} {table.rows}\n".encode())
        for column in wanted:
            data: Any = table[column]
            text = "\n".join(data).encode() if isinstance(data, list) else data.tobytes()
            digest.update(text)
    return digest.hexdigest()[:16]


def of_tables(case: matrix.Case, columns: Columns) -> str:
    """Run a case with every change recorded."""
    recording = case.scenario.recording.model_copy(update={"changes": True})
    scenario = case.scenario.model_copy(update={"recording": recording})
    return fingerprint(backends.get("native").simulate(scenario), columns)


def of_packets(case: matrix.Case) -> str:
    """Run a case with its packets recorded."""
    with TemporaryDirectory(prefix="ccperf-fingerprints-") as folder:
        trace = Path(folder) / "packets.csv"
        backends.get("native").simulate(case.scenario, packets=trace)
        return hashlib.sha256(trace.read_bytes()).hexdigest()[:16]


def measure(cases: list[matrix.Case], of: Callable[[matrix.Case], str]) -> dict[str, str]:
    """Fingerprint cases side by side, by name."""
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        return dict(zip((case.name for case in cases), executor.map(of, cases), strict=True))


def main() -> int:
    """Compare or record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="record instead of comparing")
    parser.add_argument("--packets", action="store_true", help="compare packet traces as well")
    parser.add_argument("--pattern", default="*", help="only the cases of these names: loss/*")
    arguments = parser.parse_args()
    cases = matrix.cases(arguments.pattern)
    if arguments.write:
        columns = {name: [column.name for column in schema] for name, schema in TABLES.items()}
        tables = measure(cases, lambda case: of_tables(case, columns))
        record = {"columns": columns, "tables": tables, "packets": measure(cases, of_packets)}
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
        print(f"{len(cases)} scenarios in {RECORD}")
        return 0
    record = json.loads(RECORD.read_text())
    known = [case for case in cases if case.name in record["tables"]]
    found = {"tables": measure(known, lambda case: of_tables(case, record["columns"]))}
    if arguments.packets:
        found["packets"] = measure(known, of_packets)
    different = [
        (what, name)
        for what, values in found.items()
        for name, value in values.items()
        if value != record[what][name]
    ]
    for what, name in different:
        print(f"{what} differ: {name}")
    new = len(cases) - len(known)
    print(f"{len(known)} scenarios compared, {len(different)} differ, {new} new")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
