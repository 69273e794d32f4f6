"""Stacks and workloads of a scenario: many transfers, described once."""

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    model_serializer,
)

from ccperf.scenario.added_delay import AddedDelay
from ccperf.scenario.fields import (
    Algorithm,
    Attributes,
    CodePoint,
    Count,
    Model,
    Rate,
    Size,
    Time,
    TypeOfService,
    algorithm_by_name,
    is_none,
)


def _is_tcp(transport: object) -> bool:
    return transport == "TCP"


class Stack(Model):
    """How hosts speak TCP, or send what switches may cut: named once, and referred to by flows and
    workloads.
    """

    name: str
    #: As a flow's.
    transport: Annotated[Literal["TCP", "TRIMMING"], Field(exclude_if=_is_tcp)] = "TCP"
    cc: Annotated[Algorithm, BeforeValidator(algorithm_by_name)]
    recovery: str = "TcpPrrRecovery"
    #: As a flow's.
    tos: TypeOfService = 0
    return_tos: TypeOfService = 0
    dscp: CodePoint = 0
    return_dscp: CodePoint = 0
    pias: tuple[Size, ...] = ()
    tcp: Attributes = Field(default_factory=dict)


class PoissonArrivals(Model):
    """Transfers begin as a Poisson process, so often that they make up a load."""

    type: Literal["Poisson"] = "Poisson"
    #: What the transfers carry on average, over `capacity`; between 0 and 1.
    load: Annotated[float, Field(allow_inf_nan=False)]
    #: None: the rates of the sources' links together.
    capacity: Rate | None = None
    start: Time = "0s"
    #: Nothing begins from then on; None: from the end of the run on.
    until: Time | None = None
    #: At most so many arrivals.
    count: Count | None = None


class ArrivalTimes(Model):
    """Transfers begin at given times."""

    type: Literal["Times"] = "Times"
    times: tuple[Time, ...]


class AfterArrivals(Model):
    """Each transfer begins when others have arrived: collectives, and answers to requests.

    What is sent of it comes to the application at its destination, all of it, before one that waits
    for it begins. Pairs are `Listed` or `Random`.
    """

    type: Literal["After"] = "After"
    #: Of each transfer the numbers of those that it waits for, from 1 and smaller than its own;
    #: none: it begins with the workload.
    after: tuple[tuple[Annotated[int, Field(strict=True, ge=1, lt=2**31)], ...], ...]
    #: How much later each begins; empty: at once.
    delays: tuple[Time, ...] = ()
    start: Time = "0s"


class Answers(Model):
    """One transfer back for each of an earlier workload, when that has arrived: remote calls.

    What is sent of a request comes to the application at its destination, all of it, before its
    answer begins. The answers' pairs are the requests', turned round.
    """

    type: Literal["Answers"] = "Answers"
    #: Name of the workload of the requests.
    to: str
    #: How much later each begins: what the server needs.
    delay: Time = "0s"


class RandomPairs(Model):
    """One transfer an arrival, from a random source to a random other destination."""

    type: Literal["Random"] = "Random"


class Permutation(Model):
    """With each arrival every source sends to another one each: a random cycle through all."""

    type: Literal["Permutation"] = "Permutation"


class Incast(Model):
    """With each arrival every source sends to the same random destination, or some of them do."""

    type: Literal["Incast"] = "Incast"
    #: So many, at random; None: all that may send there.
    senders: Count | None = Field(default=None, exclude_if=is_none)


class AllToAll(Model):
    """With each arrival every source sends to every destination."""

    type: Literal["AllToAll"] = "AllToAll"


class ListedPairs(Model):
    """One transfer an arrival, between the next of these pairs."""

    type: Literal["Listed"] = "Listed"
    pairs: tuple[tuple[str, str], ...]


class WebSearch(Model):
    """The sizes of web search; mean 1.71 MB."""

    type: Literal["WebSearch"] = "WebSearch"


class DataMining(Model):
    """The sizes of data mining; mean 12.66 MB, most of them below 2 kB."""

    type: Literal["DataMining"] = "DataMining"


class Facebook(Model):
    """Sizes of requests to a key-value store; nine of ten below 350 B."""

    type: Literal["Facebook"] = "Facebook"


class CdfSizes(Model):
    """Points (bytes, probability that a transfer has no more), linear between them.

    In place of `points`, `file` names a text file with a point a line, read when the scenario is.
    """

    type: Literal["Cdf"] = "Cdf"
    points: tuple[tuple[float, float], ...]


class ConstantSize(Model):
    """All transfers have as many bytes."""

    type: Literal["Constant"] = "Constant"
    bytes: Size


class UniformSizes(Model):
    """Whole bytes from `min` to `max`."""

    type: Literal["Uniform"] = "Uniform"
    min: Size
    max: Size


class ListedSizes(Model):
    """The next of these, and again from the first."""

    type: Literal["Listed"] = "Listed"
    bytes: tuple[Size, ...]


def _by_type(value: object, info: ValidationInfo) -> object:
    """Something with a type may be just the type's name; a CDF may be a file."""
    if isinstance(value, str):
        return {"type": value}
    if isinstance(value, dict) and value.get("type") == "Cdf" and "file" in value:
        rest = {name: given for name, given in value.items() if name != "file"}
        if "points" in rest:
            raise ValueError("has both `file` and `points`; give one")
        folder = (info.context or {}).get("folder") or Path()
        return {**rest, "points": _points_of(Path(folder) / str(value["file"]))}
    return value


def _points_of(path: Path) -> list[tuple[float, float]]:
    """Read a CDF file: on each line a size in bytes and a probability; `#` begins a comment."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"`{path.name}` cannot be read as text ({error})") from None
    points = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            size, probability = map(float, words)
        except ValueError:
            raise ValueError(
                f"`{path.name}`, line {number}: `{line.strip()[:60]}` is not two numbers: a size "
                "in bytes and a probability"
            ) from None
        points.append((size, probability))
    return points


#: What an arrival, a pair and a size may be.
ARRIVALS: tuple[type[Model], ...] = (PoissonArrivals, ArrivalTimes, AfterArrivals, Answers)
PAIRS: tuple[type[Model], ...] = (RandomPairs, Permutation, Incast, AllToAll, ListedPairs)
SIZES: tuple[type[Model], ...] = (
    WebSearch,
    DataMining,
    Facebook,
    CdfSizes,
    ConstantSize,
    UniformSizes,
    ListedSizes,
)

Arrivals: TypeAlias = Annotated[
    PoissonArrivals | ArrivalTimes | AfterArrivals | Answers,
    Field(discriminator="type"),
    BeforeValidator(_by_type),
]
Pairs: TypeAlias = Annotated[
    RandomPairs | Permutation | Incast | AllToAll | ListedPairs,
    Field(discriminator="type"),
    BeforeValidator(_by_type),
]
Sizes: TypeAlias = Annotated[
    WebSearch | DataMining | Facebook | CdfSizes | ConstantSize | UniformSizes | ListedSizes,
    Field(discriminator="type"),
    BeforeValidator(_by_type),
]


class Workload(Model):
    """Many transfers of sources that always have data: when, between whom, and how large.

    They are drawn from random streams of the workload's own, which depend on its name and the
    scenario's seed alone: not on the algorithms, the network or the other flows.  Transfer n is
    called ``<name>_<n>``, n from 1; the transfers of a workload are a class of the metrics.
    """

    name: str
    stack: str
    #: Nodes; None: all that have one link.
    sources: tuple[str, ...] | None = None
    destinations: tuple[str, ...] | None = None
    #: Source and destination of a transfer are never both in the same of these.
    apart: tuple[tuple[str, ...], ...] = ()
    arrivals: Arrivals
    pairs: Pairs = RandomPairs()
    sizes: Sizes
    #: What one call hands to the socket.
    write: Size = "512B"
    #: From one write to the next, whatever TCP carries; None: it writes while there is room.
    gap: Time | None = Field(default=None, exclude_if=is_none)
    #: So many connections at most from one host to another, which stay open and carry one transfer
    #: after another; None: each transfer opens its own, and closes it.
    connections: Count | None = Field(default=None, exclude_if=is_none)
    #: As a flow's, for each transfer.
    added_delay: AddedDelay | None = None
    #: Number of the first of four random streams: for arrivals, pairs, sizes and added delays.
    #: None: its own.
    stream: Annotated[int, Field(strict=True, ge=-(2**31), lt=2**52)] | None = None

    @model_serializer(mode="wrap")
    def _without_what_most_lack(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = plain(self)
        if self.stream is None:
            fields.pop("stream", None)
        if self.added_delay is None:
            fields.pop("added_delay", None)
        if not self.apart:
            fields.pop("apart", None)
        return fields
