"""Loads users' code in the process that runs it, and makes objects of their classes.

The engine calls :func:`make` and :func:`describe` (``crates/py/src/user/mod.rs``). What is loaded
is what :class:`Held` has read: neither what Python compiled earlier nor a later edit.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from ccperf.algorithms.user_code import content, names
from ccperf.algorithms.user_code.content import ChangedError

#: The text of each Python file that is held, by its path: those of classes, and those beside them.
_sources: dict[Path, bytes] = {}


class Held:
    """Files of user code that are open from before they are loaded until the run has ended."""

    def __init__(self, expected: Mapping[str, str]) -> None:
        self._files: list[tuple[str, str, Path, int]] = []
        self._texts: dict[str, dict[Path, bytes]] = {}
        self._roots: set[Path] = set()
        for name, digest in expected.items():
            (path,) = names.files(name)
            file = os.open(path, os.O_RDONLY)
            self._files.append((name, digest, path, file))
            if path.suffix == ".py":
                self._texts[name] = content.texts(name, _read(file))
                _sources.update(self._texts[name])
                self._roots.update(filter(None, [names.import_root(name, path)]))
        if _sources and not any(isinstance(finder, _Beside) for finder in sys.meta_path):
            sys.meta_path.insert(0, _Beside())
        self.check()

    def loaded(self) -> None:
        """To be called when all is loaded: what was loaded must be what is open here."""
        for name, _, path, file in self._files:
            if path not in _sources:
                try:
                    same = os.path.samestat(os.fstat(file), path.stat())
                except OSError:
                    same = False
                if not same:
                    raise ChangedError(name)
        self.check()
        misspelt.update(dict.fromkeys(self._left_out()))

    def _left_out(self) -> Iterator[str]:
        """Modules beside the files that are not held, as nothing that is held names them."""
        for module, loaded in list(sys.modules.items()):
            file = Path(getattr(loaded, "__file__", None) or os.devnull)
            parts = module.split(".")
            # ccperf's own are not the user's, even if the class is one of them.
            for root in self._roots if parts[0] != "ccperf" else ():
                whole = root.joinpath(*parts)
                beside = (whole / "__init__.py", whole.with_name(f"{parts[-1]}.py"))
                if file in beside and file not in _sources:
                    yield (
                        f"{file.name} is imported by a computed name: an edit of it makes no new "
                        f"version; write `import {module}`"
                    )

    def check(self) -> None:
        """Raises :class:`ChangedError` if one is not what is expected.

        A shared library's pages come from its file while it runs, so nobody may have written to it
        until the run has ended; that another file has taken its place by then does no harm.
        """
        for name, digest, path, file in self._files:
            texts = self._texts.get(name) or {path: _read(file)}
            if content.digest_of_texts(texts) != digest:
                raise ChangedError(name)


#: A call of such a function only makes a generator or a coroutine.
_DEFERRED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR


def make(kind: str, name: str, attributes: Mapping[str, str]) -> dict[str, Callable[..., Any]]:
    """Make an object of a class, and return its methods that do something.

    `kind` is one of :func:`_kinds`. Whatever its module or ``__init__`` raises goes through.
    """
    from ccperf import _native
    from ccperf.algorithms.callbacks import Callbacks

    cls = _class(name)
    base, methods = _kinds()[kind]
    if not issubclass(cls, base):
        raise TypeError(_not_of(cls, kind))
    misspelt.update(dict.fromkeys(_misspelt(cls, base, methods)))
    wanted = getattr(cls, "interface", 0)
    if wanted > _native.INTERFACE:
        raise TypeError(
            f"{cls.__name__} is written for version {wanted} of the interface of user code, and "
            f"this ccperf has version {_native.INTERFACE}: update ccperf"
        )
    made = cls(**{attribute: _value(text) for attribute, text in attributes.items()})
    nothing = Callbacks if issubclass(base, Callbacks) else base
    called = {
        method: getattr(made, method)
        for method in methods
        # (What a scheduler classifies by, if it does not say so, is the DSCP.)
        if getattr(cls, method) is not getattr(nothing, method) or method == "classify"
    }
    for method, function in called.items():
        if getattr(getattr(function, "__code__", None), "co_flags", 0) & _DEFERRED:
            raise TypeError(
                f"{cls.__name__}.{method} would not run when it is called; write it without "
                "`yield` and `async`"
            )
    return called


def is_of_kind(kind: str, name: str) -> bool:
    """Whether the class is one of this kind."""
    return issubclass(_class(name), _kinds()[kind][0])


def _class(name: str) -> type:
    _, _, cls_name = names.split(name)
    module = _load(name)
    cls = getattr(module, cls_name, None)
    if not isinstance(cls, type):
        own = (each for each in vars(module).values() if isinstance(each, type))
        there = [each.__name__ for each in own if each.__module__ == module.__name__]
        has = f"; it has {', '.join(there)}" if there else ""
        raise TypeError(f"{names.files(name)[0].name} has no class {cls_name}{has}")
    return cls


def _not_of(cls: type, kind: str) -> str:
    """What is wrong with a class that is not of the kind that a scenario takes it for."""
    from ccperf.algorithms import QueueDisc, Scheduler

    base, _ = _kinds()[kind]
    message = f"{cls.__name__} does not derive from ccperf.{base.__name__}"
    if kind == "queue_disc" and issubclass(cls, Scheduler):
        return f"{cls.__name__} is a scheduler; give it children, a queue discipline for each class"
    if kind == "scheduler" and issubclass(cls, QueueDisc):
        return f"{cls.__name__} is no scheduler, and has no children; leave them out"
    return message


def _kinds() -> Mapping[str, tuple[type, Sequence[str]]]:
    """The base class of each kind of user code, and the methods that are called."""
    from ccperf import _native
    from ccperf.algorithms import (
        CongestionControl,
        HostBalancer,
        LoadBalancer,
        QueueDisc,
        Scheduler,
    )

    return {
        "congestion_control": (CongestionControl, tuple(_native.callbacks())),
        "queue_disc": (QueueDisc, ("enqueue", "dequeue", "timer")),
        "scheduler": (Scheduler, ("classify", "next", "sent")),
        "load_balancer": (LoadBalancer, ("pick", "tick")),
        "host_balancer": (HostBalancer, ("send", "ack", "timeout", "loss")),
    }


#: What ns-3 calls the methods, without capitals: `increase_window` is as near as `IncreaseWindow`.
_NS3_NAMES = {
    "increasewindow": "cong_avoid",
    "congestionavoidance": "cong_avoid",
    "getssthresh": "ssthresh",
    "pktsacked": "pkts_acked",
    "congestionstateset": "set_state",
    "cwndevent": "cwnd_event",
    "congcontrol": "cong_control",
    "doenqueue": "enqueue",
    "dodequeue": "dequeue",
}
#: What the classes that were made objects of are to be warned of, each once.
misspelt: dict[str, None] = {}


def _misspelt(cls: type, base: type, methods: Sequence[str]) -> Iterator[str]:
    """A method that nobody calls leaves the base class's in force, with plausible numbers."""
    known = {_bare(method): method for method in methods}
    known |= {name: method for name, method in _NS3_NAMES.items() if method in methods}
    codes = [getattr(value, "__code__", None) for value in vars(cls).values()]
    called = {name for code in codes if code for name in code.co_names}
    for name, value in vars(cls).items():
        if name.startswith("_") or not callable(value) or hasattr(base, name) or name in called:
            continue
        for near in difflib.get_close_matches(_bare(name), known, n=1, cutoff=0.8):
            yield f"{cls.__name__}.{name} is never called; is `{known[near]}` meant?"


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


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
    place, _, _ = names.split(name)
    is_path = names.is_path(place)
    if not is_path and place in sys.modules:  # it need not be searched for
        return sys.modules[place]
    (path,) = names.files(name)
    if is_path:
        # Not under its own name: a file called `random.py` must not stand in for Python's.
        place = f"{names.LOADED}{hashlib.sha256(str(path).encode()).hexdigest()[:8]}_{path.stem}"
        # As for a script: what lies beside it can be imported.
        if str(path.parent) not in sys.path:
            sys.path.insert(0, str(path.parent))
    elif "." in place:
        importlib.import_module(place.rpartition(".")[0])
    if place in sys.modules:
        return sys.modules[place]
    if path not in _sources:
        return importlib.import_module(place)  # compiled by something else than Python
    package = [str(path.parent)] if path.name == "__init__.py" else None
    loader = _Exactly(place, str(path), _sources[path])
    spec = spec_from_file_location(place, path, loader=loader, submodule_search_locations=package)
    assert spec is not None  # a loader is given
    module = sys.modules[place] = module_from_spec(spec)
    loader.exec_module(module)
    return module


class _Exactly(SourceFileLoader):
    """Runs a text, whatever stands in the file by now and whatever Python has compiled before."""

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        code: CodeType = compile(self._source, self.path, "exec", dont_inherit=True)
        return code


class _Beside(MetaPathFinder):
    """Finds the modules beside a user's file, and gives them the text that is held."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or Path(spec.origin) not in _sources:
            return None
        spec.loader = _Exactly(fullname, spec.origin, _sources[Path(spec.origin)])
        return spec


def _read(file: int) -> bytes:
    """All of an open file, from its beginning."""
    size = os.fstat(file).st_size
    parts = []
    at = 0
    while at < size and (part := os.pread(file, size - at, at)):
        parts.append(part)
        at += len(part)
    return b"".join(parts)
