"""``docs/papers.md``: each figure of the papers on ECN# and Hermes beside what comes out here.

Made of ``benchmarks/papers.json`` (``python -m benchmarks.papers`` records it) and of what
``papers_page.toml`` says of each figure. A value agrees if what is published lies in our 95 %
interval, widened by the error with which a figure can be read; everything else differs. Where
set-ups cannot be compared, no verdict is given.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RESULTS = Path(__file__).parent.parent / "benchmarks" / "papers.json"

#: How well a value of a figure can be read, as a part of what its axis has at most, and of 10 on a
#: logarithmic one.
_READING = 0.01
_NAMES = {
    "ECNSharpQueueDisc": "ECN#",
    "MarkingCoDelQueueDisc": "CoDel",
    "ecmp": "ECMP",
    "conga": "CONGA",
    "letflow": "LetFlow",
    "hermes": "Hermes",
    "drb": "Presto*",
    "clove": "CLOVE",
}
_METRICS = {
    "mean_fct_l4": "all, mean",
    "p99_fct_l4": "all, p99",
    "small.mean_fct_l4": "small, mean",
    "small.p99_fct_l4": "small, p99",
    "large.mean_fct_l4": "large, mean",
    "query.mean_fct_l4": "answers, mean (ms)",
    "query.p99_fct_l4": "answers, p99 (ms)",
    "short.mean_fct_l4": "short, mean",
    "unfinished_share_l4": "unfinished (%)",
    "queue.standing": "queue before (packets)",
    "queue.peak": "peak (packets)",
    "total_qdisc_drops_l2": "dropped (packets)",
}


@dataclass(frozen=True)
class Said:
    """What is said of one figure."""

    title: str
    text: str
    #: The largest value on the axis, for the error of reading.
    axis: float
    #: That of the panel of small flows, if they have one of their own.
    small_axis: float = 0.0
    #: Why there is no verdict; empty if there is one.
    incomparable: str = ""
    #: What came out where one thing at a time was other than here; empty: that was not tried.
    causes: str = ""


_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_HEAD: str = _WORDS.pop("head").strip()
_CAUSES: str = _WORDS.pop("causes").strip()
FIGURES: Mapping[str, Said] = {name: Said(**said) for name, said in _WORDS.items()}


def page() -> str:
    """The page, of what is recorded."""
    stored: Mapping[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    parts = [_HEAD, _overview(stored)]
    if missing := [said.title for name, said in FIGURES.items() if name not in stored]:
        parts.append(f"Not run yet: {'; '.join(missing)}.")
    for name, said in FIGURES.items():
        if name in stored:
            parts += [f"## {said.title}", _text(stored[name], said), _table(stored[name], said)]
        if said.causes and (asked := stored.get(f"{name}-causes")):
            parts += ["### One cause at a time", said.causes.strip(), _answers(asked)]
        if name == "hermes-16" and "causes" in stored:
            parts += ["### One cause at a time", _CAUSES, _causes(stored["causes"])]
    return "\n\n".join(parts) + "\n"


def _causes(figure: Mapping[str, Any]) -> str:
    """Mean completion times in ms, and Hermes' over CONGA's."""
    schemes = list(figure["rows"][0]["mean_fct_l4"])
    head = ["", *(_NAMES[scheme] for scheme in schemes), "Hermes over CONGA", "interval"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in figure["rows"]:
        cells = [
            row["cause"],
            *(_number(row["mean_fct_l4"][scheme]) for scheme in schemes),
            _number(row["hermes_over_conga"]),
            " to ".join(map(_number, row["interval"])),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    printed = ["*published*", "6.1", "12.7", "9.7", "12.1", "0.48", ""]
    return "\n".join([*lines, "| " + " | ".join(printed) + " |"])


def _answers(question: Mapping[str, Any]) -> str:
    """A row for each cause, with the interval of each value."""
    first = question["rows"][0]["cells"]
    names = [_NAMES.get(cell["algorithm"], cell["algorithm"]) for cell in first]
    if len(set(names)) == 1:
        base = f" over {question['base']}" if question["base"] else ""
        who, names = f"{names[0]}{base}", [""] * len(names)
    else:
        who, names = "", [f"{name}: " for name in names]
    head = [who, *(f"{n}{_METRICS[c['metric']]}" for n, c in zip(names, first, strict=True))]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in question["rows"]:
        cells = [
            f"{_number(cell['ours'])} ({' to '.join(map(_number, cell['interval']))})"
            for cell in row["cells"]
        ]
        lines.append("| " + " | ".join([row["cause"], *cells]) + " |")
    at = ", ".join(f"{name} {value}" for name, value in question["point"].items())
    return "\n".join([f"{at}; {question['seeds']} seeds.", "", *lines])


def _overview(stored: Mapping[str, Any]) -> str:
    lines = [
        "| figure | values | agree | differ | median of ours over published |",
        "|---|---|---|---|---|",
    ]
    for name, said in FIGURES.items():
        if name not in stored:
            continue
        rows = stored[name]["rows"]
        found = [verdict(row, said) for row in rows]
        ratios = sorted(
            row["ours"] / _middle(row)
            for row in rows
            if _middle(row) > 0 and row["ours"] is not None
        )
        median = f"{ratios[len(ratios) // 2]:.2f}" if ratios else ""
        counts = [str(found.count(word)) for word in ("agrees", "differs")]
        if said.incomparable:
            counts = ["", "not comparable"]
        lines.append(f"| {said.title} | {len(rows)} | {' | '.join(counts)} | {median} |")
    return "\n".join(lines)


def _text(figure: Mapping[str, Any], said: Said) -> str:
    fixed = "".join(
        f" --{name.replace('_', '-')} {value}" for name, value in figure["fixed"].items()
    )
    seeds = f"{figure['seeds']} seeds: `ccperf run {figure['experiment']}{fixed}`."
    return "\n\n".join(
        part for part in (said.text.strip(), said.incomparable.strip(), seeds) if part
    )


def _table(figure: Mapping[str, Any], said: Said) -> str:
    rows: Sequence[Mapping[str, Any]] = figure["rows"]
    names = [
        name
        for name in dict.fromkeys(name for row in rows for name in row["point"])
        if len({str(row["point"].get(name)) for row in rows}) > 1
    ]
    head = ["", *names, "", "published", "ours", "interval", "verdict"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        low, high = row["interval"]
        bounds = "" if low is None else f"{_number(low)} to {_number(high)}"
        cells = [
            _NAMES.get(row["algorithm"], row["algorithm"]),
            *(str(row["point"].get(name, "")) for name in names),
            _METRICS.get(row["metric"], row["metric"]),
            " to ".join(map(_number, row["published"])),
            _number(row["ours"]),
            bounds,
            verdict(row, said),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def verdict(row: Mapping[str, Any], said: Said) -> str:
    """``agrees``, ``differs`` or ``not comparable``."""
    if said.incomparable:
        return "not comparable"
    low, high = row["interval"]
    if low is None:
        low = high = row["ours"]
    is_small = said.small_axis > 0 and row["metric"].startswith("small.")
    axis = said.small_axis if is_small else said.axis
    error = _READING * (axis if "unfinished" not in row["metric"] else 10)
    if said.axis == 600 and "fct" in row["metric"]:
        # A logarithmic axis of three decades.
        error = row["published"][0] * (10 ** (3 * _READING) - 1)
    published = row["published"]
    is_inside = published[-1] >= low - error and published[0] <= high + error
    return "agrees" if is_inside else "differs"


def _middle(row: Mapping[str, Any]) -> float:
    return sum(row["published"]) / len(row["published"])


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
