"""Who judged each algorithm: whose code, or which law, its behaviour is held against by tests.

The better judge comes first. What ns-3 has is compared with ns-3's own class; what it has not is
compared with a second writing of ours from the same description, which shares its mistakes of
reading, or held against what its source says in closed form.
"""

from __future__ import annotations

import json
from functools import cache
from typing import NamedTuple

from ccperf import data

#: The kinds of judges.
NS3, AUTHORS, LINUX = "ns-3's own class", "the authors' code", "Linux's own code"
TWICE, LAW, NONE = "our second writing", "closed form", "none"


class Judge(NamedTuple):
    """One of `NS3`, `AUTHORS`, `LINUX`, `TWICE` and `LAW`, and where the comparison is."""

    kind: str
    where: str


_DRIVER = Judge(TWICE, "a class in the driver for ns-3, `ccperf verify ns3`")
_LAWS = Judge(LAW, "`tests/catalogue/test_balancer_laws.py`")
_OVER_ROCE = "`tests/catalogue/test_lossless.py`"
_OVER_TRIMMING = (
    "`crates/engine/src/run/simulate/tests/trimming.rs`, `tests/catalogue/test_trimming.py`"
)
#: HPCC's authors wrote it, TIMELY and DCQCN in it, too.
_FORK = Judge(AUTHORS, "recorded runs of HPCC's ns-3 fork, `tests/catalogue/test_hpcc_fork.py`")

#: Of what ns-3 3.44 has no class of that name for.
_OTHERS: dict[str, tuple[Judge, ...]] = {
    "PrrRfc6937": (
        Judge(NS3, "the published tables, made with ns-3's development version of 2024"),
        _DRIVER,
    ),
    "TcpDctcpReno": (_DRIVER,),
    "DualPi2QueueDisc": (
        Judge(LINUX, "`tests/backends/test_linux_dualpi2.py`"),
        Judge(LAW, "`crates/engine/src/net/qdisc/dual_pi2.rs`, its tests"),
    ),
    "TcpPrague": (
        Judge(LAW, "`crates/engine/src/host/congestion/prague.rs`, `tests/catalogue/test_l4s.py`"),
    ),
    "TcpBbr3": (Judge(LAW, "`tests/scenario/test_bbr3.py`"),),
    "TcpCopa": (
        Judge(LAW, "`crates/engine/src/host/congestion/copa.rs`, `tests/scenario/test_copa.py`"),
    ),
    "TcpLedbatPlusPlus": (
        Judge(LAW, "`crates/engine/src/host/congestion/ledbat_pp.rs`"),
        Judge(LAW, "`tests/scenario/test_ledbat_pp.py`"),
    ),
    **dict.fromkeys(
        (
            *("BurstReleaseQueueDisc", "PolicerQueueDisc", "ECNSharpQueueDisc", "TcnQueueDisc"),
            *("StepRedQueueDisc", "MarkingCoDelQueueDisc", "MarkingPieQueueDisc"),
            *("DwrrQueueDisc", "WfqQueueDisc", "StrictPriorityQueueDisc"),
            "SharedBufferQueueDisc",
        ),
        (_DRIVER,),
    ),
    **dict.fromkeys(
        ("static", "ecmp", "random", "drb", "letflow", "conga", "drill", "adaptive"), (_DRIVER,)
    ),
    **dict.fromkeys(("presto", "flowbender", "plb", "reps", "clove", "hermes", "xpath"), (_LAWS,)),
    **{
        law: (Judge(LAW, f"`crates/engine/src/host/rate_control/{law.lower()}.rs`, {_OVER_ROCE}"),)
        for law in ("Dcqcn", "Swift")
    },
    **{
        law: (_FORK, Judge(LAW, f"`crates/engine/src/host/rate_control/{file}.rs`, {_OVER_ROCE}"))
        for law, file in (("DcqcnMlx5", "dcqcn_mlx5"), ("Hpcc", "hpcc"), ("Timely", "timely"))
    },
    "LineRate": (_FORK, Judge(LAW, _OVER_ROCE)),
    "MarkingRedQueueDisc": (
        _FORK,
        Judge(LAW, "`crates/engine/src/net/qdisc/marking_red.rs`, its tests"),
    ),
    "Ndp": (Judge(LAW, _OVER_TRIMMING),),
    "Nscc": (
        Judge(AUTHORS, "recorded runs of `uet-htsim`, `tests/catalogue/test_trimming.py`"),
        Judge(LAW, f"`crates/engine/src/host/trimming/nscc.rs`, {_OVER_TRIMMING}"),
    ),
    "NdpQueueDisc": (Judge(LAW, f"`crates/engine/src/net/qdisc/ndp.rs`, {_OVER_TRIMMING}"),),
}


def judges(name: str) -> tuple[Judge, ...]:
    """Who judged an algorithm of the registry, the best first; nobody: empty."""
    if name in _classes_of_ns3():
        return (Judge(NS3, "packet by packet, `ccperf verify ns3`"),)
    return _OTHERS.get(name, ())


def kind(name: str) -> str:
    """The kind of the best judge of an algorithm; `NONE` without one."""
    return next((judge.kind for judge in judges(name)), NONE)


@cache
def _classes_of_ns3() -> frozenset[str]:
    return frozenset(json.loads(data.text("ns3_attributes.json")))
