"""How algorithms that users bring are named, and what they are called where paths do not belong.

A shared library is named by its path (``./libmycca.so``), a Python class by module or file
(``my_module:MyCca``, ``./mycca.py:MyCca``), an ns-3 class by its files
(``./my-cca.cc:TcpMine``, ``./my-cca.cc:./util.cc:TcpMine``), which only the backend ``ns3`` runs.
A congestion control of the Linux kernel's is named by its C file, which the name that it registers
completes (``./tcp_mine.c``, ``./tcp_mine.c:mine``), or by the kernel's name (``linux:cdg``); only
the backend ``linux`` runs it. In a scenario that runs, paths are absolute. Ids, databases and pages
know the label only (``mycca.py:MyCca``) and the hash of the content, so that they mean the same on
another machine.
"""

from __future__ import annotations

import importlib.machinery
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from ccperf import _native
from ccperf.base import expression
from ccperf.errors import UsageError

#: The kinds of user code: a Python class or shared library, a class of ns-3, and a module of Linux.
PLUGIN, NS3, KERNEL = KINDS = ("plugin", "ns3", "kernel")
_SOURCE_SUFFIXES = (".cc", ".cpp", ".cxx")
_KERNEL_FILE = re.compile(r"(?:.*/)?tcp_\w+\.c", re.DOTALL)
_KERNEL_NAME = re.compile(r"\.name\s*=\s*\"([\w.-]+)\"")
#: Where the congestion controls are that a kernel has.
_IN_KERNEL = "linux"
#: Files that may hold a user's classes of ns-3.
CPP_SUFFIXES = (*_SOURCE_SUFFIXES, ".h", ".hh", ".hpp", ".hxx")


def is_user_code(name: str) -> bool:
    """Whether this names an algorithm that a user brings, with parameters or without."""
    return _native.is_user_code(expression.cut(name)[0])


def is_cpp_source(path: str) -> bool:
    """Whether this is the name of a C++ file that can be compiled."""
    return path.endswith(_SOURCE_SUFFIXES)


def is_cpp(path: str) -> bool:
    """Whether this is the name of a C++ file or header."""
    return path.endswith(CPP_SUFFIXES)


#: How the modules begin that are made of users' files.
LOADED = "_ccperf_"
#: Whether names come from a database, where they are labels.
_as_stored: ContextVar[bool] = ContextVar("as_stored", default=False)


@contextmanager
def as_stored() -> Iterator[None]:
    """Inside, names stay what they are: the files that a database names need not be here."""
    token = _as_stored.set(True)
    try:
        yield
    finally:
        _as_stored.reset(token)


def are_stored() -> bool:
    """Whether this is inside of :func:`as_stored`."""
    return _as_stored.get()


def entries(text: str) -> list[str]:
    """The entries of a comma list, bare; a comma in the path of a file that is there separates
    nothing: `./Doe, Ann/mine.py:Mine`."""
    pieces = expression.pieces(text)
    if not _OF_PATH.search(text, len(pieces[0])):
        return [piece.strip() for piece in pieces]
    found = []
    while pieces:
        several = range(min(len(pieces), _MOST_COMMAS + 1), 1, -1)
        count = next((n for n in several if _has_commas(",".join(pieces[:n]).strip(), n - 1)), 1)
        found.append(",".join(pieces[:count]).strip())
        del pieces[:count]
    return found


def _has_commas(name: str, count: int) -> bool:
    """Whether so many commas are in the path of user code, and its files are there."""
    name = expression.bare(name)
    place, _, _ = split(name)
    if place.count(",") != count or not is_user_code(name) or not is_path(place):
        return False
    return all(Path(part).expanduser().is_file() for part in _parts(place))


def resolve(name: str, folder: Path | None = None) -> str:
    """The name with an absolute path if it has one; relative paths are below `folder`."""
    place, colon, cls = split(name)
    if _as_stored.get() or not is_path(place):
        return name
    parts = (str((folder or Path.cwd()) / Path(part).expanduser()) for part in _parts(place))
    return ":".join(parts) + colon + cls + expression.cut(name)[1]


def checked(name: str) -> str:
    """The name resolved. Raises :class:`ValueError` if its file is not there."""
    if _as_stored.get():
        return name
    name = resolve(name)
    files(name)
    place, colon, cls = split(name)
    if not is_path(place):
        return name
    parts = (str(Path(part).parent.resolve() / Path(part).name) for part in _parts(place))
    return ":".join(parts) + colon + cls + expression.cut(name)[1]


def unfinished(name: str) -> str | None:
    """What is missing from a name that only has a file of source code; None if nothing is."""
    file, colon, rest = name.rpartition(".py:")
    if colon:
        return (
            f"`{rest}` is no class of a file; write {file}.py:ClassName, with parameters "
            f"{file}.py:ClassName:name=value"
        )
    suffix = Path(name).suffix
    if suffix == ".py" or suffix in _SOURCE_SUFFIXES:
        return f"`{name}` names a file only; add the class in it: {name}:ClassName"
    if suffix in (".c", ".rs"):
        return f"`{name}` is source code; build a shared library of it and name that: lib….so"
    return None


#: The files of the user's ns-3 classes that may be named by the class alone.
_declared: ContextVar[str] = ContextVar("declared", default="")


def declare_ns3(sources: str) -> None:
    """From here on (in this context), a name that nobody knows is that of a class in these files.

    `sources` is a comma list of C++ files and headers, or empty. Raises :class:`ValueError`.
    """
    words = [word.strip() for word in sources.split(",")] if sources else []
    for word in words:
        if not is_cpp(word):
            raise ValueError(f"`{word}` is no C++ file (.cc) or header (.h)")
        if not Path(word).expanduser().is_file():
            raise ValueError(f"there is no file {word}")
    if words and not any(map(is_cpp_source, words)):
        raise ValueError(f"`{sources}` has only headers; add the .cc file that has the class")
    _declared.set(":".join(str(Path(word).expanduser().absolute()) for word in words))


def declared(kind: str, name: str) -> str:
    """The name with its files if it can only be a class of those declared; else as it is.

    The name of a kernel's file is completed by what the file registers.
    """
    if kind == "cc" and _KERNEL_FILE.fullmatch(name) and not _as_stored.get():
        return f"{name}:{_registered(Path(name).expanduser())}"
    place, cls = _declared.get(), name.removeprefix("ns3::")
    if not place or kind not in ("cc", "qdisc") or not cls.isidentifier():
        return name
    try:
        _native.resolve(kind, name)
    except ValueError:
        return f"{place}:{cls}"
    return name


def _registered(path: Path) -> str:
    """What the congestion control in a kernel's file is called, which has to be a word."""
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    source = path.read_text(errors="replace")
    found = _KERNEL_NAME.search(source)
    if found is None or not found[1].isidentifier():
        raise ValueError(
            f"`{path}` registers no tcp_congestion_ops that can be named: it has no "
            f'`.name = "{path.stem.removeprefix("tcp_")}"`'
        )
    if "tcp_register_congestion_control" not in source:
        raise ValueError(f"`{path}` does not call tcp_register_congestion_control")
    return found[1]


def is_declared(name: str) -> bool:
    """Whether this is a class in the files given to :func:`declare_ns3`."""
    return bool(_declared.get()) and name.startswith(f"{_declared.get()}:")


def kind(name: str) -> str:
    """What a user's algorithm is written as: one of :data:`KINDS`."""
    return KERNEL if is_of_kernel(name) else NS3 if is_ns3_class(name) else PLUGIN


def is_in_kernel(name: str) -> bool:
    """Whether this is what a Linux kernel has by itself, so that nobody's code comes with it."""
    return split(name)[0] == _IN_KERNEL


def is_of_kernel(name: str) -> bool:
    """Whether this names something of Linux's kernel, a user's file or what it has."""
    place, _, _ = split(name)
    return place == _IN_KERNEL or _KERNEL_FILE.fullmatch(place) is not None


def is_ns3_class(name: str) -> bool:
    """Whether this names a user's class of ns-3 by its C++ files."""
    return any(is_cpp_source(part) for part in _parts(split(name)[0]))


def name_of(cls: type) -> str:
    """The name under which other processes find a class. Raises :class:`UsageError`."""
    module, name = cls.__module__, cls.__qualname__
    if not name.isidentifier():
        raise UsageError(
            name, "is defined inside a function or class; move it to the top of its module"
        )
    if module.startswith(LOADED):
        message = (
            "the script that defines it runs as a whole where it is loaded; put the call behind "
            '`if __name__ == "__main__":`'
        )
        raise UsageError(name, message)
    if module != "__main__":
        return f"{module}:{name}"
    script = getattr(sys.modules["__main__"], "__file__", None)
    if script is None or not Path(script).is_file():  # `python -` calls it <stdin>
        message = "is defined interactively; put it into a file (in a notebook: %%writefile)"
        raise UsageError(name, message)
    return f"{Path(script).resolve()}:{name}"


def refuse_object(given: object) -> None:
    """Raises :class:`UsageError` for an object of a class, which other processes cannot have."""
    from ccperf import algorithms

    if isinstance(given, tuple(getattr(algorithms, base) for base in algorithms.__all__)):
        name = name_of(type(given))
        message = f'is an object; give its class, or with parameters "{name}:name=value"'
        raise UsageError(type(given).__name__, message)


def short(name: str) -> str:
    """A short name for file names, without parameters: ``MyCca``, ``libmycca``, ``TcpCubic``."""
    if not is_user_code(name):
        return expression.cut(name)[0]
    place, _, cls = split(name)
    return cls or Path(place).stem


def label(name: str, folders: int = 0) -> str:
    """The name without the way to its files: ``mycca.py:MyCca``, ``libmycca.so``; others as are.

    `folders` is how many of the folders above the files it keeps.
    """
    if not is_user_code(name):
        return name
    place, colon, cls = split(name)
    if not is_path(place):
        return name
    parts = (Path(part).parts[-1 - folders :] for part in _parts(place))
    files = ":".join("/".join(part).lstrip("/") for part in parts)
    return files + colon + cls + expression.cut(name)[1]


def labelled(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with users' algorithms by their labels: what is stored and published."""
    return {name: label(v) if isinstance(v, str) else v for name, v in parameters.items()}


def labels(names: Iterable[str]) -> dict[str, str]:
    """The label of each name; where two would have the same one, with the folders that differ."""
    found: dict[str, str] = {}
    for name in names:
        others = [other for other in names if other != name and is_user_code(other)]
        deepest = len(Path(name).parts)
        found[name] = next(
            (
                mine
                for folders in range(deepest)
                if (mine := label(name, folders)) not in {label(o, folders) for o in others}
            ),
            label(name),
        )
    return found


def without_paths(canonical: Mapping[str, Any], called: Mapping[str, str] | None = None) -> Any:
    """A canonical scenario with each user's algorithm `called` what that says (default: its label).

    The algorithms are those of the flows, of the stacks, of the links' queues and of the switches.
    """
    senders = [name for name in ("flows", "stacks") if name in canonical]
    used = [each["cc"] for name in senders for each in canonical[name] if "cc" in each]
    for link in canonical["links"]:
        used += filter(None, (link[way].get("qdisc") for way in ("forward", "reverse")))
    if "routing" in canonical:
        used.append(canonical["routing"])
    own = {each["type"] for each in used if is_user_code(each["type"])}
    if not own:
        return canonical
    words = labels(sorted(own)) if called is None else called

    def renamed(algorithm: Mapping[str, Any] | None) -> Any:
        if algorithm is None:
            return None
        return {**algorithm, "type": words.get(algorithm["type"], algorithm["type"])}

    return {
        **canonical,
        **({"routing": renamed(canonical["routing"])} if "routing" in canonical else {}),
        **{
            name: [
                {**each, "cc": renamed(each["cc"])} if "cc" in each else each
                for each in canonical[name]
            ]
            for name in senders
        },
        "links": [
            {
                **link,
                **{
                    way: {**link[way], "qdisc": renamed(link[way].get("qdisc"))}
                    for way in ("forward", "reverse")
                },
            }
            for link in canonical["links"]
        ],
    }


def _is_built_in(name: str) -> bool:
    for kind in ("cc", "qdisc", "recovery", "routing"):
        with suppress(ValueError):
            return bool(_native.resolve(kind, name))
    return False


def files(name: str) -> list[Path]:
    """The files that hold the code: one, several of an ns-3 class, none of what the kernel has.

    Raises :class:`ValueError` if one is not there.
    """
    place, _, cls = split(name)
    found: list[Path] = []
    if place == _IN_KERNEL:
        return found
    for part in _parts(place):
        path = Path(part) if is_path(part) else _module_file(part)
        if path is None:
            message = f"`{name}`: there is no Python module `{part}` here"
            hint = (
                f"; a parameter of {part} needs a value: {name}=VALUE" if _is_built_in(part) else ""
            )
            raise ValueError(message + hint)
        if is_path(part) and "," in path.name:
            message = f"`{label(name)}`: commas separate algorithms; rename {path.name} without one"
            raise ValueError(message)
        if not path.is_file():
            hint = f"; a parameter needs a value: {cls}=VALUE" if split(part)[1] else ""
            raise ValueError(f"`{name}`: there is no file {path}{hint}")
        if cls and is_path(part) and not part.endswith((".py", ".c", *CPP_SUFFIXES)):
            raise ValueError(f"`{name}`: classes are in Python files (.py) and C++ files (.cc)")
        found.append(path)
    return found


def import_root(name: str, file: Path) -> Path | None:
    """Where a user's Python file finds what it imports from beside it.

    None if that is where packages are installed: what they import is theirs.
    """
    place, _, _ = split(name)
    depth = 0 if is_path(place) else place.count(".") + (file.name == "__init__.py")
    root = file.parents[depth]
    return None if root.resolve() in map(Path, sysconfig.get_paths().values()) else root


def split(name: str) -> tuple[str, str, str]:
    """Module or path, colon, class, without parameters; a library is a path only."""
    name, _ = expression.cut(name)
    place, colon, cls = name.rpartition(":")
    return (place, colon, cls) if colon and cls.isidentifier() else (name, "", "")


def _parts(place: str) -> list[str]:
    """The files of an ns-3 class, which colons separate as in ``PATH``; others are one."""
    return _BEHIND_CPP_FILE.split(place)


def is_path(place: str) -> bool:
    return "/" in place or "\\" in place or Path(place.partition(":")[0]).suffix in _FILE_SUFFIXES


_FILE_SUFFIXES = {".py", ".so", ".dylib", ".dll", ".c", ".cc", ".cpp", ".cxx"}
#: What a path has behind its first comma, if it has one.
_OF_PATH = re.compile("|".join(map(re.escape, ("/", "\\", *sorted(_FILE_SUFFIXES)))))
#: A path has no more commas.
_MOST_COMMAS = 8
_BEHIND_CPP_FILE = re.compile("|".join(rf"(?<={re.escape(suffix)}):" for suffix in CPP_SUFFIXES))


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
