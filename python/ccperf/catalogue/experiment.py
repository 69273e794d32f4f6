"""What an experiment of the catalogue is: parameters with grids, and the run at each point."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ccperf.commandline.run import DumbbellRun, FlowOptions
from ccperf.errors import UsageError, unknown
from ccperf.published import Published, published

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

Kind = Literal["count", "rate", "time", "qdisc"]
Value = int | str

RECOVERY = "PrrRfc6937"
SEED = 42
STOP_TIME = "15s"


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
        return {"count": "count", "rate": "bit/s", "time": "time", "qdisc": "queue discipline"}[
            self.kind
        ]

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
        if self.kind == "qdisc":
            from ccperf import registry

            return registry.resolve("qdisc", text)
        from ccperf import _native

        if self.kind == "rate":
            rate = _native.parse_rate(text)
            if rate == 0:
                raise ValueError(f"`{text}` must be above 0")
            return str(_native.format_rate(rate))
        time = _native.parse_time(text)
        if time == 0:
            raise ValueError(f"`{text}` must be above 0")
        return str(_native.format_time(time))


class Experiment(ABC):
    """One experiment of the catalogue; subclasses are its description."""

    name: ClassVar[str]
    title: ClassVar[str]
    #: Group of the survey's taxonomy.
    group: ClassVar[str]
    #: A paragraph for people: what is done, and what a good algorithm does.
    description: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]]
    #: Options that the published command line puts first.
    leading: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def setup(self, cc: str, **values: Any) -> DumbbellRun:
        """The run at one point; ``values`` has every parameter in canonical form."""

    @property
    def published(self) -> tuple[Published, ...]:
        """The points whose result tables are published."""
        return tuple(page for page in published() if page.experiment == self.name)

    def published_at(self, point: Mapping[str, Value]) -> Published | None:
        """The published page of a point, if it has one."""
        texts = {name: str(value) for name, value in point.items()}
        return next((page for page in self.published if page.parameters == texts), None)

    def grid(self) -> Iterator[dict[str, Value]]:
        """Every point of the catalogue, the last parameter varying fastest."""
        names = [parameter.name for parameter in self.parameters]
        for values in itertools.product(*(parameter.grid for parameter in self.parameters)):
            yield dict(zip(names, values, strict=True))

    def point(self, parameters: Mapping[str, object]) -> dict[str, Value]:
        """All parameters in canonical form, the default for those not given."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in parameters:
            if name not in known:
                raise UsageError(name, unknown(f"parameter of {self.name}", name, known))
        return {
            name: parameter.value(parameters.get(name, parameter.default))
            for name, parameter in known.items()
        }

    def run(
        self,
        cc: str,
        *,
        seed: int = SEED,
        recovery: str = RECOVERY,
        stop_time: str = STOP_TIME,
        **parameters: object,
    ) -> DumbbellRun:
        """The run at one point, with its labels; parameters not given have their defaults."""
        from ccperf import registry
        from ccperf.user_code import names

        try:
            cc = registry.resolve("cc", cc)
        except ValueError as error:
            raise UsageError("cc", str(error)) from None
        try:
            recovery = registry.resolve("recovery", recovery)
        except ValueError as error:
            raise UsageError("recovery", str(error)) from None
        point = self.point(parameters)
        run = self.setup(cc, **point)
        flows = tuple(replace(flow, recovery=recovery, stop=stop_time) for flow in run.flows)
        labels = {name: str(value) for name, value in {"aut": cc, **point}.items()}
        return replace(
            run,
            flows=flows,
            seed=seed,
            stop_time=stop_time,
            experiment=self.name,
            parameters=labels,
            aut=cc,
            db_path=f"benchmark_{names.short(cc)}.db",
        )

    def scenario(self, cc: str, **parameters: Any) -> Scenario:
        """The scenario at one point; ``seed``, ``recovery`` and ``stop_time`` may be given too."""
        scenario, _ = self.run(cc, **parameters).scenario()
        return scenario

    def command(self, cc: str, **parameters: Any) -> str:
        """The published form of the command line of one point."""
        return self.run(cc, **parameters).command(first=self.leading)

    def reproduce(self, cc: str, backend: str = "native", **parameters: Any) -> str:
        """The one ``ccperf exec`` command that makes the run of one point again."""
        return self.run(cc, **parameters).reproduce(backend, first=self.leading)


def greedy_flows(cc: str, k: int = 1, rtt: str = "15ms") -> tuple[FlowOptions, ...]:
    """``k`` flows that send all the time, each between ends of its own."""
    return tuple(
        FlowOptions(f"src_{i}", f"dst_{i}", cc, rtt, start="0s", stop=STOP_TIME) for i in range(k)
    )
