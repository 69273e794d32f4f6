"""Pages as a tree that tests can ask."""

from __future__ import annotations

import codecs
import json
import zlib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_VOID = {"br", "hr", "img", "input", "link", "meta", "wbr"}


@dataclass
class Element:
    name: str
    attributes: dict[str, str]
    parent: Element | None = None
    children: list[Element | str] = field(default_factory=list)

    def all(self) -> Iterator[Element]:
        """Yield the element and what is in it, in the order of the document."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.all()

    def named(self, name: str) -> list[Element]:
        return [element for element in self.all() if element.name == name]

    def one(self, name: str) -> Element:
        (element,) = self.named(name)
        return element

    def inside(self, name: str) -> bool:
        return self.name == name or (self.parent is not None and self.parent.inside(name))

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self._open = Element("", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs}, self._open)
        self._open.children.append(element)
        if tag not in _VOID:
            self._open = element

    def handle_endtag(self, tag: str) -> None:
        assert self._open.name == tag, f"</{tag}> closes <{self._open.name}>"
        assert self._open.parent is not None
        self._open = self._open.parent

    def handle_data(self, data: str) -> None:
        self._open.children.append(data)


def parse(page: Path) -> Element:
    """Read a page; AssertionError where tags are not closed in order."""
    return parse_text(page.read_text(encoding="utf-8"))


def parse_text(text: str) -> Element:
    """Read a page, or a part of one."""
    reader = _Reader()
    reader.feed(text)
    assert reader._open is reader.root
    return reader.root


def inflated(path: Path) -> Any:
    """What a script of compressed data hands to its page."""
    return inflated_script(path.read_bytes())


def inflated_script(script: bytes) -> Any:
    """The same, of the script itself."""
    _, name, size, text, *_ = text_of(script).split('"')
    assert name
    small = bytes_of(text, int(size.strip(",")))
    return json.loads(zlib.decompress(small))


def text_of(script: bytes) -> str:
    """A script as a browser reads it: its byte order mark, if it has one, says how."""
    is_wide = script.startswith(codecs.BOM_UTF16_LE)
    return script.decode("utf-16" if is_wide else "utf-8")


def bytes_of(text: str, size: int) -> bytes:
    """The bytes of which each character has fifteen bits."""
    bits = "".join(f"{ord(character) - 0x100:015b}" for character in text)
    assert set(bits[8 * size :]) <= {"0"}
    return int(bits[: 8 * size], 2).to_bytes(size, "big")
