"""The programs of simulators of data centres, made with ns-3 by others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.programs import ecn_sharp, load_balance

if TYPE_CHECKING:
    from ccperf.programs.program import Program

PROGRAMS: dict[str, Program] = {**ecn_sharp.PROGRAMS, **load_balance.PROGRAMS}
