"""What a module offers without loading it: most commands need one of many things.

The sources of all that a command might need take longer to load than a short run to simulate.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def names(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module that offers names of others: each by its home.

    What it returns raises AttributeError for any other name.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return get


class Shelf(Mapping[str, T]):
    """Things by name, each an object of a class that is loaded when the thing is asked for."""

    def __init__(self, classes: Mapping[str, str]) -> None:
        """Keep the class of each thing, `module:Class`."""
        self._classes = dict(classes)

    def __getitem__(self, name: str) -> T:
        thing: T = _made(self._classes[name])
        return thing

    def __contains__(self, name: object) -> bool:
        return name in self._classes

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)

    def __or__(self, other: Shelf[T]) -> Shelf[T]:
        """Return all of both; they are the same objects."""
        return Shelf({**self._classes, **other._classes})


@cache
def _made(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)()
