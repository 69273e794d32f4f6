"""A load balancer of hosts of one's own: a flow that stays congested takes another path (PLB)."""

import random

import ccperf


class Flow:
    path, sent, acked, end, acks, marks, congested = None, 0, 0, 0, 0, 0, 0


class MyHostBalancer(ccperf.HostBalancer):
    """Moves after `rounds` congested round trips in a row, an idle flow after `idle_rounds`."""

    def __init__(self, threshold=0.5, idle_rounds=3, rounds=12):
        self.threshold, self.idle_rounds, self.rounds = threshold, idle_rounds, rounds
        self.flows = {}

    def send(self, packet):
        flow = self.flows.setdefault((packet.flow, packet.backward), Flow())
        patience = self.idle_rounds if packet.is_idle else self.rounds
        if flow.path is None or packet.kind == "timeout" or flow.congested >= patience:
            flow.path, flow.congested = random.randrange(packet.paths), 0
        flow.sent += packet.payload if packet.kind == "new" else 0
        return flow.path

    def ack(self, ack):
        flow = self.flows[ack.flow, ack.backward]
        flow.acked, flow.acks = flow.acked + ack.newly_acked, flow.acks + 1
        flow.marks += ack.is_marked
        if flow.acked >= flow.end:  # what had been sent when the round trip began has come
            is_congested = flow.marks >= self.threshold * flow.acks
            flow.congested = flow.congested + 1 if is_congested else 0
            flow.end, flow.acks, flow.marks = flow.sent, 0, 0
