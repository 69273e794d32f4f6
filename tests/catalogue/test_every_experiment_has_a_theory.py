"""No experiment without a check that follows from theory."""

from __future__ import annotations

import ast
from pathlib import Path

from ccperf.experiments.catalogue import REGISTRY


def checked(text: str) -> set[str]:
    """Names of experiments that tests run or build by name, `run("aqm", ...)`,
    `REGISTRY["aqm"].scenario(...)`, with a tolerance that is derived: a bound that is none says in
    its test that it is a judgement."""
    found = set()
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    derived = [one for one in functions if "judgement" not in (ast.get_docstring(one) or "")]
    for node in (inner for one in derived for inner in ast.walk(one)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "run" and node.args:
            found.add(node.args[0])
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "REGISTRY":
            found.add(node.slice)
    return {node.value for node in found if isinstance(node, ast.Constant)}


def test_every_experiment_of_the_catalogue_is_checked_by_name() -> None:
    """What holds for all of them, that nothing is faster than its link, does not count."""
    files = Path(__file__).parent.glob("test_theory*.py")
    names = {name for file in files for name in checked(file.read_text(encoding="utf-8"))}
    assert names == set(REGISTRY)
