"""Tables of text for a terminal: columns aligned by blanks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: Where a cell may go on below: behind a blank that holds no interval together.
_WORDS = r"(?<= )(?<!± )(?=[^± ])"
#: And where that is not enough, within a name or a date, too; then within `TcpNewReno`.
_PARTS = rf"{_WORDS}|(?<=[_,=])(?=.)|(?<=\d)(?=T\d)"
_SYLLABLES = rf"{_PARTS}|(?<=[a-z])(?=[A-Z])"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], width: int | None = None) -> str:
    """Return columns aligned by blanks: numbers to the right, texts to the left.

    In a terminal of `width` columns the cells of the widest columns go on below, if that is
    needed: of a row that wraps nobody sees which value is of which column.
    """
    lines = [list(head), *(list(row) for row in rows)]
    numeric = [
        len(lines) > 1 and all(_is_number(line[i]) for line in lines[1:]) for i in range(len(head))
    ]
    widths = _widths(lines)
    if width and _total(widths) > width:
        lines, widths = _folded(lines, widths, width)
    between = " " if width and _total(widths) > width else "  "
    return "\n".join(
        between.join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    )


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _folded(
    lines: Sequence[Sequence[str]], widths: Sequence[int], width: int
) -> tuple[list[list[str]], list[int]]:
    """The lines with what does not fit below, and the widths of their columns."""
    for breaks in (_WORDS, _PARTS, _SYLLABLES):
        least = [
            max(len(piece.rstrip()) for cell in column for piece in re.split(breaks, cell))
            for column in zip(*lines, strict=True)
        ]
        if _total(least) <= width:
            break
    room = list(widths)
    while _total(room) > width and (wide := [i for i in range(len(room)) if room[i] > least[i]]):
        room[max(wide, key=lambda i: room[i])] -= 1
    found = []
    for line in lines:
        cells = [_wrapped(cell, breaks, most) for cell, most in zip(line, room, strict=True)]
        found += [
            [cell[i] if i < len(cell) else "" for cell in cells]
            for i in range(max(map(len, cells)))
        ]
    return found, _widths(found)


def _wrapped(text: str, breaks: str, most: int) -> list[str]:
    lines = [""]
    for piece in re.split(breaks, text):
        if lines[-1] and len((lines[-1] + piece).rstrip()) > most:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _is_number(text: str) -> bool:
    if not text:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True
