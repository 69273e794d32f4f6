"""A stored run without its series: what lists of runs show, and what finds it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ccperf.algorithms import roles
from ccperf.algorithms.user_code.names import label, labelled
from ccperf.runs.result import Provenance, called, title
from ccperf.store import checksums

if TYPE_CHECKING:
    from ccperf.algorithms.roles import Role


@dataclass(frozen=True)
class RunRow:
    """One run of one experiment's point, without its series."""

    id: str
    experiment: str | None
    parameters: dict[str, Any]
    label: str | None
    cc: tuple[str, ...]
    provenance: Provenance
    wall_seconds: float | None
    finished_at: str

    @property
    def called(self) -> str:
        """The experiment, or the scenario's label."""
        return called(self.experiment, self.label)

    @property
    def title(self) -> str:
        """The experiment with its parameters, or the scenario's label."""
        return title(self.experiment, self.parameters, self.label)

    @property
    def algorithms(self) -> dict[Role, str]:
        """The algorithm in each role of the experiment's point."""
        return roles.algorithms(self.parameters)

    @property
    def seed(self) -> int:
        """The scenario's seed."""
        return self.provenance.seed

    @property
    def backend(self) -> str:
        """The backend's name."""
        return self.provenance.backend


def run_row(row: tuple[Any, ...]) -> RunRow:
    """Read one run with one point, as `Store.runs` selects it.

    Raises ValueError if it is not what was stored.
    """
    of_run, (experiment, parameters, checksum, cc) = row[:-4], row[-4:]
    check_row(of_run)
    run = dict(zip(checksums.RUN, of_run, strict=False))
    if checksum is not None and checksum != checksums.of_values(
        (run["id"], experiment, parameters)
    ):
        raise ValueError(f"the point of run {run['id']} is not what was stored")
    return RunRow(
        id=run["id"],
        experiment=experiment or None,
        parameters=labelled(json.loads(parameters)),
        label=run["label"],
        cc=tuple(map(label, json.loads(cc))),
        provenance=Provenance(
            ccperf_version=run["ccperf_version"],
            engine_hash=run["engine_hash"],
            backend=run["backend"],
            backend_version=run["backend_version"],
            scenario_hash=run["scenario_hash"],
            seed=run["seed"],
            user_code=_digests(run["id"], json.loads(run["user_code"])),
        ),
        wall_seconds=run["wall_seconds"],
        finished_at=run["finished_at"],
    )


#: What a run's columns hold that are no texts. A page of a file in another's place leaves any.
_KINDS = {
    "label": str | None,
    "seed": int,
    "wall_seconds": float | None,
    "content": str | None,
}


def check_row(row: tuple[Any, ...]) -> None:
    """Raise ValueError if a run's row, its checksum last, is not what was stored."""
    *values, checksum = row
    for name, value in zip(checksums.RUN, values, strict=True):
        if not isinstance(value, _KINDS.get(name, str)):
            raise ValueError(f"run {str(values[0])[:16]} has no {name}")
    if (checksum is None) != (values[-1] is None):  # rows of before the checksums have neither
        raise ValueError(f"run {values[0][:16]} has one checksum of two")
    if checksum is not None and checksum != checksums.of_values(values):
        raise ValueError(f"run {str(values[0])[:16]} is not what was stored")


def _digests(run: str, found: object) -> dict[str, str]:
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise ValueError(f"run {run[:16]} has no digests of user code")
    return found
