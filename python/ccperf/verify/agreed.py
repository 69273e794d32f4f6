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
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ccperf.errors import RunError
from ccperf.runs.backends.ns3 import build
from ccperf.verify import packets
from ccperf.verify.compare import Comparison, recorded
from ccperf.verify.compare import compare as compare_both

if TYPE_CHECKING:
    from ccperf.runs.backends import Backend, Progress
    from ccperf.scenario import Scenario

#: Set to let ns-3 run whatever is remembered.
AGAIN = "CCPERF_NS3_AGAIN"


def compare(
    scenario: Scenario, ours: Backend, theirs: Backend, progress: Progress | None = None
) -> Comparison:
    """As :func:`ccperf.verify.compare.compare`, `theirs` being ns-3, with what is remembered."""
    traced = recorded(scenario)
    try:
        digest, rows = _recorded_by(ours, traced, progress)
    except RunError:
        return compare_both(scenario, ours, theirs, progress)
    place = _place(traced, theirs)
    if place.exists() and place.read_text() == digest and AGAIN not in os.environ:
        return Comparison(scenario, ours.name, theirs.name, rows=rows)
    comparison = compare_both(scenario, ours, theirs, progress)
    if comparison.identical:
        place.parent.mkdir(parents=True, exist_ok=True)
        new = place.with_suffix(f".{os.getpid()}")
        new.write_text(digest)
        new.replace(place)
    return comparison


def _place(traced: Scenario, theirs: Backend) -> Path:
    answered_by = f"{theirs.version}\n{build.driver()}"
    key = hashlib.sha256(f"{answered_by}\n{traced.lowered()}".encode()).hexdigest()
    return build.cache_directory() / "agreed" / key[:2] / key


def _recorded_by(ours: Backend, traced: Scenario, progress: Progress | None) -> tuple[str, int]:
    """A digest of all that a comparison looks at, and the rows of the packet trace."""
    digest, lines = hashlib.sha256(), 0

    def take(block: bytes) -> None:
        nonlocal lines
        digest.update(block)
        lines += block.count(b"\n")

    with TemporaryDirectory(prefix="ccperf-agreed-") as folder:
        trace = Path(folder) / f"packets{packets.SUFFIX}"
        with packets.piped(trace, take):
            recording = ours.simulate(traced, packets=trace, progress=progress)
    for name, table in recording.tables.items():
        for column in table:
            values: Any = table[column]
            digest.update(f"{name}.{column} {table.rows}\n".encode())
            is_text = isinstance(values, list)
            digest.update("\n".join(values).encode() if is_text else values.tobytes())
    return digest.hexdigest(), lines - 1  # the first is the head
