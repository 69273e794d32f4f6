"""The part of the matrix that ns-3 3.44 does not have: attributes of later releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.algorithms import registry, releases
from ccperf.verify.case import Case, case
from ccperf.verify.controls import of_attributes

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Those whose back-off has a share for marks, and some that inherit NewReno's.
_WITH_ABE = ("TcpNewReno", "TcpLinuxReno", "TcpCubic", "TcpHybla", "TcpLedbat", "TcpVeno", "TcpBic")


def cases(release: str) -> list[Case]:
    """What only this release and those after it have."""
    names = {change.name for change in releases.releases()[release].changes}
    found = list(_attributes(release))
    found += list(_abe(release)) if "abe" in names else []
    found += list(_fack(release)) if "fack" in names else []
    return found


def _attributes(release: str) -> Iterator[Case]:
    """Attributes of congestion controls at other values than their defaults."""
    changes = releases.releases()[release].changes
    here = {pair for change in changes for pair in change.attributes}
    for cc, spec in registry.algorithms("cc").items():
        params = [param for param in spec["params"] if (cc, param["ns3"]) in here]
        yield from of_attributes(cc, params, tcp={releases.ATTRIBUTE: release})


def _abe(release: str) -> Iterator[Case]:
    """Marks that cost less than losses."""
    for cc in _WITH_ABE:
        for attributes in ({}, {"BetaEcn": "0.9"}):
            if attributes and "BetaEcn" not in registry.parameters("cc", cc):
                continue
            yield case(
                f"release/abe-{cc}{'-0.9' if attributes else ''}",
                cc=[{"type": cc, "attributes": attributes}, "TcpNewReno"],
                rtts=["15ms", "25ms"],
                qdisc="CoDelQueueDisc",
                qdisc_attributes={"UseEcn": "true", "CeThreshold": "1ms"},
                tcp={releases.ATTRIBUTE: release, "UseAbe": "true"},
            )


def _fack(release: str) -> Iterator[Case]:
    """Forward acknowledgement in and out of recovery."""
    settings: dict[str, dict[str, Any]] = {
        "shallow": {"qlen": "8p"},
        "deep": {"rate": "40Mbps", "rtts": "50ms", "qlen": "330p", "packets": 15_000},
        "burst": {"rate": "8Mbps", "qlen": "200p", "drop": list(range(60, 75))},
        "alternate": {"rate": "8Mbps", "qlen": "200p", "drop": list(range(100, 130, 2))},
        "random": {"loss": 0.02, "delayed_ack_count": 2},
        "flows": {"flows": 4, "qlen": "12p"},
        "no-sack": {"qlen": "8p", "tcp": {"Sack": "false"}},
    }
    for name, given in settings.items():
        for cc in ("TcpNewReno", "TcpCubic"):
            tcp = {releases.ATTRIBUTE: release, "Fack": "true", **given.get("tcp", {})}
            yield case(f"release/fack-{name}-{cc}", cc=cc, **{**given, "tcp": tcp})
