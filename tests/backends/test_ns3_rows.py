"""The driver's rows are made of the engine's declaration of the tables."""

from __future__ import annotations

import re

from ccperf.runs.backends.ns3 import rows
from ccperf.runs.recording import TABLES


def test_every_column_is_a_member_of_its_row_in_order_and_of_its_type() -> None:
    types = {"int": "Integer", "float": "Real", "str": "Text"}
    structs = re.findall(r"struct (\w+)\n\{(.*?)\n\};", rows.header(), re.DOTALL)
    assert len(structs) == len(TABLES)
    for (_, body), (table, columns) in zip(structs, TABLES.items(), strict=True):
        assert f'TABLE = "{table}"' in body
        members = re.findall(r"^    (Integer|Real|Text) (\w+);$", body, re.MULTILINE)
        assert members == [(types[column.kind], column.name) for column in columns]
