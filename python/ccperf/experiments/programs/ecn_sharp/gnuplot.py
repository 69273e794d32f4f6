"""Queues over time as a script that gnuplot runs, with the samples in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.base.outputs import Kind
from ccperf.experiments.programs.program import File

if TYPE_CHECKING:
    from pathlib import Path

    from ccperf.runs.result import Result

_FIRST = "# Queue over time, by ccperf; `gnuplot FILE` draws it.\n"
_KIND = Kind("script for gnuplot by ccperf", (_FIRST.encode(),))


def queue(name: str) -> File:
    """The file ``<name>.plt``, which draws ``<name>.png``: packets in the one queue that the run
    samples, over seconds."""

    def write(result: Result, path: Path) -> None:
        table = result.recording.queue_samples
        assert table is not None
        seconds = (table.array("time_ns") / 1e9).tolist()
        packets = table.array("qdisc_packets").tolist()
        head = [
            "set terminal png",
            f'set output "{name}.png"',
            'set title "Queue"',
            'set xlabel "time (s)"',
            'set ylabel "queue (packets)"',
            f"set yrange [0:{max(120, *packets)}]",
            'plot "-" title "queue" with lines',
        ]
        rows = (f"{second:.9g} {count}" for second, count in zip(seconds, packets, strict=True))
        path.write_text(_FIRST + "\n".join([*head, *rows, "e", ""]), encoding="utf-8")

    return File(f"{name}.plt", _KIND, write)
