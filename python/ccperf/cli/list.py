"""``ccperf list``: what there is."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Annotated

from ccperf.base.columns import table
from ccperf.cli import things
from ccperf.cli.output import note, print_json, say
from ccperf.cli.parameter import Parameter
from ccperf.errors import UsageError, unknown

#: The width of a usual terminal, the most that a column takes, and the least that a summary gets.
_WIDTH = 80
_WIDEST = 48
_LEAST = 24


def command(
    kind: str = "experiments",
    /,
    *,
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
) -> None:
    """List experiments, algorithms, queue disciplines, load balancers, metrics, figures, profiles.

    Parameters
    ----------
    kind
        experiments, cc, qdisc, recovery, routing, rate_control, trimming, topologies, workloads,
        metrics, figures, backends or profiles.
    """
    if kind not in things.KINDS:
        raise UsageError("kind", unknown("kind", kind, things.KINDS))
    entries = things.KINDS[kind]()
    if json:
        print_json(
            [{"name": thing.name, **thing.facts, "summary": thing.summary} for thing in entries]
        )
        return
    say(_table(entries))
    if kind == "metrics":
        from ccperf.runs.metrics import census

        note(census())


def _table(entries: Sequence[things.Thing]) -> str:
    """One that fits a terminal: long lists of facts are left to `show`, and the last fact, if that
    makes room. Summaries are folded, and go below the names where there is none."""
    texts = [{"name": e.name, **{f: _text(v) for f, v in e.facts.items()}} for e in entries]
    facts = [fact for fact in texts[0] if max(len(text[fact]) for text in texts) <= _WIDEST]
    widths = [2 + max(len(fact), *(len(text[fact]) for text in texts)) for fact in facts]
    if sum(widths[:-1]) <= _WIDTH - _LEAST < sum(widths):
        facts, widths = facts[:-1], widths[:-1]
    room = _WIDTH - sum(widths)
    rows = []
    for entry, text in zip(entries, texts, strict=True):
        row = [text[fact] for fact in facts]
        if room < _LEAST:
            rows.append(row)
            continue
        first, *others = textwrap.wrap(entry.summary, room) or [""]
        rows.append([*row, first])
        rows += [[""] * len(facts) + [line] for line in others]
    if room >= _LEAST:
        return table([*facts, "summary"], rows)
    head, *lines = table(facts, rows).splitlines()
    below = (textwrap.indent(textwrap.fill(e.summary, _WIDTH - 4), "    ") for e in entries)
    return "\n".join([head, *(f"{line}\n{text}" for line, text in zip(lines, below, strict=True))])


def _text(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)
