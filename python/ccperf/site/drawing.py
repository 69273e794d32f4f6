"""The figures of a run's page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccperf import figures
from ccperf.errors import UsageError
from ccperf.figures import svg

if TYPE_CHECKING:
    from ccperf.result import Result


@dataclass(frozen=True)
class Drawn:
    """A figure of a run's page: its file is named relative to the page."""

    title: str
    caption: str
    alt: str
    file: str


def draw(result: Result) -> list[tuple[Drawn, str]]:
    """Return the figures of a run with their SVG; none if there is nothing to draw."""
    try:
        described = figures.describe_all(result.scenario, result.recording)
    except UsageError:
        return []
    return [
        (
            Drawn(
                figure.title,
                figures.FIGURES[figure.name].caption,
                figure.alt,
                f"{figure.name}.svg",
            ),
            svg.draw(figure),
        )
        for figure in described
    ]
