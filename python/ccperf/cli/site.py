"""``ccperf site build``: the web site of one or more databases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from ccperf.cli.options import Folder, Json, databases, writable_folder
from ccperf.cli.output import print_json, progress_bar, say, warn
from ccperf.cli.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.site import Built


def command(
    action: Annotated[Literal["build"], Parameter(help="build")],
    /,
    *,
    db: Annotated[
        list[Path] | None,
        Parameter(help="Databases: --db a.db b.db. Default: those here.", consume_multiple=True),
    ] = None,
    output: Folder = Path("site"),
    json: Json = False,
) -> int:
    """Build the static site: a page a point with all its seeds, and pages that compare.

    A run that cannot be read is left out and named; exit status 1 then.
    """
    paths = databases(db)
    assert action == "build"  # the only one there is
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
