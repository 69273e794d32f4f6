"""Each mistake before the scenarios that reach it, until one of them notices."""

from __future__ import annotations

import mmap
import os
import resource
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutation.engine import Switches
from mutation.places import Mutant
from mutation.scenarios import Judge, Survey, differing, reaching

#: A run with a mistake in it may never end: so many times what it takes without, and a second.
LONGER = 20
#: Of processor time, for a mistake that nobody is expected to notice.
EXPLAINED_S = 2.0
#: What a run may take of memory and of a file system beyond what it has.
MEMORY = 4 << 30
#: Kinds of fingerprints of one scenario.
VIEWS = 2


@dataclass(frozen=True)
class Verdict:
    """What became of a mistake."""

    number: int
    mutant: Mutant
    #: The scenario that noticed it; empty if none did.
    by: str
    #: How: other tables, other packets, never ends, breaks off; if none did, how near it came.
    how: str
    #: Of processor time.
    seconds: float

    @property
    def killed(self) -> bool:
        return bool(self.by)

    @property
    def given_up(self) -> bool:
        """Whether its time was over before all scenarios were asked."""
        return self.how == _HOW[_GIVEN_UP]


class Court:
    """Judges mistakes, each in a process of its own."""

    def __init__(
        self,
        judges: Sequence[Judge],
        surveys: Sequence[Survey],
        switches: Switches,
        known: Mapping[str, str],
        first: Collection[str] = (),
        explained: Collection[str] = (),
        budget_s: float = float("inf"),
    ) -> None:
        """`known` has the scenario that noticed a mistake last time, by its name; scenarios of
        `first` are asked before others. One mistake gets `budget_s` of processor time; one of
        `explained`, of which it is known why nobody notices it, at most `EXPLAINED_S`.
        """
        self._judges, self._surveys, self._switches = judges, surveys, switches
        self._known = known
        self._first = set(first)
        self._explained = explained
        self._budget_s = budget_s
        self._places = {judge.name: i for i, judge in enumerate(judges)}
        #: How many mistakes each scenario has noticed.
        self.noticed: Counter[int] = Counter(
            self._places[name] for name in known.values() if name in self._places
        )
        memory = Path("/dev/shm")
        usable = memory.is_dir() and os.access(memory, os.W_OK)
        self._folder = Path(
            tempfile.mkdtemp(prefix="ccperf-mutants-", dir=memory if usable else None)
        )

    def verdicts(self, mutants: Sequence[tuple[int, Mutant]], jobs: int) -> Iterator[Verdict]:
        """Judge side by side; yield in order of completion."""
        waiting = list(reversed(mutants))
        running: dict[int, _Trial] = {}
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    trial = self._begin(*waiting.pop())
                    running[trial.process] = trial
                process, status, usage = os.wait3(0)
                trial = running.pop(process)
                verdict = self._end(trial, status, usage.ru_utime + usage.ru_stime)
                if verdict.killed:
                    self.noticed[self._places[verdict.by]] += 1
                yield verdict
        finally:
            for process in running:
                os.kill(process, signal.SIGKILL)
            shutil.rmtree(self._folder)

    def order(self, mutant: Mutant, number: int) -> list[int]:
        """The scenarios in which a mistake could make a difference: the one that noticed it before,
        those that are asked first by what they noticed for their time, then the short ones.
        """

        def rank(place: int) -> tuple[bool, bool, float]:
            name = self._judges[place].name
            seconds = self._surveys[place].seconds + 0.01
            kills = self.noticed[place]
            chosen = name in self._first or bool(kills)
            return name != self._known.get(mutant.name), not chosen, seconds / (1 + kills)

        return sorted(differing(self._surveys, number), key=rank)

    def _steps(self, mutant: Mutant, number: int) -> list[tuple[int, int]]:
        """Kinds of fingerprints and scenarios in turn: the cheap kind first, but of the scenario
        that noticed it before both.
        """
        order = self.order(mutant, number)
        steps = [(view, place) for view in range(VIEWS) for place in order]
        name = self._known.get(mutant.name)
        return sorted(steps, key=lambda step: self._judges[step[1]].name != name)

    def _begin(self, number: int, mutant: Mutant) -> _Trial:
        steps = self._steps(mutant, number)
        shared = mmap.mmap(-1, 8)
        folder = self._folder / str(number)
        folder.mkdir()
        process = os.fork()
        if process == 0:
            try:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                tempfile.tempdir = str(folder)
                known = mutant.name in self._explained
                budget = min(self._budget_s, EXPLAINED_S) if known else self._budget_s
                self._try(number, steps, shared, budget)
            finally:
                os._exit(_UNDECIDED)
        return _Trial(number, mutant, steps, shared, folder, process)

    def _try(
        self, number: int, steps: Sequence[tuple[int, int]], shared: mmap.mmap, budget_s: float
    ) -> None:
        """Run scenarios until one is not as recorded; say in `shared` which step is under way."""
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (MEMORY, MEMORY))
        self._switches.switch_off()
        self._switches.switch_on(number)
        for step, (view, place) in enumerate(steps):
            if time.process_time() > budget_s:
                os._exit(_GIVEN_UP)
            shared[:8] = step.to_bytes(8, "little")
            usual = self._surveys[place].seconds * (1 + 4 * view)
            signal.setitimer(signal.ITIMER_PROF, 1 + LONGER * usual)
            take = self._judges[place].views[view]
            try:
                same = take() == self._surveys[place].expected[view]
            except BaseException:  # a panic of the engine is no Exception
                os._exit(_BREAKS)
            if not same:
                os._exit(_DIFFERS)
        os._exit(_SURVIVES)

    def _end(self, trial: _Trial, status: int, seconds: float) -> Verdict:
        step = int.from_bytes(trial.shared[:8], "little")
        shutil.rmtree(trial.folder)
        if os.waitstatus_to_exitcode(status) == _UNDECIDED:
            raise RuntimeError(f"the trial of `{trial.mutant.name}` failed, not the engine")
        how = _HOW[code] if (code := os.waitstatus_to_exitcode(status)) in _HOW else "breaks off"
        if how not in (_HOW[_SURVIVES], _HOW[_GIVEN_UP]) and trial.steps:
            view, place = trial.steps[step]
            by = self._judges[place].name
            if code == _DIFFERS:
                how = "other packets" if view else "other tables"
            return Verdict(trial.number, trial.mutant, by, how, seconds)
        if not trial.steps:
            reached = reaching(self._surveys, trial.number)
            how = f"no difference where it is reached, in {reached}" if reached else "not reached"
        elif code == _SURVIVES:
            how = f"{len(trial.steps) // VIEWS} scenarios do not see it"
        return Verdict(trial.number, trial.mutant, "", how, seconds)


@dataclass(frozen=True)
class _Trial:
    """A mistake that is being judged."""

    number: int
    mutant: Mutant
    steps: Sequence[tuple[int, int]]
    shared: mmap.mmap
    folder: Path
    process: int


_SURVIVES, _DIFFERS, _BREAKS, _GIVEN_UP, _UNDECIDED = 0, 10, 11, 12, 13
_HOW = {
    _SURVIVES: "survives",
    _DIFFERS: "differs",
    _BREAKS: "breaks off",
    _GIVEN_UP: "given up",
    -signal.SIGPROF: "never ends",
}
