"""``ccperf site build``: the web site of one or more databases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ccperf.cli.options import Folder, databases, writable_folder
from ccperf.cli.output import progress_bar, say


def command(
    action: Annotated[Literal["build"], Parameter(help="build")],
    /,
    *,
    db: Annotated[
        list[Path] | None,
        Parameter(help="Databases: --db a.db b.db. Default: those here.", consume_multiple=True),
    ] = None,
    output: Folder = Path("site"),
) -> None:
    """Build the static site: one page a run and an index, readable offline."""
    paths = databases(db)
    assert action == "build"  # the only one there is
    writable_folder(output)
    say(build_site(paths, output))


def build_site(databases: Sequence[Path], output: Path) -> Path:
    """Build the site with a progress bar and return its index page."""
    from ccperf.site import build

    with progress_bar("pages of runs") as progress:
        return build(databases, output, progress=progress).index
