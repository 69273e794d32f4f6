"""One table in the formats that people paste into things: text, Markdown, LaTeX, CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from ccperf.cli.output import table

FORMATS = ("text", "markdown", "latex", "csv", "json")
#: Of `x1.45`, and of no name or parameter.
_FACTOR = re.compile(r"(?<![^ (])x(?=[0-9])")
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "±": r"$\pm$",
        "−": "$-$",
    }
)


def render(format: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of texts as `text`, `markdown`, `latex` (booktabs) or `csv`."""
    if format == "text":
        return table(head, rows)
    if format == "csv":
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows([head, *rows])
        return buffer.getvalue().rstrip("\n")
    if format == "markdown":
        lines = [[cell.replace("|", r"\|") for cell in row] for row in [head, *rows]]
        lines.insert(1, ["---"] * len(head))
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    body = [" & ".join(map(_in_latex, row)) + r" \\" for row in [head, *rows]]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{'l' * len(head)}}}",
            r"\toprule",
            body[0],
            r"\midrule",
            *body[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _in_latex(cell: str) -> str:
    """Return a text with LaTeX's marks in place of its own, and factors with a times sign."""
    return _FACTOR.sub(r"$\\times$", cell.translate(_LATEX))
