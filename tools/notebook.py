"""Write docs/notebook.ipynb: run its cells and keep what they show.

    .venv/bin/python tools/notebook.py

A notebook server would do the same; this needs nothing besides the package.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
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
        """Many runs at once, on all cores: `grid` takes one value or several of everything. What it
returns has data frames (`runs.to_pandas()`, a row for each run and flow), comparisons and
figures.""",
    ),
    (
        "code",
        """runs = ccperf.grid(
    "buffer_sizing",
    cc=["newreno", "cubic", "bbr"],
    buffer=[0.25, 0.5, 1, 2],
    k=1,
    seed=range(1, 4),
    stop_time="5s",
)
runs""",
    ),
    (
        "markdown",
        """A metric against a parameter, with confidence intervals: Matplotlib axes, with your
styles and fonts.""",
    ),
    ("code", """axes = runs.plot(x="buffer", y="mean_est_qdelay_l4")"""),
    (
        "markdown",
        """Some of them over time, each run in its colour.""",
    ),
    ("code", """runs.where(buffer=1, seed=1).overlay("window")"""),
    (
        "markdown",
        """Is a difference real? Seeds are compared in pairs; `each=True` has a row for each
point.""",
    ),
    (
        "code",
        """compared = runs.compare(baseline="newreno", metric="mean_est_qdelay_l4", each=True)
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
    return outputs + _pictures()


def _pictures() -> list[dict[str, Any]]:
    """The figures of pyplot that a cell has left open, as notebooks show them."""
    if "matplotlib.pyplot" not in sys.modules:
        return []
    from matplotlib import pyplot

    found = []
    for number in pyplot.get_fignums():
        drawn = io.BytesIO()
        pyplot.figure(number).savefig(drawn, format="png", dpi=100)
        picture = base64.b64encode(drawn.getvalue()).decode()
        data = {"image/png": picture, "text/plain": ["<Figure>"]}
        found.append({"output_type": "display_data", "data": data, "metadata": {}})
    pyplot.close("all")
    return found


if __name__ == "__main__":
    main()
