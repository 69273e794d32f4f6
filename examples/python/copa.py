"""A congestion control of one's own: Copa's default mode (Arun and Balakrishnan, NSDI 2018).

ccperf run dumbbell --rate 20Mbps --rtt 40ms --buffer 100p --cc ./copa.py:Copa,TcpCubic
"""

import ccperf


class Least:
    """The least value of a sliding time window."""

    def __init__(self):
        self.kept = []  # times and values that rise

    def update(self, now, value, window):
        self.kept = [(t, v) for t, v in self.kept if t > now - window and v < value]
        self.kept.append((now, value))
        return self.kept[0][1]


class Copa(ccperf.CongestionControl):
    """The target rate is 1 / (delta * queueing delay): about 1.25 / delta packets wait."""

    interface = 2  # raw RTT samples

    def __init__(self, delta=0.5):
        self.delta = delta
        self.least, self.standing = Least(), Least()
        self.starts = True  # slow start, until the rate first exceeds the target
        self.velocity, self.direction, self.same = 1, 0, 0
        self.round_end = self.round_cwnd = 0

    def init(self, tcb):
        tcb.pacing = True

    def cong_control(self, tcb, sample):
        if sample.rtt_ns is None or not sample.acked_sacked:
            return  # nothing new, or a retransmission: no sample (Karn's algorithm)
        least = self.least.update(tcb.now_ns, sample.rtt_ns, 10_000_000_000)
        standing = self.standing.update(tcb.now_ns, sample.rtt_ns, (tcb.srtt_ns or 0) // 2)
        window, acked = tcb.cwnd / tcb.segment_size, sample.acked_sacked / tcb.segment_size
        # window / standing <= 1 / (delta * queueing), in packets per ns
        rises = self.delta * window * (standing - least) <= standing
        self.starts = self.starts and rises
        if self.starts:
            window += acked
        else:
            sign = 1 if rises else -1
            self.update_velocity(tcb, sample, sign)
            window += sign * acked * self.velocity / (self.delta * window)
        tcb.cwnd = max(int(window * tcb.segment_size), 2 * tcb.segment_size)
        tcb.pacing_rate_bps = 2 * tcb.cwnd * 8_000_000_000 // standing

    def update_velocity(self, tcb, sample, sign):
        """Double it each round trip after three in one direction; begin anew after a turn."""
        if self.velocity > 1 and sign != self.direction:
            self.velocity, self.direction, self.same = 1, sign, 0
        if sample.prior_delivered < self.round_end:
            return  # the round trip is not over
        direction = 1 if tcb.cwnd > self.round_cwnd else -1
        self.same = self.same + 1 if direction == self.direction else 0
        self.velocity = 2 * self.velocity if self.same >= 3 else 1
        self.direction = direction
        self.round_end, self.round_cwnd = sample.total_delivered, tcb.cwnd
