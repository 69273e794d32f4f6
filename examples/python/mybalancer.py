"""A load balancer of one's own: each burst of a flow takes a way by a hash of flow and burst."""

import ccperf

_BITS = 2**64 - 1


def mix(x):
    """Spread every bit over all 64 (the finisher of SplitMix64)."""
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & _BITS
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & _BITS
    return x ^ x >> 31


class MyBalancer(ccperf.LoadBalancer):
    """A packet that comes later than `gap` after the one before it begins a new burst.

    Without an end to bursts it is ECMP, the scheme `ecmp`.
    """

    def __init__(self, gap=500_000, seed=1):
        self.gap = gap  # ns
        self.seed = seed
        self.seen = {}  # of each flow and direction: when its last packet came, and its bursts

    def pick(self, packet):
        now, salt = self.switch.now_ns, self.seed + 0x9E3779B97F4A7C15 * (self.switch.node + 1)
        last, bursts = self.seen.get((packet.flow, packet.backward), (now, 0))
        if now - last > self.gap:
            bursts += 1
        self.seen[packet.flow, packet.backward] = now, bursts
        high = mix((packet.hash + bursts & _BITS) ^ mix(salt & _BITS)) >> 32
        return high * len(self.switch.ports) >> 32
