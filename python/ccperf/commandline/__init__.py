"""Command lines of other programs: the published ones of ccperf, those of ns-3's own examples."""

from __future__ import annotations

from collections.abc import Sequence

from ccperf.commandline import parse as published
from ccperf.commandline.ns3_program import HelpRequested, Program, ProgramRun, program_words
from ccperf.commandline.queue_discs_benchmark import PROGRAM as QUEUE_DISCS_BENCHMARK
from ccperf.commandline.run import DumbbellRun, FlowOptions, Step
from ccperf.commandline.tcp_validation import PROGRAM as TCP_VALIDATION
from ccperf.commandline.tcp_variants_comparison import PROGRAM as TCP_VARIANTS_COMPARISON

__all__ = [
    "EXAMPLES",
    "DumbbellRun",
    "FlowOptions",
    "HelpRequested",
    "ProgramRun",
    "Step",
    "parse",
]

#: Example programs of ns-3 that run here.
EXAMPLES: dict[str, Program] = {
    program.name: program
    for program in (TCP_VARIANTS_COMPARISON, TCP_VALIDATION, QUEUE_DISCS_BENCHMARK)
}


def parse(words: Sequence[str]) -> DumbbellRun | ProgramRun:
    """The run that a command line describes.

    ``words`` is the command line as a shell splits it, or in one text. Raises
    :class:`~ccperf.errors.UsageError`, naming the option, for everything that is wrong with it.
    """
    found = program_words(words)
    if found and found[0] in EXAMPLES:
        return EXAMPLES[found[0]].run(found[1])
    return published.parse(words)
