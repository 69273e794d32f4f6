"""A short run of each target of `fuzz/targets.py`."""

from __future__ import annotations

import importlib.util
import random
from types import ModuleType

import pytest

from user_scenarios import ROOT, drawn_seed


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("targets", ROOT / "fuzz" / "targets.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


targets = _module()


@pytest.mark.parametrize("name", targets.TARGETS)
def test_whatever_is_read_is_read_or_refused(name: str) -> None:
    generator = random.Random(drawn_seed())
    examples = targets.examples(name)
    for data in [*examples, b"", *(targets.draw(examples, generator) for _ in range(400))]:
        targets.TARGETS[name](data)
