"""What goes over the network: flows with their applications, and pings."""

from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field, ValidationInfo

from ccperf.scenario.added_delay import AddedDelay
from ccperf.scenario.fields import (
    Algorithm,
    Attributes,
    CodePoint,
    Model,
    Rate,
    Size,
    Stream,
    Time,
    TypeOfService,
    algorithm_by_name,
    is_false,
    is_none,
)


class Greedy(Model):
    """Always has data to send: ``bytes`` of it, or without end if that is 0."""

    type: Literal["Greedy"] = "Greedy"
    bytes: Size = "0B"
    #: What one call hands to the socket.
    write: Size = "512B"
    #: It writes before the connection is there, too, and parts of writes where there is room for
    #: no more. (ns-3's ``BulkSendApplication`` does neither.)
    eager: bool = Field(default=False, exclude_if=is_false)


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
    #: Of the lengths of its on times; those of its off times are drawn from the next one.
    stream: Stream | None = Field(default=None, exclude_if=is_none)


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


class Flow(Model):
    """What goes from one host to another, and the application on top of it."""

    #: ``flow_1``, ``flow_2``, ... if not given.
    name: str | None = None
    source: str
    destination: str
    #: Over UDP nothing is acknowledged or sent again, and what belongs to TCP is left out. `ROCE`
    #: is a connection of RDMA (RoCEv2), whose `cc` is a law of its rate like `dcqcn`. Over
    #: `TRIMMING` switches may cut packets to their headers; its `cc` is `ndp`, if not given, or
    #: `nscc`. Packets of both carry one `write` each.
    transport: Literal["TCP", "UDP", "ROCE", "TRIMMING"] = "TCP"
    #: The next free from 49152 at the source and from 5001 at the destination, if not given.
    source_port: Annotated[int, Field(strict=True, ge=1, le=65535)] | None = None
    destination_port: Annotated[int, Field(strict=True, ge=1, le=65535)] | None = None
    start: Time = "0s"
    #: None: never stopped.
    stop: Time | None = None
    #: When the receiving application closes, too; None: never. Over UDP ``0s`` is for a port that
    #: nobody listens to; the host answers what nobody reads with messages of ICMP.
    receiver_stop: Time | None = None
    application: Application = Greedy()
    #: TCP cannot be without one.
    cc: Annotated[Algorithm | None, BeforeValidator(algorithm_by_name)] = None
    recovery: str = "TcpPrrRecovery"
    #: Type of service of the source's packets (ns-3's ``Socket::SetIpTos``) and of the
    #: destination's: what priority queues look at. Over UDP with the two ECN bits.
    tos: TypeOfService = 0
    return_tos: TypeOfService = 0
    #: Flows of one group are a class of their own in the metrics of completion times; those that
    #: never end have the metrics of flows there.
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
