"""The scenario itself, and what is made of it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticSerializationError

from ccperf import _native
from ccperf.algorithms.user_code import names
from ccperf.base.wording import counted
from ccperf.errors import Problem, ScenarioError, unknown
from ccperf.scenario import flow_trace, profiles
from ccperf.scenario.canonical import hash_of, unlabelled
from ccperf.scenario.fields import (
    Algorithm,
    Model,
    Seed,
    Time,
    algorithm_by_name,
    is_empty,
)
from ccperf.scenario.flows import Flow, Ping
from ccperf.scenario.frequent import frequent
from ccperf.scenario.links import Change, Failure, Fault, Link
from ccperf.scenario.outages import for_good
from ccperf.scenario.queue_lengths import unfit_lengths
from ccperf.scenario.recording import RecordingOptions
from ccperf.scenario.workload import Stack, Workload

if TYPE_CHECKING:
    from typing_extensions import Self

    from ccperf.present.notebook import Drawing
    from ccperf.scenario.toml import Document

#: The routing of who does not ask for another.
STATIC = Algorithm(type="static")


def _is_static(routing: Algorithm) -> bool:
    return routing == STATIC


def _sysctls(value: object) -> object:
    if not value:  # most scenarios have none
        return value
    from ccperf.scenario import sysctl

    return sysctl.named(value)


class ScenarioWarning(UserWarning):
    """Something in a scenario that is allowed and probably not meant."""


class Scenario(Model):
    """A complete description of one run.

    The order of nodes, links, changes and flows is the order of creation, and with it that of
    events at the same nanosecond.

    Warns of what is probably not meant (:class:`ScenarioWarning`).

    Raises:
        ScenarioError: with the path of each field that is wrong.
    """

    label: str = ""
    stop_time: Time
    seed: Seed = 1
    nodes: tuple[str, ...]
    links: tuple[Link, ...]
    changes: tuple[Change, ...] = ()
    #: How nodes choose among shortest paths of equal length: ``static`` (the first in the order of
    #: links), ``ecmp`` (by a hash of the flow, attribute `Seed`), ``random`` (for each packet),
    #: the others of ``ccperf list routing``, or a user's own.
    routing: Annotated[Algorithm, BeforeValidator(algorithm_by_name)] = Field(
        default=STATIC, exclude_if=_is_static
    )
    failures: tuple[Failure, ...] = Field(default=(), exclude_if=is_empty)
    #: What switches lose; the first one that takes a packet has it.
    faults: tuple[Fault, ...] = Field(default=(), exclude_if=is_empty)
    flows: tuple[Flow, ...] = ()
    #: Named once, perhaps of a `profile` (`ccperf.scenario.profiles`); a flow names one as `stack`
    #: in place of its `cc`, `recovery`, types of service and `tcp`, which then are the stack's.
    stacks: tuple[Stack, ...] = ()
    workloads: tuple[Workload, ...] = ()
    pings: tuple[Ping, ...] = ()
    #: Sysctls of all hosts on the backend `linux`, which others leave alone: ``tcp_ecn`` stands for
    #: ``net.ipv4.tcp_ecn``.
    linux: Annotated[Mapping[str, str], BeforeValidator(_sysctls)] = Field(
        default_factory=dict, exclude_if=is_empty
    )
    recording: RecordingOptions = RecordingOptions()

    @model_validator(mode="wrap")
    @classmethod
    def _own_errors(
        cls, data: Any, handler: ModelWrapValidatorHandler[Scenario], info: ValidationInfo
    ) -> Scenario:
        if isinstance(data, Scenario):
            return handler(data)
        try:
            return cls._checked(data, handler, info)
        except (ScenarioError, ValueError, RecursionError):
            from ccperf.scenario.readable import unreadable

            if problems := unreadable(data):
                raise ScenarioError(problems) from None
            raise

    @classmethod
    def _checked(
        cls, data: Any, handler: ModelWrapValidatorHandler[Scenario], info: ValidationInfo
    ) -> Scenario:
        folder = Path((info.context or {}).get("folder") or "")
        data, origins = flow_trace.expanded(data, folder)
        try:
            return cls._validated(data, handler, info)
        except ScenarioError as error:
            if not origins:
                raise
            raise ScenarioError(flow_trace.as_written(error.problems, origins)) from None

    @classmethod
    def _validated(
        cls, data: Any, handler: ModelWrapValidatorHandler[Scenario], info: ValidationInfo
    ) -> Scenario:
        problems: list[Problem] = []
        try:
            scenario = handler(data := _with_stacks(_with_profiles(data)))
        except ValidationError as error:
            from ccperf.scenario.problems import problem, without_wrong

            problems = [problem(details, cls) for details in error.errors()]
            try:
                # What else is wrong is said, too, as far as it does not follow from that.
                scenario = handler(without_wrong(data, error.errors()))
            except (ValidationError, LookupError, TypeError):
                raise ScenarioError(problems) from None
        if not (info.context or {}).get("checked") and not names.are_stored():
            try:
                scenario.check()
            except ScenarioError as error:
                said = {each.path for each in problems}
                # That a field is missing follows from its being left out.
                problems += [each for each in error.problems if each.path not in said]
        if problems:
            raise ScenarioError(problems)
        for text in _surprises(scenario):
            warnings.warn(text, ScenarioWarning, stacklevel=5)
        return scenario

    def __repr__(self) -> str:
        return f"<Scenario {self._said()}>"

    def __str__(self) -> str:  # not pydantic's, which has every field of every link
        return repr(self)

    def plot(self) -> Drawing:
        """Return a drawing of the network, which a notebook shows."""
        from ccperf.present.notebook import Drawing

        return Drawing(self.canonical())

    def to_pandas(self) -> Any:
        """Return the flows as a data frame of pandas; raises `UsageError` without it."""
        from ccperf.base.libraries import frame

        return frame(self._flow_columns(), "pandas")

    def to_polars(self) -> Any:
        """Return the flows as a data frame of polars; raises `UsageError` without it."""
        from ccperf.base.libraries import frame

        return frame(self._flow_columns(), "polars")

    def _flow_columns(self) -> dict[str, list[str]]:
        flows = self.canonical()["flows"]
        columns = {
            name: [str(flow.get(name, "")) for flow in flows]
            for name in ("name", "source", "destination", "start", "stop", "recovery")
        }
        columns["cc"] = [flow["cc"]["type"] if "cc" in flow else "" for flow in flows]
        columns["application"] = [flow["application"]["type"] for flow in flows]
        return columns

    def _said(self) -> str:
        flows = counted(len(self.canonical()["flows"]), "flow")
        return f"{self.label or 'scenario'}: {flows}, {self.stop_time}, seed {self.seed}"

    def _repr_html_(self) -> str:
        """Show the network and the flows."""
        from ccperf.present.notebook import table

        columns = self._flow_columns()
        rows = list(zip(*columns.values(), strict=True))
        shown = rows[:20]
        said = self._said()
        if len(shown) < len(rows):
            said += f"; the first {len(shown)}"
        return self.plot()._repr_html_() + table(list(columns), shown, said)

    @classmethod
    def from_toml(cls, path: str | Path) -> Scenario:
        """Read a scenario from a TOML file and check its meaning as well as its shape.

        Raises:
            ScenarioError: each problem with the file and, where it can be told, the line.
            MissingFile: if it is not there, which is a `FileNotFoundError`, too.
            OSError: if the file cannot be read.
        """
        from ccperf.scenario.toml import Document

        return cls.from_document(Document.read(Path(path)))

    @classmethod
    def from_document(cls, document: Document) -> Scenario:
        """The scenario of a file that was read. Raises :class:`ScenarioError` as `from_toml`."""
        with document.placing_errors():
            for key in ("experiment", "experiments"):
                if key in document.data and "flows" not in document.data:
                    message = "this is a plan over the catalogue, not a scenario ([[flows]])"
                    raise ScenarioError([(key, message)])
            scenario = cls.model_validate(document.data, context={"folder": document.folder})
            scenario._check_user_code()
        return scenario

    @classmethod
    def from_canonical(cls, text: str) -> Self:
        """Return the scenario of what :meth:`canonical_text` returned; nothing is checked again."""
        scenario = cls.model_validate_json(text, context={"checked": True})
        scenario.__dict__["_canonical"] = text
        return scenario

    def check(self) -> None:
        """Raise :class:`~ccperf.errors.ScenarioError` with everything that makes no sense."""
        _ = self._canonical

    def canonical_text(self) -> str:
        """Return the canonical form as JSON. Raises as :meth:`canonical` does."""
        return self._canonical

    def canonical(self) -> dict[str, Any]:
        """The canonical form: every field present, units and names normalised.

        Raises:
            ScenarioError: with everything that makes no sense.
        """
        data: dict[str, Any] = json.loads(self._canonical)
        return data

    @cached_property
    def parsed(self) -> Mapping[str, Any]:
        """What :meth:`canonical` returns, made once: to be read, never changed.

        A scenario of a thousand flows takes 30 ms to parse, and is looked at in many places.
        """
        return self.canonical()

    def portable(self) -> dict[str, Any]:
        """The canonical form with users' algorithms under their labels instead of their paths.

        What is stored and published: it means the same on another machine. Raises as
        :meth:`canonical` does.
        """
        data: dict[str, Any] = names.without_paths(self.canonical())
        return data

    def lowered(self) -> str:
        """The flat form that backends run, as JSON.

        Raises:
            ScenarioError: with everything that makes no sense.
        """
        return self._lowered

    # Both are asked for several times a run and cost a walk through everything. Texts, so that
    # nobody can change what is kept.

    @cached_property
    def _canonical(self) -> str:
        try:
            return _native.canonical(self.model_dump_json())
        except PydanticSerializationError:
            from ccperf.scenario.readable import unreadable

            raise ScenarioError(unreadable(self)) from None

    @cached_property
    def _lowered(self) -> str:
        return _native.lower(self._canonical)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other fields; nothing that was made of the old ones goes with it."""
        copy = super().model_copy(update=update, deep=deep)
        for made in ("_canonical", "_lowered", "parsed", "hash"):
            copy.__dict__.pop(made, None)
        return copy

    def starting(self, starts: Sequence[str]) -> Self:
        """A copy whose flows start at these times."""
        pairs = zip(self.flows, starts, strict=True)
        flows = tuple(flow.model_copy(update={"start": start}) for flow, start in pairs)
        return self.model_copy(update={"flows": flows})

    def with_sysctls(self, text: str) -> Self:
        """A copy whose hosts have these sysctls, too: ``tcp_ecn=1 tcp_sack=0``."""
        from ccperf.scenario import sysctl

        return self.model_copy(update={"linux": {**self.linux, **sysctl.read(text)}})

    @property
    def user_code(self) -> dict[str, str]:
        """The users' algorithms, sorted by name, each with the path of a field that has it."""
        used = [(f"flows[{i}].cc", flow.cc) for i, flow in enumerate(self.flows) if flow.cc]
        used += [(f"stacks[{i}].cc", stack.cc) for i, stack in enumerate(self.stacks)]
        for i, link in enumerate(self.links):
            for word, direction in (("forward", link.forward), ("reverse", link.reverse)):
                if direction.qdisc is not None:
                    used.append((f"links[{i}].{word}.qdisc", direction.qdisc))
        used.append(("routing", self.routing))
        found: dict[str, str] = {}
        for path, algorithm in used:
            if names.is_user_code(algorithm.type):
                found.setdefault(algorithm.type, f"{path}.type")
        return dict(sorted(found.items()))

    def _check_user_code(self) -> None:
        problems = []
        for name, path in self.user_code.items():
            try:
                names.files(name)
            except ValueError as error:
                problems.append((path, str(error)))
        if problems:
            raise ScenarioError(problems)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the portable form without its label, in hex."""
        return hash_of(self.parsed)

    def is_like(self, other: Scenario) -> bool:
        """Whether both have the same :attr:`hash`; hashing takes ten times as long."""
        if self._canonical == other._canonical:
            return True
        return unlabelled(self.parsed) == unlabelled(other.parsed)


def _surprises(scenario: Scenario) -> list[str]:
    """What is allowed and probably not meant."""
    links = {link.name: link for link in scenario.links}
    found = []
    for i, change in enumerate(scenario.changes):
        link = links.get(change.link)
        if link is None or change.rate is None or "direction" in change.model_fields_set:
            continue
        ways = [way.rate or link.rate for way in (link.forward, link.reverse)]
        if ways[0] != ways[1]:
            found.append(
                f"changes[{i}]: gives both directions of `{link.name}` {change.rate}, which are "
                f"{ways[0]} forward and {ways[1]} reverse; write direction = "
                '"forward", "reverse" or "both"'
            )
    for i, flow in enumerate(scenario.flows):
        if flow.application.type == "Greedy":
            continue
        size, write = map(_native.parse_size, (flow.application.bytes, flow.application.write))
        if 0 < size < write:
            found.append(
                f"flows[{i}].application.bytes: {flow.application.type} sends whole packets of "
                f"`write`, as ns-3 does, so that {write}B leave, not {size}B; lower `write`"
            )
    return [
        *found,
        *for_good(scenario),
        *frequent(scenario),
        *unfit_lengths(scenario),
    ]


def _with_profiles(data: Any) -> Any:
    """The scenario with the profiles that it, its stacks and its flows name written into them."""
    if not isinstance(data, Mapping):
        return data
    made = {name: value for name, value in data.items() if name != "profile"}
    for kind in ("stacks", "flows"):
        if isinstance(parts := made.get(kind), list | tuple):
            made[kind] = [profiles.applied(part, f"{kind}[{i}]") for i, part in enumerate(parts)]
            if "profile" in data:
                made[kind] = [_of_scenario(part, str(data["profile"])) for part in made[kind]]
    return made


def _of_scenario(part: Any, profile: str) -> Any:
    """A stack, or a flow that names none, with the fields of the scenario's profile."""
    if isinstance(part, Flow | Stack):
        part = part.model_dump(exclude_unset=True)
    if not isinstance(part, Mapping) or "stack" in part:
        return part
    whole = profiles.over(part, profile, "profile")
    is_tcp = part.get("transport", "TCP") == "TCP"
    return whole if is_tcp or profiles.has_routers(profile) else part


def _with_stacks(data: Any) -> Any:
    """The scenario with the stacks that flows name written into the flows."""
    if not isinstance(data, Mapping) or not isinstance(data.get("flows"), list | tuple):
        return data
    listed = given if isinstance(given := data.get("stacks"), list | tuple) else ()
    stacks = {
        str(stack.get("name")): {name: value for name, value in stack.items() if name != "name"}
        for stack in (s.model_dump() if isinstance(s, Stack) else s for s in listed)
        if isinstance(stack, Mapping)
    }
    problems, flows = [], []
    for i, flow in enumerate(data["flows"]):
        if not isinstance(flow, Mapping) or "stack" not in flow:
            flows.append(flow)
            continue
        own = {name: value for name, value in flow.items() if name != "stack"}
        named = flow["stack"]
        if not isinstance(named, str) or named not in stacks:
            problems.append((f"flows[{i}].stack", unknown("stack", str(named), map(str, stacks))))
        # In their order: that of a set is another one in each process.
        for name in (name for name in own if name in Stack.model_fields and name != "name"):
            problems.append((f"flows[{i}].{name}", f"is the stack's, `{named}`; leave one out"))
        flows.append({**stacks.get(str(named), {}), **own})
    if problems:
        raise ScenarioError(problems)
    return {**data, "flows": flows}
