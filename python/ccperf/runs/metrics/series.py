"""The series of flows that metrics and figures are made of: physical quantities, on the grid.

Rows are the grid points t_1 ... t_(n-1), columns the flows that the recording samples, in
the scenario's order.  NaN stands where there is no value yet.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.runs.metrics.grid import Floats, Grid, Integers, Sampled, positive
from ccperf.runs.metrics.link_series import LinkSeries
from ccperf.runs.metrics.path_delays import lengthened
from ccperf.runs.metrics.unlike_paths import unlike
from ccperf.runs.metrics.windows import phases

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ccperf.runs.metrics.unlike_paths import What
    from ccperf.runs.recording import Recording
    from ccperf.scenario.canonical import Runnable

_NS3_DEFAULT_SEGMENT_SIZE = 536


class FlowSeries(Sampled):
    """What the flows that are sampled did; arrays of shape (n - 1, flows) unless said otherwise."""

    def __init__(self, scenario: Runnable, recording: Recording) -> None:
        """Read samples and counters of `recording`; segment sizes come from `scenario`.

        Raises ValueError if the recording is not one of this scenario.
        """
        canonical = scenario.parsed
        described = canonical["flows"]
        names = recording.flows.strings("name")
        written = names if not canonical.get("workloads") else names[: len(described)]
        if [flow["name"] for flow in described] != written:
            raise ValueError(
                f"the recording's flows {written} are not the scenario's "
                f"{[flow['name'] for flow in described]}"
            )
        super().__init__(Grid(recording.flow_samples, "flow"), recording.flows, names)
        #: Every change of the senders' state, if it was recorded.
        self.changes = recording.changes
        bottlenecks = recording.flows.strings("bottleneck")
        #: The directions that are bottlenecks, those of them that are sampled.
        self.links = LinkSeries(scenario, recording, set(bottlenecks))
        #: Whether every flow of the run is one of them.
        self.is_complete = len(self.positions) == len(names)
        #: What the scenario says of each: of transfers of workloads it is their stack that says it.
        self.senders = senders = [
            described[i] if i < len(described) else _stack_of(names[i], canonical)
            for i in self.positions
        ]
        self._canonical = canonical
        #: Source and destination of each; of transfers of workloads they are not told.
        self._ends = [(str(s.get("source", "")), str(s.get("destination", ""))) for s in senders]
        #: The group of each, as its class is called; empty: none.
        self.groups = [str(sender.get("group") or "") for sender in senders]
        #: The congestion control of each, as scenarios name it; empty for datagrams.
        self.algorithms = [str(sender.get("cc", {}).get("type", "")) for sender in senders]
        #: What hosts write into each flow's packets as differentiated services code point.
        self.code_points = [int(sender.get("dscp", 0)) for sender in senders]
        #: Payload bytes of a full segment, shape (flows,).
        self.segment_bytes: Integers = np.array(
            [_segment_bytes(sender) for sender in senders], dtype=np.int64
        )
        #: When algorithms had something to answer, and when the steady state begins.
        self.phases = phases(canonical)
        #: Its first row; rows may be none.
        self.steady = self._samples.first_after(self.phases.warm_up_ns)
        #: Bytes of probes over all that hosts have sent; NaN where it was not recorded.
        self.probing_share = _probing_share(recording)
        #: Times that priorities of links were to pause, and the largest share of the run that one
        #: could not send; NaN where none can.
        stop_ns = _native.parse_time(canonical["stop_time"])
        self.pauses, self.paused_share = _pauses(recording, stop_ns)
        #: Packets that disciplines cut; NaN where none does.
        self.trimmed = _trimmed(recording, canonical)
        #: Of the flows without an end, sampled or not, in Mbps; none without completions.
        self.goodputs = _goodputs(recording, described, stop_ns)
        #: Packets over links, of all links of the run.
        self.packet_hops = int(recording.links.array("tx_packets").sum())
        #: Payload over bytes on the wire, of a full segment or datagram, shape (flows,).
        self.payload_share: Floats = self.segment_bytes / (
            self.segment_bytes + np.array([_header_bytes(sender) for sender in senders])
        )
        # Transfers of workloads have no application here; they have an end, and are not stopped.
        given = (sender.get("application") for sender in senders)
        sizes = [_native.parse_size(each["bytes"]) if each else -1 for each in given]
        #: What each flow has to carry, in bytes, 0 without an end, shape (flows,).
        self._sizes: Integers = np.array(sizes, dtype=np.int64)
        #: Whether the flow is over TCP and always has data to send, shape (flows,).
        self.is_endless = np.array([_is_endless(sender) for sender in senders], dtype=bool)
        transports = [sender.get("transport", "TCP") for sender in senders]
        self._is_tcp = np.array([transport == "TCP" for transport in transports], bool)
        self._is_udp = np.array([transport == "UDP" for transport in transports], bool)
        index = {name: i for i, name in enumerate(recording.links.strings("name"))}
        #: Index of each flow's bottleneck among all link directions, shape (flows,).
        self.bottleneck: Integers = np.array(
            [index[bottlenecks[i]] for i in self.positions], dtype=np.int64
        )
        # Transfers come and go: of these only those that are sampled count.
        share = range(len(names)) if len(written) == len(names) else self.positions.tolist()
        of_port = Counter(bottlenecks[i] for i in share)
        self._share, self._bottlenecks = share, bottlenecks
        #: How many flows of the run, sampled or not, have each flow's bottleneck, shape (flows,).
        self.sharing: Integers = np.array(
            [of_port[bottlenecks[i]] for i in self.positions], dtype=np.int64
        )

    @property
    def completions_ns(self) -> Floats:
        """When all bytes of a flow's transfer were acknowledged, shape (flows,).

        NaN of one that has not ended, never ends, or was stopped before it had written all: the
        recording has the end of what it had written then.
        """
        completion, stop = self.counter("completion_ns"), self.counter("stop_ns")
        has_all = (completion < stop) | self._has_written_all
        return np.where(has_all, completion, np.nan)

    @property
    def have_ended(self) -> npt.NDArray[np.bool_]:
        """Whether a flow has ended by itself: all of it is acknowledged, or, over UDP, sent."""
        ended: npt.NDArray[np.bool_] = np.isfinite(self.completions_ns)
        return ended | (self._is_udp & self._has_written_all)

    @property
    def _has_written_all(self) -> npt.NDArray[np.bool_]:
        """Whether a flow's socket has all of its bytes at the last grid point, shape (flows,)."""
        sizes, written = self._sizes, self._samples.state("written_bytes")
        has_all: npt.NDArray[np.bool_] = (sizes > 0) & (written[-1:] >= sizes).any(axis=0)
        return has_all

    @property
    def stays(self) -> npt.NDArray[np.bool_]:
        """Whether a flow without an end may send until the last grid point, shape (flows,)."""
        end = self._samples.ends_ns[-1:].max(initial=0)
        staying: npt.NDArray[np.bool_] = (self.counter("stop_ns") >= end) & (self._sizes == 0)
        return staying

    @cached_property
    def is_there(self) -> npt.NDArray[np.bool_]:
        """Whether a flow may send in all of the interval that ends at t_k."""
        first = self._samples.starts_ns[:, np.newaxis] >= self.counter("start_ns")
        last = self._samples.ends_ns[:, np.newaxis] <= self.counter("stop_ns")
        there: npt.NDArray[np.bool_] = first & last
        return there

    @cached_property
    def is_living(self) -> npt.NDArray[np.bool_]:
        """Whether a flow was there at some time of the interval that ends at t_k.

        It ends once it has closed and all its bytes are acknowledged. What has no completion ends,
        but over TCP, once its application stops.
        """
        completion, stop = self.counter("completion_ns"), self.counter("stop_ns")
        ends = np.where(self._is_tcp, completion, np.fmin(completion, stop))
        begun = self._samples.ends_ns[:, np.newaxis] > self.counter("start_ns")
        living: npt.NDArray[np.bool_] = begun & ~(self._samples.starts_ns[:, np.newaxis] >= ends)
        return living

    @cached_property
    def are_all_there(self) -> npt.NDArray[np.bool_]:
        """Whether all flows of the run, sampled or not, that have the flow's bottleneck may send in
        all of the interval that ends at t_k."""
        start, stop, completion = (
            self._counters.array(name) for name in ("start_ns", "stop_ns", "completion_ns")
        )
        last = np.fmin(stop, completion)
        first_of: dict[str, float] = {}
        last_of: dict[str, float] = {}
        for i in self._share:
            port = self._bottlenecks[i]
            first_of[port] = max(first_of.get(port, 0.0), float(start[i]))
            last_of[port] = min(last_of.get(port, np.inf), float(last[i]))
        ports = [self._bottlenecks[i] for i in self.positions]
        firsts, lasts = ([of[port] for port in ports] for of in (first_of, last_of))
        begins = self._samples.starts_ns[:, np.newaxis] >= np.array(firsts)
        there: npt.NDArray[np.bool_] = begins & (
            self._samples.ends_ns[:, np.newaxis] <= np.array(lasts)
        )
        return there

    def of_tcp(self, values: npt.NDArray[Any]) -> Floats:
        """Return `values`, whose last axis is the flows, with NaN for those that are not TCP."""
        return np.where(self._is_tcp, values, np.nan)

    @property
    def interval_s(self) -> float:
        """Distance of the grid points."""
        return self._samples.interval_ns / 1e9

    @property
    def base_rtt(self) -> Floats:
        """Propagation delay there and back as configured at time 0, in ms, shape (flows,)."""
        return self.counter("base_rtt_ns") / 1e6

    @cached_property
    def path_rtt(self) -> Floats:
        """Propagation delay there and back of the path that the flow has at t_k, in ms.

        NaN where the delay changes on one of several shortest paths, where a balancer chooses
        among some that differ in their delays, and where a failure leaves another path.
        """
        added = lengthened(self._canonical, self._ends, self._samples.ends_ns)
        first = np.where(self._is_unknown("delay"), np.nan, self.base_rtt)
        same = np.broadcast_to(first, (len(self.time), len(self.names)))
        return same if added is None else first + added

    @cached_property
    def bottleneck_rate(self) -> Floats:
        """Configured rate of the flow's bottleneck in the interval that ends at t_k, in Mbps.

        NaN where that direction is not sampled, and where a balancer chooses among shortest paths
        that differ in their rates, or spreads a flow over several, or a failure leaves another.
        """
        column = {int(port): i for i, port in enumerate(self.links.positions)}
        rate = np.full((len(self.time), len(self.names)), np.nan)
        for flow, port in enumerate(self.bottleneck.tolist()):
            if port in column:
                rate[:, flow] = self.links.rate[:, column[port]]
        rate[:, self._is_unknown("rate")] = np.nan
        return rate

    def _is_unknown(self, what: What) -> npt.NDArray[np.bool_]:
        """Whether nobody knows the rates or delays of a flow's path, shape (flows,)."""
        both = [unlike(self._canonical, what)]
        if self._canonical.get("failures"):
            from ccperf.runs.metrics.changing_paths import rerouted

            both.append(rerouted(self._canonical))
        flows, workloads = (frozenset().union(*each) for each in zip(*both, strict=True))
        written = len(self._canonical["flows"])
        unknown = [
            name in flows if place < written else name.rpartition("_")[0] in workloads
            for place, name in zip(self.positions.tolist(), self.names, strict=True)
        ]
        return np.array(unknown, dtype=bool)

    @cached_property
    def payload_capacity(self) -> Floats:
        """What of the bottleneck's rate is left to payload in full segments, in Mbps."""
        return self.bottleneck_rate * self.of_tcp(self.payload_share)

    def class_throughput(self) -> dict[str, Floats]:
        """Throughput (l4) of each class over time, in Mbps, by name, each of shape (n - 1,).

        A class is what a scheduler of classes takes for one: the sampled flows with one code
        point (DSCP); flows that share all of one are one class.
        """
        own = np.array(self.code_points)
        return {
            f"DSCP {point}": self.throughput_l4[:, own == point].sum(axis=1)
            for point in sorted(set(self.code_points))
        }

    @cached_property
    def lately(self) -> Floats:
        """Mean of throughput_l4 over the last second, or since the flow's start, in Mbps."""
        second = self._samples.second
        sums = np.cumsum(self.throughput_l4, axis=0)
        before = np.zeros_like(sums)
        before[second:] = sums[: len(sums) - second]
        begins = self._samples.ends_ns.searchsorted(self.counter("start_ns"), side="right")
        since = np.arange(1, len(sums) + 1)[:, np.newaxis] - begins
        found: Floats = (sums - before) / np.clip(since, 1, second)
        return found

    @cached_property
    def cwnd(self) -> Floats:
        """Congestion window, in segments of the flow's segment size; NaN but for TCP."""
        return self.of_tcp(self._samples.state("cwnd_bytes") / self.segment_bytes)

    @cached_property
    def ssthresh(self) -> Floats:
        """Slow start threshold, in segments of the flow's segment size; NaN but for TCP."""
        return self.of_tcp(self._samples.state("ssthresh_bytes") / self.segment_bytes)

    @cached_property
    def retransmissions(self) -> Floats:
        """Segments retransmitted in the interval that ends at t_k."""
        return self._samples.increase("retransmissions")

    @cached_property
    def rtos(self) -> Floats:
        """Retransmission timeouts in the interval that ends at t_k."""
        return self._samples.increase("rtos")

    @cached_property
    def in_flight(self) -> Floats:
        """Bytes in flight, in segments of the flow's segment size; NaN but for TCP."""
        return self.of_tcp(self._samples.state("in_flight_bytes") / self.segment_bytes)

    @cached_property
    def srtt(self) -> Floats:
        """TCP's smoothed RTT, rounded to whole us, in ms; NaN before the first measurement, and
        once the flow has ended."""
        return self._while_living(np.floor(self._samples.state("srtt_ns") / 1e3 + 0.5) / 1e3)

    @cached_property
    def est_qdelay(self) -> Floats:
        """Smoothed RTT less that of the path without queues, in ms."""
        return self.srtt - self.path_rtt

    @cached_property
    def throughput_l4(self) -> Floats:
        """Payload that reaches the destination's IP layer, duplicates included, in Mbps."""
        return self._samples.rate("received_bytes")

    @cached_property
    def throughput_l7(self) -> Floats:
        """Bytes handed to the receiving application, in Mbps."""
        return self._samples.rate("read_bytes")

    @cached_property
    def sending_rate_l4(self) -> Floats:
        """Payload of the segments emitted, retransmissions included, in Mbps."""
        return self._samples.rate("sent_bytes")

    @cached_property
    def sending_rate_l7(self) -> Floats:
        """Bytes accepted by the socket from the application, in Mbps."""
        return self._samples.rate("written_bytes")

    @cached_property
    def delivery_rate_l4(self) -> Floats:
        """Advance of the highest cumulative ACK at the sender, in Mbps; NaN but for TCP."""
        return self.of_tcp(self._samples.rate("acked_bytes"))

    @cached_property
    def idt_ewma(self) -> Floats:
        """EWMA of the gaps between data segments emitted, in ms; NaN before the second, and once
        the flow has ended."""
        return self._while_living(self._samples.state("idt_ewma_ns") / 1e6)

    @cached_property
    def one_way_delay_l7(self) -> Floats:
        """Delay of the application packet read last, in ms; NaN before the first, and once the
        flow has ended."""
        return self._while_living(self._samples.state("one_way_delay_ns") / 1e6)

    def _while_living(self, values: Floats) -> Floats:
        """Return what a flow has measured, with NaN once it has ended.

        What was last would count until the end of the run, over which nothing is measured.
        """
        return values if self.is_living.all() else np.where(self.is_living, values, np.nan)

    @cached_property
    def utility_pf(self) -> Floats:
        """ln(throughput_l4 in Mbps); NaN in intervals without throughput."""
        return np.log(positive(self.throughput_l4))

    @cached_property
    def utility_mpdf(self) -> Floats:
        """-1 / throughput_l4, in 1/Mbps; NaN in intervals without throughput."""
        return -1 / positive(self.throughput_l4)

    @cached_property
    def utilization_bw(self) -> Floats:
        """throughput_l4 over the bottleneck's configured rate."""
        return self.throughput_l4 / positive(self.bottleneck_rate)

    @cached_property
    def utilization_bdp(self) -> Floats:
        """Segments in flight x (segment size + 112 B) over rate x RTT of the path."""
        bdp_bytes = self.bottleneck_rate * self.path_rtt * (1e3 / 8)
        return self.in_flight * (self.segment_bytes + 112) / positive(bdp_bytes)


def _probing_share(recording: Recording) -> float:
    if recording.reordering is None:
        return np.nan
    table = recording.probing
    if table is None:
        return 0.0
    sent = int(table.array("host_bytes")[0])
    return int(table.array("bytes")[0]) / sent if sent else np.nan


def _pauses(recording: Recording, end_ns: int) -> tuple[float, float]:
    table = recording.pauses
    if table is None:
        return np.nan, np.nan
    longest = int(table.array("paused_ns").max(initial=0))
    return float(table.array("pauses").sum()), longest / end_ns


def _trimmed(recording: Recording, canonical: Mapping[str, Any]) -> float:
    directions = (link[way] for link in canonical["links"] for way in ("forward", "reverse"))
    used = {name for direction in directions for name in _disciplines(direction.get("qdisc"))}
    if not any(map(registry.trims, used)):
        return np.nan
    table = recording.drops
    counts = zip(table.strings("verdict"), table.array("packets"), strict=True)
    return float(sum(packets for verdict, packets in counts if verdict == "trim"))


def _disciplines(qdisc: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the names of a queue discipline and of those inside it."""
    if qdisc:
        yield qdisc["type"]
        for child in qdisc.get("children", ()):
            yield from _disciplines(child)


def _goodputs(recording: Recording, described: Sequence[Mapping[str, Any]], end_ns: int) -> Floats:
    """Bytes acknowledged over the time that this took, of the flows without an end, in Mbps.

    Over TCP one that is stopped still sends what it had written by then.
    """
    table = recording.completions
    if table is None:
        return np.empty(0)
    is_endless = table.array("size_bytes") == 0
    flows = table.array("flow")[is_endless]
    is_tcp = [described[flow].get("transport", "TCP") == "TCP" for flow in flows.tolist()]
    until = np.where(is_tcp, end_ns, recording.flows.array("stop_ns")[flows])
    until = np.fmin(until, table.array("end_ns")[is_endless])
    time_ns = until - recording.flows.array("start_ns")[flows]
    goodputs: Floats = table.array("acked_bytes")[is_endless] * 8e3 / np.maximum(time_ns, 1)
    return goodputs


#: Of transports whose packets carry a write each, PPP's included.
_HEADERS = {"ROCE": 20 + 8 + 12 + 4 + 2, "TRIMMING": 64, "UDP": 20 + 8 + 2}


def _segment_bytes(flow: Mapping[str, Any]) -> int:
    if flow.get("transport") in _HEADERS:
        return _native.parse_size(flow["application"]["write"])
    return int(flow["tcp"].get("SegmentSize", _NS3_DEFAULT_SEGMENT_SIZE))


def _header_bytes(flow: Mapping[str, Any]) -> int:
    """Return what IP, TCP and PPP add to a segment of data; timestamps are on unless said.

    Over RoCE these are IP, UDP, the base transport header, its check sum and PPP.
    """
    if (other := _HEADERS.get(flow.get("transport", "TCP"))) is not None:
        return other
    has_timestamps = flow["tcp"].get("Timestamp", "true") == "true"
    return 20 + 20 + 2 + (12 if has_timestamps else 0)


def _is_endless(flow: Mapping[str, Any]) -> bool:
    application = flow.get("application", {})
    return (
        flow.get("transport", "TCP") != "UDP"
        and application.get("type") == "Greedy"
        and _native.parse_size(application["bytes"]) == 0
    )


def _stack_of(transfer: str, canonical: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the stack of a workload's transfer, which is called `<workload>_<n>`."""
    workload = transfer.rpartition("_")[0]
    stacks = {stack["name"]: stack for stack in canonical["stacks"]}
    of = {each["name"]: stacks[each["stack"]] for each in canonical["workloads"]}
    stack: Mapping[str, Any] = of[workload]
    return stack
