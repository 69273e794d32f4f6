"""The programs of simulators of data centres, made with ns-3 by others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.programs import ecn_sharp, load_balance

if TYPE_CHECKING:
    from ccperf.experiments.programs.program import Program

PROGRAMS: dict[str, Program] = {**ecn_sharp.PROGRAMS, **load_balance.PROGRAMS}
