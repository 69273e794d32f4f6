"""``ccperf cite``: what a paper says of a run, and whom it cites."""

from __future__ import annotations

from typing import Annotated

from ccperf.cli.choice import Choice, Parameters, the_one
from ccperf.cli.options import Databases, Json, databases
from ccperf.cli.output import print_json, say
from ccperf.cli.parameter import Parameter


def command(
    *run: Annotated[str, Parameter(help="Id of a run, or its beginning.")],
    db: Databases = None,
    choice: Choice | None = None,
    json: Json = False,
    **parameters: Parameters,
) -> None:
    """Write a paragraph for a paper's section on methods (LaTeX), and its BibTeX entries.

    Runs in the databases that differ from this one in their seed only count as its repetitions.
    """
    from dataclasses import asdict

    from ccperf.evidence import cells
    from ccperf.present.citation import cite

    db = databases(db, run)
    result = the_one(run, choice, parameters, db)
    there = [cell for cell in cells.read(db) if result.id in cell.runs.values()]
    seeds = {seed for cell in there for seed in cell.metrics}
    is_exact = bool(there) and all(cell.is_deterministic for cell in there)
    citation = cite(result, sorted(seeds), is_exact=is_exact)
    if json:
        print_json(asdict(citation))
        return
    say(citation.paragraph)
    say()
    say(citation.bibtex)
