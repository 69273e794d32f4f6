"""What Python callers ask for, in the words that campaigns take.

A value may be one or several: `k=2`, `k=[1, 2]`, `k=range(1, 5)`. An algorithm may be a class.
Wrong ones are answered as on the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsFloat, TypeAlias, TypeVar

from ccperf.algorithms.user_code import names
from ccperf.base import expression
from ccperf.campaign.plan import Plan
from ccperf.errors import UsageError, unknown
from ccperf.evidence.chosen import metrics_named
from ccperf.experiments import catalogue
from ccperf.experiments import grid as texts
from ccperf.experiments.catalogue import own
from ccperf.experiments.topologies import written
from ccperf.runs import backends
from ccperf.scenario.sysctl import one_spelling
from ccperf.scenario.toml import Document

if TYPE_CHECKING:
    from ccperf.experiments.catalogue import Experiment
    from ccperf.runs.backends import Backend
    from ccperf.scenario import Scenario

T = TypeVar("T")
#: One or several.
Some: TypeAlias = "T | Iterable[T]"
#: An algorithm by its name, with parameters or without, or the class itself.
Algorithm: TypeAlias = "str | type"
#: Seeds as numbers, or as the command line has them: `"1..10"`.
Seeds: TypeAlias = "int | str | Iterable[int] | None"

_LARGEST = 2**32
#: What `run` and `grid` take besides parameters, and what else callers write for that.
_SETTINGS = ("seed", "recovery", "stop_time", "jitter", "profile", "sysctl", "backend", "progress")
_SYNONYMS = {"time": "stop_time", "duration": "stop_time", "length": "stop_time"}


def experiment(what: str | Path) -> Experiment:
    """The experiment of this name, or the one in a file. Raises `UsageError`."""
    if not isinstance(what, str | Path):
        raise UsageError("experiment", f"`{what}` is no experiment; name one, as aqm, or a file")
    if Path(what).suffix == ".toml":
        if not Path(what).is_file():
            raise UsageError("experiment", f"there is no file {what}")
        if not own.is_one(Document.read(Path(what)).data):
            hint = f'`ccperf.simulate("{what}")` runs a scenario'
            raise UsageError("experiment", f"{what} declares no [parameters]; {hint}")
        return own.read(Path(what))
    return catalogue.get(str(what))


def scenario(what: Scenario | str | Path | Mapping[str, Any]) -> Scenario:
    """A scenario itself, or that of a file or of a file's data. Raises `UsageError`, and
    `ScenarioError` for what makes no sense."""
    if isinstance(what, Mapping):
        return written.of(what, Path())
    if isinstance(what, str | Path):
        read = written.read(what)
        return read if read.label else read.model_copy(update={"label": Path(what).stem})
    if not hasattr(what, "lowered"):
        raise UsageError("scenario", f"`{what}` is no ccperf.Scenario, file or table")
    return what


def tested(
    chosen: Experiment, cc: Some[Algorithm] | None, parameters: dict[str, Any]
) -> tuple[list[str], dict[str, Any]]:
    """What is to be under test, nothing if it is not said, and what is left of the parameters.

    It is called `qdisc` or `routing` where that is what the experiment tests. Raises `UsageError`.
    """
    given, rest = cc, dict(parameters)
    known = [chosen.kind, *(parameter.name for parameter in chosen.parameters)]
    for name in (name for name in parameters if name not in known):
        if meant := _SYNONYMS.get(name):
            raise UsageError(name, f"is no parameter of {chosen.name}; did you mean `{meant}`?")
        raise UsageError(name, unknown(f"parameter of {chosen.name}", name, [*known, *_SETTINGS]))
    if chosen.kind != "cc":
        if cc is not None:
            message = f"{chosen.name} tests what {chosen.kind} names; see `ccperf show`"
            raise UsageError("cc", message)
        given = rest.pop(chosen.kind, None)
    words = (
        []
        if given is None
        else algorithms(filled(chosen.kind, given, "the usual ones"), chosen.kind)
    )
    return list(dict.fromkeys(map(chosen.resolve, words))), rest


def algorithms(given: Some[Algorithm], field: str = "cc") -> list[str]:
    """The names of algorithms; of one with several values of a parameter each."""
    words = [str(word(each)) for each in several(given)]
    for text in words:
        # Of those with brackets a comma parts the parameters.
        if "," in text and "(" not in text and not names.is_user_code(text):
            shown = ", ".join(f'"{part.strip()}"' for part in text.split(","))
            raise UsageError(field, f"`{text}` is several in one text; write a list, [{shown}]")
    return [name for text in words for name in expression.each(text)]


def word(given: Any) -> Any:
    """A value as it is written: of a class the name under which processes find it."""
    names.refuse_object(given)
    return names.name_of(given) if isinstance(given, type) else given


def several(given: Any) -> list[Any]:
    """The values of something that is one or several."""
    return list(given) if _is_several(given) else [given]


def filled(name: str, given: Any, without: str) -> list[Any]:
    """The same, of which there is at least one. Raises `UsageError`, which says what is taken
    `without`: a list that came out empty does not ask for that."""
    values = several(given)
    if not values:
        raise UsageError(name, f"is empty; leave it out for {without}")
    return values


def _is_several(given: Any) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | type)


def seeds(given: Seeds) -> list[int] | None:
    """Seeds, each once; None stands for each experiment's own. Raises `UsageError`."""
    if given is None:
        return None
    if isinstance(given, str):
        return texts.seeds(given)
    numbers = filled("seed", given, "the experiment's own")
    return list(dict.fromkeys(map(seed, numbers)))


def seed(given: Any) -> int:
    """One seed, as a number of NumPy's too. Raises `UsageError`."""
    try:
        number = given.__index__()
    except AttributeError:
        number = 0
    if isinstance(given, bool) or not 1 <= number < _LARGEST:
        raise UsageError("seed", f"`{given}` is not a whole number from 1 to {_LARGEST - 1}")
    return int(number)


def text(name: str, given: object) -> None:
    """Raise `UsageError` for a setting that is neither a text nor left out."""
    if given is not None and not isinstance(given, str):
        raise UsageError(name, f"`{given}` must be a text")


def file(name: str, given: object) -> None:
    """Raise `UsageError` for what is neither a text, nor a path, nor left out."""
    if given is not None and not isinstance(given, str | Path):
        raise UsageError(name, f"`{given}` must be a text or a path")


def least(given: Any) -> float:
    """The smallest relative difference that matters. Raises `UsageError`."""
    if not isinstance(given, SupportsFloat) or not 0 <= float(given) < 1:
        raise UsageError("least", f"`{given}` must be a number from 0 to below 1; 0.05 is 5 %")
    return float(given)


def jobs(given: Any) -> int | None:
    """How many runs are made side by side, None for one a core. Raises `UsageError`."""
    if not hasattr(given, "__index__"):
        raise UsageError("jobs", f"`{given}` must be a whole number")
    if isinstance(given, bool) or given < 0:
        raise UsageError("jobs", f"`{given}` must be at least 1, or 0 for one a core")
    return int(given) or None


def sysctl(given: str | Mapping[str, object] | None, backend: str) -> str | None:
    """Sysctls as a text, given as one or by name. Raises `UsageError`, also for a backend without
    any."""
    if given is None:
        return None
    backends.needs_sysctls(backend)
    if not isinstance(given, Mapping):
        text("sysctl", given)
    return one_spelling(given)


def plan(
    chosen: Experiment,
    cc: Some[Algorithm] | None,
    seed: Seeds,
    parameters: dict[str, Any],
    **settings: str | None,
) -> Plan:
    """The grid that is meant. Raises `UsageError`.

    `settings` are recovery, stop_time, jitter, profile and sysctl.
    """
    for name in ("recovery", "profile"):
        text(name, settings.get(name))
    names, rest = tested(chosen, cc, parameters)
    values = {
        name: list(map(word, filled(name, given, "the whole grid"))) for name, given in rest.items()
    }
    return Plan(chosen, names, values, seeds(seed), **settings)


def single(name: str, given: Any) -> Any:
    """What is one value. Raises `UsageError`, which names it, for several."""
    if _is_several(given):
        raise UsageError(name, f"`{given}` is several; `ccperf.grid` takes those")
    return word(given)


def backend(name: str) -> Backend:
    """The backend, if it can be used here. Raises `UsageError`."""
    text("backend", name)
    found = backends.get(name)
    if missing := found.available():
        raise UsageError("backend", f"`{name}` cannot be used here: {missing}")
    return found


def databases(given: str | Path | Sequence[str | Path]) -> list[Path]:
    """The databases, which are there. Raises `UsageError`."""
    for each in several(given):
        file("db", each)
    paths = [Path(each) for each in several(given)]
    for path in paths:
        if not path.exists():
            raise UsageError("db", f"there is no database `{path}`")
    return paths


def metrics(given: str | Iterable[str], name: str = "metric") -> list[str]:
    """Metrics by name; none if none is given. Raises `UsageError`, which names the argument."""
    return metrics_named(",".join(map(str, several(given))), name)
