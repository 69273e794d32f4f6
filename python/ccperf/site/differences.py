"""How an algorithm differs from a baseline, as cells of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccperf.metrics import METRICS
from ccperf.site.scores import CRITERIA
from ccperf.site.tables import MISSING, number
from ccperf.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ccperf.evidence.compare import Row
    from ccperf.site.inventory import Group
    from ccperf.site.scores import Scores


@dataclass(frozen=True)
class DifferenceCell:
    """One experiment and criterion: as printed, whether it is good or bad, what it is sorted by."""

    text: str = MISSING
    kind: str = ""
    order: str = ""
    title: str = ""


def differences(
    scores: Scores, base: str, name: str, groups: Sequence[Group]
) -> dict[str, dict[str, DifferenceCell]]:
    """Return `{experiment: {criterion: cell}}` of an algorithm against `base`."""
    rows = {(row.experiment, row.metric): row for row in scores.against(base) if row.side == name}
    shown = {criterion.name for criterion in scores.criteria}
    return {
        group.name: {
            criterion.name: _cell(rows.get((group.name, criterion.metric)))
            for criterion in CRITERIA
            if criterion.name in shown
        }
        for group in groups
    }


def _cell(row: Row | None) -> DifferenceCell:
    if row is None:
        return DifferenceCell()
    unit = METRICS[row.metric].unit
    unit = "" if unit == "1" else f" {unit}"
    if row.relative is not None:
        value, half = 100 * row.relative.value, row.relative.half_width
        text = f"{_signed(value)} %"
        if half:
            text += f" ± {number(100 * half, 1)}"
    else:
        value = row.difference.mean
        text = f"{_signed(value)}{unit}"
    mark = {True: "▲ ", False: "▼ ", None: ""}[row.is_better]
    kind = {True: "good", False: "bad", None: ""}[row.is_better]
    # Six digits are enough to look at, and the same on every machine.
    title = (
        f"{row.base.mean:.6g} → {row.other.mean:.6g}{unit}, {counted(row.points, 'point')}, "
        f"{counted(row.seeds, 'seed')}, {row.verdict}"
    )
    if row.p is not None:
        title += f", p = {row.p:.2g}"
    return DifferenceCell(mark + text, kind, f"{value:.6g}", title)


def _signed(value: float) -> str:
    text = number(value, 1)
    return text if text.startswith("−") or not text.strip("0.,") else f"+{text}"
