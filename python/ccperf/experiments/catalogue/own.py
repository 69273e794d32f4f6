"""Experiments of one's own: scenario files that declare parameters, each with its grid::

    stop_time = "10s"

    [parameters]
    rate = ["10Mbps", "50Mbps"]
    buffer = ["20p", "100p"]

    [dumbbell]
    rate = "$rate"
    qlen = "$buffer"
    rtts = ["15ms", "30ms"]
    cc = "$cc"

Wherever ``$rate`` stands alone as a value, the parameter's value is put. ``$cc`` (``$qdisc``,
``$routing``) is the algorithm under test, which the command line names. Files of algorithms are
named from where this file is; those that the command line names, from the working directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.algorithms.user_code import names
from ccperf.base.outputs import experiment_name, file_name
from ccperf.errors import ScenarioError, UsageError, unknown
from ccperf.experiments.catalogue.experiment import Experiment, Setup
from ccperf.experiments.catalogue.parameter import Parameter, Value
from ccperf.scenario.toml import Document

if TYPE_CHECKING:
    from pathlib import Path

    from ccperf.scenario import Scenario

_PARAMETERS = "parameters"
#: Columns of tables, the label of what is under test, and what commands and functions that run
#: an experiment take besides its parameters.
_TAKEN = frozenset(
    "run experiment cca seed backend scope subject metric unit value aut db dry_run full help"
    " jitter jobs json ns3 ns3_source on packets profile progress recovery sandbox stop_time sysctl"
    " threads trust what_if".split()
)
#: What reads and writes a value with a unit.
_UNITS: tuple[tuple[Callable[[str], Any], Callable[[Any], str]], ...] = (
    (_native.parse_rate, _native.format_rate),
    (_native.parse_time, _native.format_time),
    (_native.parse_size, _native.format_size),
    (_native.parse_queue_size, lambda size: _native.format_queue_size(*size)),
)
_TESTED: tuple[Literal["cc", "qdisc", "routing"], ...] = ("cc", "qdisc", "routing")


def is_one(data: Mapping[str, Any]) -> bool:
    """Whether a file declares parameters, and is no plan over the catalogue."""
    return _PARAMETERS in data and "experiment" not in data and "experiments" not in data


def read(path: Path) -> Experiment:
    """The experiment in a file.

    Raises:
        ScenarioError: what is wrong with its parameters, with the line.
        UsageError: if the file's name is no experiment's, or that of one of the catalogue, as which
            its runs would pass.
        OSError: if it cannot be read.
    """
    from ccperf.experiments.catalogue import NAMED

    try:
        experiment_name(path.stem)
    except ValueError as error:
        renamed = f"{file_name([path.stem])[:100] or 'mine'}.toml"
        message = f"the file names an experiment, and {error}; rename it, e.g. {renamed}"
        raise UsageError(str(path), message) from None
    if path.stem in NAMED:
        raise UsageError(
            str(path),
            f"declares an experiment called `{path.stem}`, as the catalogue does; give the file "
            f"another name, e.g. my_{path.name}",
        )
    document = Document.read(path)
    with document.placing_errors():
        return _read(path, document)


def _read(path: Path, document: Document) -> Experiment:
    declared = document.data[_PARAMETERS]
    if not isinstance(declared, Mapping):
        raise ScenarioError([(_PARAMETERS, "must be a table: [parameters]")])
    body = {key: value for key, value in document.data.items() if key != _PARAMETERS}
    used = dict.fromkeys(_used(body))
    tested = [kind for kind in _TESTED if kind in used and kind not in declared]
    if len(tested) != 1:
        message = "exactly one of $cc, $qdisc and $routing must stand for what is under test"
        raise ScenarioError([(_PARAMETERS, f"{message}; there is {', '.join(tested) or 'none'}")])
    for word in used:
        if word not in (*declared, tested[0]):
            raise ScenarioError([("", f"${word}: {unknown('parameter', word, declared)}")])
    found = tuple(
        _parameter(name, given, used, document.folder) for name, given in declared.items()
    )
    if not isinstance(body.get("stop_time"), str):
        raise ScenarioError([("stop_time", "is missing; write the length of a run, e.g. 10s")])

    class Own(Experiment):
        name = path.stem
        file = str(path)
        title = str(body.get("label") or path.stem)
        group = "Of your own"
        description = f"The file {path.name}."
        parameters = found
        kind = tested[0]
        usual = {"cc": ("TcpNewReno",), "qdisc": ("FifoQueueDisc",), "routing": ("ecmp",)}[kind]
        recovery = "TcpPrrRecovery"
        stop_time = body["stop_time"]
        seeded = "what the file draws"

        def build(self, setup: Setup) -> Scenario:
            from ccperf.experiments.topologies import written

            values = {**setup.parameters, self.kind: setup.cc}
            data = _put({**body, **_unlimited(body, values)}, values)
            data |= {"stop_time": setup.stop_time, "seed": setup.seed, "label": self.name}
            with document.placing_errors():
                scenario = written.of(data, document.folder)
            if setup.recovery == self.recovery:
                return scenario
            flows = (
                flow.model_copy(update={"recovery": setup.recovery}) for flow in scenario.flows
            )
            return scenario.model_copy(update={"flows": tuple(flows)})

    return Own()


@dataclass(frozen=True)
class _Declared(Parameter):
    """A parameter whose values are of the type that the file writes."""

    def value(self, given: object) -> Value:
        text, first = str(given).strip(), self.grid[0]
        if isinstance(first, str):
            try:
                own = names.checked(text) if names.is_user_code(text) else text
            except ValueError as error:
                raise UsageError(self.name, str(error)) from None
            return _spelt([str(value) for value in self.grid], own)
        try:
            return type(first)(text)
        except ValueError:
            what = "whole number" if isinstance(first, int) else "number"
            raise UsageError(self.name, f"`{text}` is not a {what}, as in the file") from None


def _spelt(grid: Sequence[str], text: str) -> str:
    """Return a value with a unit as the file spells it, or else in its canonical form, so that
    `10Mbps` and `10000kbps`, which are one run, are one point."""
    for parse, write in _UNITS:
        with suppress(ValueError, OverflowError):
            known, own = [parse(value) for value in grid], parse(text)
            return grid[known.index(own)] if own in known else write(own)
    return text


def _parameter(name: str, given: object, used: Mapping[str, None], folder: Path) -> Parameter:
    place = f"{_PARAMETERS}.{name}"
    grid = tuple(given) if isinstance(given, list) else (given,)
    grid = tuple(
        names.resolve(value, folder)
        if isinstance(value, str) and names.is_user_code(value)
        else value
        for value in grid
    )
    if not name.isidentifier():
        raise ScenarioError([(place, "is no name; letters, digits and `_` make one")])
    if name in _TAKEN:
        raise ScenarioError([(place, "is a column of tables, or an option; give it another name")])
    if name not in used:
        raise ScenarioError([(place, f'is not used; write "${name}" where its value belongs')])
    if not grid:
        raise ScenarioError([(place, "is empty; give it values")])
    plain = all(
        isinstance(value, int | float | str) and not isinstance(value, bool) for value in grid
    )
    if plain and {type(value) for value in grid} == {int, float}:
        grid = tuple(map(float, grid))
    if not plain or len({type(value) for value in grid}) > 1:
        raise ScenarioError([(place, "its values must all be texts, or all numbers")])
    doc = "Of the file."
    if name in ("cc", "against"):
        return Parameter(name, "cc", grid, grid[0], doc)
    if name == "qdisc":
        return Parameter(name, "qdisc", grid, grid[0], doc)
    return _Declared(name, "word", grid, grid[0], doc)


def _used(value: object) -> Iterator[str]:
    """The parameters that stand in a file."""
    if isinstance(value, str) and value.startswith("$"):
        yield value[1:]
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _used(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _used(inner)


def _put(value: Any, values: Mapping[str, Value]) -> Any:
    """The same with parameters' values in their places."""
    if isinstance(value, str) and value.startswith("$"):
        return values[value[1:]]
    if isinstance(value, Mapping):
        return {key: _put(inner, values) for key, inner in value.items()}
    return [_put(inner, values) for inner in value] if isinstance(value, list) else value


def _unlimited(body: Mapping[str, Any], values: Mapping[str, Value]) -> dict[str, Any]:
    """The networks without the limit that the file gives, where a parameter is a discipline with
    one of its own: a discipline's parameters come before what an experiment sets.
    """

    def is_over(table: Any) -> bool:
        if not isinstance(table, Mapping) or str(table.get("qlen", "$")).startswith("$"):
            return False
        qdisc = str(table.get("qdisc", ""))
        return qdisc.startswith("$") and bool(registry.own_limit(str(values[qdisc[1:]])))

    return {name: {**table, "qlen": None} for name, table in body.items() if is_over(table)}
