"""Base classes for a congestion control, queue discipline or load balancer of one's own, in Python.

``docs/bring-your-own.md`` is the tutorial. A class is named ``module:Class`` or ``file.py:Class``
wherever an algorithm is named, and runs on this project's engine in a process of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ccperf.algorithms.callbacks import Callbacks

if TYPE_CHECKING:
    from ccperf._native import (
        Arrival,
        Departure,
        Hop,
        Packet,
        Queue,
        SchedulerClass,
        Switch,
        Tcb,
    )

__all__ = ["CongestionControl", "HostBalancer", "LoadBalancer", "QueueDisc", "Scheduler"]


class CongestionControl(Callbacks):
    """A congestion control algorithm; as it stands, NewReno (RFC 5681; ns-3's ``TcpNewReno``).

    Override what is different. The calls, and the order in which they come, are those of Linux's
    ``struct tcp_congestion_ops`` and ns-3's ``TcpCongestionOps``, and a few more. Each end of each
    connection has an object of its own (the receiver's sees little more than ECN events);
    attributes of the scenario are keyword arguments of ``__init__``. `tcb` is one object that is
    brought up to date for each call: windows in bytes, times in nanoseconds of simulated time.

    An exception, or a window below one segment, ends the run with an error.
    """

    #: The version of the interface that the class is written for (``ccperf.INTERFACE``); an older
    #: ccperf refuses it. 0: any.
    interface: ClassVar[int] = 0

    def ssthresh(self, tcb: Tcb, bytes_in_flight: int) -> int:
        """Return the new slow start threshold in bytes, on entering Recovery, CWR or Loss.

        Here: half of what is in flight, at least two segments (RFC 5681 equation 4).
        """
        return max(bytes_in_flight // 2, 2 * tcb.segment_size)

    def cong_avoid(self, tcb: Tcb, segments_acked: int) -> None:
        """Grow ``tcb.cwnd``; called for each ACK of new data in Open and Loss."""
        if tcb.cwnd < tcb.ssthresh:
            segments_acked = self.slow_start(tcb, segments_acked)
        if tcb.cwnd >= tcb.ssthresh:
            self.congestion_avoidance(tcb, segments_acked)

    def slow_start(self, tcb: Tcb, segments_acked: int) -> int:
        """Add one segment for the ACK, however many it covers; return the segments left."""
        if segments_acked == 0:
            return 0
        tcb.cwnd += tcb.segment_size
        return segments_acked - 1

    def congestion_avoidance(self, tcb: Tcb, segments_acked: int) -> None:
        """Add about one segment per round trip (RFC 5681 equation 3)."""
        if segments_acked > 0:
            tcb.cwnd += max(tcb.segment_size * tcb.segment_size // tcb.cwnd, 1)

    def undo(self, tcb: Tcb, prior_cwnd: int) -> int:
        """Return the window after a loss that was none: here the larger of then and now."""
        return max(tcb.cwnd, prior_cwnd)


class QueueDisc:
    """A queue discipline: which packets to keep, in which order they leave, which to drop.

    One object per device; attributes of the scenario are keyword arguments of ``__init__``.
    Counters and traces are kept for it.
    """

    #: Time, backlog, link rate, and what can be done to packets. There after ``__init__``.
    queue: Queue

    def enqueue(self, packet: Packet) -> bool:
        """Keep the arriving packet (true) or drop it (false).

        To give a reason, call ``self.queue.drop(packet, "reason")`` before returning false.
        """
        raise NotImplementedError

    def dequeue(self) -> Packet | None:
        """Return the packet to send next, or None."""
        raise NotImplementedError

    def timer(self, tag: int) -> bool:
        """Called when a timer of ``self.queue.set_timer`` fires; true if there may be a packet."""
        return False


class Scheduler:
    """A scheduler: which class of a port sends next.

    A queue discipline of a scenario that has ``children``, one discipline for each class, which
    keep, mark and drop. One object per device; attributes are keyword arguments of ``__init__``.
    """

    #: Whether :meth:`next` sees the packet that each class would send. (A discipline that decides
    #: when a packet leaves, as CoDel, decides then when somebody looks.)
    sees_heads: bool = False

    def classify(self, packet: Packet, classes: int) -> int:
        """Return the class of an arriving packet, from 0; here its DSCP, or the last class."""
        return min(packet.dscp, classes - 1)

    def next(self, classes: list[SchedulerClass]) -> int:
        """Return the number of the class that sends: one that has packets. Some class has."""
        raise NotImplementedError

    def sent(self, number: int, packet: Packet) -> None:
        """Called when the class that :meth:`next` has named has sent a packet."""


class HostBalancer:
    """A load balancer where hosts choose: which of the equally short paths a packet takes.

    Paths between the switches of two hosts have numbers from 0, in the order of links; in a
    leaf-spine that of the uplink. One object for all hosts: what they may know of each other is the
    class's own affair (``packet.source``, ``packet.source_leaf``). Attributes of the scenario are
    keyword arguments of ``__init__``.
    """

    def send(self, packet: Departure) -> int:
        """Return the number of the path that a packet takes, below ``packet.paths``.

        ``packet.kind`` is ``new``, ``retransmission`` (in answer to acknowledgements), ``timeout``
        (a timer has expired) or ``control`` (nothing that will be acknowledged).
        """
        raise NotImplementedError

    def ack(self, ack: Arrival) -> None:
        """Called for each acknowledgement that comes to a host, before what it lets go."""

    def timeout(self, packet: Departure) -> None:
        """Called before :meth:`send` for what a timer sends again."""

    def loss(self, packet: Departure) -> None:
        """Called before :meth:`send` for what acknowledgements let send again."""


class LoadBalancer:
    """A load balancer: which of the equally short ways a packet takes.

    One object per switch, which is a node with several links; attributes of the scenario are
    keyword arguments of ``__init__``. What switches tell each other, they write on packets
    (``packet.notes``).
    """

    #: Time, number of the node, and ports. There after ``__init__``.
    switch: Switch

    #: Whether packets that have one way only come to :meth:`pick` as well, to be measured or
    #: written on.
    every_hop: bool = False

    #: How often :meth:`tick` is called, in ns of simulated time; 0 is never. The same at each
    #: switch.
    period_ns: int = 0

    def pick(self, packet: Hop) -> int:
        """Return the position in ``self.switch.ports`` of the port that the packet takes.

        The ports to choose from come in the order of links. Positions change when links fail;
        a port's number does not.
        """
        raise NotImplementedError

    def tick(self) -> None:
        """Called every `period_ns`; ``self.switch.ports`` are all that the switch has."""
