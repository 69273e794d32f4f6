"""Simulating costs as many instructions as recorded: a gate that no busy machine moves."""

from __future__ import annotations

import pytest
from benchmarks import instructions
from benchmarks.instructions import Cost


def test_scenarios_cost_as_many_instructions_as_recorded() -> None:
    if not instructions.is_shipped():
        pytest.skip("needs the engine for browsers as it is shipped: make wasm")
    compiler, expected = instructions.recorded()
    said = instructions.problems(
        instructions.measured(),
        expected,
        is_same_compiler=compiler == instructions.compiler(),
    )
    meant = "If that is meant: .venv/bin/python -m benchmarks.instructions --record"
    assert not said, "\n".join([*said, meant])


def test_a_processor_executes_as_many_instructions_as_recorded() -> None:
    why_not = instructions.why_not_native()
    if why_not:
        pytest.skip(why_not)
    compiler, expected = instructions.recorded("native")
    said = instructions.problems(
        instructions.measured_natively(),
        expected,
        is_same_compiler=compiler == instructions.compiler(),
    )
    meant = "If that is meant: .venv/bin/python -m benchmarks.instructions --record"
    assert not said, "\n".join([*said, meant])


@pytest.mark.parametrize(
    ("instructions_found", "with_the_same", "with_another"),
    [(100_900, 0, 0), (101_100, 1, 0), (97_100, 0, 0), (96_900, 1, 0), (111_000, 1, 1)],
)
def test_a_hundredth_more_is_too_much_and_what_is_gained_is_to_be_recorded(
    instructions_found: int, with_the_same: int, with_another: int
) -> None:
    expected = {"one flow": Cost(100, 100_000)}
    found = {"one flow": Cost(100, instructions_found)}
    for is_same, count in ((True, with_the_same), (False, with_another)):
        said = instructions.problems(found, expected, is_same_compiler=is_same)
        assert len(said) == count, said


def test_another_scenario_and_other_packets_are_told() -> None:
    expected = {"one flow": Cost(100, 100_000)}
    other = instructions.problems({"1 flow": Cost(100, 100_000)}, expected, is_same_compiler=True)
    assert other == ["the scenarios are 1 flow; recorded are one flow"]
    more = instructions.problems({"one flow": Cost(99, 100_000)}, expected, is_same_compiler=True)
    assert more == ["one flow: 99 packet-hops, recorded are 100"]
