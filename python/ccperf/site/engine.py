"""The engine for browsers, as a site has it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from ccperf import data
from ccperf.site.deflated import deflated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ccperf.site.output import File

#: What pages that simulate may do besides: start a worker; compile.
_POLICY = "; worker-src blob:"
_COMPILE = " 'wasm-unsafe-eval'"


@dataclass(frozen=True)
class EngineView:
    """What pages need to know of the engine for browsers."""

    is_there: bool

    @property
    def compile(self) -> str:
        """What the policy says of scripts."""
        return _COMPILE if self.is_there else ""

    @property
    def policy(self) -> str:
        """What the policy says of the rest."""
        return _POLICY if self.is_there else ""


@dataclass(frozen=True)
class LiveView:
    """A scenario that the reader can change: its file, its command, its name."""

    scenario: str
    command: str
    name: str
    is_open: bool = False
    #: The user's own code in it, by name, with the path of a field that has it.
    own: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_possible(self) -> bool:
        """Whether settings can replace all of the user's own code, which no page can run."""
        return all(path.endswith(".cc.type") for path in self.own.values())


@cache
def module() -> bytes:
    """The module; empty where the package was built without it."""
    path = data.FOLDER / "engine.wasm"
    return path.read_bytes() if path.is_file() else b""


@cache
def view() -> EngineView:
    """What pages need to know of the engine."""
    return EngineView(bool(module()))


def files_of_site() -> Iterator[File]:
    """Yield the module as a script that pages inflate, from a server or a folder.

    Licences of what it is made of say that their text goes where it goes.
    """
    if module():
        yield "static/notices.txt", data.text("notices.txt")
        yield "static/engine.js", deflated("engine", module(), "arrayBuffer")
