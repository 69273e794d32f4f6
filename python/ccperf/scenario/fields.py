"""What the classes of a scenario are made of: values with units, and algorithms by name."""

from collections.abc import Sized
from typing import Annotated, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)

from ccperf.algorithms.user_code import names
from ccperf.base import expression


def _as_text(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def algorithm_by_name(value: object, info: ValidationInfo) -> object:
    """An algorithm may be just its name, with or without parameters (``cubic(Beta=0.5)``), or a
    user's class; paths are made absolute."""
    if isinstance(value, type) and not issubclass(value, BaseModel):
        value = names.name_of(value)
    if isinstance(value, str):
        value = {"type": value}
    value = _with_parameters(value)
    if isinstance(value, dict) and isinstance(value.get("type"), str):
        folder = (info.context or {}).get("folder")
        name = names.declared(info.field_name or "", value["type"])
        if names.is_user_code(name):
            return {**value, "type": names.resolve(name, folder)}
    return value


def _with_parameters(value: object) -> object:
    """The parameters in an algorithm's name among its attributes, where they come first."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return value
    name, given = expression.parse(value["type"])
    if not given:
        return value
    return {**value, "type": name, "attributes": {**value.get("attributes", {}), **given}}


#: A number is taken as its text, so that the engine says of it, too, what unit it lacks.
_Text: TypeAlias = Annotated[str, BeforeValidator(_as_text)]
Time: TypeAlias = _Text
Rate: TypeAlias = _Text
Size: TypeAlias = _Text
QueueSize: TypeAlias = _Text
Probability: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Count: TypeAlias = Annotated[int, Field(strict=True, ge=0)]
#: A database holds no larger one.
Seed: TypeAlias = Annotated[int, Field(strict=True, ge=0, lt=2**63)]
TypeOfService: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=255)]
CodePoint: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=63)]
#: Attribute values are ns-3's texts; numbers and booleans are taken, too.
Attributes: TypeAlias = dict[str, _Text]


def is_false(value: object) -> bool:
    """Whether a field says nothing; for ``exclude_if``."""
    return value is False


def is_none(value: object) -> bool:
    """For fields that most lack: they are left out of what is written."""
    return value is None


def is_empty(value: Sized) -> bool:
    """For lists that most have nothing in."""
    return not value


class Model(BaseModel):
    """A part of a scenario: immutable, without fields that are not known.

    A class is built when it first checks something.  Modules with many of them leave annotations
    what they are: as texts, each would be compiled at every start.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


#: Number of a random stream; None: one of its own. -1 - n is the nth of those that ns-3 assigns by
#: itself, in a program that assigns none.
Stream = Annotated[int, Field(strict=True, ge=-(2**31), lt=2**52)]


class Algorithm(Model):
    """A congestion control or queue discipline under ns-3's or Linux's name, or a user's own."""

    type: str
    attributes: Attributes = {}
    #: Number of its random stream.
    stream: Stream | None = Field(default=None, exclude_if=is_none)
    #: The disciplines inside a queue discipline: one for all of its classes, or one each.
    children: "tuple[Annotated[Algorithm, BeforeValidator(algorithm_by_name)], ...]" = Field(
        default=(), exclude_if=is_empty
    )

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        value = _with_parameters(value)
        if not isinstance(value, dict) or not isinstance(given := value.get("attributes"), dict):
            return value
        # What is stored stays what it is called there.
        if names.are_stored() or not names.is_user_code(str(value.get("type"))):
            return value
        one = {
            name: expression.number(it) if isinstance(it, str) else it for name, it in given.items()
        }
        return {**value, "attributes": one}
