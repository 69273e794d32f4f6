"""The programs of the simulator of ECN# (Zhang, Bai and Chen, ACM CoNEXT 2019): one file each.

They describe the same networks, traffic and thresholds as the originals and leave the same files;
what the originals do wrong is not carried over (``docs/datacentre.md`` has the list).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.programs.ecn_sharp.large_scale import PROGRAM as LARGE_SCALE
from ccperf.experiments.programs.ecn_sharp.large_scale_pias import PROGRAM as LARGE_SCALE_PIAS
from ccperf.experiments.programs.ecn_sharp.mq import PROGRAM as MQ
from ccperf.experiments.programs.ecn_sharp.queue_track import PROGRAM as QUEUE_TRACK

if TYPE_CHECKING:
    from ccperf.experiments.programs.program import Program

PROGRAMS: dict[str, Program] = {
    program.name: program for program in (LARGE_SCALE, LARGE_SCALE_PIAS, QUEUE_TRACK, MQ)
}

__all__ = ["PROGRAMS"]
