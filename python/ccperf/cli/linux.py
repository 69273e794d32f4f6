"""``ccperf linux``: the kernel whose TCP the backend ``linux`` runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from ccperf.cli.options import Json
from ccperf.cli.output import note, print_json, progress_bar, say
from ccperf.cli.parameter import Parameter


def command(
    what: Annotated[Literal["build"], Parameter(help="What to do.")],
    /,
    *,
    tree: Annotated[
        Path | None,
        Parameter(help="An unpacked source of Linux 6.12 or newer; it stays as it is."),
    ] = None,
    cc: Annotated[
        list[Path] | None,
        Parameter(help="Your congestion control, tcp_mine.c, linked in.", consume_multiple=True),
    ] = None,
    json: Json = False,
) -> None:
    """Build a Linux kernel that runs as a process, in virtual time, and keep it.

    The source is that of --tree, or of an installed package linux-source-*, or is fetched by apt;
    no root is needed. Some six minutes of one core, and 4 GB of room while it is built.
    """
    assert what == "build"
    from ccperf.runs.backends.linux import build

    with progress_bar("Linux") as progress:
        kernel = build.build(tree, tuple(cc or ()), progress)
    size = kernel.program.stat().st_size
    if json:
        print_json({"version": kernel.version, "program": str(kernel.program), "bytes": size})
        return
    note(f"Linux {kernel.version}, {size / 1e6:.1f} MB")
    say(str(kernel.program))
