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
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ccperf.algorithms.user_code import names
from ccperf.errors import Problem, ScenarioError, UsageError, unknown
from ccperf.experiments.topologies.fabric import Fabric, FabricLink, SwitchPort
from ccperf.experiments.topologies.fat_tree import fat_tree
from ccperf.experiments.topologies.leaf_spine import leaf_spine
from ccperf.experiments.topologies.parking_lot import parking_lot
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.experiments.topologies.star import star
from ccperf.scenario import Scenario
from ccperf.scenario.toml import Document

#: What makes a scenario of its settings alone, and which other fields of a file belong to it.
_WHOLE: dict[str, tuple[Callable[..., Scenario], tuple[str, ...]]] = {
    "dumbbell": (dumbbell, ("stop_time", "seed", "label", "changes", "pings", "recording")),
    "parking_lot": (parking_lot, ("stop_time", "seed", "label")),
}
_FABRICS: dict[str, Callable[..., Fabric]] = {
    "star": star,
    "leaf_spine": leaf_spine,
    "fat_tree": fat_tree,
}
_PARTS = {
    "link": FabricLink,
    "host_link_of": FabricLink,
    "fabric_link_of": FabricLink,
    "port": SwitchPort,
    "host_port": SwitchPort,
}


def read(path: str | Path) -> Scenario:
    """Read a scenario file.

    Raises:
        ScenarioError: each problem with the file and, where it can be told, the line.
        OSError: if the file cannot be read.
    """
    return from_document(Document.read(Path(path)))


def from_document(document: Document) -> Scenario:
    """The scenario of a file that was read. Raises :class:`ScenarioError` as :func:`read`."""
    if not _topologies(document.data):
        return Scenario.from_document(document)
    with document.placing_errors():
        return of(document.data, document.folder)


def of(data: Mapping[str, Any], folder: Path) -> Scenario:
    """The scenario of a file's data; paths in it begin at `folder`. Raises as :func:`read`."""
    topologies = _topologies(data)
    if not topologies:
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


def _built(name: str, data: Mapping[str, Any], folder: Path) -> Scenario:
    settings, others = data[name], {key: value for key, value in data.items() if key != name}
    if not isinstance(settings, Mapping):
        raise UsageError("", f"must be a table: [{name}]")
    if name in _FABRICS:
        topology = _FABRICS[name]
        known = inspect.signature(topology).parameters
        _known(settings, known, f"setting of a {name}")
        fabric = topology(**{key: _part(key, value) for key, value in settings.items()})
        fields = {"nodes": fabric.nodes, "links": fabric.links, **others}
        return Scenario.model_validate(fields, context={"folder": folder})
    network, own = _WHOLE[name]
    for key in others:
        if key not in own:
            raise ScenarioError([(key, unknown(f"field beside [{name}]", key, own))])
    if network is parking_lot:
        _known(settings, inspect.signature(parking_lot).parameters, f"setting of a {name}")
    cc = settings.get("cc")
    made = [_resolved(one, folder) for one in cc] if isinstance(cc, list) else _resolved(cc, folder)
    try:
        return network(**{**settings, **others, **({"cc": made} if cc else {})})
    except TypeError as error:
        missing = ", ".join(f"`{word}`" for word in str(error).split("'")[1::2]) or str(error)
        raise UsageError("", f"lacks {missing}") from None


def _known(settings: Mapping[str, Any], known: Mapping[str, Any], what: str) -> None:
    for key in settings:
        if key not in known:
            raise UsageError(key, unknown(what, key, known))


def _part(key: str, value: object) -> object:
    """A table as the class that the topology takes."""
    cls = _PARTS.get(key)
    if cls is None or not isinstance(value, Mapping):
        return value
    fields = inspect.signature(cls).parameters
    for field in value:
        if field not in fields:
            raise UsageError(f"{key}.{field}", unknown("field", field, fields))
    return cls(**value)


def _resolved(cc: object, folder: Path) -> object:
    """Users' algorithms in a file are named from where the file is."""
    return names.resolve(cc, folder) if isinstance(cc, str) and names.is_user_code(cc) else cc
