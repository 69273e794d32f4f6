"""What ns-3's own example programs send: writes tests/exec/ns3_examples.json.

    .venv/bin/python tools/ns3_examples.py NS3_SOURCE

compiles the unchanged examples of an ns-3 3.44 source tree, but for a trace of their packets that
is started right before the simulator runs (`ns3_example_trace.h`), against the wheel of ns-3, runs
the lines below and keeps of each the number of packet events and their SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from ccperf.backends.ns3.build import MODULES, NS3_VERSION, toolchain

ROOT = Path(__file__).parent.parent
PROGRAMS = {
    "tcp-variants-comparison": "examples/tcp",
    "tcp-validation": "examples/tcp",
    "queue-discs-benchmark": "examples/traffic-control",
}
LINES = (
    "tcp-variants-comparison --duration=10",
    "tcp-variants-comparison --transport_prot=TcpCubic --duration=10 --num_flows=2",
    "tcp-variants-comparison --transport_prot=TcpBbr --duration=6 --bandwidth=5Mb/s --delay=0.003",
    "tcp-variants-comparison --error_p=0.01 --duration=10 --num_flows=3 --run=5 --mtu=1500",
    "tcp-variants-comparison --queue_disc_type=ns3::CoDelQueueDisc --sack=false --duration=8 "
    "--transport_prot=TcpNewReno --access_bandwidth=20Mbps",
    "tcp-variants-comparison --data=1 --duration=10 --recovery=ns3::TcpPrrRecovery",
    "tcp-validation --stopTime=7s",
    "tcp-validation --stopTime=7.5s --firstTcpType=dctcp --queueUseEcn=1 --baseRtt=10ms",
    "tcp-validation --stopTime=17s --secondTcpType=reno --queueType=fq --linkRate=5Mbps",
    "tcp-validation --stopTime=8s --firstTcpType=reno --queueType=pie --linkRate=10Mbps",
    "tcp-validation --stopTime=8s --queueType=red --queueUseEcn --RngRun=3 --linkRate=10Mbps",
    "queue-discs-benchmark --simDuration=4",
    "queue-discs-benchmark --simDuration=4 --queueDiscType=CoDel --bandwidth=4Mbps",
    "queue-discs-benchmark --simDuration=4 --queueDiscType=FqCoDel --queueDiscSize=50 --bql=true",
    "queue-discs-benchmark --simDuration=4 --queueDiscType=PIE --delay=20ms",
    "queue-discs-benchmark --simDuration=4 --queueDiscType=ARED --queueDiscSize=40 --RngRun=7",
    "queue-discs-benchmark --simDuration=4 --queueDiscType=prio --netdevicesQueueSize=5 "
    "--flowsDatarate=3Mbps --flowsPacketsSize=500",
    "tcp-variants-comparison --duration=5 --ns3::TcpSocket::DelAckCount=1",
    # HyStart finds the end of slow start in the first round trip, of flows that start late.
    "tcp-variants-comparison --transport_prot=TcpCubic --duration=4 --num_flows=2 --data=1 "
    "--access_delay=0.1ms --delay=0.1ms --bandwidth=200Mbps --access_bandwidth=1Gbps --mtu=1500 "
    "--ns3::TcpSocket::InitialCwnd=20",
    "tcp-validation --stopTime=6.5s --baseRtt=0.2ms --linkRate=100Mbps "
    "--ns3::TcpCubic::HyStartLowWindow=8",
)


def main() -> None:
    """Compile, run and write."""
    source = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        for name, folder in PROGRAMS.items():
            compile_example(source / folder / f"{name}.cc", Path(scratch))
        found = [run(line, Path(scratch)) for line in LINES]
    target = ROOT / "tests" / "exec" / "ns3_examples.json"
    target.write_text(json.dumps(found, indent=1) + "\n")


def compile_example(source: Path, scratch: Path) -> None:
    """Compile one program with its trace."""
    tools = toolchain()
    text = source.read_text()
    text = text.replace(
        "using namespace ns3;", '#include "ns3_example_trace.h"\nusing namespace ns3;', 1
    )
    text = text.replace(
        "    Simulator::Run();", "    const PacketLines lines;\n    Simulator::Run();"
    )
    unit = scratch / source.name
    unit.write_text(text)
    libraries = tools.ns3 / "lib64"
    subprocess.run(
        [
            *(tools.compiler, "-std=c++20", "-O1", str(unit), "-o", str(scratch / source.stem)),
            *(f"-I{ROOT / 'tools'}", "-isystem", str(tools.ns3 / "include")),
            *("-DNS3_ASSERT_ENABLE", "-DNS3_LOG_ENABLE"),
            *(f"-L{libraries}", f"-Wl,-rpath,{libraries}"),
            *(f"-lns{NS3_VERSION}-{module}" for module in ("flow-monitor", *MODULES)),
        ],
        check=True,
    )


def run(line: str, scratch: Path) -> dict[str, str | int]:
    """Run one line; what its packets do, in short."""
    program, *arguments = shlex.split(line)
    packets = scratch / "packets"
    subprocess.run(
        [str(scratch / program), *arguments],
        check=True,
        cwd=scratch,
        env={**os.environ, "PACKETS": str(packets)},
        stdout=subprocess.DEVNULL,
    )
    content = packets.read_bytes()
    return {
        "line": line,
        "rows": content.count(b"\n"),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


if __name__ == "__main__":
    main()
