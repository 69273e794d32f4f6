"""Writes what C and Python say of the interface of congestion controls: part of `make docs`.

The declarations are `crates/engine/src/host/tcp/callbacks.rs` (functions) and
`crates/plugin/src/fields.rs` (fields). From them come parts of `ccperf.h` and of `_native.pyi`, the
base class `ccperf.algorithms.callbacks`, and the table in `docs/bring-your-own.md`.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ccperf import _native

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "ccperf"
HEADER = PACKAGE / "include" / "ccperf.h"
STUB = PACKAGE / "_native.pyi"
BASE = PACKAGE / "algorithms" / "callbacks.py"
TUTORIAL = ROOT / "docs" / "bring-your-own.md"

Declared = Mapping[str, Any]

#: Of each Rust type: in C, in Python, and what is appended to the name of an argument.
TYPES = {
    "u32": ("int64_t", "int", ""),
    "bool": ("int32_t", "bool", ""),
    "Time": ("int64_t", "int", "_ns"),
    "CongState": ("int32_t", "str", ""),
    "CaEvent": ("int32_t", "str", ""),
    "AckSample<'_>": ("const ccperf_rate_sample *", "RateSample", ""),
}
ANSWERS = {
    None: ("void", "None"),
    "u32": ("int64_t", "int"),
    "Option<EarlyAck>": ("void", "tuple[int, bool] | None"),
}
ERROR = "Set it to a text to end the run; it must stay valid after the call returns."
FIELDS = {"i64": "int64_t", "i32": "int32_t", "u32": "uint32_t"}


def documents() -> dict[Path, str]:
    """The files, as they should be."""
    declared = json.loads(_native.interface())
    return {
        HEADER: _with(
            HEADER,
            {
                "version": f"#define CCPERF_ABI_VERSION {declared['version']}\n",
                "tcb": _structure("ccperf_tcb", declared["tcb"]),
                "sample": _structure("ccperf_rate_sample", declared["sample"]),
                "functions": "\n".join(_c_functions(declared["callbacks"])) + "\n",
                "hears": _hears(declared["callbacks"]),
            },
        ),
        STUB: _with(
            STUB,
            {
                "tcb": _stub_class(declared, "tcb"),
                "sample": _stub_class(declared, "sample"),
            },
        ),
        BASE: _base_class(declared),
        TUTORIAL: _with(TUTORIAL, {"calls": _table(declared["callbacks"])}),
    }


def _with(path: Path, parts: Mapping[str, str]) -> str:
    """A file with each part between its marks, `generated: NAME` and `end: NAME`."""
    text = path.read_text(encoding="utf-8")
    for name, part in parts.items():
        begin, end = (rf"^[^\n]*{mark}: {name}\b" for mark in ("generated", "end"))
        marks = re.compile(rf"({begin}[^\n]*\n).*?({end})", re.MULTILINE | re.DOTALL)
        text, count = marks.subn(lambda mark, part=part: mark[1] + part + mark[2], text)
        if count != 1:
            raise SystemExit(f"{path}: the marks around `{name}` are gone")
    return text


def _comment(doc: str, indent: str) -> Iterator[str]:
    """A comment of C."""
    lines = [
        line
        for paragraph in doc.split("\n\n")
        for line in textwrap.wrap(" ".join(paragraph.split()), 92, break_on_hyphens=False)
    ]
    if lines:
        lines[-1] += " */"
        yield f"{indent}/* {lines[0]}"
        yield from (f"{indent} * {line}" for line in lines[1:])


def _structure(name: str, fields: list[Declared]) -> str:
    lines = [f"typedef struct {name} {{"]
    for field in fields:
        match field["name"]:
            case "error":
                lines += [
                    *_comment(ERROR, "    "),
                    "    const char *error;",
                    *_comment("Yours to change, up to `ect`.", "    "),
                ]
            case "reserved":
                lines.append("    int32_t reserved;")
            case _:
                doc = field["doc"]
                if none := _none(field):
                    doc = doc.replace("None if", f"{none} if")
                    doc = doc if none in doc else f"{doc} {none} before the first sample.".strip()
                lines += [*_comment(doc, "    "), f"    {FIELDS[field['type']]} {field['name']};"]
    return "\n".join([*lines, f"}} {name};\n"])


def _none(field: Declared) -> str | None:
    """The number that stands for None."""
    found = re.fullmatch(r"maybe ?\((.*)\)", field["how"])
    return found[1].replace(" ", "").replace("i64::MAX", "CCPERF_TIME_MAX") if found else None


def _c_name(name: str, kind: str) -> str:
    return name + TYPES[_squeezed(kind)][2]


def _squeezed(kind: str) -> str:
    return kind.replace(" ", "")


def _c_functions(callbacks: list[Declared]) -> Iterator[str]:
    for of in callbacks:
        yield from _comment(_c_doc(of), "    ")
        line = f"    {pointer(of)};"
        yield from [line] if len(line) <= 100 else _broken(line)


def pointer(of: Declared) -> str:
    """The declaration of a pointer to a function of the table."""
    arguments = ["void *self", "ccperf_tcb *tcb"]
    for name, kind in of["arguments"]:
        c_type = TYPES[_squeezed(kind)][0]
        space = "" if c_type.endswith("*") else " "
        arguments.append(f"{c_type}{space}{_c_name(name, kind)}")
    if of["out"]:
        arguments.append(f"ccperf_early_ack *{of['out']}")
    answer = ANSWERS[of["answer"] and _squeezed(of["answer"])][0]
    return f"{answer} (*{of['name']})({', '.join(arguments)})"


def _broken(line: str) -> list[str]:
    before, arguments = line.split(")(", 1)
    indent = " " * (len(before) + 2)
    return textwrap.wrap(
        f"{before})({arguments}", 100, subsequent_indent=indent, break_on_hyphens=False
    )


def _c_doc(of: Declared) -> str:
    doc = str(of["doc"]).replace("`", "")
    doc = re.sub(r"\brtt\b", "rtt_ns", doc)
    if of["out"]:
        doc += f" *{of['out']} comes zeroed."
    return doc + (" Must be there." if of["is_required"] else "")


def _hears(callbacks: list[Declared]) -> str:
    names = [of["name"].upper() for of in callbacks]
    values = ",\n".join(f"    CCPERF_HEARS_{name} = 1u << {i}" for i, name in enumerate(names))
    return f"enum ccperf_hears {{\n{values}\n}};\n"


def _stub_class(declared: Declared, which: str) -> str:
    lines = []
    readable = []
    for field in declared[which]:
        if "how" not in field:
            continue
        kind, *rest = re.findall(r"\w+", field["how"])
        python = {"flag": "bool", "switch": "bool", "maybe": "int | None"}.get(kind, "int")
        if kind in ("word", "choice"):
            words = ", ".join(f'"{word}"' for word in declared["words"][rest[-1]])
            python = f"Literal[{words}]"
        doc = field["doc"]
        if kind == "maybe" and "None" not in doc:
            doc = f"{doc} None before the first sample.".strip()
        if kind in ("whole", "small", "switch", "choice"):
            lines += [f"    #: {line}" for line in textwrap.wrap(" ".join(doc.split()), 92)]
            lines.append(f"    {field['name']}: {python}")
            continue
        readable += ["    @property", f"    def {field['name']}(self) -> {python}:"]
        if doc:
            readable += _docstring(doc, "        ")
        else:
            readable[-1] += " ..."
    return "\n".join([*lines, *readable]) + "\n"


def _docstring(doc: str, indent: str) -> list[str]:
    room = 100 - len(indent)
    paragraphs = [" ".join(part.split()) for part in doc.split("\n\n")]
    one = f'{indent}"""{paragraphs[0]}"""'
    if len(paragraphs) == 1 and len(one) <= 100:
        return [one]
    wrapped = [textwrap.wrap(part, room, break_on_hyphens=False) for part in paragraphs]
    wrapped[0] = textwrap.wrap(f'"""{paragraphs[0]}', room, break_on_hyphens=False)
    lines = [line for part in wrapped for line in [*part, ""]][:-1]
    closed = [*lines[:-1], lines[-1] + '"""'] if len(wrapped) == 1 else [*lines, '"""']
    if len(indent + closed[-1]) > 100:
        closed = [*lines, '"""']
    return [indent + line if line else "" for line in closed]


_HEAD = '''"""The calls of a congestion control, which do nothing: what is of use overrides them.

Made by `make docs` of the engine's declaration, `crates/engine/src/host/tcp/callbacks.rs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccperf._native import RateSample, Tcb


class Callbacks:
    """Each call that there is; see :class:`ccperf.CongestionControl`."""
'''


def _base_class(declared: Declared) -> str:
    parts = [_HEAD]
    for of in declared["callbacks"]:
        arguments = [(_c_name(name, kind), _squeezed(kind)) for name, kind in of["arguments"]]
        given = "".join(f", {name}: {TYPES[kind][1]}" for name, kind in arguments)
        answer = ANSWERS[of["answer"] and _squeezed(of["answer"])][1]
        doc = re.sub(r"\brtt\b", "rtt_ns", of["doc"])
        if of["out"]:
            doc += "\n\nThe answer is the acknowledgement number and whether it carries ECE."
        for name, kind in arguments:
            if words := declared["words"].get(kind):
                quoted = ", ".join(f'``"{word}"``' for word in words)
                doc += f"\n\n`{name}` is one of {quoted}."
        noqa = "  # noqa: ARG002" if of["out"] else ""
        lines = [f"    def {of['name']}(self, tcb: Tcb{given}) -> {answer}:{noqa}"]
        lines += _docstring(doc, "        ")
        if of["out"]:
            lines.append("        return None")
        elif answer != "None":
            lines.append("        raise NotImplementedError")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _table(callbacks: list[Declared]) -> str:
    lines = ["", "| call | when |", "|---|---|"]
    for of in callbacks:
        arguments = ", ".join(["tcb", *(_c_name(name, kind) for name, kind in of["arguments"])])
        first = " ".join(of["doc"].split("\n\n")[0].split())
        lines.append(f"| `{of['name']}({arguments})` | {first.removesuffix('.')} |")
    return "\n".join([*lines, "\n"])


if __name__ == "__main__":
    for path, text in documents().items():
        path.write_text(text, encoding="utf-8")
