"""``large-scale-pias``: the fabric of ``large-scale``, with flows that are demoted as they send.

PIAS (W. Bai et al., "Information-agnostic flow scheduling for commodity data centers", NSDI 2015):
what a flow sends first has the highest priority, and one less after each 140 kB. Switches have
four classes in strict priority, each with the marking discipline inside.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ccperf.experiments.programs.ecn_sharp import large_scale
from ccperf.experiments.programs.program import Defaults, Program, Report, Values

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

#: After so many bytes each a flow's packets go into the next class.
DEMOTION = ("140kB", "280kB", "420kB")
#: Of the four classes; the largest goes first.
PRIORITIES = (10, 8, 6, 0)


def build(values: Values, defaults: Defaults, rng_run: int) -> Scenario:
    """The scenario that the program describes."""
    from ccperf.experiments.topologies import SwitchPort

    inner = large_scale.MARKING.discipline(values, defaults, large_scale.LIMIT)
    scheduler = {
        "type": "StrictPriorityQueueDisc",
        "attributes": {"Priorities": " ".join(map(str, PRIORITIES))},
        "children": [inner],
    }
    port = SwitchPort(scheduler, large_scale.DEVICE_QUEUE)
    return large_scale.fabric(values, defaults, rng_run, port, {"pias": DEMOTION})


PROGRAM = Program(
    "large-scale-pias",
    large_scale.OPTIONS,
    build,
    paths=large_scale.PATHS,
    spellings=large_scale.SPELLINGS,
    notes=large_scale.notes,
    report=Report(
        large_scale.lines, partial(large_scale.files, prefix="Large_Scale_PIAS", place=2)
    ),
)
