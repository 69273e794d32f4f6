"""How large a figure is on paper: widths by name, and lengths."""

from __future__ import annotations

import re

from ccperf.errors import UsageError, suggestion
from ccperf.present.figures.palette import WIDTHS

#: In inches.
_UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
_LEAST, _MOST = 0.5, 40.0


def inches(given: str | float, option: str) -> float:
    """Return a length in inches: a number is inches, `86mm` is a length, `ieee` a width by name.

    Points are those of TeX, 72.27 to an inch. Raises `UsageError`, which names `option`.
    """
    if isinstance(given, str) and given in WIDTHS:
        return WIDTHS[given]
    found = re.fullmatch(r"\s*([0-9.]+)\s*([a-z]*)\s*", str(given))
    try:
        length = float(found[1]) * _UNITS[found[2] or "in"] if found else 0.0
    except (KeyError, ValueError):
        length = 0.0
    if not _LEAST <= length <= _MOST:
        names = ", ".join(WIDTHS)
        raise UsageError(
            option,
            f"`{given}` is no length from {_LEAST} to {_MOST:.0f} inches, such as 3.4in, 86mm or "
            f"240pt, and none of {names}{suggestion(str(given), WIDTHS)}",
        )
    return length
