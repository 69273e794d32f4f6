"""How many steps of the gym a training takes: the same on any machine, however busy it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from ccperf.gym import CongestionEnv


@dataclass
class Steps:
    """Of all environments so far."""

    count: int = 0


@contextmanager
def counted() -> Iterator[Steps]:
    """Count the steps that environments make meanwhile."""
    steps, step = Steps(), CongestionEnv.step

    def counting(env: CongestionEnv, action: Any) -> Any:
        steps.count += 1
        return step(env, action)

    with patch.object(CongestionEnv, "step", counting):
        yield steps
