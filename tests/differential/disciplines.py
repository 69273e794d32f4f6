"""A queue discipline of the engine to which something happens, by its replay program."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

#: Packets are counted in these, or their bytes.
UNITS = ["p", "B"]
CAPABLE, NOT_CAPABLE = 2, 0
#: What stands before the reason of a drop or mark.
DROP, MARK = "Target exceeded drop", "Target exceeded mark"
CE_MARK = "CE threshold exceeded mark"


class Queue:
    """A discipline to which something happens, in the order in which it is said."""

    def __init__(
        self,
        program: Path,
        folder: Path,
        kind: str,
        stream: int,
        mtu: int = 1500,
        **attributes: object,
    ) -> None:
        self._program, self._script = program, folder / "script"
        self._lines = [f"qdisc {kind}", f"mtu {mtu}", f"stream {stream}", "run 1"]
        self._lines += [f"attribute {name} {value}" for name, value in attributes.items()]
        self._flows: list[str] = []
        self._calls: list[tuple[int, str]] = []

    def arrive(
        self,
        at: int,
        size: int,
        *,
        ecn: int = NOT_CAPABLE,
        priority: int = 0,
        key: str = "10.0.0.1 20.0.0.1 49152 5001 6",
    ) -> None:
        """`key`: addresses, ports and protocol."""
        flow = f"flow {key} {priority}"
        if flow not in self._flows:
            self._flows.append(flow)
        self._calls.append((at, f"enqueue {self._flows.index(flow)} 0 {size} {ecn}"))

    def depart(self, at: int) -> None:
        self._calls.append((at, "dequeue"))

    def run(self) -> Happened:
        calls = sorted(self._calls, key=lambda call: call[0])
        lines = [*self._lines, *self._flows, *(f"at {at} {what}" for at, what in calls)]
        self._script.write_text("\n".join(lines) + "\n")
        done = subprocess.run(
            [self._program, self._script], capture_output=True, text=True, check=True
        )
        return Happened(done.stdout.splitlines())


class Happened:
    """What the replay printed."""

    def __init__(self, lines: list[str]) -> None:
        steps = [line for line in lines if " packets " in line and " sojourn " in line]
        #: After each call: packets and bytes.
        self.sizes = [
            {"p": int(line.split(": ")[1].split()[0]), "B": int(line.split(": ")[1].split()[2])}
            for line in steps
        ]
        #: The numbers of the packets that left, None where none did.
        self.left = [
            None if " dequeue none" in line else int(line.split()[2])
            for line in steps
            if " dequeue " in line
        ]
        #: Whether the packet that left was marked.
        self.marked = [" CE:" in line for line in steps if " dequeue " in line]
        self._counts: dict[str, int] = {}
        for line in lines:
            if line.startswith("count "):
                _, reason, numbers = line.split('"')
                self._counts[reason] = self._counts.get(reason, 0) + int(numbers.split()[0])

    def count(self, *reasons: str) -> int:
        return sum(self._counts.get(reason, 0) for reason in reasons)


Make = Callable[..., Queue]


def limit(unit: str, packets: int, size: int = 1000) -> str:
    return f"{packets}p" if unit == "p" else f"{packets * size}B"
