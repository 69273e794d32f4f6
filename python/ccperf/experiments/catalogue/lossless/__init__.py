"""Experiments on fabrics that pause instead of losing packets: one file each, one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.base.lazy import Shelf

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Experiment

#: In the order in which they are listed.
LOSSLESS: Shelf[Experiment] = Shelf(
    {
        "pfc_incast": f"{__name__}.incast:PfcIncast",
        "pfc_long_short": f"{__name__}.long_short:PfcLongShort",
        "pfc_mice": f"{__name__}.mice:PfcMice",
        "pfc_joining": f"{__name__}.joining:PfcJoining",
        "pfc_unfairness": f"{__name__}.unfairness:PfcUnfairness",
        "pfc_victim": f"{__name__}.victim:PfcVictim",
        "pfc_deadlock": f"{__name__}.deadlock:PfcDeadlock",
        "pfc_storm": f"{__name__}.storm:PfcStorm",
        "permutation": f"{__name__}.permutation:Permutation",
    }
)

__all__ = ["LOSSLESS"]
