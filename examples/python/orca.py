"""A learned congestion control after Orca (Abbasloo et al., SIGCOMM 2020): a network beside CUBIC.

ccperf bench ./orca.py:Orca,cubic

CUBIC sets the window; once a round trip a small network multiplies it by up to two, or divides it,
and CUBIC goes on from there. `train_orca.py` learns its 16 numbers, which are in `orca.json`.
"""

import json
import math
from operator import mul
from pathlib import Path

import ccperf

FEATURES, HIDDEN = 3, 3
NUMBERS = (FEATURES + 1) * HIDDEN + HIDDEN + 1
C, BETA = 0.4, 0.7  # RFC 9438


class Cubic:
    """CUBIC once a round trip, in segments."""

    def __init__(self, window):
        self.window = self.reno = window
        self.plateau, self.begin, self.k = None, 0.0, 0.0

    def lose(self, now):
        self.plateau, self.begin = self.window, now
        self.window = self.reno = BETA * self.window
        self.k = ((self.plateau - self.window) / C) ** (1 / 3)

    def grow(self, now):
        if self.plateau is None:
            self.window *= 2
            return
        self.reno += 3 * (1 - BETA) / (1 + BETA)
        curve = C * (now - self.begin - self.k) ** 3 + self.plateau
        self.window = max(self.window, self.reno, min(curve, 1.5 * self.window))

    def multiply(self, factor, now):
        """From here on; what makes it smaller ends slow start."""
        if factor == 1:
            return
        self.window = self.reno = max(2.0, self.window * factor)
        if self.plateau is not None or factor < 1:
            self.plateau, self.begin, self.k = self.window, now, 0.0


class Policy:
    """What a round trip was like -> log2 of what CUBIC's window is multiplied by."""

    def __init__(self, numbers):
        width = FEATURES + 1
        rows = [numbers[i * width : (i + 1) * width] for i in range(HIDDEN)]
        self.hidden = [(row[:-1], row[-1]) for row in rows]
        self.output, self.bias = numbers[HIDDEN * width : -1], numbers[-1]
        self.most = 0.0

    def act(self, rate, srtt, least, loss):
        """The latency ratio, the rate over the highest so far, and the share lost."""
        self.most = max(self.most, rate)
        seen = (min(srtt / least - 1, 5), rate / self.most if rate else 0.0, min(5 * loss, 1))
        layer = [math.tanh(bias + dot(row, seen)) for row, bias in self.hidden]
        return math.tanh(self.bias + dot(self.output, layer))


def dot(left, right):
    return sum(map(mul, left, right))


class Both:
    """CUBIC and the network."""

    def __init__(self, numbers):
        self.cubic, self.policy = Cubic(10.0), Policy(numbers)

    def window(self, now, rate, srtt, least, loss):
        """In segments, for the round trip that begins; `rate` in segments a second."""
        if loss > 0:
            self.cubic.lose(now)
        else:
            self.cubic.grow(now)
        factor = 2 ** self.policy.act(rate, srtt, least, loss)
        # No more than twice what the last round trip has used.
        most = max(10.0, 2 * rate * srtt)
        self.cubic.multiply(min(factor, most / self.cubic.window), now)
        return self.cubic.window


class Orca(ccperf.CongestionControl):
    """Sets the window once a round trip."""

    interface = 2  # what is found lost

    def __init__(self):
        self.both = Both(json.loads(Path(__file__).with_name("orca.json").read_text()))
        self.begin = self.delivered = self.lost = self.length = 0

    def cong_control(self, tcb, sample):
        self.delivered += sample.acked_sacked
        self.lost += sample.newly_lost
        if not tcb.srtt_ns or not self.delivered or tcb.now_ns < self.begin + self.length:
            return
        if self.begin:
            now, seconds = tcb.now_ns / 1e9, (tcb.now_ns - self.begin) / 1e9
            loss = self.lost / (self.lost + self.delivered)
            rate = self.delivered / tcb.segment_size / seconds
            window = self.both.window(now, rate, tcb.srtt_ns / 1e9, tcb.min_rtt_ns / 1e9, loss)
            tcb.cwnd = max(int(window * tcb.segment_size), 2 * tcb.segment_size)
        self.begin, self.length = tcb.now_ns, tcb.srtt_ns
        self.delivered = self.lost = 0
