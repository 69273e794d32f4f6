"""Where two TCPs part: the segments of a source, in their order."""

from __future__ import annotations

import json

import pytest

from ccperf.cli.app import invoke
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.verify.linux import described, parting

NATIVE = backends.get("native")


def test_the_same_tcp_never_parts_from_itself() -> None:
    scenario = catalogue.get("dumbbell").scenario("TcpCubic", flows=2, stop_time="1s")
    found = parting(scenario, NATIVE, NATIVE)
    assert [one.flow for one in found] == ["flow_1", "flow_2"]
    for one in found:
        assert one.is_equal
        assert one.common > 100
        assert one.apart_ns == 0
        assert described(one).endswith("they never part")


def test_where_two_part_the_segments_and_the_senders_states_are_told() -> None:
    """NewReno doubles its window; DCTCP, which marks end that for, does not get as far."""
    made = catalogue.get("ecn")
    one = made.scenario("TcpNewReno", k=1, ce_threshold="1ms", stop_time="1s")

    class Other:
        """The same network with another algorithm."""

        def simulate(self, *_: object, **words: object) -> object:
            other = made.scenario("TcpDctcp", k=1, ce_threshold="1ms", stop_time="1s")
            return NATIVE.simulate(other, **words)  # type: ignore[arg-type]

    (found,) = parting(one, NATIVE, Other())  # type: ignore[arg-type]
    assert found.common > 10
    assert not found.is_equal
    assert (found.ours, found.theirs) != (None, None)
    ours, theirs = found.states
    assert ours["cwnd_bytes"] != theirs["cwnd_bytes"]


@pytest.mark.kernel
@pytest.mark.usefixtures("linux_kernel")
def test_the_engines_cubic_and_linuxs_send_the_same_segments_until_the_first_loss(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["verify", "linux", "--pattern", "steady_state_single_flow", "--json"]
    assert invoke(words) == 0
    ((flow,),) = json.loads(capsys.readouterr().out).values()
    assert flow["common"] > 100


def test_what_belongs_to_ns_3_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["verify", "linux", "--full"]) == 2
    assert "takes one of --scenario, --pattern, --fuzz" in capsys.readouterr().err
