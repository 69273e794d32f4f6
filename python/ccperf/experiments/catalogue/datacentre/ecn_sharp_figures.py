"""What the figures of the paper on ECN# say: J. Zhang, W. Bai and K. Chen, ACM CoNEXT 2019.

Read from the coordinates of the figures' lines, to 0.5 % of an axis. Where a line leaves its panel
the paper prints only a bound, and nothing stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.printed import Printed, PrintedValues

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.parameter import Value

_PAPER = "J. Zhang, W. Bai and K. Chen, CoNEXT 2019, figure"
ECN_SHARP, CODEL, AVERAGE = "ECNSharpQueueDisc", "MarkingCoDelQueueDisc", "RED-average"
TAIL = "RED-tail"
_ALL, _SMALL, _SMALL_P99 = "mean_fct_l4", "small.mean_fct_l4", "small.p99_fct_l4"
_LARGE = "large.mean_fct_l4"
_LOADS = tuple(tenth / 10 for tenth in range(1, 10))
#: A line: a value for each load from 0.1 on, None where it is off the panel.
Line = tuple[float | None, ...]


def _over_tail(
    metric: str, lines: Mapping[str, Line], loads: tuple[float, ...] = _LOADS, **point: Value
) -> tuple[Printed, ...]:
    """Lines over load, normalised to RED with the tail's threshold."""
    return tuple(
        Printed(scheme, metric, value, point={**point, "load": load}, base={"algorithm": TAIL})
        for scheme, line in lines.items()
        for load, value in zip(loads, line, strict=True)
        if value is not None
    )


_WEB: Mapping[str, Mapping[str, Line]] = {
    _ALL: {
        AVERAGE: (1.222, 1.172, 1.250, 1.180, 1.194, 1.194, 1.139, 1.185, 1.134),
        ECN_SHARP: (1.043, 0.999, 1.033, 1.000, 1.007, 1.018, 0.975, 1.008, 0.959),
        CODEL: (0.955, 0.954, 0.941, 0.934, 0.951, 0.967, 0.982, 1.035, 1.087),
    },
    _SMALL: {
        AVERAGE: (0.963, 0.934, 0.847, 0.903, 0.791, 0.705, 0.618, 0.596, 0.506),
        ECN_SHARP: (0.929, 1.032, 0.973, 0.965, 0.926, 0.898, 0.841, 0.811, 0.766),
        CODEL: (0.993, 1.192, 1.110, 1.333, 1.307, 1.306, None, None, None),
    },
    _SMALL_P99: {
        AVERAGE: (0.853, 0.604, 0.511, 0.469, 0.473, 0.463, 0.413, 0.451, 0.407),
        ECN_SHARP: (1.023, 0.824, 0.764, 0.756, 0.716, 0.720, 0.761, 0.759, 0.628),
        CODEL: (1.43, None, 1.488, 1.464, 1.578, 1.460, None, None, None),
    },
    _LARGE: {
        AVERAGE: (1.213, 1.175, 1.289, 1.216, 1.211, 1.279, 1.234, 1.345, 1.293),
        ECN_SHARP: (1.057, 0.985, 1.050, 0.996, 0.987, 1.047, 1.003, 1.066, 1.012),
        CODEL: (0.960, 0.937, 0.949, 0.942, 0.923, 0.956, 0.906, 0.958, 0.962),
    },
}
_MINING: Mapping[str, Mapping[str, Line]] = {
    _ALL: {
        AVERAGE: (1.033, 1.054, 1.055, 1.043, 1.097, 1.037, 1.095, 1.234, 1.037),
        ECN_SHARP: (0.989, 0.962, 0.963, 0.977, 0.991, 0.978, 0.984, 0.991, 0.988),
        CODEL: (0.992, 0.967, 0.993, 1.019, 1.042, 1.027, 1.058, 1.051, 1.057),
    },
    _SMALL: {
        AVERAGE: (0.932, 0.788, 0.687, 0.596, 0.548, 0.510, None, None, None),
        ECN_SHARP: (0.981, 0.942, 0.845, 0.792, 0.740, 0.735, 0.772, 0.688, 0.713),
    },
    _SMALL_P99: {
        AVERAGE: (0.585, 0.590, 0.560, 0.469, 0.459, 0.475, 0.421, 0.442, 0.40),
        ECN_SHARP: (0.873, 0.834, 0.938, 0.797, 0.690, 0.703, 0.652, 0.624, 0.723),
    },
    _LARGE: {
        AVERAGE: (1.035, 1.051, 1.064, 1.057, 1.120, 1.057, 1.115, 1.260, 1.052),
        ECN_SHARP: (0.990, 0.956, 0.966, 0.983, 1.003, 0.989, 0.991, 1.001, 0.995),
        CODEL: (0.989, 0.948, 0.973, 0.995, 1.019, 0.994, 1.013, 0.998, 1.008),
    },
}
TESTBED = PrintedValues(
    f"{_PAPER}s 6 and 7: hardware with Linux 4.9, over DCTCP-RED-Tail, three runs of each",
    tuple(
        printed
        for workload, lines in (("web_search", _WEB), ("data_mining", _MINING))
        for metric, schemes in lines.items()
        for printed in _over_tail(metric, schemes, workload=workload)
    ),
)

#: ECN# over RED-tail, by variation.
_VARIATION: Mapping[str, Mapping[int, Line]] = {
    _ALL: {
        3: _WEB[_ALL][ECN_SHARP],
        4: (1.057, 1.021, 1.048, 1.035, 1.031, 1.035, 0.968, 1.006, 0.887),
        5: (1.056, 1.071, 1.077, 1.055, 1.065, 1.027, 0.996, 0.955, 0.910),
    },
    _SMALL_P99: {
        3: _WEB[_SMALL_P99][ECN_SHARP],
        4: (0.716, 0.484, 0.454, 0.475, 0.420, 0.465, 0.484, 0.450, 0.293),
        5: (0.613, 0.445, 0.435, 0.475, 0.428, 0.433, 0.345, 0.319, 0.235),
    },
}
RTT_VARIATION = PrintedValues(
    f"{_PAPER} 8: hardware with Linux 4.9, ECN# over DCTCP-RED-Tail, three runs of each. Figure 3 "
    "has DCTCP-RED-AVG at a load of 0.5: 29.8 % slower at a variation of 5",
    (
        *(
            printed
            for metric, lines in _VARIATION.items()
            for variation, line in lines.items()
            for printed in _over_tail(
                metric, {ECN_SHARP: line}, workload="web_search", variation=variation
            )
        ),
        Printed(
            AVERAGE,
            _ALL,
            1.298,
            point={"workload": "web_search", "variation": 5, "load": 0.5},
            base={"algorithm": TAIL},
        ),
    ),
)

LEAF_SPINE = PrintedValues(
    f"{_PAPER} 9, over DCTCP-RED-Tail. Its short flows take 5 to 7 ms on average, ten times those "
    "of the testbed, and all flows 37 ms at a load of 0.2 as at 0.5: in the authors' simulator a "
    "host that is idle holds packets back until a timer expires",
    tuple(
        printed
        for metric, line in {
            _ALL: (0.738, 0.700, 0.666, 0.625, 0.682, 0.682, 0.669, 0.689),
            _SMALL: (0.762, 0.767, 0.631, 0.791, 0.658, 0.756, 0.753, 0.717),
        }.items()
        for printed in _over_tail(metric, {ECN_SHARP: line}, _LOADS[1:], workload="web_search")
    ),
)

#: In packets: the queue before the burst, its peak, and what is dropped.
QUEUES: Mapping[str, tuple[tuple[float, float], float, float]] = {
    TAIL: ((145, 182), 430, 0),
    ECN_SHARP: ((8, 10), 345, 0),
    CODEL: ((12, 12), 600, 125),
}
QUERY_BURST = PrintedValues(
    f"{_PAPER} 10 with its text. The text has a queue of 182 packets for DCTCP-RED-Tail and 8 for "
    "ECN#; just before the burst the figure shows 145, 10 and, for CoDel, 12, and peaks of 430, "
    "345 and 600",
    tuple(
        Printed(scheme, "total_qdisc_drops_l2", drops, point={"answers": 100})
        for scheme, (_, _, drops) in QUEUES.items()
    ),
)

_ANSWERS = (25, 50, 75, 100, 125, 150, 175, 200)
#: In ms.
_QUERY: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    "query.mean_fct_l4": {
        TAIL: (0.78, 1.33, 1.73, 2.29, 2.79, 3.26, 3.85, 4.59),
        ECN_SHARP: (0.77, 1.27, 1.73, 2.35, 2.78, 3.26, 3.72, 4.47),
        CODEL: (0.77, 1.38, 1.91, 3.27, 3.57, 4.07, 4.46, 4.94),
    },
    "query.p99_fct_l4": {
        TAIL: (0.87, 1.66, 2.47, 3.08, 3.76, 4.35, 6.57, 6.63),
        ECN_SHARP: (0.95, 1.25, 2.37, 3.19, 3.82, 4.39, 6.51, 6.57),
        CODEL: (0.95, 1.63, 2.29, 7.39, 7.33, 7.33, 7.23, 7.37),
    },
}
QUERY_COMPLETION = PrintedValues(
    f"{_PAPER} 11",
    tuple(
        Printed(scheme, metric, value, point={"answers": answers})
        for metric, schemes in _QUERY.items()
        for scheme, line in schemes.items()
        for answers, value in zip(_ANSWERS, line, strict=True)
    ),
)

SENSITIVITY = PrintedValues(
    f"{_PAPER} 12, web search, over the values of the rule of thumb",
    tuple(
        Printed(ECN_SHARP, _ALL, value, point={name: at}, base={name: usual})
        for name, usual, line in (
            (
                "interval",
                "200us",
                {"100us": 0.990, "150us": 0.9976, "250us": 1.0003},
            ),
            ("target", "10us", {"6us": 0.9992, "20us": 1.0018}),
        )
        for at, value in line.items()
    ),
)

DWRR = PrintedValues(
    f"{_PAPER} 13 with its text; DWRR 2:1:1, TCN at 150 us",
    (
        Printed(
            ECN_SHARP,
            "short.mean_fct_l4",
            2341 / 2913,
            base={"algorithm": "TcnQueueDisc"},
        ),
    ),
)
