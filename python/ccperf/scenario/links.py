"""The network: links, what they do to packets, and how they change and fail."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ccperf.scenario.fields import (
    Algorithm,
    Count,
    Model,
    Probability,
    QueueSize,
    Rate,
    Size,
    Time,
    algorithm_by_name,
    is_empty,
    is_none,
)


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


class Pfc(Model):
    """Priority-based flow control: how the node at the far end has a direction pause.

    That node counts what has come over the link, by priority, until it leaves. The threshold is
    `xoff`, or `alpha` times what is free of the node's shared `buffer`.
    """

    #: Those that lose nothing; a packet's priority is its code point's class selector, DSCP / 8.
    priorities: tuple[Count, ...] = (3,)
    xoff: Size | None = Field(default=None, exclude_if=is_none)
    alpha: float | None = Field(default=None, exclude_if=is_none)
    buffer: Size | None = Field(default=None, exclude_if=is_none)
    #: How far below the threshold a pause ends. None: two frames of the MTU.
    hysteresis: Size | None = None
    #: Room beyond the threshold for each priority. None: what may come after a pause was asked for.
    headroom: Size | None = None
    #: Of a pause, in times of 512 bits; it is renewed after half of it.
    quanta: Annotated[int, Field(strict=True, ge=1, le=65535)] = 65535
    #: Between the end of a pause frame and its effect.
    response: Time = "0s"


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
    gilbert_elliott: GilbertElliott | None = Field(default=None, exclude_if=is_none)
    jitter: Jitter | None = Field(default=None, exclude_if=is_none)
    reordering: Reordering | None = Field(default=None, exclude_if=is_none)
    pfc: Pfc | None = Field(default=None, exclude_if=is_none)


class Schedule(Model):
    """A link's new values from given times on: columns, for changes by the thousand.

    Plain numbers, since the columns' names have the units; :mod:`ccperf.experiments.traces` makes
    columns of recorded and of random ones.
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
    schedules: tuple[Schedule, ...] = Field(default=(), exclude_if=is_empty)


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
