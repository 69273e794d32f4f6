"""``ccperf site``: the web site of one or more databases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ccperf.cli.options import Folder, Json, databases, writable_folder
from ccperf.cli.output import print_json, progress_bar, say, warn
from ccperf.cli.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.site import Built


def command(
    *files: Annotated[
        str, Parameter(help="Databases, after `build` or alone. Default: those here.")
    ],
    db: Annotated[
        list[Path] | None,
        Parameter(help="Databases, too: --db a.db b.db.", consume_multiple=True),
    ] = None,
    output: Folder = Path("site"),
    json: Json = False,
) -> int:
    """Build the static site: a page a point with all its seeds, and pages that compare.

    A run that cannot be read is left out and named; exit status 1 then.
    """
    named = [Path(word) for word in files[files[:1] == ("build",) :]]
    paths = databases([*named, *(db or ())] or None)
    writable_folder(output)
    built = build_site(paths, output)
    if json:
        left_out = {run.run: str(run.path) for run in built.left_out}
        print_json({**asdict(built), "index": str(built.index), "left_out": left_out})
    else:
        say(built.index)
    return 1 if built.left_out else 0


def build_site(databases: Sequence[Path], output: Path) -> Built:
    """Build the site with a progress bar."""
    from ccperf.site import build

    with progress_bar("pages of runs") as progress:
        built = build(databases, output, progress=progress)
    for run in built.left_out:
        warn(f"left out: {run}")
    return built
