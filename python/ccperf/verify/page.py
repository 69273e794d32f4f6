"""The page on fidelity: one text for `docs/fidelity.md` and for the site.

What is said here is prose; what is counted comes from `fidelity`, what was measured from `record`,
and what differs from `departures`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ccperf.algorithms import judges, releases
from ccperf.verify import departures, expectations, fidelity, record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.algorithms import registry

TITLE = "Fidelity"
LEAD = (
    f"The same packets at the same nanosecond as ns-3 {fidelity.NS3_RELEASE}: what that means, "
    "what was compared, and what differs."
)
KINDS: dict[registry.Kind, str] = {
    "cc": "Congestion control",
    "qdisc": "Queue disciplines",
    "recovery": "Loss recovery",
    "routing": "Load balancing",
}


@dataclass(frozen=True)
class Table:
    """Rows of texts, in which backquotes make code, and numbers."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | int]]


@dataclass(frozen=True)
class Commands:
    """Lines to type."""

    text: str


#: A paragraph, in which backquotes make code, a table or commands.
Block: TypeAlias = str | Table | Commands


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    title: str
    blocks: Sequence[Block]

    @property
    def anchor(self) -> str:
        """Its id within the page, as Markdown's renderers make it."""
        return "".join(c for c in self.title.lower().replace(" ", "-") if c.isalnum() or c == "-")


def sections() -> list[Section]:
    """The page from top to bottom."""
    return [
        Section("The claim", [_found(), _CLAIM, _ROWS, _DRAWN]),
        Section("Check it yourself", [_COMMANDS, _MISMATCH]),
        Section("Random scenarios", [_RANDOM]),
        Section("Releases after 3.44", [_LATER, *_later(), _releases()]),
        Section(
            "What is compared",
            [
                "The matrix, `python/ccperf/verify/matrix.py`, is a list of scenarios in groups:",
                _groups(),
                _DEVICES,
                _JUDGES,
                "Each algorithm runs in so many of these scenarios:",
                *_algorithms(),
                "And so does each feature:",
                _features(),
                _BELOW,
            ],
        ),
        Section("How much of the code the matrix reaches", [_COVERAGE, _reached(), _unreached()]),
        Section(
            "Whether a mistake would be noticed",
            [
                _MISTAKES,
                _planted(),
                _RATES.format(**_rates()),
                _survivors(),
                _OWN.format(**record.mutants()["own"]),
                _unnoticed(),
            ],
        ),
        Section("What ns-3's own tests expect", [_EXPECTED, _expected()]),
        Section("Known deviations from ns-3", [_known(), _PINNED]),
        Section("Where ns-3 departs from RFCs, and the engine follows", [_FOLLOWED, _rfcs()]),
        Section("Where ns-3 ends", [_ENDS, _ends()]),
        Section("The published tables", [_PUBLISHED]),
        Section("Linux", [_LINUX]),
    ]


_CLAIM = (
    f"For every scenario that both backends can run, the packet trace is that of ns-3 "
    f"{fidelity.NS3_RELEASE} (the PyPI wheel): the same rows in the same order. There is no "
    "tolerance anywhere in the comparison. All tables of the recording and all metrics are the "
    "same, too, and so is every change of the senders' windows, state, retransmission timeout and "
    "pacing rate."
)
_ROWS = (
    "A row is what happens to a packet: time in ns, link, event, flow, sequence and "
    "acknowledgement number, sizes, flags, ECN bits, the reason of a drop or mark. It also has all "
    "else that a receiver could see: addresses, ports, type of service, window field, TCP options "
    "with timestamps and SACK blocks. IP's time to live is not modelled. IP's identification is "
    "there where packets may be cut into fragments."
)
_DRAWN = (
    "Random components draw the same numbers from the same streams. So scenarios with random "
    "loss, Poisson traffic, RED, PIE or BBR are compared in the same way. An on-off or constant "
    "source on the backend `ns3` is ns-3's own OnOffApplication."
)

_COMMANDS = Commands(
    """\
ccperf verify seeds                    # the published tables of ccperf.net
ccperf verify ns3                      # a representative part of the matrix
ccperf verify ns3 --full               # the whole matrix
ccperf verify ns3 --pattern 'ecn/*'    # one group of it
ccperf verify ns3 --fuzz 300 --seed 7  # random scenarios; one that differs is made smaller
ccperf verify ns3 --scenario my.toml   # yours
make coverage                          # how much of the TCP and queue code the matrix reaches
make mutants                           # mistakes planted in the engine: would they be noticed?
make record                            # the whole matrix and its coverage, for this page
make record NS3=~/ns-3.48              # the same with another ns-3, under the profile that fits"""
)

_RANDOM = (
    "Random scenarios, 200 each of ten seeds that had not been used (8237401 to 8237410), on "
    "2026-11-24: 1,983 of 2,000 packet-identical, and 17 in which ns-3 ended, with everything "
    "until then the same. Of 2,000 of five other seeds (7001, 424242, 990017, 31337001 and "
    "5550123), two days before, 1,980 were identical, and ns-3 ended in 20. Two seeds before these "
    "(733019 and 41999) had found a difference, a window of 0 that ours let grow, and pings whose "
    "answers a link could not carry; both were fixed first."
)
_MISMATCH = (
    "For a mismatch the first packet that differs is shown, with what stood around it on both "
    "sides and the senders' state."
)

_JUDGES = (
    "Who judged an algorithm says how much its numbers are worth. *ns-3's own class*: every packet "
    f"is that of ns-3 {fidelity.NS3_RELEASE}, written by others. *Our second writing*: a class "
    "that the driver adds to ns-3, written apart from the engine but by us, from the same "
    "description; a mistake in reading the paper would be in both. *Closed form*: laws that the "
    "paper states, held against the recorded packets "
    "(`tests/catalogue/test_balancer_laws.py`: which path each packet took, and what its sender "
    "had seen until then); what no law there says is unjudged. *The authors' code*: what the "
    "authors' simulator recorded of the same scenarios, with named tolerances "
    "([lossless.md](lossless.md#beside-the-authors-simulator)). *None* says that nobody did. "
    "`ccperf show cc NAME` (or `qdisc`, `routing`) says it of one."
)

_DEVICES = (
    "ns-3's point-to-point device has one transmit queue. In the group `mq` the driver gives it "
    "several, each with ns-3's own flow control, by the rule of `docs/design/contract.md`; "
    "everything above them is ns-3's."
)

_BELOW = (
    "`tests/scenario/test_graphs.py` compares random networks, too; `tests/exec/test_examples.py` "
    "131 command lines of ns-3's own example programs with what `tools/ns3_examples.py` "
    "recorded from the real programs, not from ccperf's driver. Below the level of whole runs, "
    "`tests/differential` replays random calls on each congestion control and each queue "
    "discipline and on ns-3's class, and compares bit by bit. The engine queues far fewer events "
    "than ns-3; a plain mode queues all of them, and `crates/engine/src/run/simulate/tests.rs` "
    "compares the two on random scenarios."
)

_COVERAGE = (
    "`make coverage` runs the matrix on an instrumented engine and counts the regions (pieces of "
    "code without a branch inside) that it reaches. It fails below 95 % of those that ns-3 has. "
    "`tools/unreached.toml` has the reasons for the rest line by line."
)

_MISTAKES = (
    "That a line runs does not say that anybody would notice it wrong. `make mutants` plants "
    "mistakes of one line in the engine (an operator, a constant, a condition turned round, a "
    "statement left out), builds it once, and switches them on one at a time. A mistake is noticed "
    "if, with it, the engine's tables or packets are not those that ns-3 confirmed for some "
    "scenario, or it breaks off or never ends. Those of the first line a reviewer thought of; the "
    "others are one in six of all places that `tools/mutation/places.py` finds, chosen by a "
    "hash. `make mutants` tries the former and a random tenth of the others, the tests a random "
    "thirtieth, `make mutants ALL=1` all. The engine's unit tests (but for six that take over a "
    "second each) and 300 random scenarios were asked about a random tenth of what the matrix "
    "notices, and about all that it does not:"
)

_RATES = (
    "Of what the matrix does not notice random scenarios notice {fuzz_of_rest:.0f} mistakes and "
    "unit tests {unit_of_rest:.0f}, on a bench where a socket or a queue is by itself. "
    "The daily part of the matrix notices {slice:.1f} %, the matrix {matrix:.1f} % of all; of "
    "those that are not shown to make no difference {noticeable:.1f} %. `tools/mutants.toml` has "
    "the reasons for the rest, mistake by mistake:"
)

_OWN = (
    "What ns-3 does not have, RACK-TLP and the rest of the profile `linux`, Prague with accurate "
    "ECN and DualPI2, BBRv3 and Copa, no recorded scenario judges. `python tools/mutants.py --own` "
    "plants mistakes there in the same way, and asks tests that are written from RFCs, drafts and "
    "papers: of {planted} mistakes unit tests notice {unit}, laws and published figures of whole "
    "runs {whole} of the others. Records of what the engine did before do not count. The rest:"
)

_EXPECTED = (
    "ns-3's test suites write numbers down, or compute them by the formula of a paper: a window "
    "after so many acknowledgements, a threshold after a loss. These are facts about inputs and "
    "results. `tests/differential` asks the engine: it calls congestion controls and queue "
    "disciplines as the suites call ns-3's classes, and runs their whole connections, losing what "
    "they lose; two suites have recorded every segment that a sender sends, and the engine's "
    "sender sends the same. Unit tests of the engine (`ns3_suites.rs`, `ns3_calls.rs`) have the "
    "cases in which the peer of a socket is of the suite's own making. None differs:"
)

_PINNED = (
    "The tests are in `tests/verify/test_departures.py`, "
    "in `crates/engine/src/net/qdisc/tbf.rs` "
    "and in `crates/engine/src/host/congestion/westwood.rs`."
)

_FOLLOWED = (
    "Stated in the code where it happens. The most visible, each with a scenario of the matrix in "
    "which it happens:"
)

_ENDS = (
    "The wheel is built with assertions, and some legal paths end in one. With some attributes it "
    "divides by zero or does not return; a random scenario is ended after a minute of processor "
    "time. `ccperf verify` counts such runs apart: what ns-3 did until then is compared. "
    "`tests/verify/test_departures.py` shows these with real ns-3:"
)

_LINUX = (
    "ns-3 is what the engine equals; how far both are from the TCP of a Linux kernel is measured, "
    "not held to. [Linux and ns-3](linux-and-ns3.md) has, for each experiment, where segments "
    "differ and how far metrics differ, with causes; [the profile `linux`](linux-profile.md) is "
    "nearer to it."
)
_PUBLISHED = (
    "They were made with a development version of ns-3 of mid-2024. The one thing in them that "
    f"{fidelity.NS3_RELEASE} does differently is proportional rate reduction; the older form is "
    "the recovery `PrrRfc6937`, with which all 196 trusted values are reproduced at the printed "
    "digits. Two network tables that belong to other runs, and are null in our copy, are not "
    "compared."
)


_LATER = (
    "The engine is these releases, too, by their profiles (`ccperf list profiles`, "
    "[ns-3](ns3.md)). Each was built from ns-3's public repository, and compared under its "
    "profile; `make record NS3=PATH` repeats it. The tests hold the engine to fingerprints of a"
    " part of these scenarios. `ns3-dev` is a release's routers, too: since 18 July 2026 (commit "
    "22f433929, #825) one that has no route for a packet answers with an ICMP message. One "
    "difference is known: where such a message meets a router without a route itself, ns-3 sends "
    "a message about the message, against RFC 1812 section 4.3.2.7, and we do not."
)


def _later() -> list[str]:
    """A sentence for each record of a release after 3.44."""
    return [_one_later(name, found) for name, found in _records().items()]


def _one_later(name: str, found: record.Record) -> str:
    judge, compared = found.judge, len(found.scenarios)
    version = found.ns3.partition("+")[0].rpartition("-")[0]
    parts = [f"commit {judge.commit[:9]}" * bool(judge.commit)]
    parts += [f"build profile {judge.build}" * bool(judge.build)]
    of = f" ({', '.join(filter(None, parts))})" if any(parts) else ""
    text = (
        f"`{name}`: ns-3 {version}{of}, "
        f"{compared} scenarios of the matrix, {compared - len(found.different)} identical"
    )
    if found.different:
        text += f", and not {', '.join(found.different)}"
    return f"{text}. {_drawn(found.random)}".rstrip()


def _drawn(found: record.Random) -> str:
    """What came of a record's random scenarios."""
    if not found.scenarios:
        return "No random scenarios."
    text = (
        f"Random scenarios, seed {', '.join(map(str, found.seeds))}: {found.identical} of "
        f"{found.scenarios} identical"
    )
    for who in ("ns-3", "driver"):
        ended = [end for end in found.ended if end.by == who]
        if ended:
            text += f", {len(ended)} ended by {'ns-3 itself' if who == 'ns-3' else 'our driver'}"
    return f"{text}, {len(found.different)} different."


def _found() -> str:
    last, matrix = record.last(), fidelity.last().total
    compared, different = len(last.scenarios), len(last.different)
    verdict = (
        f"all {compared:,} were packet-identical"
        if not different
        else f"{compared - different:,} were packet-identical, and not {', '.join(last.different)}"
    )
    ours, engine = last.ccperf.split("+")
    ns3, driver = last.ns3.split("+")
    return (
        f"In the last record ccperf {ours} (engine `{engine}`) was compared with ns-3 {ns3} "
        f"(driver `{driver}`) on {compared:,} scenarios, {last.rows:,} rows of packet traces: "
        f"{verdict}. {matrix.recorded:,} of {matrix.scenarios:,} scenarios of today's matrix are "
        "in the record."
    )


def _groups() -> Table:
    return Table(
        "Scenarios by group",
        ["group", "scenarios", "what it varies", "for example", *_titles()],
        [
            [group.name, group.scenarios, group.about, f"`{group.example}`", *_of_group(group.name)]
            for group in fidelity.last().groups
        ],
    )


def _records() -> dict[str, record.Record]:
    """The records of releases after 3.44, by profile."""
    names = [name for name in releases.releases() if name != releases.default()]
    return {name: found for name in names if (found := record.of_release(name))}


def _titles() -> list[str]:
    return [f"identical as `{name}`" for name in _records()]


def _of_group(name: str) -> list[str]:
    """Identical of compared, in each of these records."""
    return [
        "{} of {}".format(*found) if (found := one.of_group(name))[1] else "–"
        for one in _records().values()
    ]


def _releases() -> Table:
    return Table(
        "Releases of ns-3",
        ["profile", "compared with", "scenarios", "identical", "rows of packet traces"],
        [
            [
                f"`{name}`",
                f"ns-3 {one.ns3.partition('+')[0]}",
                len(one.scenarios),
                len(one.scenarios) - len(one.different),
                f"{one.rows:,}",
            ]
            for name, one in {releases.default(): record.last(), **_records()}.items()
        ],
    )


def _algorithms() -> list[Table]:
    head = ["algorithm", "judged by", "scenarios", "in the record", "identical"]
    return [
        Table(
            title,
            head,
            [
                [name, judges.kind(name), *_numbers(count)]
                for name, count in fidelity.last().algorithms[kind].items()
            ],
        )
        for kind, title in KINDS.items()
    ]


def _features() -> Table:
    return Table(
        "Features",
        ["scenarios with", "scenarios", "in the record", "identical"],
        [[name, *_numbers(count)] for name, count in fidelity.last().features.items()],
    )


def _numbers(count: fidelity.Count) -> tuple[int, int, int]:
    return count.scenarios, count.recorded, count.identical


def _reached() -> Table:
    return Table(
        "Code reached",
        ["code", "regions", "reached", "of those that ns-3 has"],
        [
            [
                f"`crates/engine/src/{folder}`",
                numbers["regions"],
                *(
                    f"{100 * numbers['reached'] / numbers[of]:.1f} %"
                    for of in ("regions", "in_ns3")
                ),
            ]
            for folder, numbers in record.coverage()["reached"].items()
        ],
    )


def _unreached() -> Table:
    return Table(
        "Code not reached",
        ["why not", "regions"],
        [[reason, count] for reason, count in record.coverage()["unreached"].items()],
    )


def _planted() -> Table:
    head = [
        "code",
        "planted",
        "noticed by the daily part",
        "by the matrix",
        "by random scenarios",
        "by unit tests",
        "not noticed by the matrix, with a reason",
    ]
    return Table(
        "Mistakes planted",
        head,
        [
            [
                area,
                *(numbers[column] for column in ("planted", "slice", "matrix")),
                *(f"{numbers[by]} of {numbers[f'{by}_asked']}" for by in ("fuzz", "unit")),
                numbers["explained"],
            ]
            for area, numbers in record.mutants()["areas"].items()
        ],
    )


def _rates() -> Mapping[str, float]:
    areas = record.mutants()["areas"].values()
    planted, caught, daily = (
        sum(area[column] for area in areas) for column in ("planted", "matrix", "slice")
    )
    equivalent = sum(
        each["mistakes"] for each in record.mutants()["survivors"] if each["equivalent"]
    )
    return {
        "slice": 100 * daily / planted,
        "matrix": 100 * caught / planted,
        "noticeable": 100 * caught / (planted - equivalent),
        **{what: sum(area[what] for area in areas) for what in ("fuzz_of_rest", "unit_of_rest")},
    }


def _survivors() -> Table:
    return Table(
        "Mistakes not noticed",
        ["why not", "makes no difference", "mistakes"],
        [
            [each["reason"], "yes" if each["equivalent"] else "it may", each["mistakes"]]
            for each in record.mutants()["survivors"]
        ],
    )


def _unnoticed() -> Table:
    return Table(
        "Mistakes not noticed where ns-3 is no judge",
        ["why not", "makes no difference", "mistakes"],
        [
            [each["reason"], "yes" if each["equivalent"] else "it may", each["mistakes"]]
            for each in record.mutants()["own"]["unnoticed"]
        ],
    )


def _expected() -> Table:
    return Table(
        "Expectations of ns-3's test suites",
        ["suites of ns-3", "cases", "asked of the engine", "the same", "not asked, and why"],
        [
            [suite.name, suite.cases or "–", suite.same, suite.same, suite.rest or "–"]
            for suite in expectations.SUITES
        ],
    )


def _known() -> Table:
    return Table(
        "Where the engine does not do what ns-3 does",
        ["what", "reason", "pinned by"],
        [[each.what, each.reason, f"`{each.test}`"] for each in departures.KNOWN],
    )


def _rfcs() -> Table:
    return Table(
        "Where ns-3 does not do what a standard says",
        ["what ns-3 does", "against", "shown by"],
        [[each.what, each.source, f"`{each.case}`"] for each in departures.AGAINST_RFCS],
    )


def _ends() -> Table:
    return Table(
        "Legal scenarios that ns-3 does not survive",
        ["where", "ns-3", "shown by"],
        [[each.what, each.how, f"`{each.test}`"] for each in departures.ENDS],
    )
