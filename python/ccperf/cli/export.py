"""``ccperf export``: a database as Parquet, CSV or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ccperf.cli.options import Folder, writable_folder
from ccperf.cli.output import say


def command(
    *,
    db: Annotated[Path, Parameter(help="Database.")],
    output: Folder = Path("export"),
    format: Annotated[Literal["parquet", "csv", "json"], Parameter(help="Format.")] = "parquet",
    series: Annotated[bool, Parameter(help="The recorded series of every run, too.")] = False,
) -> None:
    """Export runs, metrics and, on demand, series."""
    from ccperf.store import Store
    from ccperf.store.export import export

    with Store(db, "r") as store:
        writable_folder(output)
        for path in export(store, output, format, series=series):
            say(path)
