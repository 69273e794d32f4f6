"""Which attributes a user's Python class takes, read from its text: nothing of it runs."""

from __future__ import annotations

import ast

from ccperf.algorithms.user_code import names


def attributes_of(name: str) -> frozenset[str]:
    """The parameters of the class's ``__init__``; none for what is no Python class in a file.

    A base class is looked for in the same file.
    """
    place, _, wanted = names.split(name)
    if names.are_stored() or not place.endswith(".py"):
        return frozenset()
    try:
        (path,) = names.files(name)
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return frozenset()
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    while cls := classes.get(wanted):
        for node in cls.body:
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                arguments = node.args
                every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
                return frozenset(each.arg for each in every) - {"self"}
        bases = [base.id for base in cls.bases if isinstance(base, ast.Name)]
        wanted = next((base for base in bases if base in classes and base != wanted), "")
    return frozenset()
