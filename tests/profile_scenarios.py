"""Random scenarios under the TCP of the profile `linux`, with what only this profile or L4S has.

They are those of the comparison with ns-3 (`ccperf.verify.fuzz`), with RACK-TLP and its parts,
every slow start, Prague, BBRv3, accurate ECN and DualPI2.
"""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

from ccperf.scenario import Scenario
from ccperf.verify import fuzz

SCENARIOS, PARTS = 300, 6
OWN = ("TcpPrague", "TcpBbr3", "TcpLedbatPlusPlus")
SLOW_STARTS = ("Standard", "Counted", "HyStart", "HyStart++", "HyStartLinux", "Search")
#: Of ns-3's releases alone.
LEFT_OUT = ("Fack", "UseAbe")


def scenarios(part: int) -> list[Scenario]:
    return [
        under_linux(drawn.scenario(f"laws {part}.{number}"), random.Random(f"{part}/{number}"))
        for number, drawn in enumerate(islice(fuzz.dumbbells(1000 + part), SCENARIOS // PARTS))
    ]


def under_linux(scenario: Scenario, rng: random.Random) -> Scenario:
    fields: dict[str, Any] = scenario.model_dump(mode="json")
    for flow in fields["flows"]:
        if flow["transport"] != "TCP":
            continue
        kept = {name: value for name, value in flow["tcp"].items() if name not in LEFT_OUT}
        flow["tcp"] = {**kept, "Profile": "linux"}
        if rng.random() < 0.3:
            flow["cc"] = {"type": rng.choice(OWN)}
        elif rng.random() < 0.3:
            flow["tcp"] |= {"UseEcn": "On", "EcnFeedback": "Accurate"}
        elif rng.random() < 0.5:
            flow["tcp"] |= {"SlowStart": rng.choice(SLOW_STARTS)}
    if rng.random() < 0.4:
        fields["links"][0]["forward"]["qdisc"] = {"type": "DualPi2QueueDisc"}
    return Scenario.model_validate(fields)
