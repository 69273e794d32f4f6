"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return ``1 run``, ``2 runs``, ``5,209 runs``, ``3 entries``, ``2 switches``."""
    several = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}{'e' * noun.endswith('ch')}s"
    return f"{number:,} {noun if number == 1 else several}"
