"""What no field can hold, whichever it is: text that is no Unicode, endless numbers and nesting.

What checks a scenario field by field stumbles over these itself, so they are looked for where it
has failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ccperf.errors import Problem

#: Python writes and reads no longer number, since that takes time in the square of its length.
DIGITS = 4300
#: No field is so deep, and Python could not walk much deeper.
DEPTH = 100
_BITS_OF_A_DIGIT = 3.3219281
_NO_UNICODE = "is no Unicode text: it has half of a surrogate pair; leave that out"


def unreadable(data: Any) -> list[Problem]:
    """Everything of that kind in tables, lists and parts of a scenario, with its path."""
    problems = []
    under_way = [("", _inside(data))]
    while under_way:
        path, rest = under_way[-1]
        if (found := next(rest, None)) is None:
            under_way.pop()
            continue
        step, value = found
        at = f"{path}[{step}]" if isinstance(step, int) else f"{path}.{step}" if path else step
        if not _is_text(str(step)):
            problems.append(Problem(path, f"the name {step!r} {_NO_UNICODE}"))
        elif message := _wrong(value):
            problems.append(Problem(at, message))
        elif len(under_way) < DEPTH:
            under_way.append((at, _inside(value)))
        elif any(True for _ in _inside(value)):
            problems.append(Problem(at.partition(".")[0].partition("[")[0], too_deep()))
            # One sentence for all that is in there.
            del under_way[1:]
    return problems


def too_deep() -> str:
    """What to say of what is nested too deeply."""
    return f"is nested too deeply; no field is in more than {DEPTH} tables and lists"


def too_long(digits: int) -> str:
    """What to say of a number with so many digits."""
    return f"a number of {digits:,} digits; none has more than {DIGITS:,}"


def _inside(data: Any) -> Iterator[tuple[int | str, Any]]:
    if isinstance(data, list | tuple):
        return iter(enumerate(data))
    if isinstance(data, Mapping):
        return ((str(name), value) for name, value in data.items())
    if hasattr(type(data), "model_fields"):
        return iter(vars(data).items())
    return iter(())


def _wrong(value: Any) -> str:
    if isinstance(value, str) and not _is_text(value):
        return f"{value!r} {_NO_UNICODE}"
    if isinstance(value, int) and value.bit_length() > DIGITS * _BITS_OF_A_DIGIT:
        return too_long(int(value.bit_length() / _BITS_OF_A_DIGIT) + 1)
    return ""


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
