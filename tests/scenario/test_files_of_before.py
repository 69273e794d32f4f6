"""Scenario files that an older ccperf wrote are still read, and give the same packets.

`files/matrix-0.1.0.jsonl.gz` has canonical scenarios of the matrix, some of each group, as 0.1.0
wrote them before networks of switches, workloads and datagrams existed; what they sent then is in
the record of fingerprints, which ns-3 agreed with.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from ccperf import Scenario
from ccperf.runs import backends

HERE = Path(__file__).parent
RECORD = json.loads((HERE.parent / "verify" / "fingerprints.json").read_text())["packets"]
LINES = gzip.decompress((HERE / "files" / "matrix-0.1.0.jsonl.gz").read_bytes()).splitlines()
WRITTEN = {line["name"]: line["scenario"] for line in map(json.loads, LINES)}
EXAMPLES = HERE.parents[1] / "examples" / "scenarios"


def packets(scenario: Scenario, folder: Path) -> str:
    trace = folder / "packets.csv"
    backends.get("native").simulate(scenario, packets=trace)
    return hashlib.sha256(trace.read_bytes()).hexdigest()[:16]


@pytest.mark.parametrize("name", WRITTEN)
def test_canonical_json_of_before_gives_the_same_packets(name: str, tmp_path: Path) -> None:
    written: dict[str, Any] = WRITTEN[name]
    assert packets(Scenario.model_validate(written), tmp_path) == RECORD[name]


@pytest.mark.parametrize(
    ("file", "sent"),
    [("square.toml", "7c69b7f60d50bea2"), ("two_bottlenecks.toml", "a883abdfda4ad289")],
)
def test_toml_of_before_gives_the_same_packets(file: str, sent: str, tmp_path: Path) -> None:
    assert packets(Scenario.from_toml(EXAMPLES / file), tmp_path) == sent
