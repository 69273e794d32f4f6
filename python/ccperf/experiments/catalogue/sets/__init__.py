"""Named sets: what a text on evaluating congestion control asks for, as points of the catalogue."""

from __future__ import annotations

from ccperf.errors import UsageError, unknown
from ccperf.experiments.catalogue.sets.bbr_draft import BBR_DRAFT
from ccperf.experiments.catalogue.sets.l4s import L4S
from ccperf.experiments.catalogue.sets.named_set import Entry, Gap, NamedSet
from ccperf.experiments.catalogue.sets.rfc7928 import RFC7928
from ccperf.experiments.catalogue.sets.rfc9743 import RFC9743
from ccperf.experiments.catalogue.sets.tcpeval import TCPEVAL

SETS: dict[str, NamedSet] = {one.name: one for one in (RFC9743, RFC7928, TCPEVAL, L4S, BBR_DRAFT)}


def get(name: str) -> NamedSet:
    """The set of this name. Raises :class:`~ccperf.errors.UsageError`."""
    try:
        return SETS[name]
    except KeyError:
        raise UsageError("--set", unknown("set", name, SETS)) from None


__all__ = ["SETS", "Entry", "Gap", "NamedSet", "get"]
