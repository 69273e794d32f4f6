"""Records what HPCC's ns-3 fork makes of the scenarios of `benchmarks/hpcc_fork.py`.

    git clone https://github.com/alibaba-edu/High-Precision-Congestion-Control
    cd High-Precision-Congestion-Control/simulation
    CXXFLAGS="-O2 -w -fpermissive -std=gnu++11" python2.7 waf configure -d optimized \\
        --enable-modules=point-to-point,applications,internet
    python2.7 waf build
    python -m tools.hpcc_fork SIMULATION

writes `tests/catalogue/hpcc_fork.json`; it takes some ten minutes. The configuration is that of the
fork's own `run.py`, but for the least rate, 100 Mbps. That of `dcqcn_paper` is `run.py`'s, too.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.hpcc_fork import CASES, LEAST, RECORDED, Case, every, their_payload, thresholds

REVISION = "9f4be2a9ead8a90e8bf732c66bd758c00e58e5be"
MODES = {"line_rate": 0, "dcqcn": 1, "dcqcn_paper": 1, "hpcc": 3, "timely": 7}
#: Where its time begins, and the number of the first flow's port.
BEGINS, FIRST_PORT = 2_000_000_000, 100
#: A record of its traces, and the positions of time, node, port, event, length and size.
EVENT = struct.Struct("<QHBBIIIHBBBB2x24s")
TIME, NODE, PORT, LENGTH, SIZE, KIND = 0, 1, 2, 4, 7, 9
ENQUEUED, DEQUEUED = 1, 2


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("simulation", type=Path, help="the fork's folder `simulation`, built")
    simulation = parser.parse_args().simulation.absolute()
    runs = []
    for name, law in every():
        for number in range(CASES[name].runs):
            with tempfile.TemporaryDirectory() as folder:
                found = run(simulation, Path(folder), CASES[name].run(number), law, number + 1)
            runs.append({"case": name, "law": law, **found})
            print(name, law, number, flush=True)
    lines = ",\n".join(f"  {json.dumps(row, separators=(',', ':'))}" for row in runs)
    source = "github.com/alibaba-edu/High-Precision-Congestion-Control"
    head = f'"source": "{source}", "revision": "{REVISION}"'
    RECORDED.write_text(f'{{{head}, "runs": [\n{lines}\n]}}\n')


def run(simulation: Path, folder: Path, case: Case, law: str, seed: int) -> dict[str, Any]:
    write(folder, case, law)
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(simulation / "build"),
        "NS_GLOBAL_VALUE": f"RngRun={seed}",
        # As here, and as hosts there do for what is not HPCC.
        "NS_ATTRIBUTE_DEFAULT": "ns3::SwitchNode::AckHighPrio=1",
    }
    command = [simulation / "build" / "scratch" / "third", folder / "config"]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    times = {}
    for line in (folder / "fct").read_text().splitlines():
        _, _, _, port, _, _, time, _ = line.split()
        times[int(port) - FIRST_PORT] = int(time)
    found: dict[str, Any] = {
        "times_ns": [times[i] for i in range(len(case.flows))],
        "pauses": pauses(folder / "pfc"),
    }
    if case.watched is not None:
        end = max(flow.start_ns + times[i] for i, flow in enumerate(case.flows))
        found["queue"] = queue(folder / "trace", case, end)
    return found


def write(folder: Path, case: Case, law: str) -> None:
    """The fork's four inputs."""
    nodes = case.hosts + case.switches
    switches = " ".join(str(node) for node in range(case.hosts, nodes))
    links = "".join(f"{link.ends[0]} {link.ends[1]} {link.gbps}Gbps 1us 0\n" for link in case.links)
    (folder / "topology").write_text(
        f"{nodes} {case.switches} {len(case.links)}\n{switches}\n{links}"
    )
    payload = their_payload(law)
    flows = "".join(
        f"{flow.source} {flow.destination} 3 {FIRST_PORT + i} {flow.packets * payload} "
        f"{(BEGINS + flow.start_ns) / 1e9:.9f}\n"
        for i, flow in enumerate(case.flows)
    )
    (folder / "flows").write_text(f"{len(case.flows)}\n{flows}")
    watched = "" if case.watched is None else str(case.hosts)
    (folder / "nodes").write_text(f"{len(watched.split())}\n{watched}\n")
    fields = settings(folder, case, law).items()
    (folder / "config").write_text("".join(f"{name} {value}\n" for name, value in fields))


def settings(folder: Path, case: Case, law: str) -> dict[str, Any]:
    """Its configuration, as `run.py` writes it."""
    gbps = case.gbps
    rates = [gbps, 4 * gbps]

    def by_rate(values: list[Any]) -> str:
        pairs = (f"{rate}000000000 {value}" for rate, value in zip(rates, values, strict=True))
        return " ".join([str(len(rates)), *pairs])

    is_paper, is_hpcc = law == "dcqcn_paper", int(law == "hpcc")
    increase = {"hpcc": 0.4, "timely": 1.0}.get(law, 0.2) * gbps
    more = {"hpcc": 1, "timely": 5}.get(law, 10) * increase
    return {
        "ENABLE_QCN": 1,
        "USE_DYNAMIC_PFC_THRESHOLD": 1,
        "PACKET_PAYLOAD_SIZE": their_payload(law),
        "TOPOLOGY_FILE": folder / "topology",
        "FLOW_FILE": folder / "flows",
        "TRACE_FILE": folder / "nodes",
        "TRACE_OUTPUT_FILE": folder / "trace",
        "FCT_OUTPUT_FILE": folder / "fct",
        "PFC_OUTPUT_FILE": folder / "pfc",
        "QLEN_MON_FILE": folder / "queues",
        "QLEN_MON_START": 2 * BEGINS,
        "QLEN_MON_END": 2 * BEGINS,
        "SIMULATOR_STOP_TIME": 2.05,
        "CC_MODE": MODES[law],
        "ALPHA_RESUME_INTERVAL": 50 if is_paper else 1,
        "RATE_DECREASE_INTERVAL": 50 if is_paper else 4,
        "CLAMP_TARGET_RATE": 0,
        "RP_TIMER": 55 if is_paper else 300,
        "EWMA_GAIN": 0.00390625,
        "FAST_RECOVERY_TIMES": 1,
        "RATE_AI": f"{increase:.0f}Mb/s",
        "RATE_HAI": f"{more:.0f}Mb/s",
        "MIN_RATE": f"{LEAST}Mb/s",
        "ERROR_RATE_PER_LINK": 0,
        "L2_CHUNK_SIZE": 4000,
        "L2_ACK_INTERVAL": 1,
        "L2_BACK_TO_ZERO": 0,
        "HAS_WIN": is_hpcc,
        "VAR_WIN": is_hpcc,
        "FAST_REACT": is_hpcc,
        "GLOBAL_T": 1,
        "U_TARGET": 0.95,
        "MI_THRESH": 0,
        "INT_MULTI": max(1, gbps // 25),
        "MULTI_RATE": 0,
        "SAMPLE_FEEDBACK": 0,
        "RATE_BOUND": 1,
        "ACK_HIGH_PRIO": 1 - is_hpcc,
        "LINK_DOWN": "0 0 0",
        "ENABLE_TRACE": 1,
        "KMIN_MAP": by_rate([thresholds(rate)[0] for rate in rates]),
        "KMAX_MAP": by_rate([thresholds(rate)[1] for rate in rates]),
        "PMAX_MAP": by_rate([0.2] * len(rates)),
        "BUFFER_SIZE": case.buffer,
    }


def pauses(path: Path) -> tuple[int, int]:
    """How often ports were told to pause, and how long all did, in ns."""
    count = total = 0
    since: dict[tuple[str, str], int] = {}
    for line in path.read_text().splitlines():
        time, node, _, port, is_pause = line.split()
        if is_pause == "1":
            count += 1
            since.setdefault((node, port), int(time))
        else:
            total += int(time) - since.pop((node, port), int(time))
    return count, total


def queue(path: Path, case: Case, end: int) -> tuple[float, int]:
    """The watched port's mean until then and its most, in bytes: its queue before each arrival and
    after each departure."""
    data = path.read_bytes()
    ports = struct.unpack_from("<I", data)[0]
    start = 4 + 11 * ports + 4
    assert case.watched is not None
    area = most = length = 0
    last = 0
    whole = (len(data) - start) // EVENT.size * EVENT.size
    for event in EVENT.iter_unpack(data[start : start + whole]):
        if (event[NODE], event[PORT]) != (case.hosts, case.watched + 1):
            continue
        if event[KIND] not in (ENQUEUED, DEQUEUED):
            continue
        now = event[TIME] - BEGINS
        area, last = area + length * (now - last), now
        length = event[LENGTH] + event[SIZE] * (event[KIND] == ENQUEUED)
        most = max(most, length)
    return round(area / end, 1), most


if __name__ == "__main__":
    main()
