"""A scenario in its canonical form, to be run and looked at where nobody changes it.

`ccperf.scenario` checks what people write, with models that take a moment to load and to fill. Who
is handed a text that came of them, a process that makes runs, needs neither.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from ccperf import _native
from ccperf.algorithms.user_code.names import without_paths


class Runnable(Protocol):
    """What running a scenario and looking at its recording needs of it."""

    @property
    def parsed(self) -> Mapping[str, Any]:
        """The canonical form: to be read, never changed."""
        ...

    @property
    def hash(self) -> str:
        """SHA-256 of the portable form without its label, in hex."""
        ...

    @property
    def user_code(self) -> Mapping[str, str]:
        """The users' algorithms, each with the path of a field that has it."""
        ...

    def lowered(self) -> str:
        """The flat form that backends run, as JSON."""
        ...


@dataclass(frozen=True)
class Canonical:
    """A scenario without user code; see :class:`ccperf.scenario.Scenario`."""

    #: JSON, as `Scenario.canonical_text` returned it.
    text: str
    #: Its hash, where who wrote the text has it; empty: found out when it is asked for.
    known_hash: str = field(default="", compare=False)

    @cached_property
    def parsed(self) -> Mapping[str, Any]:
        """What the text says: to be read, never changed."""
        data: dict[str, Any] = json.loads(self.text)
        return data

    @cached_property
    def _lowered(self) -> str:
        return _native.lower(self.text)

    def lowered(self) -> str:
        """The flat form that backends run, as JSON."""
        return self._lowered

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the portable form without its label, in hex."""
        return self.known_hash or hash_of(self.parsed)

    @property
    def user_code(self) -> dict[str, str]:
        """None."""
        return {}


def canonical_json(value: Any) -> str:
    """Return `value` as JSON in the one form that is hashed and stored."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def json_object(fields: Mapping[str, str]) -> str:
    """Return what `canonical_json` does, of values that it has written already."""
    return "{" + ",".join(f'"{name}":{fields[name]}' for name in sorted(fields)) + "}"


def hash_of(canonical: Mapping[str, Any]) -> str:
    """Return the SHA-256 in hex of a canonical form, without its label and paths."""
    return hash_of_text(canonical_json(unlabelled(canonical)))


def hash_of_text(text: str) -> str:
    """Return the hash of a canonical form without its label and paths, as `canonical_json`
    wrote it.
    """
    if not text.isascii():
        text = json.dumps(json.loads(text), separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def unlabelled(canonical: Mapping[str, Any]) -> dict[str, Any]:
    """Return a canonical form without its label, and users' algorithms without their paths."""
    portable: Mapping[str, Any] = without_paths(canonical)
    return {name: value for name, value in portable.items() if name != "label"}
