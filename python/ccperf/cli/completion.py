"""``ccperf completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

from typing import Annotated, Literal

from ccperf.cli.parameter import Parameter


def command(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="The shell.")],
    /,
) -> None:
    """Print a script that lets the shell complete commands, options and their values."""
    from ccperf.cli.whole import app

    print(app.generate_completion(shell=shell))
