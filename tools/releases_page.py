"""``docs/releases.md``: what a release of ns-3 changes in results, of `between_releases.last()`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ccperf.algorithms import releases
from ccperf.base.wording import counted
from ccperf.experiments.catalogue import EXPERIMENTS
from ccperf.verify import between_releases
from ccperf.verify.between_releases import Effect, Measured

#: The release whose conclusions are compared with those of 3.44.
NEWEST = "ns3-dev"
_INTRO = """\
# What a release of ns-3 changes

After 3.44 (March 2025) ns-3 corrected its loss recovery, BBR, LEDBAT, Vegas, Veno, YeAH and DCTCP.
An algorithm that did badly in ns-3 3.44 may have been held back by ns-3. This page measures by how
much. ccperf is each of these releases, packet by packet ([fidelity](fidelity.md)), so the same
catalogue ran under each of them, with nothing else changed: the release's TCP and its own loss
recovery, `TcpPrrRecovery`. (The catalogue itself takes `PrrRfc6937`, in which only part of this
shows.) `ccperf show profile ns3-dev` lists the changes with their commits. Made by `make docs`, of
what `make releases` measured.

```sh
ccperf bench --profile ns3-3.44 --db 3.44.db cubic,bbr,dctcp
ccperf bench --profile ns3-dev --db dev.db cubic,bbr,dctcp
ccperf compare --by profile=ns3-3.44,ns3-dev --db 3.44.db --db dev.db cubic,bbr,dctcp
```
"""
_TRAP = """\
## One flow, four timeouts a second

CUBIC alone over 100 Mbps and 20 ms, a queue of 250 kB, buffers of 16 MB, delayed acknowledgements,
`MinRto = "200ms"` as in Linux; 60 s:
"""
_AFTER_TRAP = """\
Under 3.44 and 3.48 the recovery ends in a timeout, after which each segment waits as long for its
acknowledgement as the timeout lasts. A run says so itself, in its notes `least-rto` and
`timeout-loop`.
"""


def page() -> str:
    """The page."""
    found = between_releases.last()
    parts = [_INTRO, *_conclusions(found), *_ranking(found), *_trap(found), *_changes(found)]
    return "\n".join(part.rstrip("\n") + "\n" for part in (*parts, _limits(found)))


def _conclusions(found: Measured) -> Iterable[str]:
    count = {
        word: sum(one.word == word for one in found.conclusions)
        for word in ("stands", "turns", "vanishes", "appears", "weakens", "grows")
    }
    yield (
        "## Which conclusions turn\n\n"
        "A conclusion is: of two of CUBIC, BBR and DCTCP, one has more of a headline than the "
        "other, by more than 5 %, in the mean over an experiment's points. Of "
        f"{sum(count.values())} that there are under ns-3 3.44 or under the development tree of "
        f"July 2026, **{count['turns']} turn, {count['vanishes']} vanish** (5 % become less than "
        f"1 %). New are {count['appears']}. {count['stands']} stand, and "
        f"{count['weakens'] + count['grows']} cross the 5 % only. Where shares never became fair, "
        "these runs have the whole time as their `convergence_time_l4`, as it was then.\n"
    )
    rows = [
        [
            f"`{one.experiment}`",
            f"`{one.metric}`",
            f"{_short(one.one)} / {_short(one.other)}",
            _pair(one.before),
            _pair(one.after),
            ("**turns**" if one.word == "turns" else one.word) + ("" if one.is_exact else " \\*"),
        ]
        for word in ("turns", "vanishes", "appears")
        for one in found.conclusions
        if one.word == word
    ]
    head = ["experiment", "headline", "of", "ns-3 3.44", "development tree", "the conclusion"]
    yield _table(head, rows)
    yield (
        f"\\* Some of these runs draw random numbers; the values are means over {_seeds(found)}. "
        "The others are the same for every seed.\n"
    )


def _ranking(found: Measured) -> Iterable[str]:
    base, newest = releases.default(), NEWEST
    deep = found.deep
    yield (
        "## The ranking of loss-based algorithms\n\n"
        "![Throughput and used capacity of the loss-based algorithms under ns-3 3.44 and under "
        "the development tree](images/releases.svg)\n"
    )
    names = sorted(deep[base], key=lambda name: (-deep[base][name][0], name))
    held_back = [name for name in names if deep[base][name][1] and not deep[newest][name][1]]
    yield (
        "Left, one flow at 40 Mbps and 50 ms, with a queue of twice the bandwidth-delay product "
        "(the cases `cc/*-deep` of the comparison with ns-3): "
        f"{_listed(held_back)} lost a sixth to a third of the link under ns-3 3.44, by one "
        "timeout each that its recovery caused. They are the ones that grow fastest, so 3.44 "
        "ranked them below Reno's relatives for what was not theirs. Right, the catalogue's "
        "`scalability`.\n"
    )
    rows = [
        [
            f"`{name}`",
            *(_deep(*deep[release][name]) for release in deep),
            *(_ranked(found.capacity[release], name) for release in (base, newest)),
        ]
        for name in names
    ]
    head = [f"Mbps, `{name}`" for name in deep]
    head += [f"`scalability`, `{name}` (rank)" for name in (base, newest)]
    yield _table(["algorithm", *head], rows)


def _trap(found: Measured) -> Iterable[str]:
    yield _TRAP
    rows = [[f"`{name}`", f"{rate:.2f}", rtos] for name, (rate, rtos) in found.trap.items()]
    yield _table(["profile", "Mbps", "timeouts"], rows)
    yield _AFTER_TRAP


def _changes(found: Measured) -> Iterable[str]:
    for release, effects in found.effects.items():
        changed = len({(one.experiment, one.algorithm) for one in effects})
        yield (
            f"## What {releases.releases()[release].title} changes\n\n"
            f"Against ns-3 3.44, {changed} of {found.ran[release]} pairs of an experiment and an "
            "algorithm have a headline that differs by more than 1 % at some point. For each "
            "experiment, the algorithms, and what changes most:\n"
        )
        rows = []
        for experiment in EXPERIMENTS:
            own = [one for one in effects if one.experiment == experiment]
            three = [one for one in own if one.algorithm in ("TcpCubic", "TcpBbr", "TcpDctcp")]
            if own:
                names = list(dict.fromkeys(one.algorithm for one in own))
                texts = [
                    _effect(between_releases.largest(of)) if of else "–" for of in (three, own)
                ]
                rows.append([f"`{experiment}`", _names(names, found), *texts])
        head = ["experiment", "algorithms", "largest of CUBIC, BBR and DCTCP", "largest of all"]
        yield _table(head, rows)


def _names(names: Sequence[str], found: Measured) -> str:
    if len(names) == len(found.algorithms):
        return f"all {len(names)}"
    return (
        ", ".join(map(_short, names))
        if len(names) < 8
        else f"{len(names)} of {len(found.algorithms)}"
    )


def _effect(one: Effect) -> str:
    text = f"{_short(one.algorithm)}: `{one.metric}` {between_releases.text(one)}"
    if one.points == 1 or one.least is None or one.largest is None:
        return text
    ends = f"{_size(one, one.least)} to {_size(one, one.largest)}"
    return f"{text} ({ends} at {one.points} points)"


def _size(one: Effect, value: float) -> str:
    return f"x{value:.3g}" if one.kind == "ratio" else f"{value:+.3g}".replace("-", "−")


def _limits(found: Measured) -> str:
    return (
        "## What this does not say\n\n"
        f"The runs are the catalogue's, 15 s long, with {_seeds(found)}; means are over its grids, "
        "which nobody drew at random. A mean may turn by one point: `ccperf compare --each` shows "
        "them all. The algorithms: "
        f"{', '.join(map(_short, found.algorithms))}. The engine was {found.engine}.\n"
    )


def _seeds(found: Measured) -> str:
    first, *more = found.seeds
    if not more:
        return f"one seed ({first})"
    return f"seed {first}, and for CUBIC, BBR and DCTCP {' and '.join(map(str, more))}, too"


def _pair(values: tuple[float, float]) -> str:
    return " / ".join(f"{value:,.4g}" for value in values)


def _short(name: str) -> str:
    """As papers write it."""
    word = name.removeprefix("Tcp")
    capitals = ("Bbr", "Bic", "Cubic", "Dctcp", "Ledbat")
    return word.upper() if word in capitals else {"Yeah": "YeAH", "Htcp": "H-TCP"}.get(word, word)


def _listed(names: Sequence[str]) -> str:
    short = [_short(name) for name in names]
    return ", ".join(short[:-1]) + f" and {short[-1]}" if len(short) > 1 else "".join(short)


def _deep(rate: float, timeouts: int) -> str:
    return f"{rate:.1f}" + (f" ({counted(timeouts, 'timeout')})" if timeouts else "")


def _ranked(values: Mapping[str, float], name: str) -> str:
    if name not in values:
        return "–"
    return f"{values[name]:.1f} % ({1 + sum(other > values[name] for other in values.values())})"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in lines) + "\n"
