"""A campaign as users make them: ``python -m benchmarks.four [--record]``.

`ccperf bench TcpNewReno,TcpCubic,TcpBbr,TcpVegas --seed 1..2 --no-site`: the whole catalogue. CPU
time of all processes, how many runs and packets over links that is, and the databases' bytes; then
what the same command takes that finds all runs stored.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import figures
from benchmarks.perf import processor_seconds
from ccperf.store import Store

ALGORITHMS = "TcpNewReno,TcpCubic,TcpBbr,TcpVegas"


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.four", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write figures.json")
    options = parser.parse_args()
    program = str(Path(sys.executable).with_name("ccperf"))
    words = [program, "bench", ALGORITHMS, "--seed", "1..2", "--no-site"]
    with tempfile.TemporaryDirectory() as folder:
        took, again = (processor_seconds(words, folder) for _ in range(2))
        databases = sorted(Path(folder).glob("*.db"))
        runs, hops = 0, 0.0
        for database in databases:
            with Store(database, "r") as store:
                for run in store.ids():
                    metrics = store.load(run).metrics.network
                    hops += metrics.get("net", {}).get("total_packet_hops_l1", 0.0)
                    runs += 1
        size = sum(database.stat().st_size for database in databases)
    print(f"{runs} runs, {hops / 1e6:.0f} M packet-hops: {took:.1f} s of CPU, {size / 1e6:.0f} MB")
    print(f"again, all stored: {again:.1f} s of CPU")
    if options.record:
        values = {"runs": runs, "seconds": round(took, 1), "again": round(again, 2)}
        values |= {"million_hops": round(hops / 1e6), "megabytes": round(size / 1e6)}
        figures.record("campaign", "CPU time of all processes, once", values)


if __name__ == "__main__":
    main()
