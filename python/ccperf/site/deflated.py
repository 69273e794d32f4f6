"""Scripts of compressed data, which pages inflate: a third as large as plain ones."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

#: A higher level takes twice as long for a fiftieth of the size.
_LEVEL = 6


def compressed(name: str, value: Any) -> str:
    """Return plain values as a script that hands them to the page (`static/data.js`)."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return deflated(name, text.encode())


def deflated(name: str, data: bytes, kind: str = "json") -> str:
    """Return bytes as such a script: JSON, or what `kind` says (`text`, `arrayBuffer`)."""
    text = base64.b64encode(zlib.compress(data, _LEVEL)).decode()
    said = "" if kind == "json" else f',"{kind}"'
    return f'ccperf.inflate({json.dumps(name)},"{text}"{said});\n'
