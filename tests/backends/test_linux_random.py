"""Random scenarios on the kernel: each ends, its links conserve packets, and it repeats itself.

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
from ccperf.runs.backends.linux import backend, stack
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
