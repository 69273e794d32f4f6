"""What the figures of the paper on Hermes say: H. Zhang et al., ACM SIGCOMM 2017.

Read from the coordinates of the figures' marks, to 1 % of an axis; CLOVE's lines of figures 13 and
14 by eye. Its Presto* sprays packets in turn and puts them in order: `drb` here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.printed import Printed, PrintedValues, over

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.parameter import Value

_PAPER = "H. Zhang et al., SIGCOMM 2017, figure"
_MEAN, _SMALL, _UNFINISHED = "mean_fct_l4", "small.mean_fct_l4", "unfinished_share_l4"
_LARGE, _SMALL_P99 = "large.mean_fct_l4", "small.p99_fct_l4"
_LOADS = (0.3, 0.5, 0.7, 0.9)
_ALL_LOADS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
#: Where a spine fails.
_FAILURE_LOADS = _ALL_LOADS[:5]
#: A value for each load, None where it is off the panel.
Line = tuple[float | None, ...]
_PART_LOADS = (0.4, 0.6, 0.8)

#: Mean completion times in ms, by workload and scheme.
_SYMMETRIC: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "web_search": {
        "ecmp": (4.0, 6.0, 10.7, 29.0),
        "conga": (3.2, 4.1, 6.0, 15.6),
        "hermes": (3.6, 4.7, 7.1, 18.7),
    },
    "data_mining": {
        "ecmp": (23.3, 28.9, 38.3, 38.5),
        "conga": (18.4, 22.3, 28.1, 28.6),
        "hermes": (18.2, 21.9, 26.5, 26.8),
    },
}
SYMMETRIC = PrintedValues(
    f"{_PAPER} 12; five runs of each",
    tuple(
        printed
        for workload, schemes in _SYMMETRIC.items()
        for scheme, values in schemes.items()
        for printed in over(
            "load", zip(_LOADS, values, strict=True), scheme, _MEAN, workload=workload
        )
    ),
)


def _over_hermes(
    metric: str, lines: Mapping[str, Line], loads: tuple[float, ...], **point: Value
) -> tuple[Printed, ...]:
    """Lines over load, normalised to Hermes."""
    return tuple(
        Printed(scheme, metric, value, point={**point, "load": load}, base={"algorithm": "hermes"})
        for scheme, line in lines.items()
        for load, value in zip(loads, line, strict=True)
        if value is not None
    )


_ASYMMETRIC: Mapping[str, Mapping[str, Mapping[str, Line]]] = {
    "web_search": {
        _MEAN: {
            "conga": (0.88, 0.84, 0.80, 0.75, 0.70, 0.80, 0.96),
            "letflow": (1.02, 1.00, 0.96, 0.90, 0.83, 0.86, 1.00),
            "clove": (1.10, 1.10, 1.08, 1.06, 1.07, 1.07, 1.08),
            "drb": (0.78, 0.85, 1.54, None, None, None, None),
        },
        _SMALL: {
            "conga": (0.80, 0.75, 0.71, 0.69, 0.69, 0.91, 1.51),
            "letflow": (0.97, 0.97, 0.99, 0.99, 1.02, 1.29, 1.96),
        },
        _LARGE: {
            "conga": (0.94, 0.90, 0.85, 0.79, 0.71, 0.78, 0.93),
            "letflow": (1.09, 1.05, 0.99, 0.88, 0.76, 0.76, 0.81),
        },
        _SMALL_P99: {
            "conga": (0.54, 0.55, 0.56, 0.56, 0.57, 1.09, 1.61),
            "letflow": (0.74, 0.77, 0.80, 0.80, 0.89, 2.33, 3.37),
        },
    },
    "data_mining": {
        _MEAN: {
            "conga": (1.12, 1.08, 1.10, 1.10, 1.08, 1.09, 1.06),
            "letflow": (1.23, 1.22, 1.20, 1.21, 1.21, 1.17, 1.16),
            "clove": (1.23, 1.20, 1.23, 1.23, 1.20, 1.21, 1.16),
            "drb": (0.97, 0.99, 1.10, 1.14, 1.26, 1.30, 1.34),
        },
        _SMALL: {
            "conga": (0.96, 0.96, 0.91, 0.91, 0.91, 0.95, 0.98),
            "letflow": (1.22, 1.23, 1.27, 1.30, 1.46, 1.44, 1.41),
        },
        _LARGE: {
            "conga": (1.13, 1.09, 1.11, 1.11, 1.09, 1.10, 1.07),
            "letflow": (1.24, 1.23, 1.20, 1.21, 1.21, 1.18, 1.16),
        },
        "p99_fct_l4": {
            "conga": (1.01, 1.05, 1.01, 1.08, 1.03, 1.07, 1.08),
            "letflow": (1.21, 1.23, 1.14, 1.25, 1.22, 1.24, 1.22),
        },
    },
}
ASYMMETRIC = PrintedValues(
    f"{_PAPER}s 13 and 14, over Hermes; Presto's lines end where they leave the panel",
    tuple(
        printed
        for workload, metrics in _ASYMMETRIC.items()
        for metric, lines in metrics.items()
        for printed in _over_hermes(metric, lines, _ALL_LOADS, workload=workload)
    ),
)
#: In ms.
_DROPS: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    _MEAN: {
        "hermes": (4.8, 5.3, 6.1, 7.7, 10.2),
        "letflow": (7.1, 8.2, 9.7, 11.1, 15.1),
        "conga": (10.3, 10.8, 12.7, 13.1, 15.3),
        "ecmp": (10.9, 11.4, 12.1, 14.3, 17.4),
        "drb": (18.3, 18.2, 20.9, 21.9, 26.4),
    },
    _SMALL: {
        "hermes": (0.95, 1.11, 1.10, 1.27, 1.36),
        "letflow": (1.96, 1.37, 1.96, 2.40, 3.11),
        "conga": (1.99, 2.26, 2.37, 2.12, 2.60),
        "ecmp": (1.66, 1.78, 1.92, 1.97, 2.42),
        "drb": (0.94, 0.86, 0.98, 1.05, 1.20),
    },
}
RANDOM_DROPS = PrintedValues(
    f"{_PAPER} 16",
    tuple(
        printed
        for metric, lines in _DROPS.items()
        for scheme, line in lines.items()
        for printed in over(
            "load",
            zip(_FAILURE_LOADS, line, strict=True),
            scheme,
            metric,
            workload="web_search",
        )
    ),
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
        for timeout, ratio in (("50us", 1.32), ("500us", 1.06))
    ),
)
_HOLE: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    _UNFINISHED: {
        "ecmp": (1.57, 1.57, 1.53, 1.50, 1.51),
        "conga": (5.85, 7.12, 8.09, 9.12, 9.66),
        "letflow": (0, 0, 0, 0, 0),
        "drb": (0, 0, 0, 0, 0),
        "hermes": (0, 0, 0, 0, 0),
    },
    _MEAN: {
        "hermes": (3.9, 4.2, 4.9, 8.3, 9.4),
        "letflow": (6.5, 8.0, 9.6, 14.0, 17.1),
        "drb": (38.4, 38.1, 37.4, 39.1, 41.6),
        "ecmp": (89, 82, 88, 88, 91),
        "conga": (325, 397, 455, 522, 562),
    },
}
BLACK_HOLE = PrintedValues(
    f"{_PAPER} 17, ranges over its loads, up to 0.7. Its text has a hole for half of the pairs of "
    "two racks: 1/8 x 1/7 x 1/2 = 0.89 % of all flows, of which ECMP can strand an eighth; a hole "
    "for all that a rack sends strands 1/64 = 1.6 %, as printed. Unfinished flows seem to be in "
    "its means, with the time until the end of the run; in ours they are not",
    tuple(
        printed
        for metric, lines in _HOLE.items()
        for scheme, line in lines.items()
        for printed in over(
            "load", zip(_FAILURE_LOADS, line, strict=True), scheme, metric, workload="web_search"
        )
    ),
)


def _of_parts(
    part: str, metric: str, values: tuple[float, ...], **point: str
) -> tuple[Printed, ...]:
    loads = zip(_PART_LOADS, values, strict=True)
    return over("load", loads, "hermes", metric, workload="data_mining", part=part, **point)


PARTS = PrintedValues(
    f"{_PAPER} 18",
    (
        *_of_parts("neither", _MEAN, (26.5, 32.0, 36.7)),
        *_of_parts("no_rerouting", _MEAN, (23.3, 26.4, 29.8), probes="500us"),
        *_of_parts("all", _MEAN, (21.8, 23.4, 26.2), probes="500us"),
        *_of_parts("no_probing", _SMALL, (0.345, 0.395, 0.435)),
        *_of_parts("all", _SMALL, (0.31, 0.345, 0.385), probes="500us"),
        *_of_parts("all", _SMALL, (0.305, 0.335, 0.378), probes="100us"),
    ),
)
