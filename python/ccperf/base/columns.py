"""Tables of text for a terminal: columns aligned by blanks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return columns aligned by blanks: numbers to the right, texts to the left."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    numeric = [
        len(lines) > 1 and all(_is_number(line[i]) for line in lines[1:]) for i in range(len(head))
    ]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    )


def _is_number(text: str) -> bool:
    if not text:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True
