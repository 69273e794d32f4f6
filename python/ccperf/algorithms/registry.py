"""The algorithms that the engine knows, under ns-3's names and under Linux's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Literal

from ccperf.algorithms.judges import judges
from ccperf.base import expression

Kind = Literal["cc", "qdisc", "recovery", "routing", "rate_control", "trimming"]


#: Others are often compared with these: they come first in tables, and choose their colours first.
USUAL = ("TcpNewReno", "TcpCubic", "TcpBbr", "TcpVegas", "TcpDctcp")


def usual_first(name: str) -> tuple[int, str, str]:
    """What an algorithm is sorted by: the usual ones first, the others by letter."""
    bare = name.partition("@")[0]
    return USUAL.index(bare) if bare in USUAL else len(USUAL), name.lower(), name


#: What every backend calls the limit of a queue discipline, and Linux's words that come before it.
LIMIT = "MaxSize"
LINUX_LIMITS = ("limit", "latency", "memlimit")

#: What algorithms of a kind are called.
WORDS: Mapping[Kind, str] = {
    "cc": "congestion control",
    "qdisc": "queue discipline",
    "recovery": "loss recovery",
    "routing": "load balancer",
    "rate_control": "law of rates over RoCE",
    "trimming": "transport over switches that trim",
}

#: Where those of a kind go that are named in another's place.
_PLACES: Mapping[Kind, str] = {
    "cc": "`cc` takes it",
    "qdisc": "`qdisc` takes it",
    "recovery": "`recovery` takes it",
    "routing": "`routing` takes it",
    "rate_control": "`transport` takes it in experiments as pfc_incast, and `cc` of ROCE flows",
    "trimming": "`transport` takes it in experiments as permutation, and `cc` of TRIMMING flows",
}

#: What textbooks call some of them, by its letters alone.
_TEXTBOOKS: Mapping[tuple[Kind, str], str] = {
    ("qdisc", "droptail"): "FifoQueueDisc",
    ("qdisc", "droptailqueue"): "FifoQueueDisc",
    ("qdisc", "taildrop"): "FifoQueueDisc",
    ("cc", "tcpreno"): "TcpLinuxReno",
}


@cache
def tables() -> Mapping[str, Any]:
    """The engine's registry: a list of specifications for each kind, one for ``socket``."""
    from ccperf import _native

    registry: dict[str, Any] = json.loads(_native.registry())
    return registry


@cache
def algorithms(kind: Kind) -> Mapping[str, Mapping[str, Any]]:
    """The specifications of one kind by ns-3 name, in listing order.

    Each has ``ns3``, ``linux`` (a list of short names), ``is_in_linux`` (the first is what mainline
    Linux calls it), ``doc``, ``source``, ``departures``, ``params``,
    ``is_own`` (ns-3 has nothing like it), and ``judges``: who judged it
    (:mod:`ccperf.algorithms.judges`), the best first. Queue disciplines have ``trims``, too:
    whether they cut packets to their headers.
    """
    return {
        spec["ns3"]: {**spec, "judges": [judge._asdict() for judge in judges(spec["ns3"])]}
        for spec in tables()[kind]
    }


@cache
def compared(kind: Kind) -> Mapping[str, Mapping[str, Any]]:
    """Those of :func:`algorithms` that real ns-3 can run, by itself or with what is added to it."""
    return {name: spec for name, spec in algorithms(kind).items() if not spec["is_own"]}


def likeness(spec: Mapping[str, Any]) -> str:
    """What an algorithm is like, and what ns-3, and so the engine, does otherwise than its source.

    ``Like Linux's `vegas`, but as in ns-3: the samples are the smoothed RTT, ...``; empty if
    nothing is to be said.
    """
    departures = "; ".join(spec["departures"])
    if spec["is_own"]:
        return f"Otherwise than its source: {departures}." if departures else ""
    if not spec["is_in_linux"]:
        return f"As in ns-3: {departures}." if departures else ""
    like = f"Like Linux's `{spec['linux'][0]}`"
    own = " Under the profile `linux` it is Linux's own." if spec["is_of_profile"] else ""
    return f"{like}, but as in ns-3: {departures}.{own}" if departures else f"{like}."


def parameters(kind: Kind, name: str) -> tuple[str, ...]:
    """The ns-3 names of an algorithm's attributes; none are known of user code."""
    from ccperf.algorithms.user_code import names

    if names.is_user_code(name):
        return ()
    return tuple(param["ns3"] for param in algorithms(kind)[expression.cut(name)[0]]["params"])


def attribute(kind: Kind, described: Mapping[str, Any], name: str) -> str:
    """The value of an attribute of an algorithm as a scenario describes it; the engine's default
    where it gives none.
    """
    given: Mapping[str, str] = described["attributes"]
    params = algorithms(kind)[described["type"]]["params"]
    return given.get(name) or next(of["default"] for of in params if of["ns3"] == name)


def own_limit(name: str, attributes: Mapping[str, object] | None = None) -> str | None:
    """The limit that a queue discipline itself gives, as ``MaxSize=50p``; None if it gives none.

    Raises :class:`ValueError` as :func:`resolve` does.
    """
    from ccperf.algorithms.user_code import names

    kind, within = expression.parse(name)
    given = {**{word: str(value) for word, value in (attributes or {}).items()}, **within}
    resolved = _resolve("qdisc", kind)
    written = _attributes("qdisc", resolved, tuple(given.items()))
    words = (LIMIT, *LINUX_LIMITS) if names.is_of_kernel(resolved) else (LIMIT,)
    return next((f"{word}={written[word]}" for word in words if word in written), None)


def trims(name: str) -> bool:
    """Whether a queue discipline cuts packets to their headers; of user code none does."""
    spec = algorithms("qdisc").get(name)
    return bool(spec and spec["trims"])


def socket_parameters() -> tuple[str, ...]:
    """The ns-3 names of the attributes of a TCP socket that have an effect."""
    return tuple(param["ns3"] for param in tables()["socket"]["params"])


def slow_starts() -> tuple[str, ...]:
    """The values of a socket's attribute ``SlowStart``, but for the algorithm's own."""
    (param,) = (of for of in tables()["socket"]["params"] if of["ns3"] == "SlowStart")
    return tuple(param["words"][1:])


def resolve(kind: Kind, name: str) -> str:
    """The ns-3 name of an algorithm given under any of its names; user code with its whole path.

    Parameters (``cubic(beta=0.50)``) have ns-3's spelling, too: ``TcpCubic(Beta=0.5)``.

    Raises :class:`ValueError` with the nearest name for one that is unknown.
    """
    name, attributes = expression.parse(name)
    resolved = _resolve(kind, name)
    try:
        written = _attributes(kind, resolved, tuple(attributes.items()))
    except ValueError:
        for value in filter(expression.is_pair, attributes.values()):
            raise ValueError(_separate(name, value)) from None
        raise
    return expression.write(resolved, written)


def _separate(name: str, pair: str) -> str:
    """What to write where a parameter is taken for something else."""
    return f"`{pair}` is a parameter; separate parameters by colons: {name}:A=1:B=2"


def _resolve(kind: Kind, name: str) -> str:
    from ccperf import _native
    from ccperf.algorithms.user_code import names

    of, _, pair = name.partition("/") if "/" in name else ("", "", name)
    if expression.is_pair(pair) and not names.is_user_code(name):
        raise ValueError(_separate(of or "name", pair))
    name = names.declared(kind, name)
    if kind == "qdisc" and names.is_in_kernel(name):
        return _native.resolve(kind, name)
    if kind in ("cc", "qdisc", "routing") and names.is_user_code(name):
        return names.checked(name)
    if hint := names.unfinished(name):
        raise ValueError(hint)
    try:
        return _native.resolve(kind, name)
    except ValueError:
        if (other := kind_of(name)) and other != kind:
            message = f"`{name}` is a {WORDS[other]}, no {WORDS[kind]}; {_PLACES[other]}"
            raise ValueError(message) from None
        letters = "".join(filter(str.isalnum, name)).lower()
        if meant := _TEXTBOOKS.get((kind, letters)):
            message = f"`{name}` is not a {WORDS[kind]}; did you mean `{meant}`?"
            raise ValueError(message) from None
        raise


def with_words(message: str, name: str, words: Iterable[str]) -> str:
    """The message that a name is unknown, with the words that are taken besides; where the name is
    that of something else, without them.
    """
    return message if kind_of(expression.bare(name)) else f"{message}; or {', '.join(words)}"


def kind_of(name: str) -> Kind | None:
    """The kind of a built-in algorithm of this name; None if there is none."""
    from ccperf import _native

    for kind in WORDS:
        with suppress(ValueError):
            _native.resolve(kind, name)
            return kind
    return None


@cache
def _attributes(kind: Kind, name: str, given: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """Attributes as the engine writes them in a scenario; those of user code as they are."""
    from ccperf import _native
    from ccperf.algorithms.user_code import names
    from ccperf.errors import ScenarioError

    if not given:
        return {}
    if names.is_user_code(name):
        return {word: expression.number(value) for word, value in sorted(given)}
    if kind == "recovery":
        raise ValueError(f"{name} has no parameters")
    own = {"type": name, "attributes": dict(given)}
    link: dict[str, Any] = {"name": "link", "ends": ["a", "b"], "rate": "1Mbps", "delay": "1ms"}
    flow: dict[str, Any] = {"source": "a", "destination": "b", "cc": {"type": "TcpNewReno"}}
    scenario: dict[str, Any] = {
        "stop_time": "1s",
        "nodes": ["a", "b"],
        "links": [{**link, "forward": {"qdisc": own}} if kind == "qdisc" else link],
        "flows": [{**flow, "cc": own} if kind == "cc" else flow],
        **({"routing": own} if kind == "routing" else {}),
    }
    try:
        found = json.loads(_native.canonical(json.dumps(scenario)))
    except ScenarioError as error:
        wrong = [each for each in error.problems if ".attributes." in each[0]]
        if not wrong:
            return dict(given)  # it needs more than it has here, e.g. children
        raise ValueError(f"{wrong[0][0].rpartition('.')[2]}: {wrong[0][1]}") from None
    written: Mapping[str, Mapping[str, str]] = {
        "cc": found["flows"][0].get("cc", own),
        "qdisc": found["links"][0]["forward"].get("qdisc", own),
        "routing": found.get("routing", own),
    }[kind]
    return dict(written["attributes"])
