"""The recording's tables as C++: the driver cannot leave out, misname or retype a column."""

from __future__ import annotations

from ccperf.runs.recording import TABLES, Column

#: The file that the driver's sources include.
NAME = "rows.h"

_TYPES = {"int": "Integer", "float": "Real", "str": "Text"}


def header() -> str:
    """A type for the rows of each table, with the columns as the engine declares them."""
    structs = "\n".join(_struct(name, columns) for name, columns in TABLES.items())
    return (
        "#ifndef CCPERF_ROWS_H\n#define CCPERF_ROWS_H\n\n"
        '#include "table.h"\n\n#include <array>\n#include <tuple>\n\n'
        f"namespace ccperf::rows\n{{\n\n{structs}\n}} // namespace ccperf::rows\n\n#endif\n"
    )


def _struct(table: str, columns: tuple[Column, ...]) -> str:
    names = [column.name for column in columns]
    quoted = ", ".join(f'"{name}"' for name in names)
    fields = "".join(f"    {_TYPES[column.kind]} {column.name};\n" for column in columns)
    return (
        f"struct {''.join(word.capitalize() for word in table.split('_'))}\n{{\n"
        f'    static constexpr const char* TABLE = "{table}";\n'
        f"    static constexpr std::array COLUMNS = {{{quoted}}};\n\n"
        f"{fields}\n"
        "    auto Values() const\n    {\n"
        f"        return std::tie({', '.join(names)});\n"
        "    }\n};\n"
    )
