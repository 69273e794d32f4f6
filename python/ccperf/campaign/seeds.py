"""Scenarios that differ in the seed alone: what is made of one of them serves the others.

To write a scenario in its canonical form and to hash it takes half a millisecond, a thousand flows
sixty; with the text of one at hand it is a matter of putting another number into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.runs.result import Identity, identity_text

if TYPE_CHECKING:
    from ccperf.algorithms.user_code.content import Contents
    from ccperf.runs.backends import Backend
    from ccperf.scenario import Scenario

#: A seed that nothing else in a scenario looks like.
_MARK = 4_036_051_729


class Seeds:
    """One scenario with any seed."""

    def __init__(self, scenario: Scenario) -> None:
        self._marked = scenario.model_copy(update={"seed": _MARK})
        self._canonical = _parts(self._marked.canonical_text())
        self._identity: tuple[tuple[str, str], dict[str, str]] | None = None

    def scenario(self, seed: int) -> Scenario:
        """It with this seed, its meaning checked as the one's was."""
        before, after = self._canonical
        copy = self._marked.model_copy(update={"seed": seed})
        copy.__dict__["_canonical"] = f"{before}{seed}{after}"
        return copy

    def identity(self, seed: int, backend: Backend, contents: Contents) -> Identity:
        """What `identify` says of it; user code is what it was when the first was asked for."""
        if self._identity is None:
            text, user_code = identity_text(self._marked, backend, contents)
            self._identity = _parts(text), user_code
        (before, after), user_code = self._identity
        return Identity.of(f"{before}{seed}{after}", user_code)


def _parts(text: str) -> tuple[str, str]:
    """What stands before the seed and after it."""
    before, after = text.split(f'"seed":{_MARK}')
    return f'{before}"seed":', after
