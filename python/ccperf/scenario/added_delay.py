"""RTT variation: propagation that single flows have over others, given or drawn."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from ccperf.scenario.fields import Model, Time

Weight: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]


class ConstantDelay(Model):
    """The same for every flow."""

    type: Literal["Constant"] = "Constant"
    delay: Time


class DelayClasses(Model):
    """One of `delays`, each as often as its weight says; without weights all alike."""

    type: Literal["Classes"] = "Classes"
    delays: tuple[Time, ...]
    weights: tuple[Weight, ...] | None = None

    @model_serializer(mode="wrap")
    def _without_what_most_lack(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = plain(self)
        if self.weights is None:
            fields.pop("weights", None)
        return fields


class UniformDelay(Model):
    """Any time from `min` to `max`."""

    type: Literal["Uniform"] = "Uniform"
    min: Time
    max: Time


class CdfDelay(Model):
    """Points (delay, probability that it is no longer), linear between them.

    A first probability above 0 is that of the first delay itself.
    """

    type: Literal["Cdf"] = "Cdf"
    points: tuple[tuple[Time, float], ...]


#: How an added delay is chosen.
ADDED_DELAYS: tuple[type[Model], ...] = (ConstantDelay, DelayClasses, UniformDelay, CdfDelay)


def _constant_by_time(value: object) -> object:
    """A time is the same for all."""
    if isinstance(value, str | int | float):
        return {"type": "Constant", "delay": value}
    return value


AddedDelay: TypeAlias = Annotated[
    ConstantDelay | DelayClasses | UniformDelay | CdfDelay,
    Field(discriminator="type"),
    BeforeValidator(_constant_by_time),
]
