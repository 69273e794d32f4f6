"""The engine: conversions of units, checks and lowering of scenarios, simulation."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import ClassVar, Final, Literal, TypeAlias, final

import numpy as np
import numpy.typing as npt

Column: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float64] | list[str]

#: As many links, flows with pings, and transfers with these a run may have.
MAX_LINKS: int
MAX_ENDPOINTS: int
MAX_FLOWS: int

#: The version of the interface of user code (``CCPERF_ABI_VERSION``).
INTERFACE: int

#: SHA-256 of the engine's sources, in hex.
ENGINE_HASH: str

#: Of the package, which is built with the engine.
VERSION: str

# Units. Parsing is exact and case-sensitive; ValueError says what is wrong with the text.

def parse_time(text: str) -> int:
    """Nanoseconds; 2**63 - 1 for ns-3's largest time, which means "never"."""

def parse_rate(text: str) -> int:
    """Bit/s."""

def parse_size(text: str) -> int:
    """Bytes."""

def parse_queue_size(text: str) -> tuple[int, Literal["p", "B"]]:
    """A limit and its unit, packets or bytes."""

def format_time(ns: int) -> str: ...
def format_rate(bps: int) -> str: ...
def format_size(bytes: int) -> str: ...
def format_queue_size(n: int, unit: Literal["p", "B"]) -> str: ...

# Algorithms.

def uniform_integers(run: int, stream: int, least: int, most: int, count: int) -> list[int]:
    """The first `count` whole numbers from `least` to `most` of a stream, as ns-3 draws them.

    `stream` as in a scenario: from 0 on one assigned explicitly, -1 - n the nth of ns-3's own.
    """

def registry() -> str:
    """JSON: the lists ``cc``, ``qdisc`` and ``recovery`` of algorithms, and ``socket`` for TCP's
    own attributes. Each has ``ns3``, ``linux`` (names), ``doc``, ``source``, ``departures`` (what
    ns-3 does otherwise, a clause each) and ``params``; a parameter has ``ns3``, ``linux``,
    ``kind``, ``default``, ``doc``, ``min`` and ``max`` or ``words``, and ``since``: the release of
    ns-3 that it came with, null for 3.44. Besides, ``changes``: what ns-3 has changed since 3.44,
    and ``releases``: profiles by ``name``, each with the names of the changes that it has."""

def resolve(table: str, name: str) -> str:
    """The ns-3 name of an algorithm of the table ``cc``, ``qdisc`` or ``recovery`` given under any
    of its names; ValueError with the nearest name."""

# Statistics over samples of shape (points, columns), over the values that are not NaN; NaN where
# there are none. They add as NumPy does, to the last bit.

def mean(series: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The plain mean of each column."""

def cov(series: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The coefficient of variation of each column: sample deviation (ddof 1) over mean."""

def percentiles(series: npt.NDArray[np.float64], percent: int) -> npt.NDArray[np.float64]:
    """The nearest-rank percentile of each column: the least value that at least `percent` % of the
    column's values do not exceed."""

def row_sums(series: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The sum of each row."""

def rates(counter: npt.NDArray[np.int64], interval_ns: int) -> npt.NDArray[np.float64]:
    """What a counter of bytes gains from each row to the next, in Mbps, rounded down to whole
    bit/s."""

# Scenarios, as JSON. ccperf.errors.ScenarioError carries everything that is wrong.

def confine(folders: Sequence[str], files: Sequence[str]) -> None:
    """Let this thread, and all that it starts, write there only, and reach no network.

    Beneath `folders` and to `files`, which exist; not even there are modes, owners, times and
    attributes of files changed. Nor are limits and priorities of other processes, and from Linux
    6.12 on these get no signals. There is no way back. Raises OSError where the system cannot do
    that: it takes a Linux with Landlock (5.19 or newer).
    """

def canonical(scenario_json: str) -> str:
    """Every default filled in, units and names normalised."""

def lower(scenario_json: str) -> str:
    """The flat form that backends run (``crates/schema/src/lowered.rs``)."""

def settings(scenario_json: str) -> str:
    """What :func:`what_if` can change, as the scenario has it, as JSON
    (``crates/schema/src/settings.rs``)."""

def what_if(scenario_json: str, settings_json: str) -> str:
    """The canonical form of the scenario with other settings. ScenarioError with the names of
    settings that it cannot have."""

# Simulation.

def schema() -> str:
    """JSON: the tables of a recording, in order. Each has ``name``, ``row`` (what a row is),
    ``optional`` and ``columns``; a column has ``name``, ``kind`` (``int``, ``float`` or ``str``),
    ``unit`` and ``description``."""

@final
class Simulation:
    """One run of a lowered scenario on this engine, all at once or step by step."""

    def __new__(
        cls,
        lowered_json: str,
        packets: str | PathLike[str] | None = None,
        monitor: str | PathLike[str] | None = None,
    ) -> Simulation:
        """``packets``: where to write the packet trace; ``monitor``: a file in which to report
        where user code is. OSError if that cannot be done; RunError, here and below, if user code
        fails."""

    @property
    def stop_ns(self) -> int:
        """When the scenario ends."""

    def run_until(self, time_ns: int) -> bool:
        """Simulate up to and including a time; false when the scenario's end is reached. Other
        threads go on meanwhile."""

    def run_for(self, events: int) -> int | None:
        """Simulate the next so many events; the simulated time in ns, None at the scenario's end.
        Other threads go on meanwhile."""

    def finish(self) -> dict[str, dict[str, Column] | LongTable]:
        """Simulate the rest and return the tables by name; OSError if the packet trace could not
        be written, RunError if the engine fails. The simulation cannot be used after that."""

def run_for_digest(lowered_json: str) -> tuple[dict[str, dict[str, Column] | LongTable], str]:
    """Simulate, and return the tables and the 128 bits of XXH3 over the packet trace with headers,
    which is nowhere else. OSError and RunError as in :class:`Simulation`."""

def run_in_parts(
    lowered_json: str, threads: int, watch: Callable[[float], None]
) -> dict[str, dict[str, Column] | LongTable] | str:
    """Simulate parts of a network side by side, on at most so many threads; the tables are those of
    :class:`Simulation`, to the byte. ``watch`` is told the part that is done, from 0 to 1, again
    and again; what it raises ends the run. A text says why one thread is to run it: it ends a
    sentence that begins with "this run". OSError and RunError as there."""

@final
class ExternalControl:
    """In place of a method ``cong_control`` of a congestion control: it takes over a window and a
    pacing rate at each ACK, and calls no Python. An `Episode` sets them."""

    def __new__(cls) -> ExternalControl: ...

@final
class Interval:
    """What the sender of an agent's flow has seen from one step to the next."""

    #: Of each number of an observation the largest value; the least is 0.
    LARGEST: ClassVar[list[float]]

    def __new__(
        cls,
        now: float,
        seconds: float,
        delivered: int,
        lost: int,
        srtt: float,
        rtt: float,
        min_rtt: float,
        cwnd: int,
        in_flight: int,
        segment_size: int,
        capacity: float,
        highest: float,
    ) -> Interval: ...
    @property
    def now(self) -> float:
        """Simulated time at its end, in s."""

    @property
    def seconds(self) -> float:
        """How long it was."""

    @property
    def delivered(self) -> int:
        """Bytes delivered in it."""

    @property
    def lost(self) -> int:
        """Bytes found lost in it."""

    @property
    def srtt(self) -> float:
        """The smoothed round trip at its end, in s; this one and the next two are 0 before the
        first sample."""

    @property
    def rtt(self) -> float:
        """The last round trip, in s."""

    @property
    def min_rtt(self) -> float:
        """The least round trip so far, in s."""

    @property
    def cwnd(self) -> int:
        """The window of the last action, in bytes."""

    @property
    def in_flight(self) -> int:
        """Bytes in flight at its end."""

    @property
    def segment_size(self) -> int:
        """Bytes of a whole segment."""

    @property
    def capacity(self) -> float:
        """Bit/s of the slowest link at its start, which no sender knows."""

    @property
    def highest(self) -> float:
        """The highest throughput of a step so far, in bit/s."""

    @property
    def throughput(self) -> float:
        """Delivered per time, in bit/s."""

    @property
    def loss(self) -> float:
        """The share of what was found lost, from 0 to 1."""

    def observe(self) -> npt.NDArray[np.float32]:
        """Six numbers that a sender knows, each cut at ``ccperf.gym.OBSERVED``.

        Throughput over the highest so far; smoothed and last round trip over the least one, less 1;
        the share of losses; bytes in flight over the window; log2 of the window in segments, over
        20.
        """

    def reward(self) -> float:
        """The used share of the capacity, less 1/4 of the queueing delay in least round trips,
        less 10 times the share of losses."""

@final
class Episode:
    """A run in the hands of agents (``ccperf.gym``), and how far it is."""

    @staticmethod
    def begin(
        simulation: Simulation,
        ends: Sequence[Sequence[ExternalControl]],
        interval: str,
        action: str,
        capacity: float,
    ) -> Episode | None:
        """Run to the first ACK of data of each agent; None if the run ends before.

        ``ends``: of each agent's flow the controls of its ends, of which the sender's hears of
        delivered data; ``interval``: ``rtt``, ``ack`` or a number of ns; ``action``: ``cwnd``,
        ``rate`` or ``both``.
        """

    def first(self) -> list[Interval]:
        """What agents know before their first step."""

    def step(self, action: npt.NDArray[np.float32]) -> tuple[list[Interval], bool]:
        """Set windows and rates, one agent after the other, and run a step: what each has seen, and
        whether the run goes on. UsageError for what is no action, and after the end; RunError if
        user code fails. After an error the episode is over."""

    def step_alone(self, action: npt.NDArray[np.float32]) -> tuple[Interval, bool]:
        """The same of the one agent."""

def step_episodes(
    episodes: Sequence[Episode], actions: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64], npt.NDArray[np.bool_], list[Interval]]:
    """A step of each of several episodes with one agent: observations and rewards, a row each,
    whether each goes on, and what each has seen. Errors as of ``Episode.step``."""

@final
class LongTable:
    """A table of so many rows, most of which are in a temporary file without a name."""

    rows: Final[int]

    def read(self) -> dict[str, Column]:
        """The columns; OSError if the file cannot be read. Other threads go on meanwhile."""

# Tables in files.

def read_parquet(
    file: bytes, rows: int | None, allowed: int, left_out: Sequence[str]
) -> dict[str, Column]:
    """The columns of a Parquet file as ccperf writes them, in order, but for some. ValueError for
    any other file, for another number of rows (None: any), and where it expands to more than
    `allowed` bytes. Other threads go on meanwhile."""

def write_parquet(columns: Sequence[tuple[str, Column]], compressed: bool) -> bytes:
    """The Parquet file of these columns, which `read_parquet` reads. ValueError for columns of
    unequal length. Other threads go on meanwhile."""

def metric_text(columns: Mapping[str, Mapping[str, float]]) -> str | None:
    """`{column: {metric: value}}` as JSON, as Python's `json` writes it without blanks and with all
    letters as they are, but for the last digit of some numbers beyond 10**11, where two digits are
    as short and as near; None if a value is not finite."""

# Algorithms of the user's own.

def user_calls() -> list[str]:
    """The functions of user code by their numbers in the monitor's file, from 1 on."""

def callbacks() -> list[str]:
    """The functions of a congestion control, in the order of their declaration."""

def interface() -> str:
    """JSON: ``version``, the ``callbacks`` of a congestion control, the fields of ``tcb`` and
    ``sample``, and the ``words`` of enumerations."""

def is_user_code(name: str) -> bool:
    """Whether an algorithm's name stands for a shared library or a Python class."""

@final
class Tcb:
    """A connection's state as a congestion control sees it: windows and sizes in bytes, times in
    nanoseconds of simulated time. What has a setter may be changed."""

    # generated: tcb (make docs)
    #: At least one segment.
    cwnd: int
    ssthresh: int
    #: At least 1.
    pacing_rate_bps: int
    #: Whether segments are spaced.
    pacing: bool
    #: Percent of cwnd / sRTT, in slow start.
    pacing_ss_ratio: int
    #: The same in congestion avoidance.
    pacing_ca_ratio: int
    use_ecn: Literal["off", "on", "accept_only"]
    ecn_mode: Literal["classic", "dctcp", "accurate"]
    ecn_state: Literal["disabled", "idle", "ce_rcvd", "sending_ece", "ece_rcvd", "cwr_sent"]
    #: The code point of data segments, ECT(0) or ECT(1).
    ect: Literal["not_ect", "ect1", "ect0", "ce"]
    @property
    def now_ns(self) -> int:
        """The time of the call."""
    @property
    def cong_state(self) -> Literal["open", "disorder", "cwr", "recovery", "loss"]: ...
    @property
    def is_cwnd_limited(self) -> bool:
        """The window, not the application, limited the last transmission."""
    @property
    def is_retrans_data_acked(self) -> bool:
        """The present ACK covers data that had been retransmitted; set in Recovery only."""
    @property
    def pace_initial_window(self) -> bool: ...
    @property
    def segment_size(self) -> int: ...
    @property
    def initial_cwnd(self) -> int:
        """In segments."""
    @property
    def initial_ssthresh(self) -> int: ...
    @property
    def bytes_in_flight(self) -> int:
        """Sent, neither acknowledged nor SACKed nor deemed lost (RFC 6675's pipe)."""
    @property
    def last_acked_sacked(self) -> int:
        """Newly acknowledged or SACKed by the present ACK."""
    @property
    def last_rtt_ns(self) -> int | None:
        """The sample of the last ACK that gave one, in whole ms if timestamps are on, as in ns-3;
        in whole us under the profile `linux`. None before the first sample."""
    @property
    def srtt_ns(self) -> int | None:
        """None before the first sample."""
    @property
    def min_rtt_ns(self) -> int | None:
        """None before the first sample."""
    @property
    def max_pacing_rate_bps(self) -> int: ...
    @property
    def last_acked_seq(self) -> int: ...
    @property
    def next_tx_seq(self) -> int:
        """SND.NXT."""
    @property
    def high_tx_mark(self) -> int:
        """The highest sequence number sent so far, plus one."""
    @property
    def next_rx_seq(self) -> int:
        """RCV.NXT."""
    @property
    def rcv_timestamp(self) -> int:
        """TSval of the last segment received, in ms."""
    @property
    def rcv_timestamp_echo(self) -> int:
        """The TSecr in it."""
    # end: tcb

@final
class RateSample:
    """What one ACK says (Linux's ``ack_sample`` and ``rate_sample``;
    draft-cheng-iccrg-delivery-rate-estimation)."""

    # generated: sample (make docs)
    @property
    def rtt_ns(self) -> int | None:
        """From the departure to the acknowledgement of the segment that was sent last among those
        that this ACK has newly acknowledged or SACKed, not rounded. None if one of them was
        retransmitted: the ACK may be the original's (Karn's algorithm, RFC 6298 section 3)."""
    @property
    def acked_sacked(self) -> int:
        """Bytes that this ACK has newly acknowledged or SACKed."""
    @property
    def newly_lost(self) -> int:
        """Bytes found lost since the ACK before; what is lost again counts again."""
    @property
    def delivery_rate_bps(self) -> int:
        """`delivered` over `interval_ns`; of an earlier sample, if this one is limited by the
        application and lower."""
    @property
    def interval_ns(self) -> int:
        """The longer of the two phases below; 0 if the sample is of no use."""
    @property
    def delivered(self) -> int:
        """Bytes over the interval; -1 without timing information."""
    @property
    def prior_delivered(self) -> int:
        """`total_delivered` when the sampled segment was sent."""
    @property
    def prior_time_ns(self) -> int:
        """When the last of those had been delivered; 0 without a sample."""
    @property
    def send_elapsed_ns(self) -> int:
        """From the departure of the segment delivered at `prior_time_ns` to that of the sampled
        one."""
    @property
    def ack_elapsed_ns(self) -> int:
        """From `prior_time_ns` to the delivery of the sampled segment."""
    @property
    def bytes_loss(self) -> int:
        """By how many bytes this ACK changed what counts as lost, up or down (ns-3's
        `m_bytesLoss`)."""
    @property
    def prior_in_flight(self) -> int:
        """Bytes in flight before this ACK."""
    @property
    def total_delivered(self) -> int:
        """Bytes delivered since the connection's start."""
    @property
    def total_lost(self) -> int:
        """Bytes found lost since the connection's start."""
    @property
    def delivered_time_ns(self) -> int:
        """When bytes were delivered last."""
    @property
    def first_sent_time_ns(self) -> int:
        """When the segment that was delivered last had been sent."""
    @property
    def app_limited(self) -> int:
        """`total_delivered` at which the application-limited phase ends, or 0."""
    @property
    def is_app_limited(self) -> bool:
        """The application, not the window, limited what was sent."""
    # end: sample

@final
class Packet:
    """A packet as a queue discipline sees it."""

    @property
    def id(self) -> int:
        """Unique among the packets that are alive."""
    @property
    def source(self) -> int:
        """IPv4 address, as the destination."""
    @property
    def destination(self) -> int: ...
    @property
    def source_port(self) -> int: ...
    @property
    def destination_port(self) -> int: ...
    @property
    def bytes(self) -> int:
        """Size of the IP packet."""
    @property
    def payload(self) -> int:
        """Size of the TCP segment's payload."""
    @property
    def enqueued_ns(self) -> int:
        """When it arrived."""
    @property
    def ecn(self) -> Literal["not_ect", "ect1", "ect0", "ce"]: ...
    @property
    def protocol(self) -> int: ...
    @property
    def flow(self) -> int:
        """A number for what addresses and ports tell apart; both directions have it."""
    @property
    def backward(self) -> bool:
        """From the flow's destination to its source."""
    @property
    def seq(self) -> int: ...
    @property
    def ack(self) -> int: ...
    @property
    def flags(self) -> int:
        """The TCP header's, as 0x10 for ACK."""
    @property
    def dscp(self) -> int:
        """Differentiated services code point (RFC 2474)."""

@final
class Queue:
    """A device's queue as its queue discipline sees it. What the methods ask for is done when the
    discipline's method has returned, in the order of the calls."""

    @property
    def now_ns(self) -> int: ...
    @property
    def packets(self) -> int:
        """In the discipline, without the one that arrives."""
    @property
    def bytes(self) -> int: ...
    @property
    def rate_bps(self) -> int:
        """Of the link."""
    def mark(self, packet: Packet, reason: str) -> bool:
        """Set the CE mark if the packet is ECN capable; whether it is marked now."""
    def drop(self, packet: Packet, reason: str) -> None:
        """Drop a packet of the queue; the arriving one, if ``enqueue`` then returns false. A
        reason is one of a few texts, by which drops are counted."""
    def set_timer(self, delay_ns: int, tag: int = 0) -> None:
        """Call the discipline's ``timer(tag)`` once, after this time."""

@final
class SchedulerClass:
    """A class of a scheduler, as it was when the call began."""

    @property
    def number(self) -> int: ...
    @property
    def packets(self) -> int:
        """Those that wait."""
    @property
    def bytes(self) -> int: ...
    @property
    def head(self) -> Packet | None:
        """What it would send, with ``sees_heads``; None if nothing waits."""

@final
class Departure:
    """A packet that a host sends, as its load balancer sees it. Nodes are numbered as the scenario
    lists them, from 0."""

    @property
    def now_ns(self) -> int: ...
    @property
    def kind(self) -> Literal["new", "retransmission", "timeout", "control"]: ...
    @property
    def flow(self) -> int: ...
    @property
    def backward(self) -> bool: ...
    @property
    def hash(self) -> int:
        """64 bits of addresses, protocol and ports in this direction, each depending on all."""
    @property
    def source(self) -> int: ...
    @property
    def destination(self) -> int: ...
    @property
    def source_leaf(self) -> int: ...
    @property
    def destination_leaf(self) -> int: ...
    @property
    def bytes(self) -> int:
        """Size of the IP packet."""
    @property
    def payload(self) -> int: ...
    @property
    def paths(self) -> int:
        """How many there are."""
    @property
    def answers(self) -> int | None:
        """The path of the last packet that came back for the flow."""
    @property
    def is_idle(self) -> bool:
        """Nothing of this flow and direction is in flight."""
    @property
    def sent_bytes(self) -> int:
        """What the flow has sent in this direction, IP headers and this packet included."""

@final
class Arrival:
    """An acknowledgement that comes to a host, as its load balancer sees it. `flow`, `backward`,
    `source` and `destination` are of the data that it acknowledges."""

    @property
    def now_ns(self) -> int: ...
    @property
    def flow(self) -> int: ...
    @property
    def backward(self) -> bool: ...
    @property
    def source(self) -> int: ...
    @property
    def destination(self) -> int: ...
    @property
    def source_leaf(self) -> int: ...
    @property
    def destination_leaf(self) -> int: ...
    @property
    def newly_acked(self) -> int:
        """Bytes that are acknowledged for the first time, SYN and FIN included."""
    @property
    def is_marked(self) -> bool:
        """With ECE."""
    @property
    def path(self) -> int | None:
        """The path of the packet that it answers."""
    @property
    def rtt_ns(self) -> int | None:
        """A round trip, of one segment at a time that was not sent again."""

@final
class Hop:
    """A packet as a load balancer sees it at a switch. Nodes are numbered as the scenario lists
    them, from 0."""

    @property
    def flow(self) -> int:
        """A number for what a switch would know by addresses and ports; both directions have it."""
    @property
    def backward(self) -> bool:
        """From the flow's destination to its source."""
    @property
    def hash(self) -> int:
        """64 bits of addresses, protocol and ports in this direction, each depending on all."""
    @property
    def source(self) -> int:
        """The host that sent it."""
    @property
    def destination(self) -> int:
        """The host that it is for."""
    @property
    def source_leaf(self) -> int:
        """The switch that the source is behind."""
    @property
    def destination_leaf(self) -> int: ...
    @property
    def bytes(self) -> int:
        """Size of the IP packet."""
    @property
    def payload(self) -> int:
        """Size of the TCP segment's payload."""
    @property
    def seq(self) -> int: ...
    @property
    def ack(self) -> int: ...
    @property
    def flags(self) -> int:
        """The TCP header's, e.g. 0x10 for ACK."""
    @property
    def ecn(self) -> Literal["not_ect", "ect1", "ect0", "ce"]: ...
    @property
    def notes(self) -> tuple[int, int, int]:
        """What switches wrote on it for those behind them, 32 bits each; (0, 0, 0) from a host."""
    @notes.setter
    def notes(self, notes: tuple[int, int, int]) -> None: ...

@final
class SwitchPort:
    """A port of a switch, as it was when the call began."""

    @property
    def number(self) -> int:
        """The same for as long as the network lives."""
    @property
    def waiting_bytes(self) -> int:
        """IP packets in its queue discipline, and frames in its device; not what is being sent."""
    @property
    def sent_bytes(self) -> int:
        """Of the transmissions begun so far."""
    @property
    def rate_bps(self) -> int: ...

@final
class Switch:
    """A switch as its load balancer sees it during a call."""

    @property
    def now_ns(self) -> int: ...
    @property
    def node(self) -> int:
        """Its number among the scenario's nodes, from 0."""
    @property
    def ports(self) -> list[SwitchPort]:
        """In ``pick`` those to choose from, in ``tick`` all, in the order of links."""
