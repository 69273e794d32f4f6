"""Campaigns for an hour in one process: memory, descriptors, children and disk stay what they are.

Every round makes new runs of built-in algorithms and one of a user's in Python, compares them, and
throws them away; of ten rounds one fails on purpose, one runs on Dask, one builds a site. A line
a minute says what is held. In the end the second quarter of the time is compared with the last:
memory may be a twentieth more, the rest nothing.

    .venv/bin/python tools/soak.py --seconds 3600
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
import warnings
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from large import memory

MINUTE = 60
OWN = "\n".join(
    [
        "import ccperf",
        "class Fixed(ccperf.CongestionControl):",
        "    def cong_avoid(self, tcb, segments_acked):",
        "        tcb.cwnd = 20 * tcb.segment_size",
        "class Fails(ccperf.CongestionControl):",
        "    def cong_avoid(self, tcb, segments_acked):",
        "        raise ValueError('on purpose')",
    ]
)


@dataclass(frozen=True)
class Held:
    """What the process and its children hold between two rounds."""

    rounds: int
    own_memory: int
    with_children: int
    descriptors: int
    children: int
    threads: int
    disk: int

    @classmethod
    def now(cls, rounds: int, folder: Path) -> Held:
        gc.collect()
        here = f"/proc/{os.getpid()}"
        children = Path(f"{here}/task/{os.getpid()}/children").read_text().split()
        return cls(
            rounds,
            int(Path(f"{here}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
            memory(os.getpid()),
            len(os.listdir(f"{here}/fd")),
            len(children),
            len(os.listdir(f"{here}/task")),
            sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()),
        )


def campaigns(number: int, folder: Path, own: Path) -> None:
    """One round; nothing of it is left."""
    import ccperf
    from ccperf import campaign
    from ccperf.campaign.on_dask import Cluster
    from ccperf.errors import RunError
    from ccperf.experiments import catalogue
    from ccperf.runs import backends
    from ccperf.store import Store

    seeds = range(number * 5 + 1, number * 5 + 6)
    point = {"k": [1, 2], "qdisc": "codel", "jitter": "10ms", "stop_time": "1s"}
    runs = ccperf.grid(
        "aqm",
        cc=["cubic", "bbr", f"{own}:Fixed"],
        seed=seeds,
        jobs=2,
        progress=False,
        **point,
    )
    assert len(runs) == 30
    assert len(runs.to_pandas()) >= 30
    runs.compare(baseline="cubic")
    if number % 10 == 3:
        try:
            ccperf.grid("aqm", cc=f"{own}:Fails", seed=seeds, jobs=2, progress=False, **point)
        except RunError:
            pass
        else:
            raise AssertionError("code that fails made runs")
    if number % 10 == 6:
        backend = backends.get("native")
        grid = [
            {"k": k, "qdisc": name} for k in (1, 2) for name in ("CoDelQueueDisc", "FifoQueueDisc")
        ]
        points = campaign.expand(catalogue.get("aqm"), "TcpCubic", grid=grid, seeds=seeds)
        with (
            Cluster("dask", backend, 1) as cluster,
            Store(folder / "dask.db", "a") as store,
        ):
            report = campaign.run(points, store, backend, executor=cluster.executor)
            assert report.ok
        (folder / "dask.db").unlink()
    if number % 10 == 9:
        with tempfile.TemporaryDirectory(dir=folder) as site:
            runs.site(Path(site) / "site")
    del runs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=3600)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="ccperf-soak-") as name:
        folder = Path(name)
        own = folder / "own.py"
        own.write_text(OWN)
        # Everything temporary of ours lies in here, so that what is left is seen.
        tempfile.tempdir = os.environ["TMPDIR"] = name
        started, said, rounds = time.monotonic(), 0.0, 0
        seen: list[tuple[float, Held]] = []
        print("seconds", *(each.name for each in fields(Held)), flush=True)
        while (passed := time.monotonic() - started) < asked.seconds:
            campaigns(rounds, folder, own)
            rounds += 1
            seen.append((passed, Held.now(rounds, folder)))
            if passed >= said:
                print(round(passed), *astuple(seen[-1][1]), flush=True)
                said += min(MINUTE, asked.seconds / 10)
        print(round(passed), *astuple(seen[-1][1]), flush=True)
    second = [held for at, held in seen if 0.25 <= at / asked.seconds < 0.5]
    last = [held for at, held in seen if at / asked.seconds >= 0.75]
    grown = []
    for each in fields(Held)[1:]:
        before, after = (max(getattr(held, each.name) for held in part) for part in (second, last))
        allowed = before * 1.05 if "memory" in each.name or "with" in each.name else before
        print(f"{each.name}: at most {before} in the second quarter, {after} in the last")
        if after > allowed:
            grown.append(each.name)
    print("grown: " + ", ".join(grown) if grown else "nothing grew")
    return bool(grown)


if __name__ == "__main__":
    sys.exit(main())
