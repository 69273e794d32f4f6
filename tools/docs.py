"""Writes the documents that come from data: `make docs`.

`docs/algorithms.md` is made of the registry and of what the matrix compares, `docs/fidelity.md` of
`ccperf.verify.page`, which the site shows as well, `docs/what-ns3-does.md` of
`ccperf.verify.habits`, `docs/speed.md` of what benchmarks have written down, `docs/papers.md` of
what `tools/papers_page.py` says, `docs/releases.md` of what `make releases` has measured, the
tables in `docs/design/contract.md` of what the engine declares. A test fails while one of them is
out of date.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ccperf.algorithms import registry
from ccperf.cli.show import default_text, values_text
from ccperf.experiments import catalogue
from ccperf.experiments.catalogue.sets import SETS, NamedSet
from ccperf.runs import recording
from ccperf.verify import counting, fidelity, habits, page, record

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT))

from benchmarks import claims  # noqa: E402
from tools import papers_page, releases_page  # noqa: E402

DOCS = ROOT / "docs"
#: What the pages say of the matrix, which takes seconds to make.
COUNTED = ROOT / "python" / "ccperf" / "data" / fidelity.FILE


def documents() -> dict[Path, str]:
    """The documents, as they should be."""
    return {
        DOCS / "algorithms.md": algorithms(),
        DOCS / "fidelity.md": fidelity_page(),
        DOCS / "what-ns3-does.md": habits_page(),
        DOCS / "design" / "contract.md": contract(),
        DOCS / "sets.md": named_sets(),
        DOCS / "speed.md": speed(),
        DOCS / "papers.md": papers_page.page(),
        DOCS / "releases.md": releases(),
    }


def releases() -> str:
    """The page on what a release of ns-3 changes."""
    parts = releases_page.page().split("\n\n")
    kept = ("#", "<", "|", "`", "!")
    return "\n\n".join(p if p.startswith(kept) else wrapped(p) for p in parts) + "\n"


def speed() -> str:
    """The page on speed."""
    parts = claims.page().split("\n\n")
    return "\n\n".join(part if part[0] in "#<|`" else wrapped(part) for part in parts) + "\n"


def named_sets() -> str:
    """The sets that follow texts, section by section, and what we leave out of them."""
    parts = [
        "# Sets that follow a text",
        wrapped(
            "`ccperf bench --set NAME ALGORITHM` runs the points of the catalogue that answer "
            "what a text on the evaluation of congestion control asks, by section. Where "
            "a text gives no numbers, they are the catalogue's. What it asks and we do not do is "
            "said below each table. Points that sections share run once. (Made by `make docs`.)"
        ),
    ]
    for chosen in SETS.values():
        rows = [
            [
                _heading(chosen, entry.section),
                entry.asks,
                f"`{entry.experiment}`",
                "; ".join(
                    f"{name} {', '.join(map(str, values))}"
                    for name, values in entry.parameters.items()
                )
                or "whole grid",
                sum(1 for _ in catalogue.get(entry.experiment).product(entry.parameters)),
            ]
            for entry in chosen.entries
        ]
        head = ["section", "what it asks", "experiment", "values", "points"]
        gaps = [[_heading(chosen, gap.section), gap.asks, gap.why] for gap in chosen.gaps]
        parts += [
            f"## [{chosen.title}]({chosen.url})",
            f"```sh\nccperf bench --set {chosen.name} cubic\n```",
            table(head, rows),
        ]
        if gaps:
            parts += [
                "What it asks and we do not do:",
                table(["section", "what it asks", "why not"], gaps),
            ]
    return "\n\n".join(parts) + "\n"


def _heading(of: NamedSet, section: str) -> str:
    """A section as the text itself calls it; several are left as they are."""
    return f"{section} {of.sections[section]}" if section in of.sections else section


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of Markdown."""
    cells = [
        list(head),
        ["---"] * len(head),
        *([_cell(cell) for cell in row] for row in rows),
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def wrapped(text: str) -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, 105, break_long_words=False, break_on_hyphens=False)


def _cell(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) else str(cell).replace("|", "\\|")


def contract() -> str:
    """The contract, with the tables of a recording between its marks."""
    text = (DOCS / "design" / "contract.md").read_text(encoding="utf-8")
    before, begin, rest = text.partition("<!-- tables: ")
    mark, end_of_mark, rest = rest.partition("-->\n")
    _, end, after = rest.partition("<!-- end of tables -->")
    if not end:
        raise SystemExit("docs/design/contract.md: the marks around the tables are gone")
    parts = []
    for name, columns in recording.TABLES.items():
        rows = [[f"`{c.name}`", _kind(c), c.unit, c.description] for c in columns]
        parts.append(wrapped(f"`{name}`: {recording.ROWS[name]}."))
        parts.append(table(["column", "kind", "unit", "meaning"], rows))
    tables = "\n\n".join(parts)
    return f"{before}{begin}{mark}{end_of_mark}\n{tables}\n\n{end}{after}"


def _kind(column: recording.Column) -> str:
    return f"{column.kind}*" if column.kind == "float" else column.kind


def fidelity_page() -> str:
    """The page on fidelity."""
    parts = [
        f"# {page.TITLE}",
        "<!-- Written by `make docs` from python/ccperf/verify/page.py and departures.py. -->",
        wrapped(page.LEAD),
    ]
    for section in page.sections():
        parts.append(f"## {section.title}")
        for block in section.blocks:
            if isinstance(block, page.Table):
                parts.append(table(block.head, block.rows))
            elif isinstance(block, page.Commands):
                parts.append(f"```\n{block.text}\n```")
            else:
                parts.append(wrapped(block))
    return "\n\n".join(parts) + "\n"


def habits_page() -> str:
    """The page of what of ns-3 surprises."""
    parts = [
        f"# {habits.TITLE}",
        "<!-- Written by `make docs` from python/ccperf/verify/habits.py. -->",
        wrapped(f"{habits.LEAD} [Fidelity](fidelity.md) has all that the comparison knows."),
    ]
    for section in habits.SECTIONS:
        parts.append(f"## {section.title}")
        # Notes of runs lead here; Markdown gives ids to headings alone.
        said = (
            f'<a id="{each.anchor}"></a>' + (f"**{each.what}** " if each.what else "") + each.text
            for each in section.habits
        )
        parts.append("\n".join(textwrap.indent(wrapped(f"- {text}"), "  ")[2:] for text in said))
    parts.append(
        "All of them, with the tests that show them on real ns-3, are in [fidelity](fidelity.md)."
    )
    return "\n\n".join(parts) + "\n"


def algorithms() -> str:
    """The page of all algorithms."""
    parts = [
        "# Algorithms",
        "<!-- Written by `make docs` from the registry and the matrix; change those. -->",
        wrapped(
            "Every algorithm answers to ns-3's name and to Linux's, and so do its attributes. "
            "`ccperf list cc` and `ccperf show cc cubic` print the same. What validates each is "
            "the [comparison with ns-3](fidelity.md): in how many scenarios it takes part, and in "
            "how many of the last record it was packet-identical."
        ),
    ]
    for kind, title in page.KINDS.items():
        specs = registry.algorithms(kind)
        counts = fidelity.last().algorithms[kind]
        rows = [
            [
                f"[{name}](#{name.lower()})",
                ", ".join(f"`{word}`" for word in spec["linux"]) or "–",
                spec["doc"],
                counts[name].scenarios,
                counts[name].identical,
            ]
            for name, spec in specs.items()
        ]
        head = ["ns-3", "short name", "what it is", "scenarios", "found identical"]
        parts += [f"## {title}", table(head, rows)]
        for name, spec in specs.items():
            parts += section(name, spec, fidelity.status(kind, name))
    parts += rates()
    parts += trimming()
    return "\n\n".join(parts) + "\n"


def rates() -> list[str]:
    """The laws of rates over RoCE."""
    lead = (
        "The `cc` of flows over `ROCE` ([lossless.md](lossless.md)). ns-3 does not have them; "
        "`ccperf list rate_control` and `ccperf show hpcc` print the same."
    )
    return beside("Rates over RoCE", lead, "rate_control")


def trimming() -> list[str]:
    """What lets hosts send packets that switches may cut."""
    lead = (
        "The `cc` of flows and stacks over `TRIMMING` ([trimming.md](trimming.md)), which "
        "may be left out in flows. ns-3 does not have it; `ccperf list trimming` prints "
        "the same."
    )
    return beside("Over switches that trim", lead, "trimming")


def beside(title: str, lead: str, kind: registry.Kind) -> list[str]:
    """Algorithms that ns-3 does not have, with who judged each."""
    specs = registry.algorithms(kind)
    rows = [
        [
            f"[{name}](#{name.lower()})",
            ", ".join(f"`{word}`" for word in spec["linux"]),
            spec["doc"],
            "; ".join(f"{judge['kind']}: {judge['where']}" for judge in spec["judges"]),
        ]
        for name, spec in specs.items()
    ]
    head = ["name", "in files", "what it is", "judged by"]
    parts = [f"## {title}", wrapped(lead), table(head, rows)]
    for name, spec in specs.items():
        parts += section(name, spec, fidelity.status(kind, name))
    return parts


def section(name: str, spec: Mapping[str, Any], status: str) -> list[str]:
    """One algorithm with its attributes."""
    parts = [
        f"### {name}",
        wrapped(f"{spec['doc']} Source: {spec['source']}. Validation: {status}."),
        *(wrapped(text) for text in [registry.likeness(spec)] if text),
    ]
    rows = [
        [
            f"`{param['ns3']}`",
            f"`{param['linux']}`" if param["linux"] else "–",
            values_text(param),
            f"`{default_text(param)}`" if default_text(param) else "none",
            param["doc"],
        ]
        for param in spec["params"]
    ]
    if rows:
        parts.append(
            table(["ns-3 attribute", "short name", "values", "default", "what it is"], rows)
        )
    return parts


if __name__ == "__main__":
    COUNTED.write_text(counting.counted(record.last()).json(), encoding="utf-8")
    for path, text in documents().items():
        path.write_text(text, encoding="utf-8")
