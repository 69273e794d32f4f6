"""What was measured of all mistakes.

`tests/verify/mutants.json` has a line for each mistake, so that the next measurement asks first who
noticed it; `python/ccperf/data/mutants.json`, the table of the page on fidelity, comes with the
package.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mutation import whole_runs
from mutation.places import AREAS, ROOT, Mutant, written

if TYPE_CHECKING:
    # With it comes the engine, which may not be built yet.
    from mutation.trials import Verdict

#: Of mistakes that nothing notices: where the comparison with ns-3 judges, and where unit tests do.
Kind: TypeAlias = Literal["survivor", "unnoticed"]

MEASURED = ROOT / "tests" / "verify" / "mutants.json"
SUMMARY = ROOT / "python" / "ccperf" / "data" / "mutants.json"


def measured() -> dict[str, Any]:
    """The last measurement: `by`, who noticed a mistake; `refused`, what the compiler does not
    take; `unit` and `fuzz`, which unit test and which random scenario noticed one, of those that
    they were asked about; `own`, which unit test noticed one in what ns-3 does not have.
    """
    if not MEASURED.exists():
        return {"by": {}, "refused": [], "unit": {}, "fuzz": {}, "own": {}}
    data: dict[str, Any] = json.loads(MEASURED.read_text())
    return data


def reasons(kind: Kind = "survivor") -> Mapping[str, str]:
    """Why a mistake cannot be noticed, by its name: by the comparison with ns-3, or by a unit test
    in what ns-3 does not have.
    """
    return {name: entry["reason"] for entry in written().get(kind, ()) for name in entry["mutants"]}


def own(mutants: Sequence[Mutant]) -> list[tuple[int, Mutant]]:
    """The mistakes that unit tests alone judge, by their numbers: in what ns-3 does not have, and
    those of which a reason says so.
    """
    others = {
        name
        for entry in written().get("survivor", ())
        if entry.get("unit")
        for name in entry["mutants"]
    }
    return [item for item in enumerate(mutants) if item[1].is_own or item[1].name in others]


def survivors(mutants: Sequence[Mutant]) -> list[tuple[int, Mutant]]:
    """The mistakes that no scenario noticed when all were measured, by their numbers."""
    by = measured()["by"]
    return [item for item in enumerate(mutants) if by.get(item[1].name) == ""]


def write(verdicts: Iterable[Verdict], mutants: Sequence[Mutant], refused: Iterable[str]) -> None:
    """Keep what was measured, of the mistakes that there are."""
    last = measured()
    new = {verdict.mutant.name: verdict.by for verdict in verdicts if not verdict.given_up}
    found = last["by"] | new
    by = {mutant.name: found[mutant.name] for mutant in mutants if mutant.name in found}
    data = {
        "by": by,
        "refused": sorted(refused),
        "unit": {name: found for name, found in last["unit"].items() if name in by},
        "fuzz": {name: found for name, found in last["fuzz"].items() if name in by},
        "own": last["own"],
    }
    _store(MEASURED, data)


def write_own(found: Mapping[str, str], mutants: Sequence[Mutant]) -> None:
    """Keep which unit test noticed a mistake in what ns-3 does not have."""
    data = measured()
    known = data["own"] | found
    names = [mutant.name for _, mutant in own(mutants)]
    data["own"] = {name: known[name] for name in names if name in known}
    _store(MEASURED, data)


def add(what: str, found: Mapping[str, Any]) -> None:
    """Keep what unit tests or random scenarios notice."""
    data = measured()
    data[what].update(found)
    _store(MEASURED, data)


def summarise(mutants: Sequence[Mutant], slice_: Collection[str]) -> None:
    """Write the table."""
    data, why = measured(), reasons()
    rows: dict[str, dict[str, int]] = {}
    for area in ("by hand", *AREAS):
        inside = [m for m in mutants if m.area == area and m.name in data["by"]]
        if not inside:
            continue
        left = [m.name for m in inside if not data["by"][m.name]]
        rows[area] = {
            "planted": len(inside),
            "slice": sum(data["by"][m.name] in slice_ for m in inside),
            "matrix": len(inside) - len(left),
            **_asked("fuzz", data, inside),
            **_asked("unit", data, inside),
            "explained": sum(name in why for name in left),
        }
    survivors = _unnoticed("survivor", data["by"])
    _store(SUMMARY, {"areas": rows, "survivors": survivors, "own": _own(data)})


def summarise_own() -> None:
    """Write the part of the table that unit tests alone judge."""
    _store(SUMMARY, json.loads(SUMMARY.read_text()) | {"own": _own(measured())})


def _own(data: Mapping[str, Any]) -> dict[str, Any]:
    tests = data["own"].values()
    return {
        "planted": len(tests),
        "unit": sum(bool(test) and not whole_runs.is_one(test) for test in tests),
        "whole": sum(map(whole_runs.is_one, tests)),
        "unnoticed": _unnoticed("unnoticed", data["own"]),
    }


def _unnoticed(kind: Kind, by: Mapping[str, str]) -> list[dict[str, Any]]:
    """Reasons, each with how many mistakes that nothing has noticed have it."""
    return [
        {"reason": entry["reason"], "equivalent": entry["equivalent"], "mistakes": count}
        for entry in written().get(kind, ())
        if (count := sum(by.get(name) == "" for name in entry["mutants"]))
    ]


def _store(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def _asked(what: str, data: Mapping[str, Any], inside: Sequence[Mutant]) -> dict[str, int]:
    """How many mistakes unit tests or random scenarios were asked about that the matrix notices,
    how many of these they notice, and how many of the others.
    """
    answers = {
        matrix: [
            bool(data[what][mutant.name])
            for mutant in inside
            if mutant.name in data[what] and bool(data["by"][mutant.name]) == matrix
        ]
        for matrix in (True, False)
    }
    return {
        f"{what}_asked": len(answers[True]),
        what: sum(answers[True]),
        f"{what}_of_rest": sum(answers[False]),
    }
