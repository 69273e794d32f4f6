"""What the figures of the paper on Hermes say: H. Zhang et al., ACM SIGCOMM 2017.

Read off the figures by eye, which is 3 to 5 % at best; of figures 13, 14 and 16 what the text says
of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.printed import Printed, PrintedValues, over

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.parameter import Value

_PAPER = "H. Zhang et al., SIGCOMM 2017, figure"
_MEAN, _SMALL, _UNFINISHED = "mean_fct_l4", "small.mean_fct_l4", "unfinished_share_l4"
_LOADS = (0.3, 0.5, 0.7, 0.9)
_PART_LOADS = (0.4, 0.6, 0.8)

#: Mean completion times in ms, by workload and scheme.
_SYMMETRIC: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "web_search": {
        "ecmp": (4.0, 5.9, 10.5, 29.0),
        "conga": (3.2, 4.1, 5.9, 15.6),
        "hermes": (3.5, 4.7, 7.1, 18.6),
    },
    "data_mining": {
        "ecmp": (23.0, 29.0, 38.0, 38.5),
        "conga": (18.2, 22.3, 28.0, 28.5),
        "hermes": (18.0, 21.9, 26.4, 26.7),
    },
}
SYMMETRIC = PrintedValues(
    f"{_PAPER} 12, read by eye; five runs of each",
    tuple(
        printed
        for workload, schemes in _SYMMETRIC.items()
        for scheme, values in schemes.items()
        for printed in over(
            "load", zip(_LOADS, values, strict=True), scheme, _MEAN, workload=workload
        )
    ),
)


def _over_hermes(algorithm: str, low: float, high: float | None = None, **point: Value) -> Printed:
    """How much longer flows take with another scheme."""
    return Printed(algorithm, _MEAN, low, high, point, {"algorithm": "hermes"})


ASYMMETRIC = PrintedValues(
    f"{_PAPER}s 13 and 14, what the text says: with web search CONGA is over 10 % ahead of the "
    "others in most cases, which are alike; with data mining Hermes is 5 to 10 % ahead of CONGA "
    "and 13 to 20 % of the others",
    (
        _over_hermes("conga", 0.9, workload="web_search"),
        _over_hermes("letflow", 1.0, workload="web_search"),
        _over_hermes("clove", 1.0, workload="web_search"),
        _over_hermes("conga", 1.05, 1.11, workload="data_mining"),
        _over_hermes("letflow", 1.15, 1.25, workload="data_mining"),
        _over_hermes("clove", 1.15, 1.25, workload="data_mining"),
    ),
)
RANDOM_DROPS = PrintedValues(
    f"{_PAPER} 16, what the text says; loads up to 0.7. CONGA is like ECMP",
    (_over_hermes("ecmp", 1.7, 2.3), _over_hermes("conga", 1.7, 2.3), _over_hermes("letflow", 1.5)),
)
FLOWLET_TIMEOUT = PrintedValues(
    f"{_PAPER} 15, web search at a load of 0.8, reordering masked; over the time at 150 us",
    tuple(
        Printed(
            "conga",
            _MEAN,
            ratio,
            point={"workload": "web_search", "load": 0.8, "flowlet": timeout},
            base={"flowlet": "150us"},
        )
        for timeout, ratio in (("50us", 1.32), ("150us", 1.0), ("500us", 1.06))
    ),
)
BLACK_HOLE = PrintedValues(
    f"{_PAPER} 17, ranges over its loads, up to 0.7. Its text has a hole for half of the pairs of "
    "two racks: 1/8 x 1/7 x 1/2 = 0.89 % of all flows, of which ECMP can strand an eighth; a hole "
    "for all that a rack sends strands 1/64 = 1.6 %, as printed. Unfinished flows seem to be in "
    "its means, with the time until the end of the run; in ours they are not",
    (
        Printed("ecmp", _UNFINISHED, 1.5),
        Printed("conga", _UNFINISHED, 5.9, 9.7),
        Printed("letflow", _UNFINISHED, 0),
        Printed("hermes", _UNFINISHED, 0),
        Printed("ecmp", _MEAN, 85),
        Printed("conga", _MEAN, 320, 550),
        Printed("letflow", _MEAN, 6.4, 17),
        Printed("hermes", _MEAN, 3.8, 9),
    ),
)


def _of_parts(
    part: str, metric: str, values: tuple[float, ...], **point: str
) -> tuple[Printed, ...]:
    loads = zip(_PART_LOADS, values, strict=True)
    return over("load", loads, "hermes", metric, workload="data_mining", part=part, **point)


PARTS = PrintedValues(
    f"{_PAPER} 18, read by eye",
    (
        *_of_parts("neither", _MEAN, (26.5, 32.0, 36.7)),
        *_of_parts("no_rerouting", _MEAN, (23.3, 26.4, 29.8), probes="500us"),
        *_of_parts("all", _MEAN, (21.8, 23.4, 26.2), probes="500us"),
        *_of_parts("no_probing", _SMALL, (0.345, 0.395, 0.435)),
        *_of_parts("all", _SMALL, (0.31, 0.345, 0.385), probes="500us"),
        *_of_parts("all", _SMALL, (0.305, 0.335, 0.378), probes="100us"),
    ),
)
