"""Traffic models on a published command line: ``Greedy(bytes=0)``, ``Poisson(bytes=0,rate=5Mbps)``.

The names of the arguments are those of the scenario's applications; bytes have no unit there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ccperf.errors import UsageError, suggestion, unknown
from ccperf.experiments.programs.published.options import split_list

OPTION = "--traffic-models"
GREEDY: Mapping[str, str] = {"type": "Greedy", "bytes": "0B"}

_MODEL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_SIZES = ("bytes", "write")


def parse(text: str, entry: str) -> dict[str, str]:
    """One traffic model as the fields of a scenario's application.

    Raises :class:`~ccperf.errors.UsageError`, whose message begins with ``entry``. What the values
    mean is checked with the scenario.
    """
    from ccperf.scenario import APPLICATIONS

    models = {cls.__name__: cls for cls in APPLICATIONS}
    match = _MODEL.fullmatch(text)
    if match is None:
        raise UsageError(OPTION, f"{entry}: `{text}`; write Greedy(bytes=0)")
    if match[1] not in models:
        raise UsageError(OPTION, f"{entry}: {unknown('traffic model', match[1], models)}")
    known = [name for name in models[match[1]].model_fields if name != "type"]
    model = {"type": match[1]}
    for item in split_list(OPTION, match[2]) if match[2].strip() else ():
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not value:
            raise UsageError(OPTION, f"{entry}: `{item}` is not name=value")
        if name not in known:
            listed = f"{suggestion(name, known)}; it has {', '.join(known)}"
            raise UsageError(OPTION, f"{entry}: {match[1]} has no `{name}`{listed}")
        if name in model:
            raise UsageError(OPTION, f"{entry}: {name} is given twice")
        if name in _SIZES:
            if not re.fullmatch(r"\d{1,18}", value, re.ASCII):
                raise UsageError(OPTION, f"{entry}: {name}={value}; write a number of bytes or 0")
            value = f"{int(value)}B"
        model[name] = value
    for name, field in models[match[1]].model_fields.items():
        if field.is_required() and name not in model:
            raise UsageError(OPTION, f"{entry}: `{text}` lacks {name}")
    return model


def write(model: Mapping[str, str]) -> str:
    """The model in the form in which it is read."""
    arguments = [
        f"{name}={value.removesuffix('B') if name in _SIZES else value}"
        for name, value in model.items()
        if name != "type"
    ]
    return f"{model['type']}({','.join(arguments)})"
