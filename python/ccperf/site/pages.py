"""Templates and views become pages."""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ccperf import __version__
from ccperf.algorithms import registry
from ccperf.base import expression, prose
from ccperf.base.wording import counted
from ccperf.experiments import what_if
from ccperf.experiments.catalogue.datacentre import schedulers, schemes
from ccperf.present.figures import svg, topology, web
from ccperf.runs.metrics import CLASSES, METRICS, SAMPLING, census, metric_named
from ccperf.site import drawing, engine, experiment_data, printed, small
from ccperf.site.algorithms import AlgorithmView
from ccperf.site.deflated import compressed
from ccperf.site.differences import differences
from ccperf.site.drawing import script
from ccperf.site.fronts import overviews
from ccperf.site.naming import slug
from ccperf.site.tables import figures
from ccperf.site.views import PageView, headlines, metric_views
from ccperf.verify import fidelity as fidelity_of
from ccperf.verify import habits
from ccperf.verify import page as fidelity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ccperf.site.inventory import Group, Inventory
    from ccperf.site.output import File
    from ccperf.site.overview import Overview
    from ccperf.site.scores import Scores
    from ccperf.site.tables import Cell, Row
    from ccperf.site.views import RunView

#: A sign and a sentence for each direction.
_BETTER = {
    "higher": ("↑", "higher is better"),
    "lower": ("↓", "lower is better"),
    None: ("", "neither is better"),
}


#: What may be under test.
_KINDS: tuple[registry.Kind, ...] = ("cc", "qdisc", "routing", "rate_control", "trimming")
#: The option of `bench` for each kind, and what is there to compare with.
_BESIDE: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "qdisc": (("--datacentre",), ("RED-tail", "TcnQueueDisc")),
    "routing": (("--loadbalance",), ("ecmp", "conga")),
}
_BESIDE_SENDERS = ((), ("TcpCubic", "TcpNewReno"))
#: The discipline of each name that is none's.
_SCHEMES = {**schemes.NAMED, schedulers.PIAS: "StrictPriorityQueueDisc"}

#: Units of metrics that pages show otherwise, and what that multiplies a value by.
_SHOWN = {"1": ("", 1), "us": ("ms", 1e-3)}


def generated() -> Iterator[File]:
    """Yield the files of the site that say what the package knows."""
    choices = {kind: list(registry.algorithms(kind)) for kind in ("cc", "qdisc")}
    metrics = [METRICS[name] for name in drawing.ANSWERS]
    answers = [[each.name, each.title, *_SHOWN.get(each.unit, (each.unit, 1))] for each in metrics]
    known = {**web.layout(), "choices": choices, "answers": answers}
    layout = json.dumps(known, separators=(",", ":"))
    yield "static/layout.js", f"globalThis.ccperf ??= {{}};\nccperf.layout = {layout};\n"
    yield "static/colours.css", web.colours()


def play_page() -> Iterator[File]:
    """Yield the page of a scenario that is there to be changed, and the scenario."""
    scenario = what_if.playground()
    yield "play.js", drawing.scenario(scenario.canonical())
    command = f"ccperf run {what_if.PLAYGROUND}"
    live = engine.LiveView("play.js", command, what_if.PLAYGROUND, is_open=True)
    yield _page("play.html", "play.html", live=live)


def overview_pages(inventory: Inventory, scores: Scores) -> Iterator[File]:
    """Yield `(file name, content)` of the pages that are of no experiment, algorithm or run."""
    fronts = overviews(inventory, scores)
    shown: list[Overview | None] = [*fronts] or [None]
    for front in shown:
        yield _page(
            "index.html",
            front.file if front else "index.html",
            inventory=inventory,
            row=PageView,
            front=front,
            fronts=fronts,
            beside=_beside(front.algorithms[0], front.kind) if front and front.algorithms else "",
        )
        if front:
            yield from _other_answers(front)
    yield _page(
        "metrics.html",
        "metrics.html",
        scopes=metric_views(),
        sampling=SAMPLING,
        classes=CLASSES,
        census=census(),
    )
    yield _page("fidelity.html", "fidelity.html", text=fidelity)
    yield _page("ns3.html", "ns3.html", text=habits)
    yield "index.js", script("index", _index(inventory))


def _other_answers(front: Overview) -> Iterator[File]:
    """Yield what a front page shows once a reader asks another question, a file a baseline."""
    made: Any = _environment().get_template("answers.html").module
    for base in front.baselines or [""]:
        shown = {
            "said": made.said(front, base),
            "answers": {
                each.name: [made.answer(front, base, each), made.beneath(front, base, each)]
                for each in front.criteria
            },
        }
        name = f"front {front.kind} {base}"
        yield f"fronts/{front.kind}-{slug(base) if base else ''}.js", compressed(name, shown)


def experiment_pages(
    group: Group, scenario: Mapping[str, Any], looks: Mapping[str, int]
) -> Iterator[File]:
    """Yield an experiment's page with its data and its picture; `scenario` is that of a run.

    Algorithms have the `looks` that they have on all pages.
    """
    picture = experiment_data.picture(group)
    data = experiment_data.experiment_data(group, looks)
    stem = group.href.removesuffix(".html")
    if picture is not None:
        yield f"{stem}.svg", svg.draw(picture)
    yield f"{stem}.js", script(f"experiment {stem.rpartition('/')[2]}", data)
    yield _page(
        "experiment.html",
        group.href,
        group=group,
        row=PageView,
        picture=picture,
        printed=printed.beside(group),
        drawing=topology.draw(scenario),
        drawn_at=experiment_data.first_page(group).point_text,
    )


def algorithm_view(name: str, inventory: Inventory, scores: Scores) -> AlgorithmView:
    """Return what an algorithm's page shows."""
    groups = [group for group in inventory.groups if group.name and name in group.algorithms]
    kinds = dict.fromkeys(group.kind for group in groups)
    bases = [base for kind in kinds for base in scores.baselines(kind) if base != name]
    return AlgorithmView(
        name,
        tuple(groups),
        {base: differences(scores, base, name, groups) for base in bases},
        {base: scores.sentence(base, name, 6) for base in bases},
        scores,
    )


def algorithm_pages(view: AlgorithmView) -> Iterator[File]:
    """Yield an algorithm's page and its data."""
    page, data = view.files
    known = _spec(view.name)
    yield data, script(f"against {view.name}", view.differences)
    yield _page(
        "algorithm.html",
        page,
        name=view.name,
        spec=known and {**known[1], "likeness": registry.likeness(known[1])},
        scheme=_SCHEMES.get(_bare(view.name)),
        beside=_beside(view.name, view.groups[0].kind if view.groups else "cc"),
        baselines=list(view.against),
        table=next(iter(view.against.values()), {}),
        sentences=view.sentences,
        criteria=view.scores.criteria_of(view.groups),
        groups=view.groups,
        scores=view.scores,
        pages=view.pages,
        validation=_validation(view.name),
    )


@cache
def _validation(name: str) -> str:
    if known := _spec(name):
        kind, spec = known
        status = fidelity_of.status(kind, spec["ns3"])
        return f"{status[0].upper()}{status[1:]}."
    return "It is of one's own: nothing but its author's tests says that it does what it is to do."


def _spec(name: str) -> tuple[registry.Kind, Mapping[str, Any]] | None:
    """What ccperf knows of what is under test, and of which kind that is; nothing of one's own."""
    name = _SCHEMES.get(_bare(name), _bare(name))
    for kind in _KINDS:
        if spec := registry.algorithms(kind).get(name):
            return kind, spec
    return None


def _beside(name: str, kind: str) -> str:
    """The command that runs this and another one of its kind."""
    option, others = _BESIDE.get(kind, _BESIDE_SENDERS)
    other = next(each for each in others if each != name)
    return shlex.join(["ccperf", "bench", *option, f"{name},{other}"])


def _bare(name: str) -> str:
    return expression.cut(name)[0]


def run_page(view: RunView) -> str:
    """Return the page of runs; there are thousands, so without the template's indentation."""
    return re.sub(r"\n\s+<", "\n<", _page("run.html", view.page.href, run=view)[1])


def _index(inventory: Inventory) -> dict[str, Any]:
    """Return what searches look through: addresses, what they are called, and more words."""
    places = [
        [group.href, group.title, "experiment", group.name]
        for group in inventory.groups
        if group.name
    ]
    places += [
        [f"algorithms/{slug(name)}.html", name, "algorithm", ""] for name in inventory.algorithms
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


def prepare() -> None:
    """Compile all templates now."""
    for name in _environment().list_templates():
        _environment().get_template(name)


def _page(template: str, file: str, **values: Any) -> tuple[str, str]:
    root = "../" * file.count("/")
    return file, _environment().get_template(template).render(root=root, **values)


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
    environment.filters["parted"] = _parted
    environment.globals.update(
        counted=counted,
        version=__version__,
        headlines=headlines,
        metrics=METRICS,
        better=_BETTER,
        slug=slug,
        engine=engine.view(),
        figures=figures,
        outline=small.mark,
        unit_of=_unit_of,
        metric_head=_metric_head,
        metric_cells=_metric_cells,
    )
    return environment


def _unit_of(metric: str) -> str:
    """Return a metric's unit; empty for ratios."""
    return metric_named(metric).shown_unit


# Parts of metric tables, of which a site has a million: templates would take ten times as long.


@cache
def _metric_head(name: str, root: str) -> Markup:
    """Return what a metric is called, its definition one click away, and the better direction."""
    # The arrow is the style sheet's: with its words it would be a tenth of a page.
    metric = METRICS[name]
    mark = f' class="{metric.better}"' if metric.better else ""
    return Markup(f'<a{mark} href="{root}metrics.html#{name}">{escape(metric.title)}</a>')


def _metric_cells(row: Row, has_steady: bool) -> Markup:
    """Return the cells of a metric's row; their texts are numbers, so nothing is to be escaped."""
    if not has_steady:
        return Markup("".join(f"<td>{_bold(cell)}</td>" for cell in row.cells))
    # What has no value of the steady state has an empty cell there.
    steady = [f"<td>{_bold(cell)}</td>" for cell in row.steady] or ["<td></td>"] * len(row.cells)
    pairs = zip(row.cells, steady, strict=True)
    return Markup("".join(f"<td>{_bold(cell)}</td>{beside}" for cell, beside in pairs))


def _bold(cell: Cell) -> str:
    return f"<strong>{cell.text}</strong>" if cell.best else cell.text


def _code(text: str) -> Markup:
    """Return a description as HTML; documents that it links to are named, as a site has none."""

    def shown(part: prose.Part) -> str:
        if part.kind == "code":
            return f"<code>{_breakable(part.text)}</code>"
        if part.kind == "emphasis":
            return f"<em>{escape(part.text)}</em>"
        if part.kind == "link":
            return f"{_code(part.text)} (<code>docs/{_breakable(part.target)}</code>)"
        return str(escape(part.text))

    return Markup("".join(map(shown, prose.parts(text))))


def _parted(name: str) -> Markup:
    """Return a name that may be broken before its capitals: `Ecn|Sharp|Queue|Disc`."""
    return Markup("<wbr>").join(map(escape, re.split(r"(?<=[a-z])(?=[A-Z])", name)))


def _breakable(name: str) -> Markup:
    """Return a name that may be broken after its underscores and slashes."""
    return escape(name).replace("_", Markup("_<wbr>")).replace("/", Markup("/<wbr>"))
