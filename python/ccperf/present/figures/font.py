"""The font of figures: DejaVu Sans, reduced to what labels need.

Matplotlib embeds a subset of the font in every PDF, and picks it anew from thousands of glyphs and
from layout rules that no label uses; that took more than half of the time of drawing.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import matplotlib
from fontTools import subset
from fontTools.ttLib import TTFont
from matplotlib import font_manager

from ccperf.base.folders import Temporary

FAMILY = "ccperf Sans"
#: Latin, Greek, punctuation, arrows, mathematical operators. For others DejaVu Sans itself serves.
_RANGES = ((0x20, 0x24F), (0x370, 0x3FF), (0x2010, 0x2044), (0x2070, 0x209C), (0x2190, 0x22FF))


@cache
def families() -> list[str]:
    """Return the font families to draw with, best first; our own is known from the first call."""
    path = Path(_folder().name) / "ccperf-sans.ttf"
    _reduce(Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf", path)
    font_manager.fontManager.addfont(path)
    return [FAMILY, "DejaVu Sans"]


@cache
def _folder() -> Temporary:
    """The font's, as long as this process."""
    return Temporary("font-")


def _reduce(source: Path, target: Path) -> None:
    options = subset.Options(layout_features=[], hinting=False, recalc_timestamp=False)
    options.drop_tables += ["GSUB", "GPOS", "GDEF", "FFTM", "kern"]
    with TTFont(source, recalcTimestamp=False) as font:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=[code for a, b in _RANGES for code in range(a, b + 1)])
        subsetter.subset(font)
        # A changed font must not bear the name of the original (DejaVu's licence).
        for name in (1, 4, 6, 16):
            for platform, encoding, language in ((3, 1, 0x409), (1, 0, 0)):
                text = FAMILY.replace(" ", "") if name == 6 else FAMILY
                font["name"].setName(text, name, platform, encoding, language)
        font.save(target)
