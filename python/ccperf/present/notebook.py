"""What notebooks show: figures that can be asked, tables, progress.

A figure stands in a frame of its own with the renderer of the site's pages, so that it needs no
network and changes nothing of the notebook around it. Without JavaScript (and where frames are
taken out, as by hosts of repositories) there is the same figure as a picture.
"""

from __future__ import annotations

import base64
import html
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf.base.libraries import library
from ccperf.present.figures import onto, save, svg, topology, web

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

    from ccperf.present.figures import Figure

_STATIC = Path(__file__).parents[1] / "site" / "static"
#: Of a frame, in pixels: what is around the panels, a panel, and one that stands alone.
_AROUND, _PANEL, _SINGLE = 128, 165, 290


@dataclass(frozen=True, repr=False)
class Plot:
    """A figure as a notebook shows it; `save` writes it for a paper, `onto` draws it into axes."""

    figure: Figure

    def __repr__(self) -> str:
        return repr(self.figure).replace("<Figure ", "<Plot ", 1)

    def save(
        self,
        *paths: str | Path,
        width: str | float = "column",
        height: str | float | None = None,
        style: str | Path = "",
    ) -> None:
        """Write it to each path: .pdf, .svg or .png.

        Args:
            paths: where to.
            width: inches, a text such as ``"86mm"``, or column, ieee, ieee-page, acm, acm-page.
            height: likewise; what the panels take if not given.
            style: a style of Matplotlib's by name, or a file of its settings.

        Raises:
            UsageError: for a wrong one of these, or without Matplotlib.
            RunError: if a file cannot be written.
        """
        save(self.figure, *paths, width=width, height=height, style=style)

    def onto(self, ax: Axes | None = None) -> Axes:
        """Draw its one panel into Matplotlib axes, with your own settings; return the axes.

        Raises:
            UsageError: if it has several panels, or without Matplotlib.
        """
        return onto(self.figure, ax)

    def _repr_html_(self) -> str:
        """Show it in a frame, or as a picture."""
        panels = 1 if self.figure.side_by_side else len(self.figure.panels)
        height = _AROUND + (_SINGLE if panels == 1 else panels * _PANEL)
        if any(panel.x.is_log or panel.y.is_log for panel in self.figure.panels):
            # What pages draw with has no logarithmic axes.
            mpl = library("ccperf.present.figures.mpl", "'ccperf[figures]'")
            return _picture(mpl.picture(self.figure), self.figure.alt)
        picture = svg.draw(self.figure, svg.SMALL).encode()
        data = json.dumps(web.encode(self.figure), separators=(",", ":")).replace("<", "\\u003c")
        page = (
            "<!doctype html><meta charset='utf-8'><style>"
            f"{_sheet()}</style><div id='plot'></div><script>{_script()}"
            f'new ccperf.Plot(document.getElementById("plot"),{data});</script>'
        )
        return (
            f'<iframe title="{html.escape(self.figure.title, quote=True)}" '
            f'sandbox="allow-scripts" srcdoc="{html.escape(page, quote=True)}" '
            f'style="width:100%;max-width:46rem;height:{height}px;border:0"></iframe>'
            f"<noscript>{_picture(picture, self.figure.alt)}</noscript>"
        )

    def _repr_svg_(self) -> str:
        return svg.draw(self.figure)


@dataclass(frozen=True)
class Drawing:
    """A drawing of a scenario's network."""

    #: The canonical form.
    scenario: Mapping[str, Any]

    def _repr_html_(self) -> str:
        drawn = topology.draw(self.scenario)
        # Styled here: a notebook has no style sheet of the site's.
        styled = drawn.replace(
            '<path class="narrow"', '<path stroke="currentColor" stroke-width="3.5" fill="none"'
        ).replace("<path d", '<path stroke="currentColor" stroke-width="1.2" fill="none" d')
        styled = styled.replace(
            "<rect", '<rect fill="Canvas" stroke="currentColor" stroke-width="1.2"'
        ).replace("<text", '<text fill="currentColor" font-size="12" text-anchor="middle"')
        return f'<div style="overflow-x:auto">{styled}</div>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table of texts as HTML; all but the first column are aligned at the right."""
    cells = "".join(f"<th>{html.escape(text)}</th>" for text in head)
    lines = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{"left" if index == 0 else "right"}">{html.escape(text)}</td>'
            for index, text in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    said = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{said}<tr>{cells}</tr>{lines}</table>"


def progress() -> Callable[[float], None] | None:
    """Return a bar for a run that is under way, in a notebook; None elsewhere."""
    try:
        from IPython import get_ipython
        from IPython.display import HTML, display
    except ImportError:
        return None
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    handle = display(HTML(_bar(0.0)), display_id=True)
    shown = 0.0

    def advance(part: float) -> None:
        nonlocal shown
        if part >= 1:
            handle.update(HTML(""))
        elif part - shown >= 0.02:
            shown = part
            handle.update(HTML(_bar(part)))

    return advance


def _bar(part: float) -> str:
    return f'<progress max="1" value="{part:.3f}"></progress> {100 * part:.0f} %'


def _picture(drawn: bytes, alt: str) -> str:
    text = base64.b64encode(drawn).decode("ascii")
    return f'<img alt="{html.escape(alt, quote=True)}" src="data:image/svg+xml;base64,{text}">'


@cache
def _script() -> str:
    return "".join((_STATIC / name).read_text(encoding="utf-8") for name in ("axes.js", "plot.js"))


@cache
def _sheet() -> str:
    own = (
        ":root{color-scheme:light dark;--paper:#fff;--panel:#f5f7f9;--text:#1b2126;--soft:#55606a;"
        "--line:#d9dfe4;--link:#0b5cad;--focus:#d0009e}"
        "@media(prefers-color-scheme:dark){:root{--paper:#14181c;--panel:#1d2329;--text:#e6eaed;"
        "--soft:#a3afb9;--line:#343d45;--link:#7db8f5;--focus:#ff7ad9}}"
        "body{margin:0;font:16px/1.4 system-ui,sans-serif;color:var(--text);"
        "background:var(--paper)}"
        ".hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
    )
    return own + web.colours() + (_STATIC / "plot.css").read_text(encoding="utf-8")
