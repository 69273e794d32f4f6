"""Templates and views become pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ccperf import __version__
from ccperf.metrics import CLASSES, METRICS, SAMPLING
from ccperf.site.views import HEADLINES, experiment_views, metric_views
from ccperf.verify import page as fidelity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ccperf.site.views import RunView

#: A sign and a sentence for each direction.
_BETTER = {
    "higher": ("↑", "higher is better"),
    "lower": ("↓", "lower is better"),
    None: ("", "neither is better"),
}


def render(runs: Sequence[RunView], databases: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield `(file name, content)` of every page and download; names are from the site's root."""
    environment = _environment()
    experiments = experiment_views(runs)

    def page(template: str, name: str, **values: Any) -> tuple[str, str]:
        root = "../" * name.count("/")
        content = environment.get_template(template).render(root=root, **values)
        return name, content

    yield page("index.html", "index.html", experiments=experiments, runs=runs, databases=databases)
    yield page(
        "metrics.html", "metrics.html", scopes=metric_views(), sampling=SAMPLING, classes=CLASSES
    )
    yield page("fidelity.html", "fidelity.html", text=fidelity)
    for experiment in experiments:
        if experiment.name:
            yield page("experiment.html", experiment.page, view=experiment)
    pages: dict[str, list[RunView]] = {}
    for run in runs:
        pages.setdefault(run.id, []).append(run)
    for run, *also in pages.values():
        yield page("run.html", f"{run.folder}/index.html", run=run, also=also)
        yield f"{run.folder}/result.json", run.json
        yield f"{run.folder}/scenario.json", run.scenario_json


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
