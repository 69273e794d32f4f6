"""The C header for algorithms of one's own; ``python -m ccperf.include`` prints its folder."""

from pathlib import Path

__all__ = ["get_include"]


def get_include() -> str:
    """The folder of ``ccperf.h``, for a C compiler's ``-I``."""
    return str(Path(__file__).parent)
