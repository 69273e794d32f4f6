"""What of ns-3 surprises who sees it: one text for `docs/what-ns3-does.md` and for the site."""

from __future__ import annotations

from dataclasses import dataclass

from ccperf.runs.diagnoses import RULES

TITLE = "What ns-3 does here"
LEAD = (
    "The engine does what ns-3 3.44 does, to the packet, also where that is a mistake of ns-3. So "
    "some numbers look wrong and are not ours to change: `ccperf verify ns3 --scenario FILE.toml` "
    "gives the same with real ns-3. These are the ones that you are most likely to meet."
)


@dataclass(frozen=True)
class Habit:
    """One thing that ns-3 does; backquotes make code."""

    #: What pages link to.
    anchor: str
    #: What is seen; may be empty, then the text says it.
    what: str
    text: str


@dataclass(frozen=True)
class Section:
    """Habits of one kind."""

    title: str
    habits: tuple[Habit, ...]


SECTIONS = (
    Section(
        "What the notes of a run mean",
        tuple(Habit(rule.name, rule.what, rule.text) for rule in RULES.values()),
    ),
    Section(
        "Values that look impossible",
        (
            Habit(
                "bbr-start",
                "TcpBbr stands still for most of a second at the start",
                "where the first losses come before the first sample of the rate: what waits is "
                "the retransmission timeout.",
            ),
            Habit(
                "bbr-phase",
                "TcpBbr: all flows probe in the same phase",
                "unless `Stream` differs: the phase of ProbeBW is drawn from stream 4 in every "
                "flow.",
            ),
            Habit("ssthresh", "`ssthresh` of 4,294,967,295 B", 'is "not set yet".'),
        ),
    ),
    Section(
        "Algorithms that are not what their papers say",
        (
            Habit(
                "departures",
                "",
                "ns-3's queue disciplines and congestion controls depart from their sources in "
                "many small things, and from what Linux has under the same name: "
                "`ccperf show cc cubic` says in which, and so does [Algorithms](algorithms.md).",
            ),
            Habit(
                "recovery",
                "",
                "A partial ACK in recovery sends a segment whatever the window says; duplicate "
                "ACKs while CWR start no fast retransmit; every retransmission timeout sets "
                "`ssthresh` anew.",
            ),
            Habit(
                "dctcp",
                "",
                "DCTCP's acknowledgement at a change of marks leaves out the last segment before "
                "it.",
            ),
            Habit(
                "seeds",
                "",
                "Seeds change nothing where nothing draws random numbers, which is most of the "
                "catalogue of the published pages.",
            ),
        ),
    ),
    Section(
        "Where ns-3 ends and the engine does not",
        (
            Habit(
                "third-band",
                "",
                "PrioQueueDisc's third band: its default map names a band that ns-3 does not "
                "create. ns-3 aborts; the engine uses the last band.",
            ),
            Habit(
                "never-returns",
                "",
                "TbfQueueDisc with a wait that rounds to 0 ns, TcpCubic with `Beta` below 0.2 and "
                "a window of a segment: ns-3 never returns.",
            ),
            Habit(
                "null-pointer",
                "",
                "A window that stays closed, or a reset at a port that has seen no SYN: ns-3 ends "
                "with a null pointer.",
            ),
        ),
    ),
)
