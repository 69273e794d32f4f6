"""Runs by what they are runs of: the words of a command line, looked up in databases."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ccperf import _native
from ccperf.algorithms import registry, roles
from ccperf.algorithms.registry import usual_first
from ccperf.algorithms.user_code import content
from ccperf.algorithms.user_code.names import as_stored, entries, is_user_code, label, short
from ccperf.base import expression
from ccperf.errors import UsageError, suggestion, unknown
from ccperf.evidence import cells, versions
from ccperf.experiments import grid
from ccperf.experiments.catalogue import NAMED
from ccperf.runs.metrics import METRICS, named
from ccperf.store import Store

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ccperf.evidence.cells import Cell
    from ccperf.store import RunRow

_KINDS: tuple[registry.Kind, ...] = ("cc", "qdisc", "recovery", "routing")


class Algorithms:
    """The algorithms that have runs in databases, by the names that their cells have.

    A text that names one is any name of it: ns-3's or Linux's; of user code the place, from
    whichever folder, the label or the class alone; with `@` and a version, or without.
    """

    def __init__(
        self,
        rows: Sequence[RunRow],
        databases: Iterable[str | Path],
        names: Sequence[str] | None = None,
        choice: str = "",
    ) -> None:
        """Of all runs of databases; of a choice of them only with the `names` of its cells, since
        other runs decide whether a name has a version."""
        where = ", ".join(map(str, databases))
        self._where = f"{where} with {choice}" if choice else where
        self._digests: dict[str, str] = {}
        called = versions.versioned(rows) if names is None else names
        made: dict[str, tuple[str, int]] = {}
        for i, (row, name) in enumerate(zip(rows, called, strict=True)):
            self._digests[name] = versions.digests(row)[0]
            made[name] = max(made.get(name, ("", 0)), (row.finished_at, i))
        #: By the name without its version, the one with the last run at the end.
        self._versions: dict[str, list[str]] = {}
        for name in self._digests:
            self._versions.setdefault(versions.split(name)[0], []).append(name)
        for names in self._versions.values():
            names.sort(key=made.__getitem__)

    @classmethod
    def of(cls, cells: Iterable[Cell], choice: str = "") -> Algorithms:
        """Those of cells, by the names that these have; `choice` says which these are."""
        found = [(record, cell.algorithm) for cell in cells for record in cell.records.values()]
        return cls(
            [record.row for record, _ in found],
            dict.fromkeys(record.database for record, _ in found),
            [name for _, name in found],
            choice,
        )

    def newest(self) -> list[str]:
        """Return every algorithm once, the usual ones first, whichever run ended first; of several
        versions the newest."""
        for name, several in self._versions.items():
            self._note(name, several, several[-1])
        return sorted((several[-1] for several in self._versions.values()), key=usual_first)

    def versions(self, text: str, option: str) -> list[str]:
        """Return all versions of the algorithm that is called so, the newest last.

        Raises `UsageError`, which names `option`, if it has no runs.
        """
        name, version = versions.split(text)
        several = self._versions.get(self._known_as(name))
        if several is None:
            names = list(self._versions)
            there = f"there are {', '.join(names)}" if names else "there are none at all"
            message = f"no runs of `{text}` in {self._where}{suggestion(text, names)}; {there}"
            raise UsageError(option, message)
        if not version:
            return several
        found = [each for each in several if self._digests[each].startswith(version)]
        if not found:
            have = ", ".join(f"@{self._digests[each][:4]}" for each in several)
            raise UsageError(option, f"no runs of `{text}` in {self._where}; versions: {have}")
        return found

    def one(self, text: str, option: str) -> str:
        """Return the algorithm that is called so. Of several versions it is that of the file as it
        is now, if it has runs, or else the newest, with a warning. Raises as `versions` does."""
        several = self.versions(text, option)
        name, version = versions.split(text)
        if version:
            return several[-1]
        now = _now(name)
        if now and now not in map(self._digests.get, several):
            warnings.warn(
                f"{name} has changed since its last run in {self._where}: what is stored is"
                f" of {versions.split(several[-1])[0]}@{self._digests[several[-1]][:4]}",
                stacklevel=2,
            )
        elif now:
            return next(each for each in several if self._digests[each] == now)
        self._note(name, several, several[-1])
        return several[-1]

    def _note(self, name: str, several: Sequence[str], taken: str) -> None:
        if len(several) > 1:
            others = ", ".join(each for each in several if each != taken)
            message = f"{name}: {len(several)} versions, newest taken ({taken}); also {others}"
            warnings.warn(message, stacklevel=3)

    def _known_as(self, text: str) -> str:
        for name in spellings(text):
            if name in self._versions:
                return name
        alike = [
            name
            for name in self._versions
            if name.lower() == text.lower() or (is_user_code(name) and _is_class(text, name))
        ]
        return alike[0] if len(alike) == 1 else text


def _is_class(text: str, name: str) -> bool:
    """Whether a text is the class alone, with the same parameters."""
    with suppress(ValueError):
        return expression.write(*expression.parse(text)) == short(name) + expression.cut(name)[1]
    return False


def _now(name: str) -> str:
    """The digest of user code as it lies here; empty for what is built in or elsewhere."""
    name = expression.cut(name)[0]
    if is_user_code(name):
        with suppress(ValueError, OSError):
            return content.digest(name)
    return ""


def spellings(text: str) -> Iterator[str]:
    """A text as given, and as points have it if it is an algorithm, a number, a time or a rate."""
    yield text
    with suppress(ValueError, OverflowError):
        yield str(float(text))
        if float(text) == int(float(text)):
            yield str(int(float(text)))
    with suppress(ValueError):
        yield _native.format_time(_native.parse_time(text))
    with suppress(ValueError):
        yield _native.format_rate(_native.parse_rate(text))
    with as_stored():
        for kind in _KINDS:
            with suppress(ValueError):
                yield label(registry.resolve(kind, text))


@dataclass(frozen=True)
class Choice:
    """What is asked for, in the words of points; what is empty holds for all."""

    experiments: Sequence[str]
    parameters: Mapping[str, Sequence[str]]
    #: The option that names each of the parameters.
    options: Mapping[str, str]

    def fits(self, point: _Described) -> bool:
        """Whether a point is meant."""
        return (not self.experiments or point.experiment in self.experiments) and all(
            _is_among(str(point.words.get(name)), values)
            for name, values in self.parameters.items()
        )

    def check(self, points: Iterable[_Described], databases: Iterable[str | Path]) -> None:
        """Raise `UsageError` for a word that fits no point of databases that have some, and where
        no point fits all of them."""
        there: dict[str, dict[str, None]] = {}
        experiments: dict[str, None] = {}
        fits = False
        for point in points:
            fits = fits or self.fits(point)
            experiments[point.experiment] = None
            for name, value in point.words.items():
                there.setdefault(name, {})[str(value)] = None
        where = ", ".join(map(str, databases))
        for name in self.experiments if experiments else ():
            if name not in experiments:
                message = f"no runs of `{name}` in {where}{suggestion(name, experiments)}"
                raise UsageError("--experiment", f"{message}; there are {', '.join(experiments)}")
        for name, values in self.parameters.items() if experiments else ():
            if name not in there:
                raise UsageError(self.options[name], unknown("parameter", name, there))
            if not any(_is_among(value, values) for value in there[name]):
                message = unknown(f"value of {name}", values[0], there[name])
                raise UsageError(self.options[name], message)
        if experiments and not fits:
            option = next(iter(self.options.values()))
            message = f"each of these has runs in {where}, but no run has all of them"
            raise UsageError(option, f"{message}; `ccperf runs` lists what there is")


class _Described(NamedTuple):
    """A point, and all words by which it can be meant."""

    experiment: str
    words: Mapping[str, object]


def _described(
    experiment: str, parameters: Mapping[str, object], tested: str | None = None
) -> _Described:
    """A point by its parameters, and by what is under test, by its option if that is not `cc`."""
    kind = NAMED[experiment].kind if experiment in NAMED else "cc"
    tested = tested or roles.under_test(parameters)
    by_option: dict[str, str] = {kind: tested} if tested and kind != "cc" else {}
    without = dict.fromkeys(cells.SETTINGS, cells.NOT_GIVEN)
    return _Described(experiment, {**without, **parameters, **by_option})


def _of_cells(found: Sequence[Cell]) -> list[_Described]:
    """Cells by all that labels points: their parameters, in what their settings differ from
    others', and who ran them. How long a run is and who made it is known of all, labelled or not:
    points that need no such label have runs of that kind, too."""
    described = []
    for cell in cells.told_by_maker(found):
        point = cell.point
        record = next(iter(cell.records.values()))
        known = {"backend": cell.backend, "engine": cell.engine[:8], "stop_time": record.stop_time}
        parameters = {**known, **record.row.parameters, **dict(point.parameters)}
        described.append(_described(point.experiment, parameters, cell.algorithm))
    return described


def _is_among(value: str, values: Collection[str]) -> bool:
    """Whether a value is one of these; what links differ in, `20Mbps,50Mbps`, is several."""
    return value in values or all(each in values for each in value.split(","))


def asked(
    experiment: str = "", at: str = "", parameters: Mapping[str, Sequence[str]] | None = None
) -> Choice:
    """Return what texts of a command line ask for: `ecn,aqm`, `k=5,qdisc=codel`.

    `parameters` has more of what `at` says: values by the name of the parameter. Raises
    `UsageError`.
    """
    chosen = {name: list(values) for name, values in (parameters or {}).items()}
    options = {name: f"--{name.replace('_', '-')}" for name in chosen}
    name = ""
    for word in words(at):
        before, equals, value = word.partition("=")
        if not equals and not name:
            raise UsageError("--at", f"`{word}` is not parameter=value")
        # `k=1,2` are two values of k.
        name, value = (before, value) if equals else (name, word)
        chosen.setdefault(name, []).extend(grid.expand("--at", value))
        options.setdefault(name, "--at")
    return Choice(
        words(experiment),
        {name: [s for value in of for s in spellings(value)] for name, of in chosen.items()},
        options,
    )


def choose(
    databases: Sequence[str | Path],
    *,
    experiment: str = "",
    cc: str = "",
    at: str = "",
    parameters: Mapping[str, Sequence[str]] | None = None,
    seeds: Collection[int] | None = None,
    newest: bool = False,
) -> list[Cell]:
    """Return the cells at the points that `asked` reads, of the algorithms `cubic,bbr`, with these
    seeds, or all.

    With `newest` each in its newest version, and by its name without that, as other databases have
    other versions. Raises `UsageError`.
    """
    choice = asked(experiment, at, parameters)
    found = [record for path in databases for record in cells.records(Path(path))]
    rows = [record.row for record in found]
    there = Algorithms(rows, databases)
    names = [there.one(word, "--cc") for word in words(cc)] or (there.newest() if newest else [])
    gathered = cells.gather(found)
    described = _of_cells(gathered)
    choice.check(described, databases)
    there_are = [
        replace(cell, algorithm=versions.split(cell.algorithm)[0]) if newest else cell
        for cell, point in zip(gathered, described, strict=True)
        if choice.fits(point) and (not names or cell.algorithm in names)
    ]
    if seeds is None:
        return there_are
    of_seeds = [cell for each in there_are if (cell := each.of_seeds(seeds)).runs]
    if there_are and not of_seeds:
        known = sorted({seed for cell in there_are for seed in cell.runs})
        message = f"no such run has seed {', '.join(map(str, seeds))}"
        raise UsageError("--seed", f"{message}; there are {', '.join(map(str, known))}")
    return of_seeds


def rows(
    databases: Sequence[str | Path], choice: Choice, cc: str = "", *, newest: bool = False
) -> list[tuple[Path, RunRow]]:
    """Return the runs at the points that are meant, each with its database.

    `cc`: those with one of these algorithms under test or in a flow; with `newest` under test only,
    and in its newest version. Raises `UsageError`.
    """
    found: list[tuple[Path, RunRow]] = []
    for path in map(Path, databases):
        with Store(path, "r") as store:
            found += [(path, row) for row in store.runs()]
    listed = [row for _, row in found]
    described = [_described(row.called, row.parameters) for row in listed]
    if not choice.parameters.keys() <= {name for point in described for name in point.words}:
        # What else labels a point is known of cells only, which takes longer.
        described = _told(described, listed, databases)
    choice.check(described, databases)
    names = versions.versioned(listed)
    there = Algorithms(listed, databases)
    meant: set[str] = set()
    for word in words(cc):
        if newest:
            meant.add(there.one(word, "--cc"))
            continue
        in_flows = {*spellings(word)} & {name for row in listed for name in row.cc}
        try:
            meant.update(there.versions(word, "--cc"))
        except UsageError:
            if not in_flows:
                raise
        meant |= in_flows
    return [
        (path, row)
        for (path, row), name, point in zip(found, names, described, strict=True)
        if choice.fits(point)
        and (not cc or name in meant or (not newest and not meant.isdisjoint(row.cc)))
    ]


def _told(
    points: Sequence[_Described], rows: Sequence[RunRow], databases: Sequence[str | Path]
) -> list[_Described]:
    """The points of runs with all that labels them in a comparison."""
    gathered = cells.read(databases)
    labels = {
        _key(record.row): point.words
        for cell, point in zip(gathered, _of_cells(gathered), strict=True)
        for record in cell.records.values()
    }
    return [
        _Described(point.experiment, {**labels.get(_key(row), {}), **point.words})
        for point, row in zip(points, rows, strict=True)
    ]


def _key(row: RunRow) -> tuple[str, ...]:
    return row.id, row.called, repr(row.parameters)


def metrics_named(text: str, option: str) -> list[str]:
    """Return the metrics of a comma list, or `all`; none if it is empty.

    Raises `UsageError`, which names `option`.
    """
    if text == "all":
        return list(METRICS)
    for name in words(text):
        if named(name) is None:
            raise UsageError(option, unknown("metric", name, METRICS))
    return words(text)


def words(text: str) -> list[str]:
    """Return the words of a comma list; an algorithm with several values of a parameter is several
    words."""
    return [one for word in entries(text) if word for one in expression.each(word)]
