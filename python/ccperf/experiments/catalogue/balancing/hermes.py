"""The simulations of the paper on Hermes (H. Zhang et al., ACM SIGCOMM 2017).

8 leaves, 8 spines, 16 servers a leaf at 10 Gbps, DCTCP; the paper has five runs of each. Smaller
networks are asked for with ``--leaves``, ``--spines`` and ``--servers``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.answer import FCT, LARGE, SMALL_P99, UNFINISHED, Answer
from ccperf.experiments.catalogue.balancing.experiment import (
    ARRIVALS,
    CROSSED,
    FLOWLET,
    LEAVES,
    LOAD,
    LOSS,
    ORDER,
    SERVERS,
    SPINES,
    Balanced,
    BalancingExperiment,
    with_grid,
)
from ccperf.experiments.catalogue.balancing.hermes_figures import (
    ASYMMETRIC,
    BLACK_HOLE,
    FLOWLET_TIMEOUT,
    PARTS,
    RANDOM_DROPS,
    SYMMETRIC,
)
from ccperf.experiments.catalogue.datacentre.experiment import TRANSPORT, WORKLOAD
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup

SIZE = (with_grid(LEAVES, 8), with_grid(SPINES, 8), with_grid(SERVERS, 16))
#: The paper has DCTCP on top of NewReno: a loss halves the window (RFC 8257, section 3.5).
DCTCP = with_grid(TRANSPORT, "TcpDctcpReno")
REST = (ARRIVALS, FLOWLET, LOSS, ORDER, *CROSSED, DCTCP)
PUBLISHED_LOADS = (0.3, 0.5, 0.7, 0.9)


class _OverLoad(BalancingExperiment):
    parameters = (WORKLOAD, with_grid(LOAD, *PUBLISHED_LOADS, default=0.5), *SIZE, *REST)


class HermesSymmetric(_OverLoad):
    name = "hermes_symmetric"
    title = "Hermes, figure 12: symmetric, over load"
    description = "Mean completion times of all flows when nothing is broken."
    printed = SYMMETRIC


class HermesAsymmetric(_OverLoad):
    name = "hermes_asymmetric"
    title = "Hermes, figures 13 and 14: a fifth of the links slow, over load"
    description = "20 % of the links between leaves and spines have 2 Gbps, drawn by the seed."
    condition = "slow_links"
    printed = ASYMMETRIC


class HermesFlowletTimeout(BalancingExperiment):
    name = "hermes_flowlet_timeout"
    title = "Hermes, figure 15: CONGA's flowlet timeout"
    description = "A short timeout reorders, a long one balances less; a fifth of the links slow."
    usual = ("conga",)
    answer = Answer((FCT, SMALL_P99, LARGE), "flowlet")
    parameters = (
        WORKLOAD,
        with_grid(LOAD, 0.8),
        *SIZE,
        ARRIVALS,
        with_grid(FLOWLET, "50us", "150us", "500us", default="150us"),
        LOSS,
        # The figure's caption: a buffer masks reordering, to leave what CONGA itself does badly.
        with_grid(ORDER, "resequenced"),
        *CROSSED,
        DCTCP,
    )
    condition = "slow_links"
    printed = FLOWLET_TIMEOUT


class HermesRandomDrops(_OverLoad):
    name = "hermes_random_drops"
    title = "Hermes, figure 16: a spine that loses 2 %"
    description = "One spine loses 2 % of the packets that come to it, silently."
    condition = "random_drops"
    printed = RANDOM_DROPS


class HermesBlackHole(_OverLoad):
    name = "hermes_black_hole"
    title = "Hermes, figure 17: a black hole for all that a rack sends"
    description = (
        "One spine loses all packets from the first rack. Flows that stay there do not end. (The "
        "paper's text says half of the pairs of two racks, of which its numbers cannot come: that "
        "is load_balancing --condition black_hole.)"
    )
    condition = "black_hole_rack"
    answer = Answer((UNFINISHED, FCT, SMALL_P99), "load")
    printed = BLACK_HOLE


class HermesParts(BalancingExperiment):
    name = "hermes_parts"
    title = "Hermes, figure 18: without probing, without rerouting"
    description = "What each part of Hermes is good for; a fifth of the links slow."
    usual = ("hermes",)
    printed = PARTS
    answer = Answer((FCT, SMALL_P99, LARGE), "part")
    parameters = (
        Parameter(
            "part",
            "word",
            ("all", "no_probing", "no_rerouting", "neither"),
            "all",
            "What is left out.",
            ("all", "no_probing", "no_rerouting", "neither"),
        ),
        Parameter("probes", "time", ("100us", "500us"), "500us", "How often racks are probed."),
        with_grid(WORKLOAD, "data_mining"),
        with_grid(LOAD, 0.4, 0.6, 0.8),
        *SIZE,
        *REST,
    )

    def asked(self, setup: Setup) -> Balanced:
        part = setup["part"]
        return Balanced(
            "slow_links",
            (
                ("Probing", str(part not in ("no_probing", "neither")).lower()),
                ("Rerouting", str(part not in ("no_rerouting", "neither")).lower()),
                ("ProbeInterval", setup["probes"]),
            ),
        )
