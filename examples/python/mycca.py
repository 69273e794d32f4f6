"""A congestion control of one's own: CUBIC's backoff on NewReno's growth.

ccperf run aqm --cc ./mycca.py:MyCca,TcpCubic --k 1 --qdisc codel
"""

import ccperf


class MyCca(ccperf.CongestionControl):
    """NewReno that keeps `beta` of what is in flight on a loss (RFC 5681 keeps half)."""

    def __init__(self, beta=0.7):
        self.beta = beta

    def ssthresh(self, tcb, bytes_in_flight):
        return max(int(self.beta * bytes_in_flight), 2 * tcb.segment_size)
