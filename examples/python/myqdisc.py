"""A queue discipline of one's own: first in, first out, and ECN marks above a threshold."""

from collections import deque

import ccperf


class MyQueue(ccperf.QueueDisc):
    """Holds `MaxSize` packets; marks what arrives when `threshold` or more are waiting."""

    def __init__(self, MaxSize="100p", threshold=None):
        self.limit = int(MaxSize.removesuffix("p"))
        self.threshold = self.limit if threshold is None else threshold
        self.waiting = deque()

    def enqueue(self, packet):
        if len(self.waiting) >= self.limit:
            self.queue.drop(packet, "Queue disc limit exceeded")
            return False
        if len(self.waiting) >= self.threshold:
            self.queue.mark(packet, "Above threshold")
        self.waiting.append(packet)
        return True

    def dequeue(self):
        return self.waiting.popleft() if self.waiting else None
