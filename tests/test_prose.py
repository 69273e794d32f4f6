"""The markup of descriptions, which pages and citations show in their own."""

from __future__ import annotations

import pytest

from ccperf.base.prose import Part, parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", [Part("words", "plain")]),
        (
            "whole *seconds* and `a*b*c`",
            [
                Part("words", "whole "),
                Part("emphasis", "seconds"),
                Part("words", " and "),
                Part("code", "a*b*c"),
            ],
        ),
        ("see [ns-3](ns3.md)", [Part("words", "see "), Part("link", "ns-3", "ns3.md")]),
        ("2 * 3 * 4, a*b*c", [Part("words", "2 * 3 * 4, a*b*c")]),
        ("[5ms,5ms] (both)", [Part("words", "[5ms,5ms] (both)")]),
        ("", []),
    ],
)
def test_a_text_is_taken_apart(text: str, expected: list[Part]) -> None:
    assert list(parts(text)) == expected
