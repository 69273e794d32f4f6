"""``ccperf show``: everything there is to know about one thing."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from ccperf.algorithms import registry
from ccperf.base import expression
from ccperf.cli.choice import Choice, Parameters, the_one
from ccperf.cli.options import LATEST, Databases, Json, databases
from ccperf.cli.output import metric_tables, note_findings, parameters_text, print_json, say, table
from ccperf.cli.parameter import Parameter
from ccperf.cli.spelling import is_database
from ccperf.errors import UsageError, unknown

if TYPE_CHECKING:
    from ccperf.experiments.catalogue import Experiment
    from ccperf.experiments.catalogue.printed import Printed, PrintedValues
    from ccperf.runs.result import Result

#: Of a kind and a name: facts for JSON, and a text.
Explain: TypeAlias = Callable[[str, str], tuple[dict[str, Any], str]]
#: What is explained by what `list` says of it, and the kind that `list` calls it.
LISTED = {
    "topology": "topologies",
    "workload": "workloads",
    "figure": "figures",
    "backend": "backends",
}
_ALGORITHMS = tuple(registry.WORDS)
KINDS = ("experiment", *_ALGORITHMS, "metric", "profile", "run", *LISTED)


def command(
    *words: Annotated[str, Parameter(help="A name, or a kind and a name: metric NAME.")],
    db: Databases = None,
    choice: Choice | None = None,
    json: Json = False,
    **parameters: Parameters,
) -> None:
    """Explain an experiment, algorithm, queue discipline, load balancer, metric or run.

    Examples: `ccperf show aqm`, `ccperf show cc cubic`, `ccperf show qdisc fq_codel`,
    `ccperf show metric mean_srtt_l4`, `ccperf show run 1f3a --db benchmark_TcpNewReno.db`,
    `ccperf show --experiment aqm --cc cubic --k 1 --qdisc codel`.
    """
    if any(map(is_database, words)):
        databases(db, words)
    is_chosen = (choice or Choice()).is_made(parameters)
    if is_chosen and words not in ((), ("run",)):
        raise UsageError("name", "is given; choose a run by --cc, --k and the like alone")
    kind, name = ("run", "") if is_chosen else _named(words, db)
    if kind == "run":
        result = the_one([name] if name else [], choice, parameters, databases(db))
        note_findings(result)
        facts, text = _run(result)
    else:
        explain: dict[str, Explain] = {
            "experiment": _experiment,
            "metric": _metric,
            "profile": _profile,
            **dict.fromkeys(_ALGORITHMS, _algorithm),
            **dict.fromkeys(LISTED, _listed),
        }
        facts, text = explain[kind](kind, name)
    if json:
        print_json(facts)
    else:
        say(text)


def _named(words: tuple[str, ...], db: list[Path] | None) -> tuple[str, str]:
    """Kind and name; a name alone is looked for in every kind."""
    if len(words) == 2:
        kind, name = words
        if kind not in KINDS:
            raise UsageError("kind", unknown("kind", kind, KINDS))
        return kind, name
    if len(words) != 1:
        raise UsageError("name", "give one name; `ccperf list` and `ccperf list KIND` have them")
    (name,) = words
    if name in KINDS:
        raise UsageError("name", f"`{name}` is a kind; give a name, too: `ccperf show {name} NAME`")
    from ccperf.experiments.catalogue import NAMED

    if db is not None or name == LATEST:
        return "run", name
    if name in NAMED:
        return "experiment", name
    for kind in _ALGORITHMS:
        try:
            registry.resolve(kind, name)
        except ValueError:
            continue
        return kind, name
    from ccperf.runs.metrics import METRICS

    if name in METRICS:
        return "metric", name
    from ccperf.scenario import profiles

    if name in profiles.names():
        return "profile", name
    if re.fullmatch("[0-9a-f]{4,16}", name):
        return "run", name
    known = [
        *NAMED,
        *METRICS,
        *(algorithm for kind in _ALGORITHMS for algorithm in registry.algorithms(kind)),
    ]
    message = unknown("name", name, known).split("; known:")[0]
    raise UsageError("name", f"{message}; `ccperf list KIND` has what there is")


def _experiment(_kind: str, name: str) -> tuple[dict[str, Any], str]:
    from ccperf.experiments import catalogue
    from ccperf.present.citation import bibliography, of_experiment

    experiment = catalogue.get(name)
    facts = {
        "name": name,
        "title": experiment.title,
        "group": experiment.group,
        "description": experiment.description,
        "parameters": [
            {
                "name": parameter.name,
                "unit": parameter.unit,
                "grid": list(parameter.grid),
                "default": parameter.default,
                "doc": parameter.doc,
            }
            for parameter in experiment.parameters
        ],
        "published": [
            {"parameters": dict(page.parameters), "url": page.url, "number": page.number}
            for page in experiment.published
        ],
        "printed": None
        if experiment.printed is None
        else {
            "source": experiment.printed.source,
            "values": [dataclasses.asdict(value) for value in experiment.printed.values],
        },
        "tests": experiment.kind,
        "command": experiment.reproduce(experiment.usual[0]),
        "papers": [bibliography()[key] for key in of_experiment(name)],
        "roles": list(experiment.roles),
        "seeded": experiment.seeded,
        "published_command": experiment.command("TcpNewReno")
        if isinstance(experiment, catalogue.PublishedExperiment)
        else None,
    }
    papers = [bibliography()[key] for key in of_experiment(name)]
    published = [
        f"  {parameters_text(page.parameters)}: {page.url} (#{page.number})"
        for page in experiment.published
    ]
    is_tested = experiment.is_tested(experiment.point({}))
    tested = f" --{experiment.kind} {experiment.usual[0]}" if is_tested else ""
    seeded = f"A seed changes {experiment.seeded or 'nothing, unless an algorithm draws numbers'}."
    return facts, "\n\n".join(
        [
            f"{experiment.title} ({name}; {experiment.group})",
            _wrapped(experiment.description),
            parameters_of(experiment),
            seeded,
            *(["Published points:\n" + "\n".join(published)] if published else []),
            *([_printed(experiment.printed)] if experiment.printed else []),
            f"Run it: ccperf run {name}{tested}",
            *(["To cite:\n\n" + "\n\n".join(papers)] if papers else []),
        ]
    )


def _printed(printed: PrintedValues) -> str:
    """The values that a paper prints, each with its point."""
    rows = [
        [
            value.algorithm,
            *(str(value.point.get(name, "any")) for name in printed.parameters),
            value.metric,
            value.text,
            _unit(value),
        ]
        for value in printed.values
    ]
    head = ["algorithm", *printed.parameters, "metric", "published", "unit"]
    return f"Published values ({printed.source}):\n\n{table(head, rows)}"


def _unit(value: Printed) -> str:
    from ccperf.runs.metrics import METRICS

    if value.base is not None:
        return " ".join(("over", *(f"{name}={at}" for name, at in value.base.items())))
    return METRICS[value.metric.rpartition(".")[2]].unit


def parameters_of(experiment: Experiment) -> str:
    """The parameters of an experiment as a table."""
    rows = [
        [p.name, p.unit, ", ".join(map(str, p.grid)), str(p.default), p.doc]
        for p in experiment.parameters
    ]
    return table(["parameter", "unit", "grid", "default", "what"], rows)


def recorded_engine(form: str = "{}") -> str:
    """In this form that the last record of fidelity is of another engine; empty if it is not."""
    from ccperf.runs import backends
    from ccperf.verify import record

    recorded, runs = record.last().ccperf, backends.get(backends.DEFAULT).version
    text = f"The last record is of ccperf {recorded}, and this is {runs}"
    return "" if recorded == runs else form.format(text)


def _algorithm(kind: Any, name: str) -> tuple[dict[str, Any], str]:
    from ccperf.algorithms.user_code import names
    from ccperf.present.citation import bibliography, entries
    from ccperf.verify import fidelity

    try:
        canonical = registry.resolve(kind, expression.bare(name))
    except ValueError as error:
        raise UsageError(kind, str(error)) from None
    if names.is_user_code(canonical):
        raise UsageError(kind, f"`{name}` is your own; its file says what it is")
    spec = registry.algorithms(kind)[canonical]
    status = fidelity.status(kind, canonical)
    parts = [
        canonical + (f" (also: {', '.join(spec['linux'])})" if spec["linux"] else ""),
        _wrapped(spec["doc"]),
        *(_wrapped(text) for text in [registry.likeness(spec)] if text),
        f"Defined in: {spec['source']}",
        _wrapped(f"Validation: {status}.{recorded_engine(' {}.')}"),
    ]
    rows = [
        [p["ns3"], p["linux"] or "-", values_text(p), default_text(p), p["doc"]]
        for p in spec["params"]
    ]
    if rows:
        parts.append(table(["ns-3 attribute", "short name", "values", "default", "what"], rows))
    papers = [bibliography()[key] for key in entries(kind, canonical) if key in bibliography()]
    if papers:
        parts.append("To cite:\n\n" + "\n\n".join(papers))
    return {**spec, "validation": status, "papers": papers}, "\n\n".join(parts)


def default_text(param: Mapping[str, Any]) -> str:
    """The default of a parameter of the registry, for people."""
    # How ns-3 prints its largest time.
    return "never" if param["default"] == "+9.22337e+18ns" else str(param["default"])


def values_text(param: Mapping[str, Any]) -> str:
    """The values that a parameter of the registry takes, with the unit."""
    kind = param["kind"]
    if kind == "enum":
        return "|".join(param["words"])
    if kind in ("uint", "real"):
        low, high = param.get("min"), param.get("max")
        if kind == "uint" and high in (2**8 - 1, 2**16 - 1, 2**32 - 1, 2**64 - 1):
            high = None
        low_text = "" if low is None else f"{low:g}"
        high_text = "" if high is None else f"{high:g}"
        name = "integer" if kind == "uint" else "real"
        return f"{name} {low_text}..{high_text}" if low_text or high_text else name
    return {
        "bool": "true|false",
        "time": "time, e.g. 5ms",
        "period": "time above 0s, e.g. 5ms",
        "threshold": "time above 0s, e.g. 50us",
        "rate": "rate above 0bps, e.g. 16Mbps",
        "optional_rate": "rate, e.g. 16Mbps",
        "queue_size": "size, e.g. 20p or 30kB",
        "marking_length": "length above 0, e.g. 65p or 100kB",
        "packet_limit": "size in packets, e.g. 20p",
        "priomap": "16 band numbers",
        "numbers": "whole numbers",
    }[str(kind)]


def _metric(_kind: str, name: str) -> tuple[dict[str, Any], str]:
    from ccperf.runs.metrics import METRICS

    if name not in METRICS:
        raise UsageError("metric", unknown("metric", name, METRICS))
    metric = METRICS[name]
    is_reduced = metric.scope in ("flow", "link")
    facts = {
        "name": name,
        "scope": metric.scope,
        "layer": metric.layer,
        "unit": metric.unit,
        "better": metric.better,
        "effect": metric.effect,
        **({"over_flows": metric.over_flows} if is_reduced else {}),
        "formula": metric.formula,
        "definition": metric.definition,
    }
    better = {"higher": "higher is better", "lower": "lower is better"}.get(
        metric.better or "", "neither direction is better"
    )
    head = f"{name} [{metric.unit}]: one value a {metric.scope}, layer {metric.layer}; {better}"
    head += f"; compared by {metric.effect}s"
    if is_reduced:
        how = "largest" if metric.over_flows == "max" else metric.over_flows
        which = ", if each has one" if metric.asked_with else " that have one"
        head += f"; a run has the {how} over the {metric.scope}s{which}"
    return facts, f"{head}\n\n{metric.definition}"


def _profile(_kind: str, name: str) -> tuple[dict[str, Any], str]:
    """A release of ns-3 and what it has changed, or the fields of a preset."""
    from ccperf.algorithms import releases
    from ccperf.scenario import profiles
    from ccperf.verify import between_releases

    try:
        fields = profiles.fields(name)
    except ValueError as error:
        raise UsageError("profile", str(error)) from None
    if name in profiles.PROFILES:
        lines = [f"{field} = {value}" for field, value in fields.items()]
        return {"name": name, "fields": dict(fields)}, "\n".join([name, *map(_wrapped, lines)])
    release = releases.releases()[releases.resolve(name)]
    parts = [release.name, release.doc]
    if not release.changes:
        parts.append("The profile of a scenario that names none, and of the published tables.")
    for change in release.changes:
        origin = f"{change.name}: ns-3 {change.release}, {change.commit} ({change.issue})"
        more = [f"Attribute: {of}::{attribute}" for of, attribute in change.attributes]
        parts.append(
            "\n".join([origin, *map(_wrapped, [change.doc, f"Shows in: {change.shows}.", *more])])
        )
    measured = between_releases.lines(release.name)
    if measured:
        head = "What it changes in the catalogue, against ns-3 3.44 (docs/releases.md):"
        parts.append("\n".join([head, *(_wrapped(f"  {line}") for line in measured)]))
    changes = [change._asdict() for change in release.changes]
    facts = {**release._asdict(), "changes": changes, "measured": measured}
    return facts, "\n\n".join(parts)


def _listed(kind: str, name: str) -> tuple[dict[str, Any], str]:
    from ccperf.cli.things import KINDS as LISTS

    entries = {thing.name: thing for thing in LISTS[LISTED[kind]]()}
    if name not in entries:
        raise UsageError(kind, unknown(kind, name, entries))
    thing = entries[name]
    lines = [f"{fact}: {value}" for fact, value in thing.facts.items()]
    caption = {"caption": thing.caption} if thing.caption else {}
    parts = [name, _wrapped(thing.summary), *lines, *map(_wrapped, caption.values())]
    return {"name": name, **thing.facts, "summary": thing.summary, **caption}, "\n".join(parts)


def _run(result: Result) -> tuple[dict[str, Any], str]:
    from ccperf.present.reproduce import reproduce
    from ccperf.runs import backends

    again = reproduce(result)
    made = result.provenance
    settings = dict(backends.settings(made.backend, result.scenario))
    lines = [
        f"run {result.id}: {result.title}",
        f"backend {made.backend} {made.backend_version}, ccperf {made.ccperf_version}, "
        f"seed {made.seed}, scenario {made.scenario_hash}",
        *(f"code {name}@{digest[:4]}, SHA-256 {digest}" for name, digest in made.user_code.items()),
        f"again: {again or f'ccperf run {result.id}.json, a file of what `--json` prints'}",
    ]
    lines += (
        [f"set there: {', '.join(f'{k} = {v}' for k, v in settings.items())}"] if settings else []
    )
    whole = {**result.json(), "command": again, **({"settings": settings} if settings else {})}
    return whole, "\n".join(lines) + "\n\n" + metric_tables(result)


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 96))
