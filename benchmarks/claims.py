"""What texts say of speed, from ``figures.json``: ``docs/speed.md``, and sentences of others.

`make docs` writes the page. The sentences stand in their documents by hand; ``tests/test_speed.py``
holds each to what the figures make of it, and lets no other paragraph speak of speed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks import figures

#: What the wheel of ns-3 is slower by than an optimised build (see `decisions.md`).
WHEEL = 2
#: Dumbbells of `benchmarks.scenarios`; the rest is a fat tree.
TREE = "fat tree, 128 hosts, DCTCP"


def sentences() -> Iterator[tuple[str, str]]:
    """What documents say, by their paths, whatever the breaks of their lines."""
    found = figures.read()
    yield (
        "README.md",
        f"It runs at least {_down(_slowest(found) / WHEEL)} times as fast as a well-built ns-3 on "
        "one core",
    )
    user = found["user_code"]["values"]
    for kind in ("Congestion control", "Queue discipline"):
        for way in ("Rust", "C", "Python"):
            row = user[f"{kind}, {way}"]
            yield (
                "docs/bring-your-own.md",
                f"| {way} | {row['ratio']:.2f} | {row['ns_a_segment']:+} ns |",
            )
    yield (
        "docs/bring-your-own.md",
        f"The process of its own adds {user['process_ms']:.0f} ms of CPU time to every run",
    )


def page() -> str:
    """The page on speed."""
    found = figures.read()
    parts = [
        "# Speed",
        "<!-- Written by `make docs` from benchmarks/claims.py and benchmarks/figures.json. -->",
        "All figures are of CPU time, of one core unless said otherwise, so that a busy machine "
        "hardly moves them; rates belong to a machine, ratios less so. A packet-hop is one packet, "
        "data or ACK, through one queue and link. Each table names the command that writes it. "
        "[What was tried](../benchmarks/decisions.md) says why the engine is as it is.",
        *_against_others(found["perf"]),
        *_many_flows(found["growth"]),
        *_threads(found["threads"]),
        *_own(found["user_code"]),
        *_page(found["page"]),
        *(_campaign(found["campaign"]) if "campaign" in found else ()),
        *_goals(found),
        *_start(found["start"]),
        *_earlier(found["pairs"], found["pairs_guided"]),
    ]
    return "\n\n".join(parts)


def _against_others(part: Mapping[str, Any]) -> Iterator[str]:
    yield "## Beside ns-3 and htsim"
    yield _command("make perf HTSIM=folder", part)
    rows = part["values"]["TcpNewReno"]
    head = ["scenario", "M packet-hops/s", "times ns-3's wheel", "times htsim", "MiB"]
    yield _table(
        head,
        (
            [
                name,
                f"{row['hops_per_s'] / 1e6:.1f}",
                f"{row['ratio']:.0f}" if "ratio" in row else "",
                f"{row['htsim_ratio']:.2f}" if "htsim_ratio" in row else "",
                f"{row['peak_mib']:.0f}",
            ]
            for name, row in rows.items()
        ),
    )
    yield (
        "Each scenario runs on both simulators in the same call, on one core. Four scenarios are "
        "published ones, three fill a path, one is a fat tree of 128 hosts. ns-3 simulates the "
        "first part of the long ones, without any tracing."
    )
    yield (
        "That ns-3 is the one on PyPI, built with logging and assertions. An optimised build is "
        f"about {WHEEL} times as fast. The README therefore claims half of the least ratio on "
        "dumbbells, rounded down to a multiple of 50. htsim has its own model, without selective "
        "acknowledgements. "
        "Its timeouts are a quarter of a second at least: on the fat tree its flows probably "
        "stall, so its rate there is that of another state of the network."
    )
    yield (
        "`make setup` builds the engine without a profile, as it was for this table; with one, "
        "which `make perf` builds where rustup has `llvm-tools`, it is up to 10 % faster where "
        "paths are full."
    )


def _many_flows(part: Mapping[str, Any]) -> Iterator[str]:
    yield "## Many flows at once"
    yield _command("python -m benchmarks.growth", part)
    head = ["flows at once", "hosts", "M packet-hops/s", "of ten flows' speed", "kB a flow at most"]
    yield _table(
        head,
        (
            [
                f"{int(name.split()[0]):,}",
                name.split()[1],
                f"{row['million_hops_per_s']:.1f}",
                f"{row['of_ten']:.2f}",
                f"{row['kb_per_flow']:.1f}" if int(name.split()[0]) >= 1000 else "",
            ]
            for name, row in sorted(
                part["values"].items(), key=lambda each: (each[0].split()[1], _count(each[0]))
            )
        ),
    )
    yield (
        "All of them live: the benchmark asserts that each has bytes acknowledged. Starts are "
        "spread over 0.1 s of two, a flow has four segments in flight, and no queue drops."
    )


def _threads(part: Mapping[str, Any]) -> Iterator[str]:
    yield "## One large run on several cores"
    yield (
        "`--threads 4` (in Python `threads=4`) lets threads share a run: each has some racks of "
        "the network. The result is that of one thread, to the byte. The network must have several "
        "racks, TCP alone, and paths that last (`static`, `ecmp`). Nothing may fail, change, or be "
        "recorded of single flows. Of any other run a note says why one thread makes it. Several "
        "runs use the cores better: leave `--threads` out there."
    )
    yield _command("python -m benchmarks.threads", part)
    rows = [
        [tree, threads, f"{row['wall_s']:.2f}", f"{row['cpu_s']:.2f}", f"{row['times']:.2f}"]
        for tree, by_count in part["values"].items()
        for threads, row in by_count.items()
    ]
    yield _table(["fat tree", "threads", "s", "s of processors", "times as fast"], rows)


def _own(part: Mapping[str, Any]) -> Iterator[str]:
    yield "## Algorithms of your own"
    yield _command("python -m benchmarks.user_code", part)
    values = part["values"]
    yield _table(
        ["algorithm", "the run's time over the built-in's", "a segment"],
        (
            [name, f"{row['ratio']:.2f}", f"{row['ns_a_segment']:+} ns"]
            for name, row in values.items()
            if name != "process_ms"
        ),
    )
    yield (
        f"Such a run costs {values['process_ms']:.0f} ms of CPU more than one "
        "of a built-in algorithm, for what keeps it apart."
    )


def _page(part: Mapping[str, Any]) -> Iterator[str]:
    yield "## In a page"
    yield _command("python -m benchmarks.page", part)
    values = dict(part["values"])
    size, script = values.pop("bytes"), values.pop("script")
    yield _table(
        ["scenario", "the page's time over the native engine's"],
        ([name, f"{ratio:.2f}"] for name, ratio in values.items()),
    )
    yield (
        f"The engine for browsers is {size / 1e6:.1f} MB, in a site a script of "
        f"{script / 1e6:.2f} MB, which browsers inflate."
    )


def _campaign(part: Mapping[str, Any]) -> Iterator[str]:
    yield "## Campaigns"
    yield _command("python -m benchmarks.four", part)
    of = part["values"]
    yield (
        "`ccperf bench TcpNewReno,TcpCubic,TcpBbr,TcpVegas --seed 1..2 --no-site`, the whole "
        f"catalogue, is {of['runs']:,} runs and {of['million_hops']:,} million packet-hops: "
        f"{of['seconds']:.0f} s of CPU, planning, metrics and databases included, and "
        f"{of['megabytes']} MB. The same command again, with all stored, takes "
        f"{of['again']:.1f} s."
    )


def _goals(found: Mapping[str, Any]) -> Iterator[str]:
    yield "## What waits around the simulations"
    yield _command("python -m benchmarks.around", found["around"])
    of = found["around"]["values"]
    page = dict(found["page"]["values"])
    script = page.pop("script") / 1e3
    del page["bytes"]
    rows = [
        ("planning 5,209 runs of the catalogue", "2 s", f"{of['plan_s']:.1f} s"),
        (
            "planning 100,000 runs",
            "30 s, 300 MB",
            f"{of['long_plan_s']:.1f} s, {of['long_plan_mb']} MB",
        ),
        (
            "5,000 runs that are all stored",
            "1 s, 150 MB",
            f"{of['again_s']:.1f} s, {of['again_mb']} MB",
        ),
        ("a run of one flow and 1 s, without the engine", "1 ms", f"{of['beside_ms']:.2f} ms"),
        (
            "a run with an algorithm in C, beside its time",
            "10 ms",
            f"{found['user_code']['values']['process_ms']:.1f} ms",
        ),
        ("`ccperf run ecn` with one point", "0.2 s", f"{found['start']['values']:.2f} s"),
        ("a page's time over the native engine's", "1.25", f"{max(page.values()):.2f} at most"),
        ("the engine as a page's script", "900 kB", f"{script:.0f} kB"),
    ]
    yield "The goals are those of November 2026. Other parts of this page measure the last four."
    yield _table(["what", "goal", "measured"], (list(row) for row in rows))


def _start(part: Mapping[str, Any]) -> Iterator[str]:
    yield "## Start"
    yield _command("make perf", part)
    yield (
        f"`ccperf run ecn` with one point takes {part['values']:.2f} s of CPU, most of it the "
        "start of Python and of its libraries."
    )


def _earlier(part: Mapping[str, Any], guided: Mapping[str, Any]) -> Iterator[str]:
    yield "## Against an earlier self"
    yield (
        "`python -m benchmarks.pairs REVISION` runs the engines of an earlier revision and of this "
        "one in turns, each built as its checkout does (`make setup`) or, with "
        "`--profile-guided`, as a wheel is. A change that costs 1 % more instructions fails "
        "`tests/test_instructions.py`, on any machine."
    )
    yield _command("python -m benchmarks.pairs REVISION", part)
    yield _command("python -m benchmarks.pairs REVISION --profile-guided", guided)
    rows = (
        [
            name,
            *(f"{row[key]:.3f}" for key in ("before_s", "s")),
            *(
                f"{one['values'][name][key]:.2f}"
                for one in (part, guided)
                for key in ("least", "median")
            ),
        ]
        for name, row in part["values"].items()
    )
    head = ["scenario", "s before", "s", "times as fast, least", "median"]
    yield _table([*head, "as wheels, least", "median"], rows)


def _command(command: str, part: Mapping[str, Any]) -> str:
    return (
        f"`{command}`, {part['on']}, revision {part['revision']}, {part['machine']}; {part['by']}."
    )


def _table(head: list[str], rows: Iterator[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _count(name: str) -> int:
    return int(name.split()[0])


def _dumbbells(found: Mapping[str, Any]) -> dict[str, Any]:
    rows = found["perf"]["values"]["TcpNewReno"]
    return {name: row for name, row in rows.items() if name != TREE}


def _slowest(found: Mapping[str, Any]) -> float:
    return min(float(row["ratio"]) for row in _dumbbells(found).values())


def _down(ratio: float) -> int:
    """Rounded down to a whole fifty: what is claimed must hold on the next machine, too."""
    return int(ratio // 50 * 50)
