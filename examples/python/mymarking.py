"""A marking discipline of one's own: the longer a packet has waited, the likelier is its mark."""

import random
from collections import deque

import ccperf


class MyMarking(ccperf.QueueDisc):
    """Marks nothing below the threshold for the `average` round trip, all from that for the `tail`.

    Experiments on marking give both, as times, and `MaxSize`.
    """

    def __init__(self, MaxSize="600p", average="80000ns", tail="220000ns"):
        self.limit = int(MaxSize.removesuffix("p"))
        self.low, self.high = (int(time.removesuffix("ns")) for time in (average, tail))
        self.waiting = deque()

    def enqueue(self, packet):
        if len(self.waiting) >= self.limit:
            self.queue.drop(packet, "Queue disc limit exceeded")
            return False
        self.waiting.append(packet)
        return True

    def dequeue(self):
        if not self.waiting:
            return None
        packet = self.waiting.popleft()
        waited = self.queue.now_ns - packet.enqueued_ns
        if random.uniform(self.low, self.high) < waited:
            self.queue.mark(packet, "Waited too long")
        return packet
