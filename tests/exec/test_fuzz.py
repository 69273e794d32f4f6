"""Whatever is on a command line: a run, or a message that names what is wrong."""

from __future__ import annotations

import shlex

from hypothesis import given, settings
from hypothesis import strategies as st

from ccperf.errors import UsageError
from ccperf.experiments import programs
from ccperf.experiments.programs.published.options import ACK_COMPRESSION, PROGRAMS, split_list
from ccperf.experiments.published import published

LINES = [shlex.split(page.command) for page in published()]
SNIPPETS = [
    *["0", "-1", "1e999", "16", "16Mbps", "16mbps", "0p", "20p", "15ms", "3ms", "-15ms", "1e-30s"],
    *[
        "nan",
        "inf",
        "99999999999999999999Gbps",
        "2.8kp",
        "{",
        "}",
        "{a:1}",
        "[",
        "]",
        "(",
        ")",
        ",",
    ],
    *[",,", "=", "--", "'", '"', "Greedy(bytes=0)", "Greedy(bytes=99999999999999999999)", "CBR()"],
    *["TcpNewReno", "TcpCubic", "UDP", "src_0", "left", "ns3::", "\x00", "é", "²", "٣", "1_0", " "],
]
values = st.one_of(
    st.sampled_from(SNIPPETS),
    st.text(max_size=20),
    st.lists(st.sampled_from(SNIPPETS), max_size=6).map(",".join),
    st.lists(st.sampled_from(SNIPPETS), max_size=4).map("".join),
)
options = st.one_of(
    st.sampled_from([*PROGRAMS[ACK_COMPRESSION], "time-series", "rate-series", "loss-series"]),
    st.sampled_from(
        [
            "ns3::TcpSocketBase::UseEcn",
            "ns3::CoDelQueueDisc::Target",
            "ns3::TcpSocket::SegmentSize",
            "ns3::TcpSocket::RcvBufSize",
            "ns3::TcpCubic::Beta",
            "ns3::TcpSocketBase::Nothing",
            "ns3::X",
        ]
    ),
    st.text(max_size=10),
)


def attempt(words: list[str]) -> None:
    refusal = None
    try:
        run = programs.parse(words)
        scenario, warnings = programs.scenario(run)
    except UsageError as error:
        refusal = error
    if refusal is not None:
        assert refusal.field
        assert refusal.message
        return
    assert all(warnings)
    scenario.lowered()
    # What was understood can be said again.
    again, _ = programs.scenario(programs.parse(shlex.split(run.command())))
    if not any(flow.recovery == "TcpPrrRecovery" for flow in scenario.flows):
        assert again.hash == scenario.hash


@settings(max_examples=400)
@given(line=st.sampled_from(LINES), changes=st.dictionaries(options, values, max_size=4))
def test_any_value_of_any_option(line: list[str], changes: dict[str, str]) -> None:
    kept = [word for word in line if word[2:].split("=")[0] not in changes]
    attempt([*kept, *(f"--{name}={value}" for name, value in changes.items())])


@settings(max_examples=300)
@given(
    line=st.sampled_from(LINES),
    position=st.integers(0, 2000),
    deleted=st.integers(0, 8),
    inserted=st.one_of(st.sampled_from(SNIPPETS), st.text(max_size=4)),
)
def test_any_slip_of_the_finger(
    line: list[str], position: int, deleted: int, inserted: str
) -> None:
    text = " ".join(map(shlex.quote, line))
    attempt([text[:position] + inserted + text[position + deleted :]])


@settings(max_examples=100)
@given(st.lists(st.text(max_size=30), max_size=8))
def test_any_words(words: list[str]) -> None:
    attempt(words)


@given(
    st.lists(st.from_regex(r"[a-z0-9]+(\([a-z0-9,]*\))?", fullmatch=True), min_size=1, max_size=8)
)
def test_lists_split_where_they_were_joined(items: list[str]) -> None:
    assert split_list("--x", ",".join(items)) == items
