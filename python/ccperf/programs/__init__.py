"""Command lines of other programs: the published ones of ccperf, those of ns-3's own examples and
of simulators made with ns-3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ccperf.programs.ecn_sharp import PROGRAMS, fct_parser
from ccperf.programs.ns3_examples import EXAMPLES
from ccperf.programs.program import HelpRequested, ProgramRun, program_words
from ccperf.programs.published.build import build
from ccperf.programs.published.parse import parse as parse_published
from ccperf.programs.published.run import DumbbellRun

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

__all__ = [
    "EXAMPLES",
    "PROGRAMS",
    "DumbbellRun",
    "HelpRequested",
    "ProgramRun",
    "fct_parser",
    "parse",
    "scenario",
]


def parse(words: Sequence[str]) -> DumbbellRun | ProgramRun:
    """The run that a command line describes.

    ``words`` is the command line as a shell splits it, or in one text. Raises
    :class:`~ccperf.errors.UsageError`, naming the option, for everything that is wrong with it.
    """
    found = program_words(words)
    known = {**EXAMPLES, **PROGRAMS}
    if found and found[0] in known:
        return known[found[0]].run(found[1])
    return parse_published(words)


def scenario(run: DumbbellRun | ProgramRun) -> tuple[Scenario, list[str]]:
    """The scenario that a run's command line describes, and warnings about what has no effect.

    Raises :class:`~ccperf.errors.UsageError`, naming the option that is wrong.
    """
    return run.scenario() if isinstance(run, ProgramRun) else build(run)
