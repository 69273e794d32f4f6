"""Exporters: a run in the file formats of other programs.

One file per format; its function is registered by `@exporter` and then known to `ccperf export`.
`tidy` is the exception: one table of many runs.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

# isort: off
# Imported for what they register.
from ccperf.present.exporters import (  # noqa: F401
    ends,
    flent,
    flowmonitor,
    iperf3,
    pcapng,
    qlog,
)

# isort: on
from ccperf.base.outputs import may_write, stem, whole
from ccperf.errors import RunError, UsageError, unknown
from ccperf.present.exporters.registry import EXPORTERS, Exporter
from ccperf.present.exporters.tidy import tidy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ccperf.runs.result import Result

__all__ = ["EXPORTERS", "Exporter", "export", "tidy"]


def export(name: str, results: Iterable[Result], folder: Path) -> list[Path]:
    """Write each run to a file of its own in `folder` and return the files.

    Runs are taken one at a time, as many recordings together need much memory.
    Raises `UsageError` for an unknown format, a run that the format cannot show, or where another
    file is in the way, and `RunError` if something cannot be written.
    """
    if name not in EXPORTERS:
        raise UsageError("format", unknown("format", name, EXPORTERS))
    exporter = EXPORTERS[name]
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # All or none: a run that the format cannot show leaves no files of those before it.
        with ExitStack() as drafts:
            for result in results:
                path = folder / f"{stem(result)}.{exporter.suffix}"
                may_write(path, exporter.kind, "--output")
                exporter.write(result, drafts.enter_context(whole(path)))
                paths.append(path)
    except OSError as error:
        raise RunError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return paths
