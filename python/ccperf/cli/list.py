"""``ccperf list``: what there is."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ccperf.cli import things
from ccperf.cli.output import print_json, say, table
from ccperf.errors import UsageError, unknown


def command(
    kind: str = "experiments",
    /,
    *,
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
) -> None:
    """List experiments, algorithms, queue disciplines, load balancers, metrics, figures, backends.

    Parameters
    ----------
    kind
        experiments, cc, qdisc, recovery, routing, topologies, workloads, metrics, figures or
        backends.
    """
    if kind not in things.KINDS:
        raise UsageError("kind", unknown("kind", kind, things.KINDS))
    entries = things.KINDS[kind]()
    if json:
        print_json(
            [{"name": thing.name, **thing.facts, "summary": thing.summary} for thing in entries]
        )
        return
    facts = list(entries[0].facts) if entries else []
    rows = [
        [thing.name, *(_text(thing.facts.get(fact, "")) for fact in facts), thing.summary]
        for thing in entries
    ]
    say(table(["name", *facts, "summary"], rows))


def _text(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)
