"""Write docs/notebook.ipynb: run its cells and keep what they show.

    .venv/bin/python tools/notebook.py

A notebook server would do the same; this needs nothing besides the package.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "docs" / "notebook.ipynb"

CELLS: tuple[tuple[str, str], ...] = (
    (
        "markdown",
        """# ccperf in a notebook

Every result shows itself: a figure that can be asked (move over it, drag to zoom, click the
legend), and its metrics with units. Nothing is loaded from a network.""",
    ),
    (
        "code",
        """import ccperf

result = ccperf.run("aqm", cc="TcpCubic", k=2, qdisc="codel", stop_time="5s")
result""",
    ),
    (
        "markdown",
        """Other figures by their names; `save` writes them for a paper, as wide as a column.""",
    ),
    ("code", """result.plot("queue")"""),
    (
        "markdown",
        """The network and the flows behind it. `to_pandas()` and `to_polars()` give data frames: of
a result its metrics, or with a name one of the recording's tables.""",
    ),
    ("code", """result.scenario"""),
    (
        "code",
        """samples = result.recording.flow_samples
print(f"{samples.rows} samples, at most {samples['cwnd_bytes'].max() / 1448:.0f} segments")""",
    ),
    (
        "markdown",
        """Is a difference real? Three seeds at four points each, compared in pairs.""",
    ),
    (
        "code",
        """from pathlib import Path
from tempfile import TemporaryDirectory

from ccperf.evidence import cells
from ccperf.evidence.compare import compare
from ccperf.store import Store

with TemporaryDirectory() as folder:
    database = Path(folder) / "runs.db"
    with Store(database) as store:
        for cc in ("TcpNewReno", "TcpCubic", "TcpBbr"):
            for buffer in ("0.25", "0.5", "1", "2"):
                for seed in (1, 2, 3):
                    store.add(
                        ccperf.run(
                            "buffer_sizing", cc=cc, seed=seed, buffer=buffer, stop_time="5s"
                        )
                    )
    sides = cells.by_algorithm(cells.read([database]), ["TcpNewReno", "TcpCubic", "TcpBbr"])
compared = compare(sides, ["mean_est_qdelay_l4"], each=True)
compared""",
    ),
    ("code", """compared.plot("mean_est_qdelay_l4")"""),
)


def main() -> None:
    """Run all cells in one namespace and write the notebook."""
    names: dict[str, Any] = {}
    cells = []
    count = 0
    for number, (kind, source) in enumerate(CELLS):
        cell: dict[str, Any] = {
            "cell_type": kind,
            "id": f"cell-{number}",
            "metadata": {},
            "source": source.splitlines(keepends=True),
        }
        if kind == "code":
            count += 1
            cell |= {"execution_count": count, "outputs": _run(source, names, count)}
        cells.append(cell)
    document = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    TARGET.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _run(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run a cell; return what it prints, and what its last expression shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        data: dict[str, Any] = {"text/plain": [repr(value)[:200]]}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        if hasattr(value, "_repr_svg_"):
            data["image/svg+xml"] = value._repr_svg_().splitlines(keepends=True)
        outputs.append(
            {
                "output_type": "execute_result",
                "execution_count": count,
                "data": data,
                "metadata": {},
            }
        )
    return outputs


if __name__ == "__main__":
    main()
