"""What is on an algorithm's page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ccperf.site.naming import slug

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ccperf.site.differences import DifferenceCell
    from ccperf.site.inventory import Group, Page
    from ccperf.site.scores import Scores


@dataclass(frozen=True, eq=False)
class AlgorithmView:
    """An algorithm beside each baseline, in each experiment that it ran."""

    name: str
    groups: tuple[Group, ...]
    #: By baseline, experiment and criterion.
    against: Mapping[str, Mapping[str, Mapping[str, DifferenceCell]]]
    #: By baseline; None where nothing was compared.
    sentences: Mapping[str, str | None]
    scores: Scores

    @property
    def files(self) -> tuple[str, str]:
        """Its page and its data, from the site's root."""
        stem = f"algorithms/{slug(self.name)}"
        return f"{stem}.html", f"{stem}.js"

    @cached_property
    def pages(self) -> dict[str, list[Page]]:
        """Its pages of runs by experiment."""
        return {
            group.name: [page for page in group.pages if page.algorithm == self.name]
            for group in self.groups
        }

    @cached_property
    def differences(self) -> list[Any]:
        """The differences from each baseline as plain values, for the browser."""
        return [
            [
                base,
                [
                    [
                        f"../{group.href}",
                        [
                            [cell.text, cell.kind, cell.order, cell.title]
                            for cell in table[group.name].values()
                        ],
                    ]
                    for group in self.groups
                ],
            ]
            for base, table in self.against.items()
        ]

    @property
    def made_of(self) -> list[Any]:
        """Return all that its page depends on: what has the same is the same page."""
        criteria = [criterion.name for criterion in self.scores.criteria]
        return [
            self.differences,
            list(self.sentences.values()),
            criteria,
            [
                [repr(self.scores.get(group.name, name, self.name)) for name in criteria]
                for group in self.groups
            ],
            [[[page.id, page.point_text] for page in own] for own in self.pages.values()],
        ]
