"""What algorithms do, as curves in small text files under `tests/curves/`, reviewed as diffs.

    python tools/curves.py            compare the engine with the files
    python tools/curves.py --write    write them anew (`make curves`)

Exit status 1 where one differs. Each kind of curve is an entry of `KINDS`: a function that yields
files, each with a curve for each of a few standard situations. Agreement with ns-3 is checked
elsewhere, to the packet; here one sees what a change does to an algorithm's behaviour, and whether
that was meant, also where ns-3 is no judge.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccperf import _native, backends, registry
from ccperf.scenario import Scenario
from ccperf.verify.case import case

FOLDER = Path(__file__).parents[1] / "tests" / "curves"
VALUES_A_LINE = 10


@dataclass(frozen=True)
class Curve:
    """One situation: `about` it, and a value for each step."""

    situation: str
    about: str
    values: Sequence[int]

    def text(self) -> str:
        """Ten values a line, after the number of the first."""
        lines = [f"{self.situation}: {self.about}"]
        for start in range(0, len(self.values), VALUES_A_LINE):
            part = self.values[start : start + VALUES_A_LINE]
            lines.append(f"{start:5}:" + "".join(f"{value:6}" for value in part))
        return "\n".join(lines)


@dataclass(frozen=True)
class File:
    """The curves of one algorithm."""

    name: str
    title: str
    curves: Sequence[Curve]

    def text(self) -> str:
        """The whole file."""
        return "\n\n".join([self.title, *(curve.text() for curve in self.curves)]) + "\n"


@dataclass(frozen=True)
class Situation:
    """A dumbbell for one flow; `settings` are those of `ccperf.verify.case`."""

    name: str
    about: str
    rtt: str
    steps: int
    settings: dict[str, Any]

    def scenario(self, **algorithm: Any) -> Scenario:
        """With this algorithm, sampled after each step: a round trip without queue."""
        length = _native.format_time(_native.parse_time(self.rtt) * self.steps)
        settings = {"recording": {"interval": self.rtt}, **self.settings, **algorithm}
        return case(self.name, rtts=self.rtt, stop=length, **settings).scenario


#: What every congestion control meets.
WINDOWS = (
    Situation(
        "slow start",
        "into a queue of 80 packets that overflows; 20 Mbps, 100 ms",
        "100ms",
        100,
        {"rate": "20Mbps", "qlen": "80p"},
    ),
    Situation(
        "one loss",
        "of packet 400 and no other: recovery, then growth; 200 Mbps, 50 ms",
        "50ms",
        200,
        {"rate": "200Mbps", "qlen": "2000p", "drop": [400]},
    ),
    Situation(
        "marks",
        "by CoDel instead of losses; 16 Mbps, 40 ms",
        "40ms",
        150,
        {
            "rate": "16Mbps",
            "qlen": "500p",
            "qdisc": "CoDelQueueDisc",
            "qdisc_attributes": {"UseEcn": "true"},
            "tcp": {"UseEcn": "On"},
        },
    ),
    Situation(
        "changes",
        "from 16 to 6 Mbps after 50 round trips, from 40 to 100 ms after 100; 60 packets",
        "40ms",
        200,
        {
            "rate": "16Mbps",
            "qlen": "60p",
            "changes": [{"time": "2s", "rate": "6Mbps"}, {"time": "4s", "delay": "48ms"}],
        },
    ),
)


def windows() -> Iterator[File]:
    """The congestion window of each congestion control, in segments, once a round trip."""
    for cc in registry.algorithms("cc"):
        curves = [Curve(each.name, each.about, window(each.scenario(cc=cc))) for each in WINDOWS]
        yield File(f"window-{cc}", f"{cc}: cwnd in segments after each round trip", curves)


def window(scenario: Scenario) -> list[int]:
    """Return cwnd in segments at every sample."""
    segment = int(scenario.canonical()["flows"][0]["tcp"]["SegmentSize"])
    recording = backends.get("native").simulate(scenario)
    return [round(int(bytes_) / segment) for bytes_ in recording.flow_samples["cwnd_bytes"]]


KINDS: Sequence[Callable[[], Iterator[File]]] = (windows,)


def main() -> int:
    """Compare or write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="write instead of comparing")
    write = parser.parse_args().write
    found = {f"{file.name}.txt": file.text() for kind in KINDS for file in kind()}
    known = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.txt")}
    different = sorted(
        name for name in found.keys() | known.keys() if found.get(name) != known.get(name)
    )
    for name in different:
        if write:
            if name in found:
                (FOLDER / name).write_text(found[name], encoding="utf-8")
            else:
                (FOLDER / name).unlink()
        before, after = (texts.get(name, "").splitlines() for texts in (known, found))
        print(
            "\n".join(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", "", "", 0, ""))
        )
    print(f"{len(found)} files, {len(different)} {'written' if write else 'differ'}")
    return bool(different) and not write


if __name__ == "__main__":
    sys.exit(main())
