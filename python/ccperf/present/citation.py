"""What a paper says of a run: a paragraph for its section on methods, and whom to cite."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ccperf import data
from ccperf.algorithms import registry, releases, roles
from ccperf.base import expression, prose
from ccperf.base.wording import counted
from ccperf.experiments import catalogue
from ccperf.present import varying
from ccperf.runs import backends
from ccperf.scenario import profiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ccperf.algorithms.registry import Kind
    from ccperf.runs.result import Result

    #: Writes the name of an algorithm in LaTeX, with its papers.
    _Named: TypeAlias = Callable[[Kind, str], str]

#: What labels of a point are called in a text that explains none.
_LABELS = {roles.LABELS[roles.UNDER_TEST]: "algorithm under test"}
#: Entries of algorithms whose source is no RFC; RFCs are found in what the registry says.
_SOURCES = {
    "TcpVegas": "vegas",
    "TcpBbr": "bbr",
    "TcpBbr3": "bbr3",
    "TcpCopa": "copa",
    "TcpLedbatPlusPlus": "ledbatpp",
    "TcpPrague": "prague",
    "TcpVeno": "veno",
    "TcpWestwoodPlus": "westwood",
    "TcpHtcp": "htcp",
    "TcpHybla": "hybla",
    "TcpIllinois": "illinois",
    "TcpScalable": "scalable",
    "TcpYeah": "yeah",
    "TcpBic": "bic",
    "TcpLp": "lp",
    "CobaltQueueDisc": "cobalt",
    "FqCobaltQueueDisc": "cobalt",
    "RedQueueDisc": "red",
    "TcpDctcpReno": "ecnsharp",
    "ECNSharpQueueDisc": "ecnsharp",
    "MarkingCoDelQueueDisc": "ecnsharp",
    "MarkingPieQueueDisc": "ecnsharp",
    "StrictPriorityQueueDisc": "ecnsharp",
    "TcnQueueDisc": "tcn",
    "SharedBufferQueueDisc": "dynamicthresholds",
    "StepRedQueueDisc": "dctcp",
    "DwrrQueueDisc": "drr",
    "WfqQueueDisc": "scfq",
    "drb": "drb",
    "letflow": "letflow",
    "conga": "conga",
    "drill": "drill",
    "hermes": "hermes",
    "presto": "presto",
    "flowbender": "flowbender",
    "clove": "clove",
    "plb": "plb",
    "reps": "reps",
    "xpath": "xpath",
    "Dcqcn": "dcqcn",
    "DcqcnMlx5": "hpcc",
    "MarkingRedQueueDisc": "dcqcn",
    "Hpcc": "hpcc",
    "Swift": "swift",
    "Timely": "timely",
    "Ndp": "ndp",
    "Nscc": "ultra-ethernet",
    "NdpQueueDisc": "ndp",
}
#: What flows of each transport use, and what they are called.
_TRANSPORTS: dict[str, tuple[Kind, str]] = {
    "TCP": ("cc", "TCP"),
    "ROCE": ("rate_control", "RoCE"),
    "TRIMMING": ("trimming", "packet-trimming"),
}
#: So many bottlenecks are described one by one.
_FEW = 4


@dataclass(frozen=True)
class Citation:
    """A paragraph in LaTeX, and the BibTeX entries that it refers to."""

    paragraph: str
    bibtex: str


def cite(result: Result, seeds: Sequence[int] = (), *, is_exact: bool = False) -> Citation:
    """Describe a run and the `seeds` that it was repeated with; by default its own only.

    `is_exact` says that a seed changes nothing there, so that no interval is of anything.
    """
    made = result.provenance
    scenario = result.scenario.canonical()
    used: dict[str, None] = {"ccperf": None}

    def named(kind: Kind, name: str) -> str:
        keys = entries(kind, name)
        used.update(dict.fromkeys(keys))
        return _latex(name) + (rf"~\cite{{{','.join(keys)}}}" if keys else "")

    flows = [flow for flow in scenario["flows"] if "cc" in flow]
    # Of each transfer of a workload it is that of the stack.
    stacks = {stack["name"]: stack for stack in scenario.get("stacks", ())}
    carried = [stacks[workload["stack"]] for workload in scenario.get("workloads", ())]
    simulator, source = _simulator(result, flows + carried)
    if source:
        used[source] = None
        simulator += rf"~\cite{{{source}}}"
        if own := _own(scenario, made.user_code):
            simulator += f", but for {_latex(_together(own))}, which ns-3 does not have"
    sentences = [
        rf"We simulated with ccperf~{_latex(made.ccperf_version)}~\cite{{ccperf}} (engine"
        rf" \texttt{{{made.engine_hash[:12]}}}), {simulator}."
    ]
    if result.experiment:
        labels = {_LABELS.get(name, name): value for name, value in result.parameters.items()}
        point = ", ".join(f"{_latex(k)} = {_latex(str(v))}" for k, v in labels.items())
        papers = of_experiment(result.experiment)
        used.update(dict.fromkeys(papers))
        after = rf" after~\cite{{{','.join(papers)}}}" if papers else ""
        sentences.append(f"The experiment is {_latex(result.experiment)}{after} ({point}).")
    transfers = result.recording.flows.rows - len(scenario["flows"])
    sentences += _senders(flows, carried, transfers, scenario["stop_time"], named)
    flows += carried
    for name in _names(flows):
        spec = registry.algorithms("cc").get(expression.bare(name))
        if spec and (text := registry.likeness(spec)):
            sentences.append(f"{_latex(name)}: {_in_latex(text)}")
    if (routing := scenario.get("routing")) and routing["type"] != "static":
        sentences.append(_routing(routing, named))
    bottlenecks = sorted(set(result.recording.flows.strings("bottleneck")))
    if len(bottlenecks) <= _FEW:
        sentences += [_bottleneck(scenario, name, named) for name in bottlenecks]
    else:
        sentences.append(_ports(scenario, named))
    sentences.append(_seeds(sorted(seeds) or [made.seed], is_exact))
    sentences += [
        rf"The code of {_latex(name)} has the SHA-256 \texttt{{{digest[:16]}}}\ldots{{}}."
        for name, digest in made.user_code.items()
    ]
    sentences.append(
        rf"Run \texttt{{{result.id}}} of the scenario with SHA-256"
        rf" \texttt{{{made.scenario_hash[:16]}}}\ldots{{}} has all other settings."
    )
    bibtex = [
        _software(made.ccperf_version),
        *(bibliography()[key] for key in used if key in bibliography()),
    ]
    return Citation(" ".join(sentences), "\n\n".join(bibtex))


def _simulator(result: Result, senders: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return what made the packets, and the key of what that equals; "" if it equals nothing."""
    backend = result.provenance.backend
    abilities = backends.get(backend).abilities if backend in backends.known() else None
    if not (abilities and abilities.equals):
        text = f"on the backend {_latex(backend)} ({_latex(result.provenance.backend_version)})"
        return text, abilities.cites if abilities else ""
    if senders and not any(map(_is_tcp, senders)):
        return "with transports that ns-3 does not have", ""
    tcps = sorted(profiles.named(result.scenario)) or [releases.default()]
    if own := [name for name in tcps if name not in releases.releases()]:
        return f"with its TCP of the profile {_latex(_together(own))}", ""
    titles = _together(releases.releases()[name].title for name in tcps)
    text = f"whose packets are those of {_latex(titles).replace('ns-3 ', 'ns-3~')}"
    return text, abilities.cites


def _own(scenario: Mapping[str, Any], user_code: Iterable[str]) -> list[str]:
    """Return what of a scenario ns-3 has nothing like: code of the user's, and some of ours."""
    types = set(
        _types([scenario[part] for part in ("flows", "stacks", "links") if part in scenario])
    )
    ours = (
        name
        for kind in ("cc", "qdisc")
        for name, spec in registry.algorithms(kind).items()
        if spec["is_own"] and name in types
    )
    return sorted({*ours, *user_code})


def _types(part: object) -> Iterator[str]:
    """Yield the types of all that is in a part of a scenario."""
    if isinstance(part, dict) and isinstance(name := part.get("type"), str):
        yield expression.bare(name)
    inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for each in inner:
        yield from _types(each)


def _senders(
    flows: Sequence[Mapping[str, Any]],
    carried: Sequence[Mapping[str, Any]],
    transfers: int,
    stop_time: str,
    named: _Named,
) -> Iterator[str]:
    """Yield a sentence for each transport, of its flows and of the transfers that stacks carry."""
    for transport, (kind, noun) in _TRANSPORTS.items():
        of_flows, of_transfers = (
            [each for each in all_of if each.get("transport", "TCP") == transport]
            for all_of in (flows, carried)
        )
        both = of_flows + of_transfers
        if not both:
            continue
        # Where workloads have several transports, nobody counts the transfers of each.
        is_counted = len(of_transfers) in (0, len(carried))
        count = len(of_flows) + (transfers if of_transfers else 0)
        who = counted(count, f"{noun} flow") if is_counted else f"{noun} flows"
        algorithms = _together(named(kind, name) for name in _names(both))
        recoveries = _together(
            named("recovery", name) for name in _each_once(f["recovery"] for f in both)
        )
        how = f", with loss recovery {recoveries}" if transport == "TCP" else ""
        yield f"{who} used {algorithms}{how}, for {_latex(stop_time)}."


def _is_tcp(flow: Mapping[str, Any]) -> bool:
    return str(flow.get("transport", "TCP")) == "TCP"


def _names(flows: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    return _each_once(flow["cc"]["type"] for flow in flows)


def of_experiment(name: str) -> tuple[str, ...]:
    """Return the keys of the papers whose experiment this is."""
    experiment = catalogue.NAMED.get(name)
    return experiment.papers if experiment else ()


def entries(kind: Kind, name: str) -> list[str]:
    """Return the keys of an algorithm's sources in the bibliography; none of user code."""
    spec = registry.algorithms(kind).get(name)
    if spec is None:
        return []
    keys = [f"RFC{number}" for number in re.findall(r"RFC (\d+)", spec["source"])]
    return keys + ([_SOURCES[name]] if name in _SOURCES else [])


@cache
def bibliography() -> Mapping[str, str]:
    """Return the BibTeX entries by key."""
    found = (entry.strip() for entry in re.split(r"\n(?=@)", data.text("bibliography.bib")))
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in found}


def _software(version: str) -> str:
    return (
        "@misc{ccperf,\n  author = {{The ccperf authors}},\n"
        "  title = {ccperf: evaluation of congestion control, as exact as ns-3},\n"
        f"  note = {{Version {version}}},\n}}"
    )


def _bottleneck(scenario: Mapping[str, Any], direction: str, named: _Named) -> str:
    name, _, side = direction.rpartition("_")
    link = next(link for link in scenario["links"] if link["name"] == name)
    rate, delay = varying.rate(scenario, link, side), varying.delay(scenario, link)
    qdisc = link[side]["qdisc"]
    text = (
        f"The bottleneck {_latex(direction)} has {_latex(rate)} and a one-way delay of"
        f" {_latex(delay)}"
    )
    if qdisc is None:
        return f"{text}, without a queue discipline."
    settings = ", ".join(f"{_latex(k)} = {_latex(v)}" for k, v in qdisc["attributes"].items())
    return f"{text}, with {named('qdisc', qdisc['type'])}" + (
        f" ({settings})." if settings else "."
    )


def _routing(routing: Mapping[str, Any], named: _Named) -> str:
    """Who chose the paths of packets."""
    settings = ", ".join(f"{_latex(k)} = {_latex(v)}" for k, v in routing["attributes"].items())
    name = named("routing", expression.bare(routing["type"]))
    return f"{name} chose among shortest paths" + (f" ({settings})." if settings else ".")


def _ports(scenario: Mapping[str, Any], named: _Named) -> str:
    sides = [link[side] for link in scenario["links"] for side in ("forward", "reverse")]
    names = _each_once(side["qdisc"]["type"] for side in sides if side["qdisc"])
    return (
        f"The network has {counted(len(scenario['links']), 'link')}; the ports have"
        f" {_together(named('qdisc', name) for name in names)}."
    )


def _seeds(seeds: Sequence[int], is_exact: bool) -> str:
    exact = "the same values, which are exact for these settings."
    if len(seeds) == 1:
        return f"The seed was {seeds[0]}" + (f"; another gives {exact}" if is_exact else ".")
    ascending = list(range(seeds[0], seeds[0] + len(seeds))) == list(seeds)
    text = f"{seeds[0]} to {seeds[-1]}" if ascending else ", ".join(map(str, seeds))
    repeated = f"It was repeated with {len(seeds)} seeds ({text})"
    if is_exact:
        return f"{repeated}; all gave {exact}"
    return (
        f"{repeated}; values are means over the seeds, with"
        r" 95\,\% confidence intervals by Student's t."
    )


def _each_once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _together(names: Iterable[str]) -> str:
    *before, last = list(names) or ["none"]
    return f"{', '.join(before)} and {last}" if before else last


def _in_latex(text: str) -> str:
    """A description with its code and emphasis."""
    macros = {"code": "texttt", "emphasis": "emph"}
    words = "".join(
        rf"\{macros[part.kind]}{{{_latex(part.text)}}}"
        if part.kind in macros
        else re.sub('"([^"]*)"', r"``\1''", _latex(part.text))
        for part in prose.parts(text)
    )
    return words.replace("^", r"\^{}").replace("|", r"\textbar{}").replace("<", r"\textless{}")


def _latex(text: str) -> str:
    return re.sub(r"([&%$#_{}])", r"\\\1", text.replace("\\", r"\textbackslash "))
