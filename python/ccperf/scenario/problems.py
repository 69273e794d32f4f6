"""What is wrong with a scenario, in our words instead of pydantic's."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from ccperf.errors import Problem, suggestion, unknown
from ccperf.scenario.added_delay import ADDED_DELAYS
from ccperf.scenario.fields import Model
from ccperf.scenario.flows import APPLICATIONS
from ccperf.scenario.workload import ARRIVALS, PAIRS, SIZES

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

#: For each field that holds one of several classes, those by the `type` that they are told by.
_UNIONS: dict[str, dict[str, type[Model]]] = {
    field: {cls.model_fields["type"].default: cls for cls in classes}
    for field, classes in {
        "application": APPLICATIONS,
        "arrivals": ARRIVALS,
        "pairs": PAIRS,
        "sizes": SIZES,
        "added_delay": ADDED_DELAYS,
    }.items()
}

#: What a field is here that ns-3 calls so, where the nearest word is not it; what a class is.
_NS3_FIELDS = {
    "datarate": "rate",
    "errorrate": "loss",
    "maxbytes": "bytes",
    "packetsize": "write",
    "protocol": "transport",
    "rngrun": "seed",
    "sendsize": "write",
    "sockettype": "cc",
}
_NS3_CLASSES = {
    "BulkSendApplication": 'write "Greedy", with bytes for MaxBytes and write for SendSize',
    "OnOffApplication": 'write "OnOff", with rate for DataRate and write for PacketSize',
    "UdpClient": 'write "CBR" in a flow with transport = "UDP"',
    "TcpSocketFactory": 'write "TCP"',
    "UdpSocketFactory": 'write "UDP"',
}

#: What pydantic calls a value that is of another kind than its field, and what to write instead.
_OF_CLASSES = {"model_type", "model_attributes_type"}
_SHAPES = {
    **dict.fromkeys(_OF_CLASSES, "a table, {...}"),
    "dict_type": "a table, {...}",
    "tuple_type": "a list, [...]",
    "string_type": "a text, in quotes",
}


def without_wrong(data: Any, errors: Iterable[ErrorDetails]) -> Any:
    """The scenario without the fields that are wrong in shape, so that the rest can be checked.

    A field goes alone: what it was among, another one may name. Raises LookupError or TypeError
    where that is not enough.
    """
    data = copy.deepcopy(data)
    for details in errors:
        *around, last = details["loc"]
        place = data
        for step in around:
            place = place[step]
        if not isinstance(place, dict):
            raise LookupError
        del place[last]
    return data


def problem(details: ErrorDetails, root: type[Model]) -> Problem:
    """What pydantic found in a `root`, in our words."""
    location, kind, given = details["loc"], details["type"], details["input"]
    message = details["msg"].removeprefix("Value error, ")
    if kind == "missing":
        message = "is missing"
    elif kind == "extra_forbidden":
        model = _model_at(location[:-1], root)
        known = model.model_fields if model else ()
        word = str(location[-1])
        ours = _NS3_FIELDS.get(word.lower(), word)
        meant = f" (did you mean `{ours}`?)" if ours in known else suggestion(ours, known)
        message = f"is not a field here{meant}"
    elif kind == "union_tag_invalid":
        field = str(location[-1])
        location = (*location, "type")
        tag = str(details["ctx"]["tag"])
        message = _of_ns3(tag) or unknown(field, tag, _UNIONS[field])
    elif kind == "literal_error":
        words = details["ctx"]["expected"].replace("'", "`")
        message = _of_ns3(str(given)) or f"`{given}` is not {words}"
    elif kind == "too_long" and isinstance(given, list | tuple):
        message = f"has {len(given)} entries; write at most {details['ctx']['max_length']}"
    elif kind in _SHAPES:
        message = f"is {shown(given)}; write {_shape(details, root)}"
    elif kind != "value_error":
        message = f"{message[:1].lower()}{message[1:]}, not {shown(given)}"
    return Problem(_path(location), message)


def _of_ns3(name: str) -> str:
    """What to write for a class of ns-3; empty for any other name."""
    instead = _NS3_CLASSES.get(name.removeprefix("ns3::"))
    return f"`{name}` is ns-3's; {instead}" if instead else ""


def _shape(details: ErrorDetails, root: type[Model]) -> str:
    """How a value of the kind that was to be there is written."""
    location, kind = details["loc"], details["type"]
    model = _model_at(location, root)
    if model and kind == "tuple_type" and isinstance(details["input"], Mapping):
        return f"a list of tables, in TOML [[{_path(location)}]] with two brackets"
    if model and kind in _OF_CLASSES and "type" in model.model_fields:
        return "its name, or a table with `type`"
    return _SHAPES[kind]


def shown(given: object) -> str:
    """What was given, in few words."""
    if isinstance(given, Mapping):
        return "a table"
    if isinstance(given, list | tuple):
        return "a list"
    return repr(given)


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for step in location:
        # pydantic marks a dictionary's key that is wrong itself, and which of several classes it
        # read.
        if step != "[key]" and step not in _UNIONS.get(path.rpartition(".")[2], ()):
            path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def _model_at(location: tuple[int | str, ...], root: type[Model]) -> type[Model] | None:
    """The class whose fields stand at a location."""
    model: type[Model] | None = root
    name = ""
    for step in location:
        if model is None:
            return None
        if isinstance(step, str):
            field = model.model_fields.get(step)
            found = _UNIONS.get(name, {}).get(step)
            model = found or (_model_in(field.annotation) if field else None)
            name = step
    return model


def _model_in(annotation: Any) -> type[Model] | None:
    """The class in an annotation like ``tuple[Link, ...]`` or ``Algorithm | None``."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    found = (_model_in(argument) for argument in get_args(annotation))
    return next((model for model in found if model), None)
