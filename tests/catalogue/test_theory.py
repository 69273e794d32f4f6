"""What must come out of an experiment, by theory, where the algorithm's behaviour is known."""

from __future__ import annotations

from math import sqrt
from statistics import fmean, stdev

import numpy as np
import pytest

from ccperf import backends, campaign
from ccperf.catalogue import REGISTRY
from ccperf.result import Result

NATIVE = backends.get("native")
SEGMENT_BITS = 8 * 1448
FRAME_BITS = 8 * 1502


def run(name: str, cc: str = "TcpNewReno", **given: object) -> Result:
    scenario = REGISTRY[name].scenario(cc, recovery="TcpPrrRecovery", **given)
    return campaign.simulate(campaign.Point(scenario), NATIVE)


@pytest.mark.parametrize("p", [0.005, 0.01, 0.02, 0.05])
def test_new_reno_under_random_loss_follows_the_square_root_law(p: float) -> None:
    """Between the model without timeouts and the one with all that a Reno without SACK has.

    Above: additive increase by one segment a round trip, halving at each of Poisson losses, has a
    mean window of 1.3098 / sqrt(p) (T. J. Ott, J. H. B. Kemperman, M. Mathis, "The stationary
    behavior of ideal TCP congestion avoidance", 1996). Below: J. Padhye et al., "Modeling TCP
    throughput", SIGCOMM 1998, equation 30, with ns-3's least timeout of 1 s and an ACK for every
    segment. Both within three standard errors of the mean over the seeds.
    """
    runs = [run("loss_resilience", loss=p, stop_time="60s", seed=seed) for seed in range(1, 6)]
    flows = [result.flow_metrics["flow_1"] for result in runs]
    measured = [flow["mean_throughput_l7"] * 1e6 / SEGMENT_BITS for flow in flows]
    rtt = fmean(flow["mean_srtt_l4"] for flow in flows) / 1000
    timeout = 1.0
    above = 1.3098 / sqrt(p) / rtt
    timeouts = timeout * min(1, 3 * sqrt(3 * p / 8)) * p * (1 + 32 * p**2)
    below = 1 / (rtt * sqrt(2 * p / 3) + timeouts)
    error = 3 * stdev(measured) / sqrt(len(measured))
    assert below - error <= fmean(measured) <= above + error


def test_vegas_keeps_between_alpha_and_beta_segments_in_the_queue() -> None:
    """L. S. Brakmo, L. L. Peterson, "TCP Vegas: end to end congestion avoidance on a global
    Internet", 1995: 2 to 4 of them, one more or less for a window of whole segments."""
    result = run("steady_state_single_flow", "TcpVegas", path="static.default", stop_time="30s")
    srtt = result.recording.flow_samples.array("srtt_ns")
    rate = 16e6
    queued = (srtt - np.nanmin(srtt)) / 1e9 * rate / FRAME_BITS
    steady = queued[len(queued) // 2 :]
    assert steady.min() >= 2 - 1
    assert steady.max() <= 4 + 1
    assert result.link_metrics["btl_forward"]["total_qdisc_drops_l2"] == 0


@pytest.mark.parametrize("k", [2, 5])
def test_additive_increase_and_multiplicative_decrease_converge_to_fair_shares(k: int) -> None:
    """D.-M. Chiu, R. Jain, 1989: flows that hear the same signals end up with equal windows. What
    is left over two minutes is at most one sawtooth of a single flow: half of its share in a
    quarter of the time."""
    result = run("steady_state_synchronous_fairness", k=k, path="static.default", stop_time="120s")
    shares = [flow["mean_throughput_l7"] for flow in result.flow_metrics.values()]
    assert max(shares) - min(shares) <= fmean(shares) / 8


def test_a_late_flow_gets_its_share_from_new_reno() -> None:
    result = run("steady_state_start_time_fairness", stop_time="120s")
    shares = [flow["mean_throughput_l7"] for flow in result.flow_metrics.values()]
    assert min(shares) / max(shares) > 0.5
