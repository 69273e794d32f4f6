"""Command lines of other programs: the published ones of ccperf, those of ns-3's own examples and
of simulators made with ns-3.

The programs are loaded on first use: a run of one experiment needs none of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ccperf.programs.program import HelpRequested, ProgramRun, program_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ccperf.programs.datacentre import PROGRAMS
    from ccperf.programs.ecn_sharp import fct_parser
    from ccperf.programs.ns3_examples import EXAMPLES
    from ccperf.programs.published.run import DumbbellRun
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

_HOME = {
    "EXAMPLES": "ccperf.programs.ns3_examples",
    "PROGRAMS": "ccperf.programs.datacentre",
    "DumbbellRun": "ccperf.programs.published.run",
}


def __getattr__(name: str) -> Any:
    if name == "fct_parser":
        return importlib.import_module("ccperf.programs.ecn_sharp.fct_parser")
    if name not in _HOME:
        raise AttributeError(f"module 'ccperf.programs' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def parse(words: Sequence[str]) -> DumbbellRun | ProgramRun:
    """The run that a command line describes.

    ``words`` is the command line as a shell splits it, or in one text. Raises
    :class:`~ccperf.errors.UsageError`, naming the option, for everything that is wrong with it.
    """
    from ccperf.programs.datacentre import PROGRAMS
    from ccperf.programs.ns3_examples import EXAMPLES
    from ccperf.programs.published.parse import parse as parse_published

    found = program_words(words)
    known = {**EXAMPLES, **PROGRAMS}
    if found and found[0] in known:
        return known[found[0]].run(found[1])
    return parse_published(words)


def scenario(run: DumbbellRun | ProgramRun) -> tuple[Scenario, list[str]]:
    """The scenario that a run's command line describes, and warnings about what has no effect.

    Raises :class:`~ccperf.errors.UsageError`, naming the option that is wrong.
    """
    if isinstance(run, ProgramRun):
        return run.scenario()
    from ccperf.programs.published.build import build

    return build(run)
