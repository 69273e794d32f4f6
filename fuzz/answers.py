"""Algorithms of a user's that answer with whatever they are told to; :mod:`targets` tells them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ccperf

#: What is answered next, without end. Numbers, and what no algorithm should answer.
answers: Iterator[Any] = iter(())


class Control(ccperf.CongestionControl):
    def ssthresh(self, tcb: Any, bytes_in_flight: int) -> Any:
        return next(answers)

    def cong_avoid(self, tcb: Any, segments_acked: int) -> None:
        answer = next(answers)
        if isinstance(answer, str):
            setattr(tcb, answer, next(answers))
        else:
            tcb.cwnd = answer

    def pkts_acked(self, tcb: Any, segments_acked: int, rtt_ns: int) -> None:
        tcb.pacing_rate_bps = next(answers)

    def cwnd_event(self, tcb: Any, event: str) -> Any:
        return next(answers) if next(answers) == 1 else None


class Queue(ccperf.QueueDisc):
    def __init__(self) -> None:
        self.packets: list[Any] = []

    def enqueue(self, packet: Any) -> Any:
        answer = next(answers)
        if answer == 2:
            self.queue.mark(packet, next(answers))
        if answer == 3:
            self.queue.set_timer(next(answers), next(answers))
        self.packets.append(packet)
        return answer

    def dequeue(self) -> Any:
        if next(answers) == 4:
            return next(answers)
        return self.packets.pop() if self.packets else None

    def timer(self, tag: int) -> Any:
        return next(answers)
