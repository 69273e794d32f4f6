"""Examples at the end of each command's `--help`."""

from __future__ import annotations

EXAMPLES = {
    "bench": (
        "ccperf bench cubic",
        "ccperf bench ./mycca.py:MyCca,cubic --experiments ecn,aqm --seed 1..10",
    ),
    "run": (
        "ccperf run aqm --cc cubic --k 1,5 --qdisc codel",
        "ccperf run competition --cc ./mycca.py:MyCca --against cubic --seed 1..10",
        "ccperf run two_hops.toml --packets packets.csv",
    ),
    "new": ("ccperf new cc MyCca", "ccperf new qdisc my_queue.cpp", "ccperf new scheduler Mine"),
    "watch": (
        "ccperf watch ./mycca.py:MyCca --against cubic",
        "ccperf watch ./my_queue.py:MyQueue --against codel",
    ),
    "exec": (
        'ccperf exec -- "ns3-dev-ccperf-static-dumbbell-default --bw=16Mbps --qlen=20p '
        '--rtts=15ms --algs=TcpCubic"',
        "ccperf exec -- tcp-variants-comparison --transport_prot=TcpBbr --duration=6",
    ),
    "list": ("ccperf list", "ccperf list cc", "ccperf list metrics --json"),
    "show": (
        "ccperf show aqm",
        "ccperf show cc cubic",
        "ccperf show metric mean_srtt_l4",
        "ccperf show latest",
        "ccperf show --experiment aqm --cc cubic --k 1 --qdisc codel",
    ),
    "runs": ("ccperf runs", "ccperf runs --experiment aqm --cc cubic --k 1..3"),
    "compare": (
        "ccperf compare cubic bbr",
        "ccperf compare cubic --experiment aqm --by qdisc=fifo,codel",
        "ccperf compare --experiment aqm --metric mean_srtt_l4 --each --format latex",
        "ccperf compare base.db new.db --fail-on 'mean_srtt_l4>5%'",
    ),
    "score": (
        "ccperf score ./mycca.py:MyCca",
        "ccperf score ./mycca.py:MyCca --set rfc9743 --against bbr --seed 1..3 --json",
    ),
    "plot": (
        "ccperf plot latest --figure time_series --format pdf,svg",
        "ccperf plot --experiment aqm --cc cubic,bbr --k 1 --overlay",
        "ccperf plot --experiment aqm --sweep k --metric mean_srtt_l4",
    ),
    "play": ("ccperf play", "ccperf play --no-open -o folder"),
    "site": ("ccperf site build", "ccperf site build a.db b.db -o public"),
    "export": (
        "ccperf export --format tidy",
        "ccperf export latest --format pcapng -o captures",
        "ccperf export --experiment aqm --k 1 --format csv --series",
    ),
    "cite": ("ccperf cite latest", "ccperf cite --experiment aqm --cc cubic --k 1 --qdisc codel"),
    "verify": (
        "ccperf verify seeds",
        "ccperf verify ns3 --pattern 'loss/*'",
        "ccperf verify ns3 --scenario mine.toml",
    ),
    "diff": ("ccperf diff 1f3a 8e12", "ccperf diff --cc cubic --k 1 --qdisc codel --seed 1,2"),
    "doctor": ("ccperf doctor", "ccperf doctor --db ccperf.db"),
    "linux": (
        "ccperf linux build",
        "ccperf linux build --tree ~/src/linux --cc ./tcp_mine.c",
    ),
    "completion": (
        'eval "$(ccperf completion bash)"           # in ~/.bashrc; zsh likewise',
        "ccperf completion fish | source",
    ),
}


def epilogue(command: str) -> str:
    """The examples of a command as help shows them."""
    lines = "\n".join(f"    {line}" for line in EXAMPLES[command])
    return f"Examples:\n\n{lines}"
