"""How an algorithm differs from a baseline, as cells of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccperf.base.wording import counted
from ccperf.evidence.verdict import difference_unit, effect_text
from ccperf.runs.metrics import metric_named
from ccperf.site.scores import CRITERIA
from ccperf.site.tables import MISSING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.evidence.rows import Row
    from ccperf.evidence.verdict import Word
    from ccperf.site.inventory import Group
    from ccperf.site.scores import Scores


#: What stands before a difference, by the word for it.
MARKS: Mapping[Word, str] = {
    "better": "▲",
    "worse": "▼",
    "higher": "",
    "lower": "",
    "equal": "=",
    "mixed": "↕",
    "not known yet": "?",
}
#: What cells look like that are neither good nor bad.
_KINDS: Mapping[Word, str] = {"equal": "equal", "mixed": "mixed", "not known yet": "unknown"}


@dataclass(frozen=True)
class DifferenceCell:
    """One experiment and criterion: as printed, whether it is good or bad, what it is sorted by."""

    text: str = MISSING
    kind: str = ""
    order: str = ""
    title: str = ""
    #: The means of the baseline and of the side that it is the difference of, over how many points
    #: and seeds; no points without a comparison.
    means: tuple[float, float] = (0.0, 0.0)
    points: int = 0
    seeds: int = 0


def differences(
    scores: Scores, base: str, name: str, groups: Sequence[Group]
) -> dict[str, dict[str, DifferenceCell]]:
    """Return `{experiment: {criterion: cell}}` of an algorithm against `base`."""
    rows = {(row.experiment, row.metric): row for row in scores.against(base) if row.side == name}
    shown = {criterion.name for criterion in scores.criteria_of(groups)}
    return {
        group.name: {
            criterion.name: difference_cell(rows.get((group.name, criterion.metric_of(group))))
            for criterion in CRITERIA
            if criterion.name in shown
        }
        for group in groups
    }


def difference_cell(row: Row | None) -> DifferenceCell:
    """Return a comparison as a cell; without one it says so."""
    if row is None:
        return DifferenceCell()
    said, size, (base, side) = row.verdict, row.size, row.means
    metric = metric_named(row.metric)
    unit, of_difference = (
        each and f" {each}" for each in (metric.shown_unit, difference_unit(metric))
    )
    of_difference = of_difference if size.effect == "difference" else ""
    # Six digits are enough to look at, and the same on every machine.
    title = (
        f"{said}. {base:.6g} → {side:.6g}{unit}, {counted(row.points, 'point')}, "
        f"{counted(row.seeds, 'seed')}; shown at {said.shown} of {said.points}"
    )
    if row.points > 1:
        ends = (effect_text(size.effect, end.value) for end in (size.least, size.largest))
        title += f"; {' to '.join(ends)}{of_difference}"
    return DifferenceCell(
        f"{MARKS[said.word]} {row.text}{of_difference}".strip(),
        {True: "good", False: "bad", None: _KINDS.get(said.word, "")}[said.is_better],
        "" if size.mean is None else f"{size.mean:.6g}",
        title,
        row.means,
        row.points if size.mean is None else row.points - size.zeros,
        row.seeds,
    )
