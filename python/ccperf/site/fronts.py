"""Which front pages there are, and what they show for another question or baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.site.loads import LoadOverview
from ccperf.site.overview import KINDS, Overview

if TYPE_CHECKING:
    from ccperf.site.inventory import Inventory
    from ccperf.site.scores import Scores


def overviews(inventory: Inventory, scores: Scores) -> list[Overview]:
    """Return the front pages of what there is; the first one is `index.html`."""
    found: list[Overview] = []
    for kind, (title, file) in KINDS.items():
        groups = tuple(group for group in inventory.groups if group.name and group.kind == kind)
        if groups:
            shape = Overview if kind == "cc" else LoadOverview
            found.append(shape(kind, title, file if found else "index.html", groups, scores))
    return found
