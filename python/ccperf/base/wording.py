"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return ``1 run``, ``2 runs``, ``5,209 runs``, ``3 entries``, ``2 switches``."""
    several = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}{'e' * noun.endswith('ch')}s"
    return f"{number:,} {noun if number == 1 else several}"


def duration(seconds: float) -> str:
    """Return ``12 s``, ``5 min``, ``2.5 h``."""
    if seconds < 120:
        return f"{seconds:.0f} s" if seconds >= 1 else "1 s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
