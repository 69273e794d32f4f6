"""What one side can be told to do as the other does, ns-3 or Linux: the causes that
`tools/linux_and_ns3.py` looks for, and the profile `linux`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

ALGORITHMS = ("TcpCubic", "TcpNewReno", "TcpDctcp", "TcpVegas", "TcpBbr")
#: Of these the profile `linux` has Linux's algorithm, too. For what differs with ns-3's class no
#: causes were looked for.
OTHERS = (
    *("TcpBic", "TcpHighSpeed", "TcpHtcp", "TcpHybla", "TcpIllinois", "TcpScalable", "TcpVeno"),
    *("TcpWestwoodPlus", "TcpYeah"),
)
Edit = Callable[[dict[str, Any]], object]


@dataclass(frozen=True)
class Switch:
    """What one side can be told to do as the other does it, or both to leave undone."""

    #: In a sentence of the page.
    cause: str
    #: Of each of the flows under test, and of the stacks of their kind.
    edit: Edit = dict.copy  # nothing
    profile: str = ""
    sysctls: tuple[tuple[str, int], ...] = ()
    #: Who is told.
    sides: tuple[str, ...] = ("native",)
    algorithms: tuple[str, ...] = ALGORITHMS
    #: Where it may matter; everywhere if empty.
    experiments: tuple[str, ...] = ()

    def is_for(self, cc: str, name: str) -> bool:
        """Whether it is worth trying."""
        return cc in self.algorithms and name in (self.experiments or (name,))


NOTHING = Switch("")


def socket(**attributes: str) -> Edit:
    """Other attributes of the socket."""
    return lambda flow: flow["tcp"].update(attributes)


def control(**attributes: str) -> Edit:
    """Other attributes of the congestion control."""
    return lambda flow: flow["cc"]["attributes"].update(attributes)


def another(kind: str) -> Edit:
    """Another congestion control."""
    return lambda flow: flow.update(cc={"type": kind, "attributes": {}})


def both(*edits: Edit) -> Edit:
    """One edit after another."""

    def edit(flow: dict[str, Any]) -> None:
        for each in edits:
            each(flow)

    return edit


TIMEOUTS = socket(MinRto="200ms", ConnTimeout="1s")
#: The engine's TCP made of Linux's parts, and its recovery as Linux has it.
LINUX = both(socket(Profile="linux"), TIMEOUTS, lambda flow: flow.update(recovery="TcpPrrRecovery"))
STACK = "ns-3's loss detection, recovery, timeouts and ACKs, all together (the profile `linux`)"
NO_EXIT = (
    "Linux's Vegas leaves slow start with the first loss here, ns-3's before, by smoothed RTTs "
    "(Gamma 100)"
)


def with_stack(cause: str, edit: Edit, cc: str) -> Switch:
    """An edit of an algorithm, and the profile `linux` as well."""
    return Switch(f"{cause} and {STACK}", both(edit, LINUX), algorithms=(cc,))


#: What has been tried, the simplest first.
SWITCHES: Mapping[str, Switch] = {
    "timeouts": Switch(
        "ns-3's least RTO is 1 s and its first SYN waits 3 s; Linux's are 200 ms and 1 s",
        TIMEOUTS,
    ),
    "loss": Switch(
        "ns-3's DCTCP answers a loss by alpha, as it does a mark; Linux's halves its window "
        "(RFC 8257 section 3.5)",
        another("TcpDctcpReno"),
        algorithms=("TcpDctcp",),
    ),
    "recovery": Switch(
        "ns-3 3.44's loss recovery, which later releases have corrected", profile="ns3-dev"
    ),
    "growth": Switch(
        "ns-3's NewReno adds a segment's square over cwnd for each ACK; Linux's counts segments",
        another("TcpLinuxReno"),
        algorithms=("TcpNewReno",),
    ),
    "late exit": Switch(
        "ns-3's Vegas is handed smoothed RTTs, Linux's raw ones: Linux's leaves slow start later "
        "and overshoots",
        control(Gamma="10"),
        algorithms=("TcpVegas",),
    ),
    "from above": Switch(
        "ns-3's Vegas is handed smoothed RTTs, Linux's raw ones: Linux's leaves slow start later "
        "and comes to beta from above, where ns-3's comes to alpha from below",
        control(Gamma="10", Alpha="4"),
        algorithms=("TcpVegas",),
    ),
    "loss and timeouts": Switch(
        "ns-3's DCTCP answers a loss by alpha, as it does a mark, and Linux's halves its window; "
        "and ns-3's least RTO is 1 s where Linux's is 200 ms",
        both(another("TcpDctcpReno"), TIMEOUTS),
        algorithms=("TcpDctcp",),
    ),
    "recovery and timeouts": Switch(
        "ns-3 3.44's loss recovery, which later releases have corrected, and its least RTO of 1 s "
        "where Linux's is 200 ms",
        TIMEOUTS,
        profile="ns3-dev",
    ),
    "growth, recovery and timeouts": Switch(
        "how ns-3's NewReno counts its growth, ns-3 3.44's loss recovery and its least RTO of 1 s, "
        "together",
        both(another("TcpLinuxReno"), TIMEOUTS),
        profile="ns3-dev",
        algorithms=("TcpNewReno",),
    ),
    "idle": Switch(
        "Linux begins with the initial window again after an idle RTO "
        "(`tcp_slow_start_after_idle`); ns-3 keeps its window",
        sysctls=(("tcp_slow_start_after_idle", 0),),
        sides=("linux",),
        experiments=("application_limited",),
    ),
    "hystart": Switch(
        "where HyStart leaves slow start: ns-3 asks for an ACK train of a whole RTT, Linux of half "
        "of it (HyStart off on both sides)",
        control(HyStart="false"),
        sides=("native", "linux"),
        algorithms=("TcpCubic",),
    ),
    "friendly": Switch(
        "the Reno-friendly region, whose window Linux computes 32 times a second at most (off on "
        "both sides)",
        control(TcpFriendliness="false"),
        sides=("native", "linux"),
        algorithms=("TcpCubic",),
    ),
    "RACK": Switch(
        "Linux finds losses by time (RACK) and probes for the last ones (TLP), where ns-3 counts "
        "duplicate ACKs",
        sysctls=(("tcp_recovery", 0), ("tcp_early_retrans", 0)),
        sides=("linux",),
    ),
    "stack": Switch(STACK, LINUX),
    "growth and stack": with_stack(
        "how ns-3's NewReno counts its growth,", another("TcpLinuxReno"), "TcpNewReno"
    ),
    "loss and stack": with_stack(
        "ns-3's DCTCP answers a loss by alpha, as it does a mark, and Linux's halves its window;",
        another("TcpDctcpReno"),
        "TcpDctcp",
    ),
    "late exit and stack": with_stack(
        "ns-3's Vegas is handed smoothed RTTs, Linux's raw ones, and leaves slow start later;",
        control(Gamma="10"),
        "TcpVegas",
    ),
    "from above and stack": with_stack(
        "ns-3's Vegas is handed smoothed RTTs, Linux's raw ones, and comes to beta from above;",
        control(Gamma="10", Alpha="4"),
        "TcpVegas",
    ),
    "no exit": Switch(NO_EXIT, control(Gamma="100"), algorithms=("TcpVegas",)),
    "no exit and stack": with_stack(f"{NO_EXIT};", control(Gamma="100"), "TcpVegas"),
    "no marks": Switch(
        "what each does about a mark (ECN off on both sides)",
        socket(UseEcn="Off"),
        sides=("native", "linux"),
        algorithms=("TcpVegas",),
        experiments=("ecn",),
    ),
}


#: What the engine has Linux's algorithm of, its TCP made of Linux's parts.
PROFILE: Mapping[str, Switch] = {
    "TcpCubic": Switch("", LINUX),
    "TcpNewReno": Switch("", both(another("TcpLinuxReno"), LINUX)),
    "TcpDctcp": Switch("", LINUX),
    "TcpVegas": Switch("", LINUX),
    "TcpBbr": Switch("", LINUX),
    **dict.fromkeys(OTHERS, Switch("", LINUX)),
}
