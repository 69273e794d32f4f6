"""What the matrix of scenarios is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.scenario import profiles

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

_WIRE_BITS = 1502 * 8
RECOVERIES = ("TcpPrrRecovery", "PrrRfc6937", "TcpClassicRecovery")


@dataclass(frozen=True)
class Case:
    """One scenario of the matrix; its label is the case's name."""

    scenario: Scenario
    heavy: bool = False

    @property
    def name(self) -> str:
        """`group/what`."""
        return self.scenario.label

    @property
    def group(self) -> str:
        """What the case is about."""
        return self.name.partition("/")[0]


def with_release(case: Case, release: str) -> Case:
    """The case with the TCP of a release of ns-3."""
    return replace(case, scenario=profiles.with_tcp(case.scenario, release))


def case(name: str, *, packets: int = 6_000, stop: str = "", **settings: Any) -> Case:
    """A dumbbell of 16 Mbps, 15 ms and 20 packets, except for `settings`.

    It stops at `stop`, or when the bottleneck, at its fastest, could have sent `packets`.
    """
    common = {"rate": "16Mbps", "qlen": "20p", "cc": "TcpNewReno", "rtts": "15ms"}
    settings = {**common, **settings}
    if isinstance(settings["rtts"], str) and isinstance(settings["cc"], list):
        settings["flows"] = len(settings["cc"])
    rates = [settings["rate"], *(c["rate"] for c in settings.get("changes", ()) if "rate" in c)]
    fastest = max(map(_native.parse_rate, rates))
    stop = stop or _native.format_time(duration_ns(fastest, packets))
    return Case(dumbbell(label=name, stop_time=stop, **settings))


def duration_ns(rate_bps: int, packets: int) -> int:
    """The time in which a link sends so many full packets, in whole ms."""
    return max(1, packets * _WIRE_BITS * 1000 // rate_bps) * 1_000_000


def bdp(rate: str, rtt: str) -> str:
    """A queue of one bandwidth-delay product, at least two packets."""
    bits = _native.parse_rate(rate) * _native.parse_time(rtt) // 10**9
    return f"{max(2, bits // 12_000)}p"
