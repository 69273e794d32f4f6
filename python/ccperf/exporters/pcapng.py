"""pcapng, for Wireshark, tshark and tcptrace."""

from __future__ import annotations

from pathlib import Path

from ccperf import backends
from ccperf.errors import UsageError
from ccperf.exporters.registry import exporter
from ccperf.result import Result, run_id


@exporter("pcapng", b"\x0a\x0d\x0d\x0a")
def pcapng(result: Result, path: Path) -> None:
    """What the hosts where flows begin send and receive, all headers and TCP options included.

    A run does not keep its packets: they are simulated again, which the same engine does exactly.
    """
    engine = backends.get("native")
    made = result.provenance
    if made.backend == engine.name and run_id(result.scenario, engine) != result.id:
        raise UsageError(
            "run",
            f"`{result.id}` was made by ccperf {made.ccperf_version}, engine"
            f" {made.engine_hash[:12]}; this engine's packets may differ. Run it again first",
        )
    # The draft's name has another suffix, and the suffix tells the engine what to write.
    draft = path.with_suffix(".pcapng")
    engine.simulate(result.scenario, packets=draft)
    if draft != path:
        draft.replace(path)
