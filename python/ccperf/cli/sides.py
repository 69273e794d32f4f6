"""What ``ccperf compare`` compares: algorithms, versions, databases, backends, values, or runs."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ccperf.algorithms.user_code.names import is_user_code, unfinished
from ccperf.base import expression
from ccperf.cli import options
from ccperf.cli.output import arguments
from ccperf.cli.spelling import with_databases
from ccperf.errors import UsageError
from ccperf.evidence.by_parameter import by_parameter, meant
from ccperf.evidence.cells import by_algorithm
from ccperf.evidence.chosen import Algorithms, choose, words
from ccperf.runs import backends
from ccperf.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ccperf.evidence.cells import Cell
    from ccperf.evidence.compare import Over

_Sides: TypeAlias = "dict[str, list[Cell]]"


@dataclass(frozen=True)
class Items:
    """What a command line names, and the options that say how it is meant.

    All of it raises :class:`~ccperf.errors.UsageError`.
    """

    items: Sequence[str]
    db: options.Databases
    experiment: str
    at: str
    cc: str
    by: str
    versions: bool

    def __post_init__(self) -> None:
        if self.cc and self.over != "databases":
            line = f"ccperf compare {shlex.join(words(self.cc))}"
            raise UsageError("--cc", f"is for two databases; name what to compare: {line}")
        if self.versions and (self.by or any(map(_backend, self.items))):
            raise UsageError("--versions", "compares versions only, not backends or --by")

    @cached_property
    def databases(self) -> list[Path]:
        """Those to look in; those that are compared are among the items."""
        return options.databases(self.db)

    @cached_property
    def over(self) -> Over:
        """What the items are."""
        if self.by:
            return "values"
        if self._files:
            return "databases"
        return "backends" if any(map(_backend, self.items)) else "algorithms"

    @cached_property
    def are_runs(self) -> bool:
        """Whether they are ids of runs, not algorithms."""
        if not self.items or self.over != "algorithms":
            return False
        first, ids = self.items[0], []
        for path in self.databases:
            with Store(path, "r") as store:
                ids += store.ids()
        return first == options.LATEST or any(each.startswith(first) for each in ids)

    def sides(self) -> tuple[Over, _Sides]:
        """The cells of each side by its name, the base first; and what the sides are."""
        if self.over == "values":
            found = self._chosen(cc=",".join(self.items))
            return self.over, by_parameter(found, self.by, "--by")
        if self.over == "databases":
            return self.over, self._of_databases()
        return self.over, self._on_backends() if self.over == "backends" else self._of_algorithms()

    @cached_property
    def _files(self) -> list[Path]:
        return [Path(item) for item in self.items if _is_database(item)]

    def _chosen(self, cc: str = "") -> list[Cell]:
        return choose(self.databases, experiment=self.experiment, cc=cc, at=self.at)

    def _of_databases(self) -> _Sides:
        files = self._files
        advice = with_databases(arguments(), [str(path) for path in files])
        if len(files) != len(self.items) or self.versions:
            other = next((item for item in self.items if not _is_database(item)), "--versions")
            message = f"`{other}` is no database; name databases only, or write {advice}"
            raise UsageError("items", message)
        if len(files) == 1:
            raise UsageError("items", f"name two databases; for what is in one write {advice}")
        return {
            str(path): choose(
                [path], experiment=self.experiment, cc=self.cc, at=self.at, newest=True
            )
            for path in files
        }

    def _on_backends(self) -> _Sides:
        if nowhere := [item for item in self.items if not _backend(item)]:
            on, other = next(filter(_backend, self.items)), nowhere[0]
            raise UsageError(
                "items",
                f"`{on}` names a backend, and `{other}` none; write {other}@native, or another of"
                f" {', '.join(backends.known())}",
            )
        found = self._chosen()
        there = Algorithms.of(found)
        sides = {}
        for item in self.items:
            text, _, backend = item.rpartition("@")
            name = there.one(text, "items")
            cells = [cell for cell in found if (cell.algorithm, cell.backend) == (name, backend)]
            if not cells:
                have = ", ".join(sorted({c.backend for c in found if c.algorithm == name}))
                raise UsageError(
                    "items",
                    f"no runs of {name} on {backend} (on {have} there are): "
                    f"`ccperf bench {text} --backend {backend}` makes them",
                )
            sides[f"{name}@{backend}"] = cells
        return sides

    def _of_algorithms(self) -> _Sides:
        found = self._chosen()
        limits = {"--experiment": self.experiment, "--at": self.at}
        choice = " ".join(f"{option} {text}" for option, text in limits.items() if text)
        try:
            return by_algorithm(found, self._algorithms(Algorithms.of(found, choice)))
        except UsageError as error:
            if not (parameter := meant(found, self.items)):
                raise
            advice = f"{error.message}; or do you mean --by {parameter}?"
            raise UsageError(error.field, advice) from None

    def _algorithms(self, there: Algorithms) -> list[str]:
        """The algorithms named, in their order; the newest of all."""
        if not self.versions:
            each = (one for item in self.items for one in expression.each(item))
            return [there.one(one, "items") for one in each] or there.newest()
        if len(self.items) != 1:
            raise UsageError("--versions", "compares those of one algorithm; name that one")
        names = there.versions(self.items[0], "items")
        if len(names) < 2:
            raise UsageError("--versions", f"there is only one of {names[0]}")
        return names


def _backend(item: str) -> str:
    """The backend that an item names: `linux` of `cubic@linux`; empty if it names none."""
    name = item.rpartition("@")[2]
    return name if "@" in item and name in backends.known() else ""


def _is_database(item: str) -> bool:
    """User code is a file, too. Raises `UsageError` for a database that is not there."""
    if Path(item).suffix == ".db" and not Path(item).exists():
        raise UsageError("items", f"there is no database `{item}`")
    return Path(item).is_file() and not is_user_code(item) and unfinished(item) is None
