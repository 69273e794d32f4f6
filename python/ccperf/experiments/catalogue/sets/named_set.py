"""What a named set is: sections of a text, each with what runs for it, and what does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Entry:
    """A section, and points of an experiment that answer it."""

    section: str
    #: What the section asks, in our words.
    asks: str
    experiment: str
    #: Values of parameters; the catalogue's grid for those not named.
    parameters: Mapping[str, Sequence[object]] = field(default_factory=dict)


@dataclass(frozen=True)
class Gap:
    """Something that the text asks and we do not do."""

    section: str
    asks: str
    #: Why not, or what we do instead.
    why: str


@dataclass(frozen=True)
class NamedSet:
    """A text with the points of the catalogue that follow it."""

    name: str
    title: str
    url: str
    #: Its sections that ask for something, and what they are called there; each is among the
    #: entries or the gaps, itself or with the one that it is part of.
    sections: Mapping[str, str]
    entries: tuple[Entry, ...]
    gaps: tuple[Gap, ...]
    #: Each point is passed or failed: :mod:`ccperf.evidence.bbr_draft`.
    is_judged: bool = False
