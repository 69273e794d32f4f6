"""``ccperf site build``: the web site of one or more databases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ccperf.cli.options import Folder, Json, databases, writable_folder
from ccperf.cli.output import print_json, progress_bar, say

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
) -> None:
    """Build the static site: a page a point with all its seeds, and pages that compare."""
    paths = databases(db)
    assert action == "build"  # the only one there is
    writable_folder(output)
    built = build_site(paths, output)
    if json:
        print_json({**asdict(built), "index": str(built.index)})
    else:
        say(built.index)


def build_site(databases: Sequence[Path], output: Path) -> Built:
    """Build the site with a progress bar."""
    from ccperf.site import build

    with progress_bar("pages of runs") as progress:
        return build(databases, output, progress=progress)
