"""Scenarios that differ in the seed and the starts drawn from it: one of them serves the others.

To write a scenario in its canonical form and to hash it takes half a millisecond, a thousand flows
sixty; with the text of one at hand it is a matter of putting other numbers into it.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from ccperf.runs import backends
from ccperf.runs.result import Identity, identity_text
from ccperf.scenario.canonical import canonical_json, hash_of_text, json_object, unlabelled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ccperf.algorithms.user_code.content import Contents
    from ccperf.runs.backends import Backend
    from ccperf.scenario import Scenario

    #: When the flows start with a seed.
    Starts = Callable[[int], Sequence[str]]

#: A seed that nothing else in a scenario looks like.
_MARK = 4_036_051_729
#: What stands in a text for the seed, and for the start of the flow with this number: what both
#: begin with is found several times as fast.
_PLACES = re.compile(rf'"s(?:eed":{_MARK}|tart":"@(\d+)@")')


class Seeds:
    """One scenario with any seed; `starts` says when its flows start, if that is drawn."""

    def __init__(self, scenario: Scenario, starts: Starts | None = None) -> None:
        self._starts = starts
        self._plain = scenario
        marked = scenario.canonical()
        marked["seed"] = _MARK
        if starts:
            for number, flow in enumerate(marked["flows"]):
                flow["start"] = f"@{number}@"
        # Written once, for the same fields are in each of the texts.
        fields = {name: canonical_json(value) for name, value in marked.items()}
        self._whole = _Template(json_object(fields))
        self._unlabelled = _Template(
            json_object({name: fields[name] for name in fields if name != "label"})
        )
        #: Of user code the paths are left out, and in identities there are digests for them.
        self._marked = marked if scenario.user_code else None
        self._identity: tuple[_Template, Mapping[str, str]] | None = None

    def scenario(self, seed: int) -> Scenario:
        """It with this seed, its meaning checked as the one's was."""
        starts = self._starts(seed) if self._starts else ()
        one = self._plain.starting(starts) if starts else self._plain
        copy = one.model_copy(update={"seed": seed})
        copy.__dict__["_canonical"] = self._whole.filled(seed, starts)
        return copy

    def identity(self, scenario: Scenario, backend: Backend, contents: Contents) -> Identity:
        """What `identify` says of one of these; user code is what it was for the first of them."""
        if self._identity is None:
            template, digests = self._unlabelled, {}
            if self._marked:
                digests = backends.user_code(self._plain.user_code, backend, contents)
                template = _Template(identity_text(self._marked, digests))
            self._identity = template, digests
        template, user_code = self._identity
        return Identity.of(backend, self._filled(template, scenario), user_code)

    def text(self, scenario: Scenario) -> str:
        """The canonical form of one of these, as `canonical_json` writes it."""
        return self._filled(self._whole, scenario)

    def hash(self, scenario: Scenario) -> str:
        """The `hash` of one of these."""
        return hash_of_text(self._filled(self._portable, scenario))

    @cached_property
    def _portable(self) -> _Template:
        if self._marked:
            return _Template(canonical_json(unlabelled(self._marked)))
        return self._unlabelled

    def _filled(self, template: _Template, scenario: Scenario) -> str:
        starts = [flow.start for flow in scenario.flows] if self._starts else ()
        return template.filled(scenario.seed, starts)


class _Template:
    """A text with places for the seed and for starts."""

    def __init__(self, text: str) -> None:
        #: By turns what stays, and a place: the number of a flow, None for the seed.
        self._parts: list[str] = []
        self._places: list[int | None] = []
        end = 0
        for found in _PLACES.finditer(text):
            self._parts += (text[end : found.start()], "")
            self._places.append(None if found[1] is None else int(found[1]))
            end = found.end()
        self._parts.append(text[end:])

    def filled(self, seed: int, starts: Sequence[str]) -> str:
        self._parts[1::2] = [
            f'"seed":{seed}' if place is None else f'"start":"{starts[place]}"'
            for place in self._places
        ]
        return "".join(self._parts)
