"""What real ns-3 was found to agree with, remembered: it runs again where anything has changed.

ns-3's answer depends on the driver, its libraries and the lowered scenario, so these are the key.
Kept is a digest of what the engine recorded when both were identical, so of what ns-3 had recorded,
too: packets with their headers, changes and tables. An engine that records the same again is
identical again; for another one ns-3 runs. ``CCPERF_NS3_AGAIN=1`` lets it run in any case.

So a record that was interrupted goes on where it was: only the engine repeats what it had done.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf.base.folders import Temporary
from ccperf.errors import RunError
from ccperf.runs.backends.cache import cache_directory
from ccperf.runs.backends.ns3 import build
from ccperf.verify import packets
from ccperf.verify.compare import Comparison, recorded, table_differences
from ccperf.verify.compare import compare as compare_both

if TYPE_CHECKING:
    from ccperf.runs.backends import Backend, Progress
    from ccperf.runs.recording import Recording
    from ccperf.scenario import Scenario

#: Set to let ns-3 run whatever is remembered.
AGAIN = "CCPERF_NS3_AGAIN"


def compare(
    scenario: Scenario, ours: Backend, theirs: Backend, progress: Progress | None = None
) -> Comparison:
    """As :func:`ccperf.verify.compare.compare`, `theirs` being ns-3, with what is remembered.

    Where both record the same, packet traces of gigabytes are digests that nobody writes to a disk;
    both run again where something differs, to say what.
    """
    traced = recorded(scenario)
    try:
        mine = _observed(ours, traced, progress)
        place = _place(traced, theirs)
        if place.exists() and place.read_text() == mine.digest() and AGAIN not in os.environ:
            return Comparison(scenario, ours.name, theirs.name, rows=mine.rows)
        other = _observed(theirs, traced, progress)
    except RunError:
        return compare_both(scenario, ours, theirs, progress)
    is_same = mine.packets == other.packets and not any(
        table_differences(mine.recording, other.recording)
    )
    if not is_same:
        return compare_both(scenario, ours, theirs, progress)
    place.parent.mkdir(parents=True, exist_ok=True)
    new = place.with_suffix(f".{os.getpid()}")
    new.write_text(mine.digest())
    new.replace(place)
    # Metrics are computed of the tables, so they are the same.
    seconds = {ours.name: mine.seconds, theirs.name: other.seconds}
    return Comparison(scenario, ours.name, theirs.name, rows=mine.rows, seconds=seconds)


def _place(traced: Scenario, theirs: Backend) -> Path:
    answered_by = f"{theirs.version}\n{build.driver()}"
    key = hashlib.sha256(f"{answered_by}\n{traced.lowered()}".encode()).hexdigest()
    return cache_directory("ns3") / "agreed" / key[:2] / key


@dataclass(frozen=True)
class _Observed:
    """All that a comparison looks at, of one backend."""

    #: A digest of the trace, and its rows.
    packets: str
    rows: int
    recording: Recording
    #: Wall time.
    seconds: float

    def digest(self) -> str:
        """Of everything."""
        digest = hashlib.sha256(self.packets.encode())
        for name, table in self.recording.tables.items():
            for column in table:
                values: Any = table[column]
                digest.update(f"{name}.{column} {table.rows}\n".encode())
                is_text = isinstance(values, list)
                digest.update("\n".join(values).encode() if is_text else values.tobytes())
        return digest.hexdigest()


def _observed(backend: Backend, traced: Scenario, progress: Progress | None) -> _Observed:
    digest, lines = hashlib.sha256(), 0

    def take(block: bytes) -> None:
        nonlocal lines
        digest.update(block)
        lines += block.count(b"\n")

    started = time.perf_counter()
    with Temporary("agreed-") as folder:
        trace = Path(folder) / f"packets{packets.SUFFIX}"
        with packets.piped(trace, take):
            recording = backend.simulate(traced, packets=trace, progress=progress)
    seconds = time.perf_counter() - started
    return _Observed(digest.hexdigest(), lines - 1, recording, seconds)  # the first is the head
