"""The little markup that descriptions have: code in backquotes, `*emphasis*` and links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind: TypeAlias = Literal["words", "code", "emphasis", "link"]

#: Stars around a product's sign are none of emphasis: they stand between spaces or beside letters.
_MARKED = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|(?<![*\w])\*(?P<emphasis>[^*\s](?:[^*]*[^*\s])?)\*(?![*\w])"
    r"|\[(?P<link>[^\]]+)\]\((?P<target>[^)\s]+)\)"
)


@dataclass(frozen=True)
class Part:
    """A piece of a text that looks alike."""

    kind: Kind
    text: str
    #: Where a link leads, as documents write it.
    target: str = ""


def parts(text: str) -> Iterator[Part]:
    """Yield the pieces of a text in their order."""
    end = 0
    kinds: tuple[Kind, ...] = ("code", "emphasis", "link")
    for found in _MARKED.finditer(text):
        if found.start() > end:
            yield Part("words", text[end : found.start()])
        kind = next(kind for kind in kinds if found[kind] is not None)
        yield Part(kind, found[kind], found["target"] or "")
        end = found.end()
    if end < len(text):
        yield Part("words", text[end:])
