"""``ccperf play``: a scenario whose settings are changed in the browser, which simulates it."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

from ccperf.cli.options import Folder, Json, writable_folder
from ccperf.cli.output import note, print_json, say
from ccperf.cli.parameter import Parameter


def command(
    *,
    output: Folder = Path("play"),
    no_open: Annotated[bool, Parameter(help="Write the page, do not open a browser.")] = False,
    json: Json = False,
) -> None:
    """Write a page with a dumbbell to play with, and open it.

    Algorithms, flows, rate, round trip, buffer, queue discipline and seed are changed there; the
    engine simulates in the page, offline. `ccperf run dumbbell --what-if ...` is the same here.
    """
    from ccperf.site import play

    writable_folder(output)
    page = play(output)
    if json:
        print_json({"page": str(page)})
    else:
        say(page)
    if not no_open and not webbrowser.open(page.resolve().as_uri()):
        note("no browser was found; open the page in one")
