"""A scheduler of one's own: deficit weighted round robin between classes by DSCP."""

from collections import deque

import ccperf


class MyScheduler(ccperf.Scheduler):
    """Classes share the link as their `quanta`, in bytes a round (Shreedhar and Varghese, 1995)."""

    sees_heads = True

    def __init__(self, quanta="3000 1500 1500"):
        self.quanta = [int(quantum) for quantum in quanta.split()]
        self.deficits = list(self.quanta)
        self.active = deque()  # numbers of the classes that have packets, in turn
        self.is_last = False

    def classify(self, packet, classes):
        number = min(packet.dscp, classes - 1)
        if number not in self.active:
            self.active.append(number)
            self.deficits[number] = self.quanta[number]
        return number

    def next(self, classes):
        while True:
            number = self.active[0]
            head = classes[number].head
            if head is None:  # its discipline has dropped what it had
                self.active.popleft()
            elif head.bytes <= self.deficits[number]:
                self.is_last = classes[number].packets == 1
                return number
            else:
                self.deficits[number] += self.quanta[number]
                self.active.rotate(-1)

    def sent(self, number, packet):
        self.deficits[number] -= packet.bytes
        if self.is_last:
            self.active.popleft()
