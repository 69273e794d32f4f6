"""Progress of a campaign: what the coordinator and its workers report, and the bar that shows it.

Reports come from several threads at once.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Protocol

from ccperf.base.wording import counted, duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import TaskID
    from typing_extensions import Self

    from ccperf.campaign.points import Point

#: Seconds between two lines at least.
_LINES_S = 60.0


class Progress(Protocol):
    """Something that shows how a campaign goes; a context manager around all its runs."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def begin(self, runs: int, stored: int) -> None:
        """`runs` runs are to be made; `stored` more are in the store already."""

    def skip(self, point: Point) -> None:
        """One of the runs turned out to be in the store already."""

    def wait(self, runs: int) -> None:
        """Nothing is left to begin but `runs` that another process is making."""

    def advance(self, point: Point, fraction: float) -> None:
        """A run has come this far (0 to 1)."""

    def finish(self, point: Point, error: BaseException | None) -> None:
        """A run has ended, well or with an error."""


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def begin(self, runs: int, stored: int) -> None:
        pass

    def skip(self, point: Point) -> None:
        pass

    def wait(self, runs: int) -> None:
        pass

    def advance(self, point: Point, fraction: float) -> None:
        pass

    def finish(self, point: Point, error: BaseException | None) -> None:
        pass


class Lines(Silent):
    """What somebody who reads the output later wants to know: how far it is, and why it waits.

    There is a line a minute at first, and then one whenever a tenth more of the time has gone by: a
    day has some sixty. Where nothing ends for long, the lines say that.
    """

    def __init__(self, say: Callable[[str], None], title: str = "") -> None:
        """Say it with `say`, from a thread that waits."""
        self._say = say
        self._title = f"{title}: " if title else ""
        self._has_said = False
        self._runs = self._stored = self._ended = self._failed = 0
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _tell(self) -> None:
        started = time.monotonic()
        while not self._is_over.wait(max(_LINES_S, (time.monotonic() - started) / 10)):
            self._say(f"{self._title}{self._so_far(time.monotonic() - started)}")

    def _so_far(self, seconds: float) -> str:
        with self._lock:
            runs, stored, ended, failed = self._runs, self._stored, self._ended, self._failed
        parts = [f"{ended:,} of {counted(max(runs, ended), 'run')} after {duration(seconds)}"]
        parts += [f"{stored:,} stored before"] if stored else []
        parts += [f"{failed:,} failed"] if failed else []
        if 0 < ended < runs:
            parts.append(f"about {duration(seconds / ended * (runs - ended))} left")
        return ", ".join(parts)

    def begin(self, runs: int, stored: int) -> None:
        with self._lock:
            self._runs, self._stored = runs, stored

    def skip(self, point: Point) -> None:  # noqa: ARG002
        with self._lock:
            self._runs, self._stored = self._runs - 1, self._stored + 1

    def wait(self, runs: int) -> None:
        if not self._has_said:
            self._say(f"waiting for {_theirs(runs)}")
        self._has_said = True

    def finish(self, point: Point, error: BaseException | None) -> None:  # noqa: ARG002
        with self._lock:
            self._ended += 1
            self._failed += error is not None


class InNotebook(Silent):
    """A bar in a notebook over all runs; it is gone when they have ended."""

    def __init__(self, show: Callable[[float], None]) -> None:
        """Show it: `show` is called with the part that is done, and takes it away at 1."""
        self._show = show
        self._runs = 0
        self._ended = 0

    def __exit__(self, *_: object) -> None:
        self._show(1.0)

    def begin(self, runs: int, stored: int) -> None:  # noqa: ARG002
        self._runs = runs

    def skip(self, point: Point) -> None:  # noqa: ARG002
        self._runs -= 1

    # Of a run's own progress, which threads report, a notebook is told nothing.

    def finish(self, point: Point, error: BaseException | None) -> None:  # noqa: ARG002
        self._ended += 1
        if self._ended < self._runs:
            self._show(self._ended / self._runs)


def in_notebook() -> Progress | None:
    """An :class:`InNotebook` in one; None elsewhere, where nobody waits for its library."""
    if "IPython" not in sys.modules:
        return None
    from ccperf.present import notebook

    show = notebook.progress()
    return InNotebook(show) if show else None


def bar_if_seen(title: str, otherwise: Progress | None = None) -> Progress:
    """A :class:`Bar` where stderr is a terminal; nobody waits for its library elsewhere."""
    return Bar(title) if sys.stderr.isatty() else otherwise or Silent()


def bar(*, show: bool = True) -> Progress:
    """A bar wherever there is one to look at it: in a notebook, in a terminal."""
    if not show:
        return Silent()
    return in_notebook() or bar_if_seen("")


class Bar:
    """A bar on stderr over all runs, and one below for each run that takes a while."""

    def __init__(self, title: str = "") -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        from ccperf.base.consoles import console

        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[note]}"),
            console=console(sys.stderr),
            disable=not sys.stderr.isatty(),
        )
        self._title = title
        self._lock = threading.Lock()
        self._running: dict[int, float] = {}
        self._ended = 0
        self._failed = 0
        self._runs = 0
        self._stored = 0
        self._theirs = 0
        self._all: TaskID | None = None

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def begin(self, runs: int, stored: int) -> None:
        self._runs, self._stored = runs, stored
        # Of nothing to do there is no bar.
        self._all = self._bars.add_task(self._title, total=runs, note="", visible=runs > 0)
        self._show()

    def skip(self, point: Point) -> None:  # noqa: ARG002
        with self._lock:
            self._runs, self._stored = self._runs - 1, self._stored + 1
            self._show()

    def wait(self, runs: int) -> None:
        with self._lock:
            self._theirs = runs
            self._show()

    def advance(self, point: Point, fraction: float) -> None:
        with self._lock:
            self._running[id(point)] = fraction
            self._show()

    def finish(self, point: Point, error: BaseException | None) -> None:
        with self._lock:
            self._running.pop(id(point), None)
            self._ended += 1
            self._failed += error is not None
            self._show()

    def _show(self) -> None:
        notes = [f"{self._stored} stored before"] if self._stored else []
        if self._failed:
            notes.append(f"{self._failed} failed")
        if 0 < self._theirs <= self._runs - self._ended:
            notes.append(f"waiting for {_theirs(self._theirs)}")
        if self._runs == 1 and self._running:
            # An hour of a fast network takes long, and its bar stands still for minutes.
            notes.append(f"{100 * sum(self._running.values()):.6f} %")
        if self._all is not None:
            self._bars.update(
                self._all,
                total=self._runs,
                visible=self._runs > 0,
                completed=self._ended + sum(self._running.values()),
                note=", ".join(notes),
            )


def _theirs(runs: int) -> str:
    return f"{counted(runs, 'run')} that another process is making"
