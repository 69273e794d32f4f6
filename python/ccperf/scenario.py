"""A scenario: one run, complete, immutable and serialisable.

These classes check the shape of what is given (types, unknown fields) and make it pleasant to
write by hand: an algorithm may be a name, an attribute a number. What the values mean is checked by
the engine when a scenario is made, so that one that is there can be simulated.
``docs/design/contract.md`` describes the fields.

>>> s = Scenario(
...     stop_time="1s",
...     nodes=["a", "b"],
...     links=[{"name": "wire", "ends": ["a", "b"], "rate": "16Mbps", "delay": "5ms"}],
...     flows=[{"source": "a", "destination": "b", "cc": "newreno"}],
... )
>>> s.canonical()["flows"][0]["cc"]["type"]
'TcpNewReno'
"""

from __future__ import annotations

import copy
import hashlib
import json
import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args

from pydantic import (
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from ccperf import _native, profiles
from ccperf.added_delay import ADDED_DELAYS, AddedDelay
from ccperf.errors import Problem, ScenarioError, suggestion, unknown
from ccperf.fields import Algorithm as Algorithm
from ccperf.fields import (
    Attributes,
    CodePoint,
    Count,
    Model,
    Probability,
    QueueSize,
    Rate,
    Size,
    Time,
    TypeOfService,
    algorithm_by_name,
)
from ccperf.user_code import names
from ccperf.workload import ARRIVALS, PAIRS, SIZES, Stack, Workload

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails
    from typing_extensions import Self

    from ccperf.notebook import Drawing


class ScenarioWarning(UserWarning):
    """Something in a scenario that is allowed and probably not meant."""


class Greedy(Model):
    """Always has data to send: ``bytes`` of it, or without end if that is 0."""

    type: Literal["Greedy"] = "Greedy"
    bytes: Size = "0B"
    #: What one call hands to the socket.
    write: Size = "512B"


class _Paced(Model):
    """A source with a rate of its own, whatever TCP can carry.

    A packet that does not fit into the send buffer is tried again when the next one would be due,
    which is then not made; a finite source closes with the packet that reaches its ``bytes``.
    """

    #: After which it closes; 0: never.
    bytes: Size = "0B"
    rate: Rate
    #: The size of a packet.
    write: Size = "512B"


class CBR(_Paced):
    """Sends packets of ``write`` bytes at a constant bit rate."""

    type: Literal["CBR"] = "CBR"


class Poisson(_Paced):
    """Sends packets of ``write`` bytes at the times of a Poisson process of mean ``rate``."""

    type: Literal["Poisson"] = "Poisson"


class OnOff(_Paced):
    """Sends at a constant bit rate while it is on: ns-3's ``OnOffApplication``; off at first."""

    type: Literal["OnOff"] = "OnOff"
    rate: Rate = "500kbps"
    #: ``1s``, ``Exponential(mean=1s)`` or ``Uniform(min=0s,max=2s)``.
    on_time: Time = "1s"
    off_time: Time = "1s"


#: What produces a flow's data.
APPLICATIONS: tuple[type[Model], ...] = (Greedy, CBR, Poisson, OnOff)


def _application_by_name(value: object, info: ValidationInfo) -> object:
    """An application may be just its name; one without a name is greedy."""
    value = algorithm_by_name(value, info)
    return {"type": "Greedy", **value} if isinstance(value, dict) else value


Application: TypeAlias = Annotated[
    Greedy | CBR | Poisson | OnOff,
    Field(discriminator="type"),
    BeforeValidator(_application_by_name),
]


class QueueLimits(Model):
    """Byte queue limits on a device queue: ns-3's ``DynamicQueueLimits``."""

    #: How long there must have been slack before the limit goes down.
    hold_time: Time = "1s"


class GilbertElliott(Model):
    """Losses in bursts: a channel that is good or bad, good at first.

    Each packet moves it, then is lost with the probability of the state that it finds. The share of
    packets that find it bad is ``to_bad / (to_bad + to_good)``, in runs of ``1 / to_good`` packets
    on average.
    """

    #: Probability that a packet finds the good channel bad, and the bad one good again.
    to_bad: Probability
    to_good: Probability
    loss_in_good: Probability = 0.0
    loss_in_bad: Probability = 1.0


class Jitter(Model):
    """A delay drawn for each packet, on top of the link's."""

    #: ``1ms``, ``Exponential(mean=1ms,bound=10ms)`` or ``Uniform(min=0s,max=2ms)``.
    delay: Time
    #: A packet arrives no earlier than those sent before it.
    keep_order: bool = True


class Reordering(Model):
    """Some packets are late, by a delay on top of jitter, and overtaken."""

    probability: Probability
    #: As that of jitter.
    delay: Time


class Direction(Model):
    """One direction of a link and the device that sends into it."""

    #: The link's, if not given.
    rate: Rate | None = None
    #: None: no queue discipline, packets go straight to the device.
    qdisc: Annotated[Algorithm | None, BeforeValidator(algorithm_by_name)] = Algorithm(
        type="FifoQueueDisc", attributes={"MaxSize": "1000p"}
    )
    #: The size of each of the device's transmit queues.
    device_queue: QueueSize = "100p"
    #: How many transmit queues the device has.
    device_queues: Annotated[int, Field(strict=True, ge=1, le=65535)] = 1
    #: How it chooses one for a packet, and serves them: by a hash of the flow, in turn; or by the
    #: packet's priority, the most urgent first.
    device_select: Literal["flow", "priority"] = "flow"
    #: None: the device queue takes packets until it is full.
    queue_limits: QueueLimits | None = None
    mtu: Size = "1500B"
    #: Probability that the receiving device loses a packet.
    loss: Probability = 0.0
    #: Number of the random stream of losses; directions that give the same one draw from it in
    #: turn. None: a stream of its own.
    loss_stream: Count | None = None
    #: Packets that the receiving device loses, by their number in order of arrival, from 0.
    drop: tuple[Count, ...] = ()
    #: Losses in bursts, drawn from the same stream, before those of `loss`.
    gilbert_elliott: GilbertElliott | None = None
    jitter: Jitter | None = None
    reordering: Reordering | None = None

    @model_serializer(mode="wrap")
    def _without_what_most_lack(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = plain(self)
        for name in ("gilbert_elliott", "jitter", "reordering"):
            if fields.get(name, "") is None:
                del fields[name]
        return fields


class Schedule(Model):
    """A link's new values from given times on: columns, for changes by the thousand.

    Plain numbers, since the columns' names have the units; :mod:`ccperf.traces` makes columns of
    recorded and of random ones.
    """

    #: Which direction the rates and losses are of; a delay is the link's.
    direction: Literal["forward", "reverse", "both"] = "both"
    #: Ascending, below the scenario's stop time.
    times_ns: tuple[Count, ...]
    rates_bps: tuple[Count, ...] | None = None
    delays_ns: tuple[Count, ...] | None = None
    losses: tuple[Probability, ...] | None = None


class Link(Model):
    """A full-duplex point-to-point link; forward is from its first end to its second."""

    name: str
    ends: tuple[str, str]
    rate: Rate
    delay: Time
    #: Of each end, the two hosts of one /30; counted up from 10.0.0.0/30 if not given.
    addresses: tuple[str, str] | None = None
    forward: Direction = Direction()
    reverse: Direction = Direction()
    #: Their first rows are scheduled after the scenario's `changes`, link by link.
    schedules: tuple[Schedule, ...] = ()

    @model_serializer(mode="wrap")
    def _without_what_most_lack(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = plain(self)
        if not self.schedules:
            fields.pop("schedules", None)
        return fields


class Change(Model):
    """A link's new rate, delay or loss from a time on."""

    time: Time
    link: str
    rate: Rate | None = None
    delay: Time | None = None
    loss: Probability | None = None
    direction: Literal["forward", "reverse", "both"] = "both"


class Failure(Model):
    """A link, or a node with all its links, fails, and comes back or does not.

    What is queued in front of a link that fails, or on its wire, is lost; routes change at that
    instant, everywhere.
    """

    link: str | None = None
    node: str | None = None
    down: Time
    #: None: for ever.
    up: Time | None = None


class Fault(Model):
    """A switch loses packets that come to it, after what their links lose: a share, or all.

    With a `loss` of 1 it is a black hole, for what begins at one of `sources` and is for one of
    `destinations`: by source, by destination or by pair.
    """

    node: str
    #: The probability for each packet that it hits.
    loss: Probability = 1.0
    #: None: whoever sends, or receives.
    sources: tuple[str, ...] | None = None
    destinations: tuple[str, ...] | None = None
    start: Time = "0s"
    #: None: for ever.
    stop: Time | None = None
    #: Number of its random stream; None: one of its own.
    stream: Count | None = None


class Flow(Model):
    """What goes from one host to another, and the application on top of it."""

    #: ``flow_1``, ``flow_2``, ... if not given.
    name: str | None = None
    source: str
    destination: str
    #: Over UDP nothing is acknowledged or sent again, and what belongs to TCP is left out.
    transport: Literal["TCP", "UDP"] = "TCP"
    #: The next free from 49152 at the source and from 5001 at the destination, if not given.
    source_port: Annotated[int, Field(strict=True, ge=1, le=65535)] | None = None
    destination_port: Annotated[int, Field(strict=True, ge=1, le=65535)] | None = None
    start: Time = "0s"
    #: None: never stopped.
    stop: Time | None = None
    #: When the receiving application closes, too; None: never.
    receiver_stop: Time | None = None
    application: Application = Greedy()
    #: TCP cannot be without one.
    cc: Annotated[Algorithm | None, BeforeValidator(algorithm_by_name)] = None
    recovery: str = "TcpPrrRecovery"
    #: Type of service of the source's packets (ns-3's ``Socket::SetIpTos``) and of the
    #: destination's: what priority queues look at. Over UDP with the two ECN bits.
    tos: TypeOfService = 0
    return_tos: TypeOfService = 0
    #: Flows of one group are a class of their own in the metrics of completion times.
    group: str | None = None
    #: Differentiated services code points that the hosts write into all packets of the flow, there
    #: and back; the ECN bits stay as TCP has set them. 0: none. By these `DwrrQueueDisc` and its
    #: like tell classes apart. (ns-3's sockets with a type of service send data without ECT.)
    dscp: CodePoint = 0
    return_dscp: CodePoint = 0
    #: PIAS: after so many bytes each the code point of what the source sends is one higher than
    #: `dscp`. Ascending; for transfers that end.
    pias: tuple[Size, ...] = ()
    #: Propagation that packets of the source have on their first link beyond its delay: RTT
    #: variation, and never a queue. A time, or drawn from a stream of the flow's own. None: none.
    added_delay: AddedDelay | None = None
    #: Attributes of ns-3's ``TcpSocket``, ``TcpSocketBase`` and ``TcpSocketState``.
    tcp: Attributes = Field(default_factory=dict)


class Ping(Model):
    """ICMP echo requests at equal distances, which the destination answers: ns-3's ``Ping``."""

    #: ``ping_1``, ``ping_2``, ... if not given.
    name: str | None = None
    source: str
    destination: str
    start: Time = "0s"
    #: None: never stopped.
    stop: Time | None = None
    interval: Time = "1s"
    #: Without the headers.
    size: Size = "56B"


def _selection(value: object) -> object:
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return tuple(value)
    if value in ("all", "none"):
        return value
    raise ValueError(f"{_shown(value)} is not 'all', 'none' or a list of names")


def _changes(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, list | tuple) and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise ValueError(f"{_shown(value)} is not true, false or a list of flows")


#: Which flows, or which links: a link's name stands for both of its directions, which are called
#: `<link>_forward` and `<link>_reverse`.
Selection: TypeAlias = Annotated[
    Literal["all", "none"] | tuple[str, ...], BeforeValidator(_selection)
]


class QueueSampling(Model):
    """Queues that are sampled on a grid of their own: the table `queue_samples`."""

    links: Selection
    interval: Time = "10us"


class RecordingOptions(Model):
    """What a run leaves behind besides its counters."""

    #: Distance of the samples of flows and links.
    interval: Time = "30ms"
    #: Whose samples are taken: of all flows that are written one by one, of none, or of these flows
    #: and workloads.
    flows: Selection = "all"
    links: Selection = "all"
    #: Queues to be watched more closely.
    queues: QueueSampling | None = None
    #: Whether every change of the senders' state is recorded, or of which flows.
    changes: Annotated[bool | tuple[str, ...], BeforeValidator(_changes)] = False
    #: Whether each transfer's end is recorded: the table `completions`, and the metrics of classes.
    #: None: if the scenario has workloads.
    completions: bool | None = None
    #: Whether what the ends of each flow send and receive is counted as ns-3's `FlowMonitor` does:
    #: the tables `flow_monitor` and `flow_histograms`, which `ccperf.flow_monitor` writes as XML.
    flow_monitor: bool = False

    @model_serializer(mode="wrap")
    def _without_defaults(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = plain(self)
        defaults = {
            "flows": "all",
            "links": "all",
            "queues": None,
            "completions": None,
            "flow_monitor": False,
        }
        return {
            name: value
            for name, value in fields.items()
            if name not in defaults or value != defaults[name]
        }


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
    seed: Count = 1
    nodes: tuple[str, ...]
    links: tuple[Link, ...]
    changes: tuple[Change, ...] = ()
    #: How nodes choose among shortest paths of equal length: ``static`` (the first in the order of
    #: links), ``ecmp`` (by a hash of the flow, attribute `Seed`) or ``random`` (for each packet).
    routing: Annotated[Algorithm, BeforeValidator(algorithm_by_name)] = Algorithm(type="static")
    failures: tuple[Failure, ...] = ()
    #: What switches lose; the first one that takes a packet has it.
    faults: tuple[Fault, ...] = ()
    flows: tuple[Flow, ...] = ()
    #: Named once, perhaps of a `profile` (`ccperf.profiles`); a flow names one as `stack` in place
    #: of its `cc`, `recovery`, types of service and `tcp`, which then are the stack's.
    stacks: tuple[Stack, ...] = ()
    workloads: tuple[Workload, ...] = ()
    pings: tuple[Ping, ...] = ()
    recording: RecordingOptions = RecordingOptions()

    @model_serializer(mode="wrap")
    def _without_what_most_lack(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = plain(self)
        if self.routing == Algorithm(type="static"):
            fields.pop("routing", None)
        for name in ("failures", "faults"):
            if not getattr(self, name):
                fields.pop(name, None)
        return fields

    @model_validator(mode="wrap")
    @classmethod
    def _own_errors(
        cls, data: Any, handler: ModelWrapValidatorHandler[Scenario], info: ValidationInfo
    ) -> Scenario:
        if isinstance(data, Scenario):
            return handler(data)
        problems: list[Problem] = []
        try:
            scenario = handler(data := _with_stacks(_with_profiles(data)))
        except ValidationError as error:
            problems = [_problem(details) for details in error.errors()]
            try:
                # Fields that are not known hide nothing: what else is wrong is said, too.
                scenario = handler(_without(data, error.errors()))
            except (ValidationError, LookupError, TypeError):
                raise ScenarioError(problems) from None
        if not (info.context or {}).get("checked") and not names.are_stored():
            try:
                scenario.canonical()
            except ScenarioError as error:
                problems += error.problems
        if problems:
            raise ScenarioError(problems)
        for text in _surprises(scenario):
            warnings.warn(text, ScenarioWarning, stacklevel=3)
        return scenario

    def plot(self) -> Drawing:
        """Return a drawing of the network, which a notebook shows."""
        from ccperf.notebook import Drawing

        return Drawing(self.canonical())

    def to_pandas(self) -> Any:
        """Return the flows as a data frame of pandas; raises `UsageError` without it."""
        from ccperf.notebook import frame

        return frame(self._flow_columns(), "pandas")

    def to_polars(self) -> Any:
        """Return the flows as a data frame of polars; raises `UsageError` without it."""
        from ccperf.notebook import frame

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

    def _repr_html_(self) -> str:
        """Show the network and the flows."""
        from ccperf.notebook import table

        columns = self._flow_columns()
        rows = list(zip(*columns.values(), strict=True))
        shown = rows[:20]
        said = f"{self.label or 'scenario'}: {len(rows)} flows, {self.stop_time}, seed {self.seed}"
        if len(shown) < len(rows):
            said += f"; the first {len(shown)}"
        return self.plot()._repr_html_() + table(list(columns), shown, said)

    @classmethod
    def from_toml(cls, path: str | Path) -> Scenario:
        """Read a scenario from a TOML file and check its meaning as well as its shape.

        Raises:
            ScenarioError: each problem with the file and, where it can be told, the line.
            OSError: if the file cannot be read.
        """
        from ccperf.toml import Document

        document = Document.read(Path(path))
        with document.placing_errors():
            if "experiment" in document.data and "flows" not in document.data:
                message = "this is a plan over the catalogue, not a scenario ([[flows]])"
                raise ScenarioError([("experiment", message)])
            # Relative paths in a file start where the file is.
            context = {"folder": Path(path).absolute().parent}
            scenario = cls.model_validate(document.data, context=context)
            scenario._check_user_code()
        return scenario

    def canonical(self) -> dict[str, Any]:
        """The canonical form: every field present, units and names normalised.

        Raises:
            ScenarioError: with everything that makes no sense.
        """
        data: dict[str, Any] = json.loads(self._canonical)
        return data

    def portable(self) -> dict[str, Any]:
        """The canonical form with users' algorithms under their labels instead of their paths.

        What is stored and published: it means the same on another machine. Raises as
        :meth:`canonical` does.
        """
        data: dict[str, Any] = names.without_paths(self.canonical())
        return data

    def written(self) -> str:
        """The scenario as it was given, with what that leaves out, as JSON."""
        return self._written

    def lowered(self) -> str:
        """The flat form that backends run, as JSON.

        Raises:
            ScenarioError: with everything that makes no sense.
        """
        return self._lowered

    # These are asked for several times a run and cost a walk through everything. Texts, so that
    # nobody can change what is kept.

    @cached_property
    def _written(self) -> str:
        return self.model_dump_json()

    @cached_property
    def _canonical(self) -> str:
        return _native.canonical(self._written)

    @cached_property
    def _lowered(self) -> str:
        return _native.lower(self._written)

    @cached_property
    def _hash(self) -> str:
        data = self.portable()
        del data["label"]
        text = json.dumps(data, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other fields; nothing that was made of the old ones goes with it."""
        copy = super().model_copy(update=update, deep=deep)
        for made in ("_written", "_canonical", "_lowered", "_hash"):
            copy.__dict__.pop(made, None)
        return copy

    @property
    def user_code(self) -> dict[str, str]:
        """The users' algorithms, sorted by name, each with the path of a field that has it."""
        used = [(f"flows[{i}].cc", flow.cc) for i, flow in enumerate(self.flows) if flow.cc]
        used += [(f"stacks[{i}].cc", stack.cc) for i, stack in enumerate(self.stacks)]
        for i, link in enumerate(self.links):
            for word, direction in (("forward", link.forward), ("reverse", link.reverse)):
                if direction.qdisc is not None:
                    used.append((f"links[{i}].{word}.qdisc", direction.qdisc))
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

    @property
    def hash(self) -> str:
        """SHA-256 of the portable form without its label, in hex."""
        return self._hash


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
    return found


def _without(data: Any, errors: Iterable[ErrorDetails]) -> Any:
    """The scenario without the fields that are not known, if nothing else is wrong.

    Raises LookupError otherwise.
    """
    data = copy.deepcopy(data)
    for details in errors:
        if details["type"] != "extra_forbidden":
            raise LookupError
        *way, last = (step for step in details["loc"])
        place = data
        for step in way:
            place = place[step]
        del place[last]
    return data


def _with_profiles(data: Any) -> Any:
    """The scenario with the profiles that stacks name written into the stacks."""
    if not isinstance(data, Mapping) or not isinstance(data.get("stacks"), list | tuple):
        return data
    stacks = [profiles.applied(stack, f"stacks[{i}]") for i, stack in enumerate(data["stacks"])]
    return {**data, "stacks": stacks}


def _with_stacks(data: Any) -> Any:
    """The scenario with the stacks that flows name written into the flows."""
    if not isinstance(data, Mapping) or not isinstance(data.get("flows"), list | tuple):
        return data
    stacks = {
        stack.get("name"): {name: value for name, value in stack.items() if name != "name"}
        for stack in (
            stack.model_dump() if isinstance(stack, Stack) else stack
            for stack in data.get("stacks") or ()
        )
        if isinstance(stack, Mapping)
    }
    problems, flows = [], []
    for i, flow in enumerate(data["flows"]):
        if not isinstance(flow, Mapping) or "stack" not in flow:
            flows.append(flow)
            continue
        own = {name: value for name, value in flow.items() if name != "stack"}
        named = flow["stack"]
        if named not in stacks:
            problems.append((f"flows[{i}].stack", unknown("stack", str(named), map(str, stacks))))
        for name in own.keys() & set(Stack.model_fields) - {"name"}:
            problems.append((f"flows[{i}].{name}", f"is the stack's, `{named}`; leave one out"))
        flows.append({**stacks.get(named, {}), **own})
    if problems:
        raise ScenarioError(problems)
    return {**data, "flows": flows}


def _problem(details: ErrorDetails) -> Problem:
    """What pydantic found, in our words."""
    location, kind, given = details["loc"], details["type"], details["input"]
    message = details["msg"].removeprefix("Value error, ")
    if kind == "missing":
        message = "is missing"
    elif kind == "extra_forbidden":
        model = _model_at(location[:-1])
        known = model.model_fields if model else ()
        message = f"is not a field here{suggestion(str(location[-1]), known)}"
    elif kind == "union_tag_invalid":
        field = str(location[-1])
        location = (*location, "type")
        message = unknown(field, str(details["ctx"]["tag"]), _UNIONS[field])
    elif kind == "literal_error":
        words = details["ctx"]["expected"].replace("'", "`")
        message = f"`{given}` is not {words}"
    elif kind != "value_error":
        message = f"{message[:1].lower()}{message[1:]}, not {_shown(given)}"
    return Problem(_path(location), message)


def _shown(given: object) -> str:
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


def _model_at(location: tuple[int | str, ...]) -> type[Model] | None:
    """The class whose fields stand at a location."""
    model: type[Model] | None = Scenario
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
