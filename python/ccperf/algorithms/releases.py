"""The releases of ns-3 that the engine can be, and what each has changed since 3.44.

A release is a profile of TCP (`tcp.Profile`): `ns3-3.44`, the default, and those after it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ccperf.algorithms import registry
from ccperf.errors import unknown

#: The attribute of `tcp` that names one.
ATTRIBUTE = "Profile"
#: The beginning of the name of each.
PREFIX = "ns3-"


class Change(NamedTuple):
    """One change of ns-3's TCP."""

    name: str
    #: The first release that has it.
    release: str
    #: In ns-3's repository, and the number of the issue or merge request there.
    commit: str
    issue: str
    #: What became of what.
    doc: str
    #: Whose packets change, and when.
    shows: str
    #: The attributes that came with it: pairs of class and name.
    attributes: tuple[tuple[str, str], ...]


class Release(NamedTuple):
    """ns-3 at one time."""

    name: str
    doc: str
    changes: tuple[Change, ...]

    @property
    def title(self) -> str:
        """`ns-3 3.48`, for sentences."""
        version = self.name.removeprefix(PREFIX)
        return f"ns-3 {version}" if version[0].isdigit() else self.doc.rstrip(".")


@cache
def changes() -> dict[str, Change]:
    """Every change by name, in the order in which ns-3 made them."""
    return {
        one["name"]: Change(**{**one, "attributes": tuple(map(tuple, one["attributes"]))})
        for one in registry.tables()["changes"]
    }


@cache
def releases() -> dict[str, Release]:
    """Every release by name, the default first, the newest last."""
    return {
        one["name"]: Release(
            one["name"], one["doc"], tuple(changes()[name] for name in one["changes"])
        )
        for one in registry.tables()["releases"]
    }


def default() -> str:
    """The release that the engine is if nothing is said."""
    return next(iter(releases()))


def resolve(name: str) -> str:
    """The name of a release: `ns3-3.48`, or `3.48`.

    Raises :class:`ValueError` with the nearest name for one that is unknown.
    """
    for known in releases():
        if name in (known, known.removeprefix(PREFIX)):
            return known
    raise ValueError(unknown("profile", name, releases()))


def of_version(version: str) -> str:
    """The newest release that an ns-3 of this version, `3.47` or `3-dev`, has all changes of."""
    return [name for name in releases() if is_in(name, version)][-1]


def is_in(name: str, version: str) -> bool:
    """Whether an ns-3 of this version is a release, or newer."""
    return _order(name.removeprefix(PREFIX)) <= _order(version)


def _order(version: str) -> tuple[int, ...]:
    """Versions in the order of time; the development tree follows the newest release here."""
    if version in ("dev", "3-dev"):
        return (*_newest(), 1)
    return tuple(map(int, version.split(".")))


@cache
def _newest() -> tuple[int, ...]:
    versions = [name.removeprefix(PREFIX) for name in releases()]
    return max(tuple(map(int, v.split("."))) for v in versions if v != "dev")
