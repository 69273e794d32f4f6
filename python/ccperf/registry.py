"""The algorithms that the engine knows, under ns-3's names and under Linux's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

Kind = Literal["cc", "qdisc", "recovery", "routing"]


@cache
def tables() -> Mapping[str, Any]:
    """The engine's registry: a list of specifications for each kind, one for ``socket``."""
    from ccperf import _native

    registry: dict[str, Any] = json.loads(_native.registry())
    return registry


@cache
def algorithms(kind: Kind) -> Mapping[str, Mapping[str, Any]]:
    """The specifications of one kind by ns-3 name, in listing order.

    Each has ``ns3``, ``linux`` (a list of names), ``doc``, ``source`` and ``params``.
    """
    return {spec["ns3"]: spec for spec in tables()[kind]}


def parameters(kind: Kind, name: str) -> tuple[str, ...]:
    """The ns-3 names of an algorithm's attributes; none are known of user code."""
    from ccperf.user_code import names

    if names.is_user_code(name):
        return ()
    return tuple(param["ns3"] for param in algorithms(kind)[name]["params"])


def socket_parameters() -> tuple[str, ...]:
    """The ns-3 names of the attributes of a TCP socket that have an effect."""
    return tuple(param["ns3"] for param in tables()["socket"]["params"])


def resolve(kind: Kind, name: str) -> str:
    """The ns-3 name of an algorithm given under any of its names; user code with its whole path.

    Raises :class:`ValueError` with the nearest name for one that is unknown.
    """
    from ccperf import _native
    from ccperf.user_code import names

    name = names.declared(kind, name)
    if kind != "recovery" and names.is_user_code(name):
        return names.checked(name)
    if hint := names.unfinished(name):
        raise ValueError(hint)
    return _native.resolve(kind, name)
