"""Who takes part in an experiment: the algorithm under test, and the one that it meets, if any.

Points are labelled by texts, as published command lines do it (``{aut:TcpNewReno,k:5}``); which of
these texts name algorithms is said here only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Role = Literal["under_test", "against"]

UNDER_TEST: Role = "under_test"
AGAINST: Role = "against"

#: What a role is called among the labels of a point.
LABELS: Mapping[Role, str] = {UNDER_TEST: "aut", AGAINST: "against"}
#: And what it means.
MEANINGS: Mapping[Role, str] = {
    UNDER_TEST: "Algorithm under test.",
    AGAINST: "Algorithm that it meets.",
}


def algorithms(labels: Mapping[str, Any]) -> dict[Role, str]:
    """The algorithm in each role of a labelled point; none for a scenario of one's own."""
    return {role: str(labels[name]) for role, name in LABELS.items() if name in labels}


def under_test(labels: Mapping[str, Any]) -> str | None:
    """The algorithm under test, if the labels name one."""
    return algorithms(labels).get(UNDER_TEST)


def parameters(labels: Mapping[str, Any]) -> dict[str, Any]:
    """The labels without the algorithm under test: what is alike for all that are compared."""
    return {name: value for name, value in labels.items() if name != LABELS[UNDER_TEST]}
