"""Does the simulation tell what Linux does?  ``.venv/bin/python tools/linux_and_ns3.py``

Runs the first point of each experiment of congestion controls on the engine and on Linux's TCP, as
far as `benchmarks/linux.json` lacks them, and writes `docs/linux-and-ns3.md`: how far the segments
agree, how far the metrics do, and the cause of each large difference. A cause is a switch that has
been thrown, with the values that it gives. `--only-write` makes no runs; with `--causes`, only
those that look for all causes anew.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ccperf import Scenario
from ccperf.experiments.catalogue import REGISTRY, answer
from ccperf.runs import backends
from ccperf.runs.metrics import METRICS
from ccperf.runs.recording import Recording
from ccperf.verify.linux import Parting, Traced, partings, traced

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT))

from tools import bbr_draws, linux_disciplines  # noqa: E402
from tools.linux_disciplines import LARGE, LEFT, apart, scalars  # noqa: E402
from tools.linux_switches import (  # noqa: E402
    ALGORITHMS,
    NOTHING,
    OTHERS,
    PROFILE,
    SWITCHES,
    Switch,
)

PAGE = ROOT / "docs" / "linux-and-ns3.md"
FIGURE = ROOT / "docs" / "images" / "linux-and-ns3.svg"
RECORD = ROOT / "benchmarks" / "linux.json"
#: Draws where it begins to probe.
DRAWS = "TcpBbr"
#: A hundred flows of it take Linux a minute.
LEFT_OUT = ("many_flows",)


def scenario(
    cc: str,
    name: str,
    switch: Switch = NOTHING,
    others: Mapping[str, Switch] = MappingProxyType({}),
) -> Scenario:
    """The first point of an experiment, with a switch thrown, and those of `others` by what they
    are for.
    """
    experiment = REGISTRY[name]
    words: dict[str, Any] = dict(next(iter(experiment.grid())))
    if switch.profile:
        words["profile"] = switch.profile
    data = experiment.scenario(cc, **words).canonical()
    for each in [*data["flows"], *data.get("stacks", [])]:
        kind = each.get("cc", {}).get("type")
        (switch if kind == cc else others.get(kind, NOTHING)).edit(each)
    if switch.sysctls:
        data["linux"] = dict(switch.sysctls)
    return Scenario.model_validate(data)


def headlines(name: str, made: Scenario, recording: Recording) -> dict[str, float]:
    """What an experiment is judged by."""
    found = scalars(made, recording)
    return {metric: found[metric] for metric in answer(name).metrics if metric in found}


def compared(
    cc: str,
    name: str,
    profile: Mapping[str, Switch] = MappingProxyType({}),
    streams: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, Any]:
    """Where the segments part, and what the metrics are on both sides; `profile`: for the engine's
    flows, by their algorithm, those that `cc` competes with, too; `streams`: of what they draw, as
    far as they are known.
    """
    made = scenario(cc, name)
    ours = scenario(cc, name, profile.get(cc, NOTHING), profile)
    theirs = traced(made, backends.get("linux"))
    if cc == DRAWS and profile:
        run, streams = bbr_draws.alike(ours, theirs, streams)
    else:
        run = traced(ours, backends.get("native"))
    runs = [run, theirs]
    values = [headlines(name, made, run.recording) for run in runs]
    first = _first(cc, made, run, theirs)
    return {
        "segments": first.common,
        "of": len(runs[0].segments.get(first.flow, [])),
        "parts_ns": None if first.is_equal else _parts_at(first),
        "ns3": values[0],
        "linux": {metric: values[1].get(metric) for metric in values[0]},
        **({"streams": dict(streams)} if streams else {}),
        **({"class": _of_class(cc, name, made, theirs)} if cc in OTHERS else {}),
    }


def _of_class(cc: str, name: str, made: Scenario, theirs: Traced) -> dict[str, Any]:
    """When segments part with ns-3's class and TCP, and the headlines with them."""
    run = traced(made, backends.get("native"))
    first = _first(cc, made, run, theirs)
    return {
        "parts_ns": None if first.is_equal else _parts_at(first),
        "ns3": headlines(name, made, run.recording),
    }


def _first(cc: str, made: Scenario, ours: Traced, theirs: Traced) -> Parting:
    """Of the flows under test the one that parts first."""
    kinds = {
        flow["name"]: (flow.get("congestion_control") or {}).get("type")
        for flow in json.loads(made.lowered())["flows"]
    }
    found = [each for each in partings(ours, theirs) if kinds.get(each.flow, cc) == cc]
    return min(found, key=_parts_at)


def _parts_at(found: Parting) -> float:
    """When the first segment leaves that the other side does not send."""
    ends = [each.time_ns for each in (found.ours, found.theirs) if each]
    return min(ends, default=float("inf"))


def _distance(one: float | None, other: float | None) -> float:
    return math.inf if one is None or other is None else abs(one - other)


def all_large(entry: Mapping[str, Any]) -> Iterator[str]:
    """The metrics of a comparison that want a cause."""
    for metric, value in entry["ns3"].items():
        if apart(value, entry["linux"][metric]) > LARGE:
            yield metric


def with_causes(cc: str, name: str, entry: dict[str, Any]) -> dict[str, Any]:
    """The comparison, with the first switch for each large difference that most of it is due to."""

    @cache
    def values(key: str, side: str) -> Mapping[str, float]:
        made = scenario(cc, name, SWITCHES[key])
        return headlines(name, made, backends.get(side).simulate(made))

    causes = {}
    for metric in all_large(entry):
        before = {"native": entry["ns3"][metric], "linux": entry["linux"][metric]}
        for key, switch in SWITCHES.items():
            if not switch.is_for(cc, name):
                continue
            after = {side: values(key, side).get(metric) for side in switch.sides}
            switched = [{**before, **after}[side] for side in ("native", "linux")]
            if _distance(*switched) <= LEFT * _distance(*before.values()):
                causes[metric] = {"switch": key, "values": switched}
                break
    return {**entry, "causes": causes}


def record(names: Iterable[str], experiments: Iterable[str]) -> None:
    """Make what the record lacks; it is written after each."""
    known = read()
    version = backends.get("linux").version
    for cc in (cc for cc in names if cc not in OTHERS):
        for name in experiments:
            if "segments" in known["runs"].setdefault(cc, {}).get(name, {}):
                continue
            known["runs"][cc][name] = with_causes(cc, name, compared(cc, name))
            known["linux"] = version.partition("-")[0]
            write(known)
            print(cc, name, flush=True)


def record_profile(names: Iterable[str], experiments: Iterable[str]) -> None:
    """The same under the profile `linux`, without causes."""
    known = read()
    for cc in (cc for cc in names if cc in PROFILE):
        for name in experiments:
            found = known.setdefault("profile", {}).setdefault(cc, {})
            entry = found.get(name, {})
            if "segments" not in entry:
                found[name] = compared(cc, name, PROFILE, entry.get("streams", {}))
                write(known)
                print(cc, name, "profile linux", flush=True)


def read() -> dict[str, Any]:
    """What has been recorded."""
    if RECORD.exists():
        found: dict[str, Any] = json.loads(RECORD.read_text())
        return found
    return {"linux": "", "counts": {}, "runs": {}}


def write(known: Mapping[str, Any]) -> None:
    """Keep the record."""
    RECORD.write_text(json.dumps(known, indent=1) + "\n")


HEAD = """\
# Linux and ns-3

Does the simulation tell what Linux does? Below is one algorithm of one name on the backend
`native`, which is ns-3's TCP packet by packet, and on the backend [`linux`](linux.md). The network
is the same to the bit; only the senders and receivers differ. Both acknowledge each segment, as the
catalogue's experiments say. `tools/linux_and_ns3.py` writes this page.

"""


METRICS_HEAD = """
## How far metrics agree

Headline metrics of these experiments:
"""
CAUSES_HEAD = """
## Differences of more than 10 %

A cause is a switch that was thrown: one side was told to do as the other does, or both to leave
something undone. It is named where it leaves half of the difference at most, the first of the list
that does. Where none does, the cause is not known yet.

Where shares never became fair, `convergence_time_l4` was the whole time when this was measured.

Seen without a switch: ns-3's BBR takes the bottleneck for faster than it is, by some part of a
segment a window. Without its gain and its margin of 1 % its pacing rate is 15.96 Mbps in the median
where the link carries 15.42 of payload, and 62.3 of 61.7 on a link of 64 Mbps (`scalability`, RTT
15 ms, from 3 s on); Linux's is 15.42 and 61.7. On short paths the margin does not cover that, and a
queue stays: RTTs of 22.8 and 21.0 ms on the slower link, 18.1 and 18.5 on the faster one.
"""
SEGMENTS_HEAD = """
## How far segments agree

The segments of the source that differs first, one after another, by sequence number and length,
as far as that has been recorded: the engine's with ns-3's TCP, and under the profile
[`linux`](linux-profile.md), beside the kernel's. `ccperf verify linux` says it of any scenario,
with the senders' states.

![Time until segments differ, of each experiment](images/linux-and-ns3.svg)

One mark stands for two that differ first at the same time. There is none where they never differ
(`incast`), or where one of both has not been recorded yet: the table has those that have.
"""


OTHERS_HEAD = """
## Nine more algorithms

Under the profile [`linux`](linux-profile.md) these are Linux's, too. For what differs with ns-3's
class and ns-3's TCP nobody has looked for causes; "part after" is the median of the experiments.

| algorithm | runs | alike to the end | segments alike | values | profile `linux`: within 1 % \
| ns-3's: within 1 % | part after |
|---|---|---|---|---|---|---|---|"""


def page(known: Mapping[str, Any]) -> str:
    """The page, of what has been recorded."""
    text = HEAD + (
        f"Linux {known['linux']}; the first point of each experiment but {', '.join(LEFT_OUT)}.\n"
    )
    counts = [
        "| algorithm | values | within 1 % | within 10 % | more | of these with a cause |",
        "|---|---|---|---|---|---|",
    ]
    segments = [
        "| algorithm | experiment | ns-3's: alike | of | differ at | profile `linux`: alike | of "
        "| differ at |",
        "|---|---|---|---|---|---|---|---|",
    ]
    large = [
        "| algorithm | experiment | metric | unit | ns-3 | Linux | both, switched | cause |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for cc, runs in known["runs"].items():
        explained = 0
        for name, entry in runs.items():
            if "segments" in entry:
                under = known["profile"].get(cc, {}).get(name)
                cells = [cc, f"`{name}`", *_parted(entry), *_parted(under)]
                segments.append(f"| {' | '.join(cells)} |")
            for metric in all_large(entry):
                ours, theirs = entry["ns3"][metric], entry["linux"][metric]
                found = entry["causes"].get(metric)
                explained += found is not None
                cause = SWITCHES[found["switch"]].cause if found else "not known yet"
                switched = " / ".join(map(_shown, found["values"])) if found else ""
                large.append(
                    f"| {cc} | `{name}` | `{metric}` | {METRICS[metric].unit} | {_shown(ours)} "
                    f"| {_shown(theirs)} | {switched} | {cause} |"
                )
        # What an earlier record knew of all, where this one has only what was large.
        steps = known["counts"].get(cc) or _steps(runs.values())
        row = [cc, sum(steps), *steps, explained]
        counts.append(f"| {' | '.join(map(str, row))} |")
    profile = known.get("profile", {})
    for cc, runs in ((cc, runs) for cc, runs in profile.items() if cc not in OTHERS):
        steps = _steps(runs.values())
        row = [f"{cc}, profile `linux`", sum(steps), *steps, ""]
        counts.append(f"| {' | '.join(map(str, row))} |")
    others = [_other(cc, profile[cc]) for cc in OTHERS if cc in profile]
    parts = [text + METRICS_HEAD, *counts, CAUSES_HEAD, *large, SEGMENTS_HEAD, *segments]
    parts += [OTHERS_HEAD, *others, ""]
    return "\n".join(parts) + linux_disciplines.section(linux_disciplines.read())


def _other(cc: str, runs: Mapping[str, Mapping[str, Any]]) -> str:
    """One of the others, in a row."""
    entries = list(runs.values())
    equal = sum(entry["parts_ns"] is None for entry in entries)
    classes = [{**entry["class"], "linux": entry["linux"]} for entry in entries]
    parted = sorted(_seconds(each) for each in classes)
    values, near = sum(_steps(entries)), [_steps(each)[0] for each in (entries, classes)]
    alike = sum(entry["segments"] for entry in entries)
    row = [cc, len(entries), equal, f"{alike:,}", values, near[0], near[1]]
    row.append(f"{parted[len(parted) // 2]:.2f} s")
    return f"| {' | '.join(map(str, row))} |"


def _steps(entries: Iterable[Mapping[str, Any]]) -> list[int]:
    """How many values are within 1 %, within 10 %, and further apart."""
    found = [0, 0, 0]
    for entry in entries:
        for metric, ours in entry["ns3"].items():
            difference = apart(ours, entry["linux"][metric])
            found[(difference > 0.01) + (difference > LARGE)] += 1
    return found


def _parted(entry: Mapping[str, Any] | None) -> tuple[str, str, str]:
    """Segments alike, of how many, and when they first differ."""
    if entry is None:
        return "", "", ""
    at = entry["parts_ns"]
    when = "never" if at is None else f"{at / 1e9:.3f} s"
    return str(entry["segments"]), str(entry["of"]), when


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def draw(known: Mapping[str, Any]) -> None:
    """The figure: when segments part, under ns-3's TCP and under the profile `linux`."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "ccperf", "svg.fonttype": "path", "font.size": 9})
    under = {cc: runs for cc, runs in known["profile"].items() if cc not in OTHERS}
    names = [name for name in REGISTRY if any(name in runs for runs in under.values())]
    last = max(
        _seconds(entry)
        for runs in (*under.values(), *known["runs"].values())
        for entry in runs.values()
        if entry.get("parts_ns")
    )
    never = 3 * last
    size = (8.4, 5.4)
    figure, axes = plt.subplots(
        1, len(under), figsize=size, sharey=True, squeeze=False, layout="constrained"
    )
    for axis, (cc, runs) in zip(axes[0], under.items(), strict=True):
        before = known["runs"].get(cc, {})
        both_known = [name for name in names if "segments" in before.get(name, {}) and name in runs]
        ends = [
            [_seconds(each[name]) if name in both_known else math.nan for name in names]
            for each in (before, runs)
        ]
        for place, pair in enumerate(zip(*ends, strict=True)):
            pair = [min(each, never) for each in pair]
            axis.plot(pair, [place] * 2, color="#b0b0b0", lw=1.5, zorder=1)
        looks = zip(
            ("ns-3's TCP", "profile linux"), ends, ("#c44e00", "#0062a3"), "oD", strict=True
        )
        for label, seconds, colour, marker in looks:
            look = {"edgecolors": colour, "marker": marker, "s": 24}
            axis.scatter(seconds, range(len(names)), color=colour, label=label, **look)
            whole = [place for place, each in enumerate(seconds) if math.isinf(each)]
            axis.scatter([never] * len(whole), whole, color="none", zorder=3, **look)
        axis.set_xscale("log")
        axis.axvline(never, color="#e5e5e5", ls=":")
        axis.text(never, -0.6, "never", ha="center", va="bottom", fontsize=7)
        axis.set_title(cc, fontsize=9)
        axis.grid(axis="x", color="#e5e5e5")
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("segments differ from Linux's after [s]", fontsize=9)
    axes[0][0].set_yticks(range(len(names)), names)
    axes[0][0].invert_yaxis()
    marks = axes[0][0].get_legend_handles_labels()
    figure.legend(*marks, frameon=False, loc="outside upper center", ncols=len(marks[0]))
    figure.savefig(FIGURE, metadata={"Date": None, "Creator": "ccperf"})


def _seconds(entry: Mapping[str, Any]) -> float:
    """When segments part; infinite where they never do."""
    at = entry["parts_ns"]
    return math.inf if at is None else at / 1e9


def main() -> None:
    """Make the runs, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cc", default=",".join((*ALGORITHMS, *OTHERS)))
    parser.add_argument(
        "--experiments", default=",".join(name for name in REGISTRY if name not in LEFT_OUT)
    )
    parser.add_argument("--only-write", action="store_true")
    parser.add_argument("--causes", action="store_true", help="look for all causes anew")
    given = parser.parse_args()
    if not given.only_write:
        record(given.cc.split(","), given.experiments.split(","))
        record_profile(given.cc.split(","), given.experiments.split(","))
    known = read()
    if given.causes:
        for cc, runs in known["runs"].items():
            for name, entry in runs.items():
                runs[name] = with_causes(cc, name, entry)
        write(known)
    PAGE.write_text(page(known))
    draw(known)


if __name__ == "__main__":
    main()
