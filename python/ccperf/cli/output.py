"""What commands print."""

from __future__ import annotations

import codecs
import io
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from textwrap import indent
from typing import TYPE_CHECKING, Any

from ccperf.base.columns import table as aligned
from ccperf.base.wording import alike, all_at

if TYPE_CHECKING:
    from ccperf.runs.metrics import Metric, MetricTables
    from ccperf.runs.result import Result
    from ccperf.store import RunRow


#: The words of the command that runs.
_words: ContextVar[Sequence[str]] = ContextVar("words", default=())


def called_with(words: Sequence[str]) -> None:
    """Remember the words behind `ccperf`, for `command_line`."""
    _words.set(tuple(words))


def arguments() -> Sequence[str]:
    """The words behind `ccperf` of the command that runs."""
    return _words.get()


def command_line() -> str:
    """The command that runs, for a shell."""
    return shlex.join(["ccperf", *arguments()])


#: What stands for a character on a terminal that lacks it; any other one is written as Python does.
_INSTEAD = {
    "−": "-",
    "–": "-",
    "…": "...",
    "±": "+/-",
    "×": "x",
    "≤": "<=",
    "≥": ">=",
    "→": "->",
    "←": "<-",
    "µ": "u",
}


def print_anywhere() -> None:
    """Let a terminal with another encoding than UTF-8 show what it can of all that is printed."""
    codecs.register_error("ccperf", _instead)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="ccperf")


def _instead(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    written = "".join(_INSTEAD.get(each, each) for each in lost)
    return written.encode("ascii", "backslashreplace").decode(), error.end


def plain(text: str) -> str:
    """The text without what a terminal would obey: it may come from a stranger's file.

    Control characters (line feeds and tabs aside) and those that turn the direction of writing are
    shown as Python writes them.
    """
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def terminal_width() -> int | None:
    """The columns of the terminal that stdout is, or None."""
    if not sys.stdout.isatty():
        return None
    import shutil  # takes longer to load than a short run may

    return shutil.get_terminal_size().columns


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as wide as it is, or as a terminal: what goes into a pipe has a line a row."""
    return aligned(head, rows, terminal_width())


def say(result: object = "") -> None:
    """Print a result to stdout."""
    print(plain(str(result)))


def warn(message: str) -> None:
    """Print a warning to stderr."""
    note(f"warning: {message}")


def note(message: str) -> None:
    """Print to stderr what is not a result."""
    print(plain(message), file=sys.stderr)


def print_json(value: Any) -> None:
    """Print to stdout; a NaN would not be JSON, so it is an error here."""
    print(json.dumps(value, indent=1, allow_nan=False))


def print_json_items(values: Iterable[Any]) -> None:
    """Print what `print_json` prints of a list, one value at a time."""
    before = "["
    for value in values:
        print(before)
        print(indent(json.dumps(value, indent=1, allow_nan=False), " "), end="")
        before = ","
    print("[]" if before == "[" else "\n]")


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr; call what it gives with the number done and the number to do.

    Without a call, as when there is nothing to do, there is no bar.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from ccperf.base.consoles import console

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    bar = Progress(*columns, console=console(sys.stderr))
    task = bar.add_task(title, total=None)

    def advance(done: int, total: int) -> None:
        bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield advance
    finally:
        # Stopped without a start, it would print an empty line.
        if bar.live.is_started:
            bar.stop()


def metric_tables(result: Result) -> str:
    """The metric tables of a run, one column a flow, link or class."""
    from ccperf.runs.metrics import METRICS
    from ccperf.runs.summary import number

    parts = []
    for columns in result.metrics.by_scope.values():
        names = [name for name in METRICS if any(name in column for column in columns.values())]
        if not names:
            continue
        rows = [
            [
                name,
                METRICS[name].unit,
                *(number(name, c[name]) if name in c else "" for c in columns.values()),
            ]
            for name in names
        ]
        parts.append(table(["metric", "unit", *columns], rows))
    return "\n\n".join(parts)


def summary(result: Result) -> str:
    """A run on one screen: its experiment's headlines, then a row a flow, link or class."""
    from ccperf.runs.metrics import metric_named

    first = [metric_named(name) for name in headlines([result.experiment])]
    head = [
        [metric.title, text, metric.shown_unit, metric.name]
        for metric in first
        if (text := _headline(metric, result.metrics))
    ]
    parts = [result.title]
    if head:
        parts.append(table(["headline", "value", "unit", "metric"], head))
    for each in result.summary:
        more = f"\nand {each.more} more" if each.more else ""
        parts.append(table(each.head, each.rows) + more)
    return "\n\n".join(parts)


def _headline(metric: Metric, tables: MetricTables) -> str:
    """A headline's value; `never` where what it measures did not happen, else empty without one."""
    from ccperf.runs.summary import number

    columns = tables.of(metric.scope)
    value = metric.of_run(columns)
    if value is None:
        return metric.without_value(columns.values())
    return number(metric.name, value)


def note_findings(*results: Result) -> None:
    """Say what holds runs back or looks wrong in them: each rule's first finding, and how many."""
    from ccperf.runs.diagnoses import grouped

    for first, others in grouped(each for result in results for each in result.notes):
        more = f" (and {others} more)" if others else ""
        note(f"note: {first.subject}{more}: {first.text} (docs/{first.anchor})")


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """``aut=TcpNewReno k=5``."""
    return " ".join(f"{name}={value}" for name, value in parameters.items())


def common(rows: Iterable[RunRow]) -> dict[str, dict[str, Any]]:
    """By experiment what all these runs have alike, where that is said once."""
    from ccperf.algorithms.roles import parameters

    return alike((row.experiment, parameters(row.parameters)) for row in rows if row.experiment)


def own_parameters(row: RunRow, said_once: Mapping[str, Mapping[str, Any]]) -> str:
    """The parameters of a run that are not said once for all."""
    said = said_once.get(row.experiment or "", {})
    return parameters_text({k: v for k, v in row.parameters.items() if k not in said})


def note_common(said_once: Mapping[str, Mapping[str, Any]]) -> None:
    """Say once what all the runs of an experiment have alike."""
    for said in said_once.items():
        note(all_at(*said))


def overview(
    runs: Sequence[RunRow],
    metrics_of: Callable[[RunRow], MetricTables],
    differ: Sequence[str],
    said_once: Mapping[str, Mapping[str, Any]],
) -> str:
    """One line a run: the headline metrics of its experiment, as far as there are values.

    `differ`: in what each differs from those that look like it, if some do; `said_once`: what is
    left out of lines (`common`).
    """
    from ccperf.runs.metrics import metric_named

    metrics = [metric_named(name) for name in headlines(run.experiment for run in runs)]
    rows = [
        [
            run.id,
            " ".join(filter(None, (run.called, own_parameters(run, said_once), text))),
            str(run.seed),
            *(_headline(metric, tables) for metric in metrics),
        ]
        for run, text in zip(runs, differ, strict=True)
        # Of one run at a time: thousands of flows have many.
        for tables in [metrics_of(run)]
    ]
    names = [metric.with_unit(metric.name) for metric in metrics]
    columns = zip(["run", "what", "seed", *names], *rows, strict=True)
    head, *lines = zip(*(column for column in columns if any(column[1:])), strict=True)
    return table(head, lines)


def headlines(experiments: Iterable[str | None]) -> list[str]:
    """The headline metrics of experiments, each once; None is a scenario of one's own."""
    from ccperf.experiments.catalogue import answer

    answers = [answer(name) for name in dict.fromkeys(experiments)]
    return list(dict.fromkeys(name for answer in answers for name in answer.metrics))
