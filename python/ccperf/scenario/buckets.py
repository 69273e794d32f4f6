"""Token buckets that hold less than a packet."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ccperf import _native

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ccperf.scenario.fields import Algorithm
    from ccperf.scenario.whole import Scenario

#: What becomes of a packet that the bucket never holds, by discipline, as in ns-3 and RFC 2697.
_FATE = {"TbfQueueDisc": "wait without end", "PolicerQueueDisc": "are dropped"}
_SIZE = "burst"


def too_small(scenario: Scenario) -> list[str]:
    """A sentence for each bucket that holds no packet of its link's MTU."""
    directions = (
        (f"links[{i}].{word}.qdisc", getattr(link, word))
        for i, link in enumerate(scenario.links)
        for word in ("forward", "reverse")
    )
    return [
        f"{path}.attributes.{name}: packets of more than {size} B {fate}, and the link takes "
        f"{mtu} B; write {mtu} or more"
        for place, direction in directions
        for path, qdisc in _within(place, direction.qdisc)
        for name, size in qdisc.attributes.items()
        if name.lower() == _SIZE and (fate := _fate(qdisc))
        if int(size) < (mtu := _native.parse_size(direction.mtu))
    ]


def _fate(qdisc: Algorithm) -> str | None:
    if _native.is_user_code(qdisc.type):
        return None
    with suppress(ValueError):  # of a database that another engine made
        return _FATE.get(_native.resolve("qdisc", qdisc.type))
    return None


def _within(path: str, qdisc: Algorithm | None) -> Iterator[tuple[str, Algorithm]]:
    """A discipline and all inside of it, each with its path."""
    if qdisc is not None:
        yield path, qdisc
        for i, child in enumerate(qdisc.children):
            yield from _within(f"{path}.children[{i}]", child)
