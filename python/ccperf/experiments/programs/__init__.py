"""Command lines of other programs: the published ones of ccperf, those of ns-3's own examples and
of simulators made with ns-3.

The programs are loaded on first use: a run of one experiment needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.base import lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ccperf.experiments.programs.datacentre import PROGRAMS
    from ccperf.experiments.programs.ns3_examples import EXAMPLES
    from ccperf.experiments.programs.program import HelpRequested, ProgramRun
    from ccperf.experiments.programs.published.run import DumbbellRun
    from ccperf.scenario import Scenario

__all__ = [
    "EXAMPLES",
    "PROGRAMS",
    "DumbbellRun",
    "HelpRequested",
    "ProgramRun",
    "parse",
    "scenario",
]

__getattr__ = lazy.names(
    __name__,
    {
        "EXAMPLES": f"{__name__}.ns3_examples",
        "PROGRAMS": f"{__name__}.datacentre",
        "DumbbellRun": f"{__name__}.published.run",
        "HelpRequested": f"{__name__}.program",
        "ProgramRun": f"{__name__}.program",
    },
)


def parse(words: Sequence[str]) -> DumbbellRun | ProgramRun:
    """The run that a command line describes.

    ``words`` is the command line as a shell splits it, or in one text. Raises
    :class:`~ccperf.errors.UsageError`, naming the option, for everything that is wrong with it.
    """
    from ccperf.experiments.programs import ecn_sharp, load_balance
    from ccperf.experiments.programs.datacentre import PROGRAMS
    from ccperf.experiments.programs.ns3_examples import EXAMPLES
    from ccperf.experiments.programs.program import HelpRequested, program_words
    from ccperf.experiments.programs.published.options import usage
    from ccperf.experiments.programs.published.parse import parse as parse_published

    found = program_words(words)
    known = {**EXAMPLES, **PROGRAMS}
    if found and found[0] in known:
        return known[found[0]].run(found[1])
    if found and not {"--help", "-h", "--PrintHelp"}.isdisjoint(found[1]):
        raise HelpRequested("--help", usage(found[0].removeprefix("ccperf-")))
    others = {
        "ns-3": list(EXAMPLES),
        "ns3-ecn-sharp": [*ecn_sharp.PROGRAMS, "fct_parser.py"],
        "ns3-load-balance": list(load_balance.PROGRAMS),
    }
    return parse_published(words, others)


def scenario(run: DumbbellRun | ProgramRun) -> tuple[Scenario, list[str]]:
    """The scenario that a run's command line describes, and warnings about what has no effect.

    Raises :class:`~ccperf.errors.UsageError`, naming the option that is wrong.
    """
    from ccperf.experiments.programs.published.build import build
    from ccperf.experiments.programs.published.run import DumbbellRun

    return build(run) if isinstance(run, DumbbellRun) else run.scenario()
