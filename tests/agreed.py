"""What real ns-3 was found to agree with, remembered: it runs again where anything has changed.

ns-3's answer depends on the driver, its libraries and the lowered scenario, so these are the key.
Kept is a digest of what the engine recorded when both were identical, so of what ns-3 had recorded,
too: packets with their headers, changes and tables. An engine that records the same again is
identical again; for another one ns-3 runs. ``CCPERF_NS3_AGAIN=1`` lets it run in any case.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ccperf import verify
from ccperf.runs import backends
from ccperf.runs.backends.ns3 import build
from ccperf.verify import packets
from ccperf.verify.compare import recorded

if TYPE_CHECKING:
    from ccperf.scenario import Scenario


def assert_identical_to_ns3(scenario: Scenario) -> None:
    """Compare with real ns-3, or with what it has recorded before."""
    traced = recorded(scenario)
    place = _place(traced)
    digest = _digest(traced)
    if place.exists() and place.read_text() == digest and "CCPERF_NS3_AGAIN" not in os.environ:
        return
    comparison = verify.ns3(scenario)
    assert comparison.identical, comparison.report()
    place.parent.mkdir(parents=True, exist_ok=True)
    new = place.with_suffix(f".{os.getpid()}")
    new.write_text(digest)
    new.replace(place)


def _place(traced: Scenario) -> Path:
    answered_by = f"{backends.get('ns3').version}\n{build.driver()}"
    key = hashlib.sha256(f"{answered_by}\n{traced.lowered()}".encode()).hexdigest()
    return build.cache_directory() / "agreed" / key[:2] / key


def _digest(traced: Scenario) -> str:
    """Of all that a comparison looks at, of the engine."""
    digest = hashlib.sha256()
    with TemporaryDirectory(prefix="ccperf-agreed-") as folder:
        trace = Path(folder) / f"packets{packets.SUFFIX}"
        with packets.piped(trace, digest.update):
            recording = backends.get("native").simulate(traced, packets=trace)
    for name, table in recording.tables.items():
        for column in table:
            values: Any = table[column]
            digest.update(f"{name}.{column} {table.rows}\n".encode())
            is_text = isinstance(values, list)
            digest.update("\n".join(values).encode() if is_text else values.tobytes())
    return digest.hexdigest()
