"""Algorithms that users bring: their names, their files, and making objects of their classes.

A shared library is named by its path (``./libmycca.so``), a Python class by module or file
(``my_module:MyCca``, ``./mycca.py:MyCca``), an ns-3 class by its files
(``./my-cca.cc:TcpMine``, ``./my-cca.cc:./util.cc:TcpMine``), which only the backend ``ns3`` runs.
In a scenario paths are absolute.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.machinery
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.backends.ns3 import build
from ccperf.errors import ScenarioError, UsageError

if TYPE_CHECKING:
    from ccperf.backends import Backend
    from ccperf.scenario import Scenario

is_user_code = _native.is_user_code


def resolve(name: str, folder: Path | None = None) -> str:
    """The name with an absolute path if it has one; relative paths are below `folder`."""
    place, colon, cls = _split(name)
    if not _is_path(place):
        return name
    parts = (str((folder or Path.cwd()) / Path(part).expanduser()) for part in _parts(place))
    return ":".join(parts) + colon + cls


def checked(name: str) -> str:
    """The name resolved. Raises :class:`ValueError` if its file is not there."""
    name = resolve(name)
    files(name)
    place, colon, cls = _split(name)
    if not _is_path(place):
        return name
    parts = (str(Path(part).parent.resolve() / Path(part).name) for part in _parts(place))
    return ":".join(parts) + colon + cls


#: The files of the user's ns-3 classes that may be named by the class alone.
_declared: ContextVar[str] = ContextVar("declared", default="")


def declare_ns3(sources: str) -> None:
    """From here on (in this context), a name that nobody knows is that of a class in these files.

    `sources` is a comma list of C++ files and headers, or empty. Raises :class:`ValueError`.
    """
    words = [word.strip() for word in sources.split(",")] if sources else []
    for word in words:
        if not build.is_cpp(word):
            raise ValueError(f"`{word}` is no C++ file (.cc) or header (.h)")
        if not Path(word).expanduser().is_file():
            raise ValueError(f"there is no file {word}")
    if words and not any(map(build.is_source, words)):
        raise ValueError(f"`{sources}` has only headers; add the .cc file that has the class")
    _declared.set(":".join(str(Path(word).expanduser().absolute()) for word in words))


def declared(kind: str, name: str) -> str:
    """The name with its files if it can only be a class of those declared; else as it is."""
    place, cls = _declared.get(), name.removeprefix("ns3::")
    if not place or kind not in ("cc", "qdisc") or not cls.isidentifier():
        return name
    try:
        _native.resolve(kind, name)
    except ValueError:
        return f"{place}:{cls}"
    return name


def is_ns3_class(name: str) -> bool:
    """Whether this names a user's class of ns-3 by its C++ files."""
    return any(build.is_source(part) for part in _parts(_split(name)[0]))


def name_of(cls: type) -> str:
    """The name under which other processes find a class. Raises :class:`UsageError`."""
    module, name = cls.__module__, cls.__qualname__
    if not name.isidentifier():
        raise UsageError(name, "is defined inside of something; move it to the top of its module")
    if module != "__main__":
        return f"{module}:{name}"
    script = getattr(sys.modules["__main__"], "__file__", None)
    if script is None:
        message = "is defined interactively; put it into a file (in a notebook: %%writefile)"
        raise UsageError(name, message)
    return f"{Path(script).resolve()}:{name}"


def label(name: str) -> str:
    """A short name for file names: ``MyCca``, ``libmycca``; others as they are."""
    if not is_user_code(name):
        return name
    place, _, cls = _split(name)
    return cls or Path(place).stem


def files(name: str) -> list[Path]:
    """The files that hold the code: one, or several of an ns-3 class.

    Raises :class:`ValueError` if one is not there.
    """
    place, _, _ = _split(name)
    found: list[Path] = []
    for part in _parts(place):
        path = Path(part) if _is_path(part) else _module_file(part)
        if path is None:
            raise ValueError(f"`{name}`: there is no Python module `{part}` here")
        if not path.is_file():
            raise ValueError(f"`{name}`: there is no file {path}")
        found.append(path)
    return found


def digests(names: Iterable[str]) -> dict[str, str]:
    """SHA-256 of each one's file. Raises :class:`ValueError` if one is not there."""
    return {name: _digest(name) for name in names}


def _digest(name: str) -> str:
    if is_ns3_class(name):
        return build.digest(build.with_includes(files(name)))
    (path,) = files(name)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def of_scenario(scenario: Scenario) -> dict[str, str]:
    """The user code in a scenario, sorted by name, each with the path of the first field."""
    used = [(f"flows[{i}].cc", flow.cc) for i, flow in enumerate(scenario.flows)]
    for i, link in enumerate(scenario.links):
        for word, direction in (("forward", link.forward), ("reverse", link.reverse)):
            if direction.qdisc is not None:
                used.append((f"links[{i}].{word}.qdisc", direction.qdisc))
    found: dict[str, str] = {}
    for path, algorithm in used:
        if is_user_code(algorithm.type):
            found.setdefault(algorithm.type, f"{path}.type")
    return dict(sorted(found.items()))


def content(scenario: Scenario, backend: Backend | None = None) -> dict[str, str]:
    """SHA-256 of the file of all user code in a scenario, by name: part of a run's id.

    Raises:
        ScenarioError: with each one that is not there.
        UsageError: if `backend` cannot run user code.
    """
    problems: list[tuple[str, str]] = []
    found: dict[str, str] = {}
    for name, path in of_scenario(scenario).items():
        needed = "ns3" if is_ns3_class(name) else "native"
        if backend is not None and backend.name != needed:
            message = f"`{backend.name}` cannot run {name}: it needs the backend `{needed}`"
            raise UsageError("backend", message)
        try:
            found |= digests([name])
        except ValueError as error:
            problems.append((path, str(error)))
    if problems:
        raise ScenarioError(problems)
    return found


# In the process that runs it.


def make(kind: str, name: str, attributes: Mapping[str, str]) -> dict[str, Callable[..., Any]]:
    """Make an object of a class, and return its methods that do something.

    `kind` is ``congestion_control`` or ``queue_disc``. Whatever its module or ``__init__`` raises
    goes through.
    """
    from ccperf.algorithms import CongestionControl, QueueDisc

    _, _, cls_name = _split(name)
    module = _load(name)
    cls = getattr(module, cls_name, None)
    if not isinstance(cls, type):
        raise TypeError(f"{files(name)[0].name} has no class {cls_name}")
    base, methods = {
        "congestion_control": (
            CongestionControl,
            (
                "init",
                "ssthresh",
                "cong_avoid",
                "pkts_acked",
                "set_state",
                "cwnd_event",
                "cong_control",
            ),
        ),
        "queue_disc": (QueueDisc, ("enqueue", "dequeue", "timer")),
    }[kind]
    if not issubclass(cls, base):
        raise TypeError(f"{cls_name} does not derive from ccperf.{base.__name__}")
    made = cls(**{attribute: _value(text) for attribute, text in attributes.items()})
    does_something = ("ssthresh", "cong_avoid")
    return {
        method: getattr(made, method)
        for method in methods
        if getattr(cls, method) is not getattr(base, method) or method in does_something
        if hasattr(base, method)
    }


def describe(error: BaseException) -> str:
    """What was raised, and where: ``ZeroDivisionError: division by zero (mycca.py:12)``."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{type(error).__name__}: {error.msg} ({Path(error.filename).name}:{error.lineno})"
    lines = "".join(traceback.format_exception_only(type(error), error)).split("\n")
    text = " ".join(filter(None, map(str.strip, lines)))
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename != __file__ and "<" not in frame.filename]
    return f"{text} ({Path(inside[-1].filename).name}:{inside[-1].lineno})" if inside else text


def _value(text: str) -> object:
    """An attribute as the Python value that it looks like."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _load(name: str) -> ModuleType:
    place, _, _ = _split(name)
    if not _is_path(place):
        return importlib.import_module(place)
    (path,) = files(name)
    # Not under its own name: a file called `random.py` must not stand in for Python's.
    module_name = f"_ccperf_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}_{path.stem}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = sys.modules[module_name] = importlib.util.module_from_spec(spec)
    # As for a script: what lies beside it can be imported.
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module


def _split(name: str) -> tuple[str, str, str]:
    """Module or path, colon, class; a library is a path only."""
    place, colon, cls = name.rpartition(":")
    return (place, colon, cls) if colon and cls.isidentifier() else (name, "", "")


def _parts(place: str) -> list[str]:
    """The files of an ns-3 class, which colons separate as in ``PATH``; others are one."""
    return _BEHIND_CPP_FILE.split(place)


def _is_path(place: str) -> bool:
    return "/" in place or "\\" in place or Path(place.partition(":")[0]).suffix in _FILE_SUFFIXES


_FILE_SUFFIXES = {".py", ".so", ".dylib", ".dll", ".cc", ".cpp", ".cxx"}
_BEHIND_CPP_FILE = re.compile(
    "|".join(rf"(?<={re.escape(suffix)}):" for suffix in build.CPP_SUFFIXES)
)


def _module_file(module: str) -> Path | None:
    """The file of a module, without importing anything."""
    search: list[str] | None = [str(Path.cwd()), *sys.path]
    spec = None
    for part in module.split("."):
        spec = importlib.machinery.PathFinder.find_spec(part, search) if search else None
        if spec is None:
            return None
        search = list(spec.submodule_search_locations or ())
    return Path(spec.origin) if spec and spec.origin else None
