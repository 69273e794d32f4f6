"""Example programs of ns-3 that run here: one file each, one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.programs.ns3_examples.queue_discs_benchmark import PROGRAM as QUEUE_DISCS_BENCHMARK
from ccperf.programs.ns3_examples.tcp_validation import PROGRAM as TCP_VALIDATION
from ccperf.programs.ns3_examples.tcp_variants_comparison import PROGRAM as TCP_VARIANTS_COMPARISON

if TYPE_CHECKING:
    from ccperf.programs.program import Program

EXAMPLES: dict[str, Program] = {
    program.name: program
    for program in (TCP_VARIANTS_COMPARISON, TCP_VALIDATION, QUEUE_DISCS_BENCHMARK)
}

__all__ = ["EXAMPLES"]
