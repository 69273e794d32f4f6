"""Random scenarios on the kernel: each ends, its links conserve packets, and it repeats itself.
Some once told where the profile `linux` was another TCP than the kernel's.

They are those of the fuzzer that Linux can be told, with the recovery that Linux has. There are
two of a fixed seed; `CCPERF_LINUX_DRAWS=100` says how many, `CCPERF_TEST_SEED=7` of which other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from ccperf import Scenario
from ccperf.errors import UsageError
from ccperf.runs.backends import get
from ccperf.runs.backends.linux import backend, stack
from ccperf.verify import fuzz_linux, linux_packets
from ccperf.verify.fuzz import dumbbells
from recordings import hash_of

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("linux_kernel")]
LINUX = backend.Linux()
DRAWS = int(os.environ.get("CCPERF_LINUX_DRAWS", "2"))
SEED = int(os.environ.get("CCPERF_TEST_SEED", "33"))


def told(seed: int) -> Iterator[Scenario]:
    """Scenarios of the fuzzer that are no error on Linux."""
    for drawn in dumbbells(seed):
        flows = tuple({**flow, "recovery": "TcpPrrRecovery"} for flow in drawn.flows)
        scenario = replace(drawn, flows=flows).scenario()
        try:
            stack.of(scenario.lowered())
        except UsageError:
            continue
        yield scenario


@pytest.mark.parametrize("number", range(DRAWS))
def test_a_random_scenario_ends_conserves_packets_and_repeats_itself(number: int) -> None:
    scenario = next(islice(told(SEED), number, None))
    recording = LINUX.simulate(scenario)
    links, drops = recording.tables["links"], recording.tables["drops"]
    assert links.array("tx_packets").sum() > 0
    # What a link has sent was accepted before, and what is lost on it was sent.
    assert (links.array("tx_packets") <= links.array("qdisc_enqueued")).all()
    assert (links.array("loss_dropped") <= links.array("tx_packets")).all()
    dropped = [verdict != "mark" for verdict in drops.strings("verdict")]
    assert drops.array("packets")[dropped].sum() == links.array("qdisc_dropped").sum()
    assert hash_of(recording) == hash_of(LINUX.simulate(scenario))


#: Seed and number of `ccperf verify linux --fuzz`, and the rule that was missing.
ONCE_DIFFERENT = {
    "11/1": "a timer set to the tick it has stays in the wheel; an ACK that leaves as its timer is "
    "near tells what is unread",
    "11/13": "a burst is at most 65,343 B",
    "11/27": "what is written into a full window shows that it limits",
    "11/61": "the timestamp of a FIN that comes again is echoed",
    "11/62": "a timer that is set where another ends finds the wheel a tick ahead",
    "11/78": "an echo ends no repair that began with its ACK",
    "11/95": "a duplicate beyond the blocks that are reported is acknowledged at once",
    "12/2": "the last burst ends with the data, within a segment",
    "12/25": "what is lost together leaves together at the beginning of an episode, too",
    "12/38": "a FIN beyond a hole takes of the receive buffer",
    "12/66": "an ACK with a FIN that would narrow the window waits until all is read",
    "21/2": "CWR waits for an episode's end; an ACK is something that leaves",
    "21/17": "DCTCP's SYN-ACK is ECT each time",
    "21/35": "the ACK that leaves before another mark is read counts the segment with that mark",
    "21/55": "room for a segment is kept free as long as half of the memory is data",
    "21/59": "what is sent again says nothing of what limits",
    "21/71": "segments of up to 140 B take 832 B of memory",
    "21/75": "what fits behind the segment before it takes no memory of its own",
    "21/85": "a connection that is over goes on echoing the first FIN's timestamp",
    "22/49": "a duplicate of what is SACKed shows reordering; episodes for nothing end, too",
    "22/59": "a window grows by what is free before what fills the hole has joined it",
    "22/67": "repair that a timer begins in CWR is a step of its reduction",
    "22/83": "a duplicate whose ACK waits is not reported if another segment comes",
    "42/22": "an echo asks for nothing where an original was late, not lost",
    "51/8": "in the first millisecond an echo of 0 is one, and tells what was for nothing",
    "51/77": "without a scale nothing grows beyond 64 KiB",
    "52/12": "what has been SACKed leaves no room in the peer's window",
    "52/61": "HyStart's first round begins once the connection is established",
    "52/78": "CWR in a FIN is acknowledged before the FIN is answered",
    "52/79": "what was sent again for nothing is acknowledged quickly beyond a hole, too",
    "52/84": "repair that began in CWR may end where it began, and be for nothing",
}


@pytest.mark.sweep
@pytest.mark.parametrize("drawn", ONCE_DIFFERENT)
def test_what_once_differed_from_the_kernel_does_not(drawn: str) -> None:
    seed, number = map(int, drawn.split("/"))
    scenario = fuzz_linux.draw(seed, number).scenario(drawn)
    comparison = linux_packets.compare(scenario, get("native"), LINUX)
    assert comparison.identical, ONCE_DIFFERENT[drawn] + "\n" + comparison.report()
