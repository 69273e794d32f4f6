"""Templates and views become pages."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ccperf import __version__
from ccperf.figures import web
from ccperf.metrics import CLASSES, METRICS, SAMPLING
from ccperf.site.drawing import script
from ccperf.site.views import HEADLINES, PageView, metric_views
from ccperf.verify import page as fidelity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ccperf.site.inventory import Group, Inventory
    from ccperf.site.views import RunView

#: A sign and a sentence for each direction.
_BETTER = {
    "higher": ("↑", "higher is better"),
    "lower": ("↓", "lower is better"),
    None: ("", "neither is better"),
}


def generated() -> Iterator[tuple[str, str]]:
    """Yield the files of the site that say what the package knows."""
    layout = json.dumps(web.layout(), separators=(",", ":"))
    yield "static/layout.js", f"globalThis.ccperf ??= {{}};\nccperf.layout = {layout};\n"
    yield "static/colours.css", web.colours()


def overview_pages(inventory: Inventory) -> Iterator[tuple[str, str]]:
    """Yield `(file name, content)` of the pages that are not of runs or experiments."""
    yield _page("index.html", "index.html", inventory=inventory, row=PageView)
    yield _page(
        "metrics.html", "metrics.html", scopes=metric_views(), sampling=SAMPLING, classes=CLASSES
    )
    yield _page("fidelity.html", "fidelity.html", text=fidelity)
    yield "index.js", script("index", _index(inventory))


def experiment_page(group: Group) -> tuple[str, str]:
    """Return `(file name, content)` of an experiment's page."""
    return _page("experiment.html", group.href, group=group, row=PageView)


def run_page(view: RunView) -> str:
    """Return the page of runs."""
    return _page("run.html", view.page.href, run=view)[1]


def _index(inventory: Inventory) -> dict[str, Any]:
    """Return what searches look through: addresses, what they are called, and more words."""
    places = [
        [group.href, group.title, "experiment", group.name]
        for group in inventory.groups
        if group.name
    ]
    places += [[f"metrics.html#{name}", name, "metric", ""] for name in METRICS]
    return {
        "places": places,
        "groups": [[group.name, group.title] for group in inventory.groups],
        # Group, id, algorithm, point, backend; their seeds are on the page.
        "runs": [
            [index, page.id, page.algorithm, page.point_text, page.cell.backend, len(page.seeds)]
            for index, group in enumerate(inventory.groups)
            for page in group.pages
        ],
    }


def _page(template: str, name: str, **values: Any) -> tuple[str, str]:
    root = "../" * name.count("/")
    return name, _environment().get_template(template).render(root=root, **values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("ccperf.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["code"] = _code
    environment.filters["breakable"] = _breakable
    environment.globals.update(
        version=__version__, headlines=HEADLINES, metrics=METRICS, better=_BETTER
    )
    return environment


def _code(text: str) -> Markup:
    """Return a docstring's text as HTML: what stands in backquotes is code."""

    def code(match: re.Match[str]) -> str:
        return f"<code>{_breakable(Markup(match[1]))}</code>"

    return Markup(re.sub("`([^`]+)`", code, str(escape(text))))


def _breakable(name: str) -> Markup:
    """Return a name that may be broken after its underscores and slashes."""
    return escape(name).replace("_", Markup("_<wbr>")).replace("/", Markup("/<wbr>"))
