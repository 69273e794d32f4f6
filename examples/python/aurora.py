"""A learned congestion control after Aurora (Jay et al., ICML 2019): a small network sets the rate.

ccperf bench ./aurora.py:Aurora,cubic

`train_aurora.py` learns the network's 45 numbers, which are in `aurora.json`.
"""

import json
import math
from operator import mul
from pathlib import Path

import ccperf

HISTORY, FEATURES, HIDDEN = 3, 3, 4
NUMBERS = (HISTORY * FEATURES + 1) * HIDDEN + HIDDEN + 1


class Policy:
    """What a sender saw in its last three intervals -> log2 of what the rate is multiplied by."""

    def __init__(self, numbers):
        width = HISTORY * FEATURES + 1
        rows = [numbers[i * width : (i + 1) * width] for i in range(HIDDEN)]
        self.hidden = [(row[:-1], row[-1]) for row in rows]
        self.output, self.bias = numbers[HIDDEN * width : -1], numbers[-1]
        self.seen = [0.0] * (HISTORY * FEATURES)
        self.srtt = None

    def act(self, seconds, srtt, least, loss):
        """Latency gradient, latency ratio and share of losses are Aurora's features."""
        gradient = 0.0 if self.srtt is None else (srtt - self.srtt) / seconds
        self.srtt = srtt
        now = [clip(gradient, 1), clip(srtt / least - 1, 5), clip(5 * loss, 1)]
        self.seen = self.seen[FEATURES:] + now
        layer = [math.tanh(bias + dot(row, self.seen)) for row, bias in self.hidden]
        return math.tanh(self.bias + dot(self.output, layer))


def clip(number, most):
    return max(-most, min(number, most))


def dot(left, right):
    return sum(map(mul, left, right))


class Aurora(ccperf.CongestionControl):
    """Sets the pacing rate once a round trip; the window is two round trips of it."""

    interface = 2  # what is found lost

    def __init__(self):
        numbers = json.loads(Path(__file__).with_name("aurora.json").read_text())
        self.policy = Policy(numbers)
        self.rate = None
        self.begin = self.delivered = self.lost = self.length = 0

    def cong_control(self, tcb, sample):
        self.delivered += sample.acked_sacked
        self.lost += sample.newly_lost
        if not tcb.srtt_ns or not self.delivered:
            return
        if self.rate is None:
            self.rate = 8e9 * tcb.cwnd / tcb.srtt_ns
        elif tcb.now_ns < self.begin + self.length:
            return
        else:
            seconds = (tcb.now_ns - self.begin) / 1e9
            loss = self.lost / (self.lost + self.delivered)
            srtt, least = tcb.srtt_ns / 1e9, tcb.min_rtt_ns / 1e9
            self.rate *= 2 ** self.policy.act(seconds, srtt, least, loss)
            self.rate = max(1e5, min(self.rate, 1e11))
        self.begin, self.length = tcb.now_ns, tcb.srtt_ns
        self.delivered = self.lost = 0
        tcb.pacing = True
        tcb.pacing_rate_bps = int(self.rate)
        tcb.cwnd = max(int(2 * self.rate * tcb.srtt_ns / 8e9), 2 * tcb.segment_size)
