"""Which runs are meant: named by their ids, or chosen by what they are runs of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ccperf.cli.parameter import Parameter
from ccperf.errors import UsageError

if TYPE_CHECKING:
    from ccperf.evidence.cells import Cell
    from ccperf.runs.result import Result
    from ccperf.store import RunRow

#: What is left of a command line's options are parameters of experiments.
Parameters = Annotated[str, Parameter(help="Runs at these points, e.g. --k 1,5 or --k 1..4.")]


@dataclass
class Choice:
    """Runs by what they are runs of, instead of ids."""

    experiment: Annotated[str, Parameter(help="Runs of these experiments, instead of ids.")] = ""
    cc: Annotated[str, Parameter(help="Runs of these algorithms.")] = ""
    at: Annotated[str, Parameter(help="Runs at these points, e.g. k=5,qdisc=CoDelQueueDisc.")] = ""
    seed: Annotated[str, Parameter(help="Runs with these seeds.")] = ""

    def is_made(self, parameters: Mapping[str, str]) -> bool:
        """Whether anything was chosen."""
        return any(astuple(self)) or bool(parameters)

    def named(self, parameters: Mapping[str, str]) -> list[str]:
        """The parameters of which only some values are meant."""
        from ccperf.evidence import chosen
        from ccperf.experiments.grid import axes

        return list(chosen.asked(at=self.at, parameters=axes(dict(parameters))).parameters)

    def cells(self, databases: Sequence[Path], parameters: Mapping[str, str]) -> list[Cell]:
        """The points that fit. Raises :class:`~ccperf.errors.UsageError`."""
        from ccperf.evidence import chosen
        from ccperf.experiments.grid import axes

        return chosen.choose(
            databases,
            experiment=self.experiment,
            cc=self.cc,
            at=self.at,
            parameters=axes(dict(parameters)),
            seeds=self.seeds(),
        )

    def seeds(self) -> list[int] | None:
        """Those asked for, or None. Raises :class:`~ccperf.errors.UsageError`."""
        from ccperf.experiments.grid import seeds

        return seeds(self.seed, "--seed") if self.seed else None

    def rows(
        self, databases: Sequence[Path], parameters: Mapping[str, str], *, newest: bool = False
    ) -> list[tuple[Path, RunRow]]:
        """The runs that fit, each with its database; see :func:`ccperf.evidence.chosen.rows`."""
        from ccperf.evidence import chosen
        from ccperf.experiments.grid import axes

        wanted = self.seeds()
        choice = chosen.asked(self.experiment, self.at, axes(dict(parameters)))
        found = chosen.rows(databases, choice, self.cc, newest=newest)
        return [(path, row) for path, row in found if wanted is None or row.seed in wanted]

    def ids(self, databases: Sequence[Path], parameters: Mapping[str, str]) -> list[str]:
        """The runs that fit, each once; of several versions of an algorithm those of the newest.

        Raises :class:`~ccperf.errors.UsageError`.
        """
        rows = [row for _, row in self.rows(databases, parameters, newest=True)]
        ids = [row.id for row in sorted(rows, key=_order)]
        if not ids:
            message = "there is none of that choice; `ccperf runs --db FILE` lists them"
            raise UsageError("runs", message)
        return list(dict.fromkeys(ids))


def _order(row: RunRow) -> tuple[Any, ...]:
    """What runs that are chosen are sorted by: whichever ended first, figures of them are alike."""
    from ccperf.algorithms import roles
    from ccperf.algorithms.registry import usual_first
    from ccperf.evidence.values import grid_of, order_key

    experiment = row.experiment or ""
    point = roles.parameters(row.parameters)
    return (
        experiment,
        usual_first(roles.under_test(row.parameters) or ",".join(row.cc)),
        [
            (name, order_key(str(value), grid_of(name, [experiment])))
            for name, value in point.items()
        ],
        row.backend,
        row.seed,
        row.id,
    )


def named(
    runs: Sequence[str],
    choice: Choice | None,
    parameters: Mapping[str, str],
    databases: Sequence[Path],
) -> list[str]:
    """The ids given, or those of what was chosen; none if nothing was said.

    Raises :class:`~ccperf.errors.UsageError`.
    """
    choice = choice or Choice()
    if not choice.is_made(parameters):
        return list(runs)
    if runs:
        raise UsageError("runs", "name runs or choose them by --experiment, --cc, --k, not both")
    return choice.ids(databases, parameters)


def the_one(
    runs: Sequence[str],
    choice: Choice | None,
    parameters: Mapping[str, str],
    databases: Sequence[Path],
) -> Result:
    """The only run that is meant. Raises :class:`~ccperf.errors.UsageError`."""
    return exactly(1, runs, choice, parameters, databases)[0]


def exactly(
    count: int,
    runs: Sequence[str],
    choice: Choice | None,
    parameters: Mapping[str, str],
    databases: Sequence[Path],
) -> list[Result]:
    """So many runs. Raises :class:`~ccperf.errors.UsageError`."""
    from ccperf.base.wording import counted
    from ccperf.cli.options import load_runs

    ids = named(runs, choice, parameters, databases)
    if len(ids) != count:
        some = f": {', '.join(ids[:3])}{', ...' if len(ids) > 3 else ''}" if ids else ""
        message = f"{counted(count, 'run')} must be named, not {len(ids)}{some}"
        raise UsageError("runs", message + "; `ccperf runs` lists them")
    return load_runs(ids, databases)
