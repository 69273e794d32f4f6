"""Scripts of compressed data, which pages inflate: a quarter as large as plain ones.

A script is text, but we choose its encoding. In UTF-16 two bytes are one of 63,488 characters, of
which we use 32,768, so that each carries 15 bits: a fifteenth more than the data, where base 64
takes a third more. Browsers believe the byte order mark, whatever the server or the page says
(https://encoding.spec.whatwg.org/#decode).
"""

from __future__ import annotations

import codecs
import json
import zlib
from typing import Any

import numpy as np

#: A higher level takes twice as long for a fiftieth of the size.
_LEVEL = 6
#: Bits of a character, and the first one, beyond whatever has a meaning in a script. The last one,
#: U+80FF, is below the surrogates.
_BITS, _FIRST = 15, 0x100


def compressed(name: str, value: Any) -> bytes:
    """Return plain values as a script that hands them to the page (`static/data.js`)."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return deflated(name, text.encode())


def deflated(name: str, data: bytes, kind: str = "json") -> bytes:
    """Return bytes as such a script: JSON, or what `kind` says (`text`, `arrayBuffer`)."""
    small = zlib.compress(data, _LEVEL)
    said = "" if kind == "json" else f',"{kind}"'
    before, after = f'ccperf.inflate({json.dumps(name)},{len(small)},"', f'"{said});\n'
    script = before.encode("utf-16-le") + characters(small) + after.encode("utf-16-le")
    return codecs.BOM_UTF16_LE + script


def characters(data: bytes) -> bytes:
    """Return bytes as characters in UTF-16, the first bit foremost; zeros fill the last one."""
    bits = np.unpackbits(np.frombuffer(data, np.uint8))
    rows = np.zeros((-(-bits.size // _BITS), _BITS), np.uint8)
    rows.reshape(-1)[: bits.size] = bits
    # `packbits` fills two bytes with a zero at the end.
    return ((np.packbits(rows, axis=1).view(">u2") >> 1) + _FIRST).astype("<u2").tobytes()
