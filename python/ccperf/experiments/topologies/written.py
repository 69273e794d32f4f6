"""Scenario files: written out, or by a topology's settings in a table of its name.

A dumbbell, or a parking lot, is a whole scenario; a fabric is a network, over which the file has
flows or workloads::

    stop_time = "10s"
    [dumbbell]
    rate = "16Mbps"
    qlen = "20p"
    rtts = ["15ms", "30ms"]
    cc = ["cubic", "bbr"]
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from ccperf.algorithms.user_code import names
from ccperf.errors import Problem, ScenarioError, UsageError, suggestion, unknown
from ccperf.experiments.topologies.fabric import Fabric, FabricLink, SwitchPort
from ccperf.experiments.topologies.fat_tree import fat_tree
from ccperf.experiments.topologies.leaf_spine import SlowLinks, leaf_spine
from ccperf.experiments.topologies.parking_lot import parking_lot
from ccperf.experiments.topologies.shorthand import SCENARIO, dumbbell
from ccperf.experiments.topologies.star import star
from ccperf.scenario import Scenario
from ccperf.scenario.problems import shown
from ccperf.scenario.toml import Document

#: What makes a scenario of its settings alone, and which other fields of a file belong to it.
_WHOLE: dict[str, tuple[Callable[..., Scenario], tuple[str, ...]]] = {
    "dumbbell": (dumbbell, SCENARIO),
    "parking_lot": (parking_lot, ("stop_time", "seed", "label", "linux")),
}
_FABRICS: dict[str, Callable[..., Fabric]] = {
    "star": star,
    "leaf_spine": leaf_spine,
    "fat_tree": fat_tree,
}
#: What a setting of a topology may be that has fields of its own.
_PARTS = (FabricLink, SwitchPort, SlowLinks)
_TABLE = Mapping[str, Any]


def read(path: str | Path) -> Scenario:
    """Read a scenario file.

    Raises:
        ScenarioError: each problem with the file and, where it can be told, the line.
        OSError: if the file cannot be read.
    """
    return from_document(Document.read(Path(path)))


def from_document(document: Document) -> Scenario:
    """The scenario of a file that was read. Raises :class:`ScenarioError` as :func:`read`."""
    if not _topologies(document.data) and not _misspelt(document.data):
        return Scenario.from_document(document)
    with document.placing_errors():
        return of(document.data, document.folder)


def of(data: Mapping[str, Any], folder: Path) -> Scenario:
    """The scenario of a file's data; paths in it begin at `folder`. Raises as :func:`read`."""
    topologies = _topologies(data)
    if not topologies:
        if wrong := _misspelt(data):
            raise ScenarioError(wrong)
        return Scenario.model_validate(dict(data), context={"folder": folder})
    if len(topologies) > 1:
        raise ScenarioError([(topologies[1], f"a file has one network, and {topologies[0]}")])
    try:
        return _built(topologies[0], data, folder)
    except UsageError as error:
        field = ".".join(filter(None, (topologies[0], error.field)))
        raise ScenarioError([Problem(field, error.message)]) from None


def _topologies(data: Mapping[str, Any]) -> list[str]:
    return [name for name in (*_WHOLE, *_FABRICS) if name in data]


def _misspelt(data: Mapping[str, Any]) -> list[Problem]:
    """What is nearly a topology's name, in a file without any network."""
    if "links" in data:
        return []
    near = {key: suggestion(key, (*_WHOLE, *_FABRICS)) for key in data}
    known = Scenario.model_fields
    return [
        Problem(key, f"is not a field here{meant}")
        for key, meant in near.items()
        if meant and key not in known
    ]


def _built(name: str, data: Mapping[str, Any], folder: Path) -> Scenario:
    settings, others = data[name], {key: value for key, value in data.items() if key != name}
    if not isinstance(settings, Mapping):
        raise UsageError("", f"must be a table: [{name}]")
    if name in _FABRICS:
        try:
            fabric: Fabric = _made(_FABRICS[name], settings, f"setting of a {name}")
        except ScenarioError as error:
            raise ScenarioError(
                each._replace(path=f"{name}.{each.path}") for each in error.problems
            ) from None
        parts = _parts(_FABRICS[name], settings)
        return fabric.checked(others, folder, {f"{name}.{key}": it for key, it in parts.items()})
    network, own = _WHOLE[name]
    for key in others:
        if key not in own:
            raise ScenarioError([(key, unknown(f"field beside [{name}]", key, own))])
    cc = settings.get("cc")
    made = [_resolved(one, folder) for one in cc] if isinstance(cc, list) else _resolved(cc, folder)
    given = {**settings, **others, **({"cc": made} if cc else {})}
    if network is parking_lot:
        scenario: Scenario = _made(parking_lot, given, f"setting of a {name}")
        return scenario
    hints = {"flows": int, "tcp": _TABLE}
    given |= {key: _value(key, given[key], hints[key]) for key in hints if key in given}
    try:
        return network(**given)
    except TypeError as error:
        missing = ", ".join(f"`{word}`" for word in str(error).split("'")[1::2]) or str(error)
        raise UsageError("", f"lacks {missing}") from None


def _made(cls: Callable[..., Any], given: Mapping[str, Any], what: str, within: str = "") -> Any:
    """What a topology, or a part of one, makes of its settings; `within`: which part."""
    hints, parameters = get_type_hints(cls), inspect.signature(cls).parameters
    for key in given:
        if key not in parameters:
            raise UsageError(f"{within}{key}", unknown(what, key, parameters))
    for key, parameter in parameters.items():
        if parameter.default is parameter.empty and key not in given:
            raise UsageError(within.rstrip("."), f"lacks `{key}`")
    return cls(**{key: _value(within + key, value, hints[key]) for key, value in given.items()})


def _parts(cls: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, object]:
    """The settings that have fields of their own, or an entry for each link."""
    hints = get_type_hints(cls)
    return {
        key: _value(key, it, hints[key])
        for key, it in given.items()
        if isinstance(it, Mapping | list)
    }


def _value(name: str, value: object, hint: Any) -> object:
    """A setting of the kind that it is declared to be; what a scenario checks is left to it."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    part = next((kind for kind in kinds if kind in _PARTS), None)
    if part and isinstance(value, Mapping):
        return _made(part, value, "field", f"{name}.")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if part or (hint == _TABLE and not isinstance(value, Mapping)):
        write = "a table, {...}"
    elif int in kinds and not (is_number and isinstance(value, int)):
        write = "a whole number"
    elif float in kinds and not is_number:
        write = "a number"
    elif hint == Sequence[str] and not isinstance(value, list):
        write = "a list, [...]"
    elif hint is str and is_number:
        # The engine says what unit it lacks.
        return str(value)
    elif hint is str and not isinstance(value, str):
        write = "a text, in quotes"
    else:
        return value
    raise UsageError(name, f"is {shown(value)}; write {write}")


def _resolved(cc: object, folder: Path) -> object:
    """Users' algorithms in a file are named from where the file is."""
    return names.resolve(cc, folder) if isinstance(cc, str) and names.is_user_code(cc) else cc
