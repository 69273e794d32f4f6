"""The words of the documents: CONTRIBUTING.md lists what not to write, and what to write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: CONTRIBUTING has the list itself.
DOCUMENTS = sorted(
    {*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/*.md")}
    - {ROOT / "CONTRIBUTING.md"}
)


def table() -> dict[str, str]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = text.partition("| not | but |\n|---|---|\n")[2].partition("\n\n")[0]
    return dict(re.findall(r"^\| (.+?) \| (.+?) \|$", rows, re.MULTILINE))


def test_the_list_is_read() -> None:
    assert table()["sent again"] == "retransmitted"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_documents_have_the_words_of_the_field(document: Path) -> None:
    text = " ".join(
        re.sub(r"```.*?```|`[^`]*`", "", document.read_text("utf-8"), flags=re.DOTALL).split()
    )
    found = [
        f"{word!r}: write {better}"
        for word, better in table().items()
        if re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)
    ]
    assert not found, f"{document.name}: " + "; ".join(found)
