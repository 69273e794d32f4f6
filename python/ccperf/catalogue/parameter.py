"""What an experiment varies: names, kinds and canonical values of its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ccperf import _native, registry
from ccperf.errors import UsageError

Kind = Literal["count", "rate", "time", "qdisc", "cc"]
Value = int | str


@dataclass(frozen=True)
class Parameter:
    """One thing that an experiment varies."""

    name: str
    kind: Kind
    #: The values of the catalogue.
    grid: tuple[Value, ...]
    #: The value of the point whose tables are published.
    default: Value
    #: One sentence.
    doc: str

    @property
    def unit(self) -> str:
        """How its values are written."""
        return {
            "count": "count",
            "rate": "bit/s",
            "time": "time",
            "qdisc": "queue discipline",
            "cc": "congestion control",
        }[self.kind]

    def value(self, given: object) -> Value:
        """The canonical form of a value: ``"5"`` -> 5, ``"0.001s"`` -> ``"1ms"``, ``"codel"`` ->
        ``"CoDelQueueDisc"``.  Raises :class:`~ccperf.errors.UsageError`."""
        text = str(given).strip()
        try:
            return self._parse(text)
        except ValueError as error:
            message = error.message if isinstance(error, UsageError) else str(error)
            raise UsageError(self.name, message) from None

    def _parse(self, text: str) -> Value:
        if self.kind == "count":
            if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= 1_000_000:
                raise ValueError(f"`{text}` must be a whole number of at least 1")
            return int(text)
        if self.kind in ("qdisc", "cc"):
            return registry.resolve(self.kind, text)
        if self.kind == "rate":
            rate = _native.parse_rate(text)
            if rate == 0:
                raise ValueError(f"`{text}` must be above 0")
            return _native.format_rate(rate)
        time = _native.parse_time(text)
        if time == 0:
            raise ValueError(f"`{text}` must be above 0")
        return _native.format_time(time)
