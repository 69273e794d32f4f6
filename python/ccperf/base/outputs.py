"""Files that ccperf writes: whole or not at all, and never over what it did not write itself."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ccperf.errors import CcperfError, RunError, UsageError

if TYPE_CHECKING:
    from ccperf.runs.result import Result

#: File names are no longer, and name no more algorithms.
_LONGEST, _SEVERAL = 180, 4
#: Names of sites' pages and of exported files begin with an experiment's.
_EXPERIMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
#: How much of a file's beginning and end is looked at to recognise it.
_LOOK = 64 * 1024


@dataclass(frozen=True)
class Kind:
    """What a file of ours is, and how it is recognised: how it begins, and what else it holds."""

    name: str
    begins: tuple[bytes, ...]
    #: Each of these stands somewhere near the beginning or the end.
    holds: tuple[bytes, ...] = ()

    def recognises(self, path: Path) -> bool:
        """Whether an existing file is one of these; an empty one may become one."""
        with path.open("rb") as file:
            seen = head = file.read(_LOOK)
            size = file.seek(0, os.SEEK_END)
            if size > _LOOK:
                file.seek(-_LOOK, os.SEEK_END)
                seen += file.read()
        return not head or (
            head.startswith(self.begins) and all(part in seen for part in self.holds)
        )


_TRACE = b"time_ns,link,event,flow,seq,ack,payload_bytes,wire_bytes,flags,ecn,reason"
#: Without and with the columns of headers.
PACKET_TRACE = Kind("packet trace", (_TRACE + b"\n", _TRACE + b",protocol,source,destination,"))
CAPTURE = Kind("capture of ccperf (pcapng)", (b"\x0a\x0d\x0d\x0a",), (b"ccperf ",))
#: By suffix, without the dot.
FIGURES = {
    "pdf": Kind("figure of ccperf", (b"%PDF-",), (b"/Creator (ccperf)",)),
    "svg": Kind("figure of ccperf", (b"<?xml",), (b"ccperf",)),
    "png": Kind("figure of ccperf", (b"\x89PNG",), (b"ccperf",)),
}


def stem(result: Result) -> str:
    """A name for files of a run: readable, the same for the same run, and safe everywhere."""
    algorithms = dict.fromkeys(
        flow["cc"]["type"] for flow in result.scenario.canonical()["flows"] if "cc" in flow
    )
    # Queue disciplines under test are no flow's algorithm.
    aut = result.parameters.get("aut")
    if aut and not any(name.endswith(str(aut)) for name in algorithms):
        algorithms = {str(aut): None, **algorithms}
    words = [
        result.called,
        *algorithms,
        *(f"{name}-{value}" for name, value in result.parameters.items() if name != "aut"),
        f"seed-{result.provenance.seed}",
        result.id[:8],
    ]
    return file_name(words)


def experiment_name(text: str) -> str:
    """The name of an experiment, which names files: letters, digits, `_`, `-`, `.`.

    Raises :class:`ValueError`.
    """
    if text and not _EXPERIMENT.fullmatch(text):
        characters = "letters, digits, `_`, `-` and `.`, at most 100"
        raise ValueError(f"`{text[:100]}` is no name; one has {characters}")
    return text


def file_name(words: Iterable[object]) -> str:
    """Words as one name of a file, without a suffix: letters, digits, hyphens and points.

    A long one has a digest in place of its middle, so that two never share a file.
    """
    name = "_".join(re.sub(r"[^A-Za-z0-9._-]+", "-", str(word)).strip("-.") for word in words)
    return name if len(name) <= _LONGEST else f"{name[:120]}-{digest(name)}-{name[-50:]}"


def several(names: Sequence[str]) -> list[str]:
    """Several names as words of a file's name: of more than four the first ones, and a digest of
    all."""
    if len(names) <= _SEVERAL:
        return list(names)
    kept = _SEVERAL - 1
    return [*names[:kept], f"and-{len(names) - kept}-more-{digest(chr(10).join(names))}"]


def digest(text: str) -> str:
    """Six letters and digits that tell a text from others."""
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def packets(path: Path) -> Kind:
    """What is written to the file of a packet trace: its suffix says it."""
    return CAPTURE if path.suffix == ".pcapng" else PACKET_TRACE


def table(columns: Sequence[str], format: str) -> Kind:
    """A table that `export` writes, as `parquet`, `csv` or `json`."""
    name = f"table of ccperf ({format})"
    if format == "parquet":
        return Kind(name, (b"PAR1",), tuple(column.encode() for column in columns))
    if format == "csv":
        return Kind(name, ((",".join(columns) + "\n").encode(),))
    return Kind(name, (b"[]", f'[{{"{columns[0]}":'.encode()))


def may_write(path: Path, kind: Kind, option: str, others: Iterable[Path] = ()) -> None:
    """Raises :class:`~ccperf.errors.UsageError` if writing `path` would destroy something.

    That is a file that is no `kind`, or one of `others`, which the same command reads or writes.
    Devices and pipes (``/dev/null``) lose nothing.
    """
    for other in others:
        if path.resolve() == other.resolve():
            message = f"`{path}` is also what this command reads or keeps results in; name another"
            raise UsageError(option, message)
    try:
        if path.is_file() and not kind.recognises(path):
            message = f"`{path}` is there and is no {kind.name}; name another file, or remove it"
            raise UsageError(option, message)
    except OSError as error:
        raise UsageError(option, f"`{path}` cannot be read: {error.strerror}") from None


def may_write_packets(
    path: Path, backend: str, able: Iterable[str], option: str, others: Iterable[Path] = ()
) -> None:
    """Raises :class:`~ccperf.errors.UsageError` if `backend`, which makes files with the suffixes
    `able`, cannot write its packets to `path`, or would destroy something."""
    if path.suffix == ".pcap":
        message = f"`{path}`: captures are of the format pcapng; name a .pcapng file"
        raise UsageError(option, message)
    if path.suffix == ".pcapng" and path.suffix not in able:
        message = f"`{path}`: `{backend}` makes no captures; name a {' or '.join(able)} file"
        raise UsageError(option, message)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise UsageError(option, f"`{path}` is no file in a folder that is there; name another")
    may_write(path, packets(path), option, others)


def unwritable(path: object, error: OSError) -> CcperfError:
    """What to raise where a file or folder cannot be written: another name helps, but for a disk
    that is full."""
    message = f"cannot be written: {error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return RunError(f"{path}: {message}")
    return UsageError(str(path), message)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yields the path of a draft, which takes the place of `path` when all went well.

    It has the suffix of `path`, from which follows what is written, and is this process's: another
    may write the same file.
    """
    draft = path.with_name(f".new-{os.getpid()}.{path.name}")
    try:
        yield draft
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
