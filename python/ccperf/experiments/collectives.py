"""Collective operations as workloads: transfers that wait for transfers.

Ranks are hosts in an order. Of a ring all-reduce (R. Rabenseifner, ICCS 2004; P. Patarasuk and
X. Yuan, JPDC 2009) over n ranks, each of 2 (n - 1) steps sends the n-th part of the data to the
next rank, which must have come from the one before in the step before. Halving and doubling
exchanges half, a quarter, ... with ranks at halved distances, and then the same back. All-to-all
is in rounds: in round r each rank sends to the r-th after it, when its own round before is over.
A pipeline hands micro-batches from stage to stage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ccperf.errors import UsageError
from ccperf.experiments.bounds import few_enough


@dataclass
class Transfers:
    """Transfers in the order in which they are numbered, as a workload has them."""

    pairs: list[tuple[str, str]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    after: list[list[int]] = field(default_factory=list)
    delays: list[str] = field(default_factory=list)

    def add(
        self, source: str, destination: str, size: int, after: Sequence[int], delay: str = "0s"
    ) -> int:
        """One more, after others by their numbers; returns its number."""
        self.pairs.append((source, destination))
        self.sizes.append(max(size, 1))
        self.after.append(sorted(set(after)))
        self.delays.append(delay)
        return len(self.pairs)

    def workload(self, **own: Any) -> dict[str, Any]:
        """The fields of a workload of a scenario; `own` are its others, `name` and `stack`."""
        return {
            **own,
            "arrivals": {"type": "After", "after": self.after, "delays": self.delays},
            "pairs": {"type": "Listed", "pairs": self.pairs},
            "sizes": {"type": "Listed", "bytes": [f"{size}B" for size in self.sizes]},
        }


def ring_all_reduce(ranks: Sequence[str], data: int) -> Transfers:
    """`data` bytes of each rank, summed at all of them, around a ring."""
    count = _ranks(ranks, "ring")
    made = Transfers()
    #: What came to each rank in the step before.
    came: list[list[int]] = [[] for _ in ranks]
    for _ in range(2 * (count - 1)):
        sent = [
            made.add(rank, ranks[(i + 1) % count], -(-data // count), came[i])
            for i, rank in enumerate(ranks)
        ]
        came = [[sent[i - 1]] for i in range(count)]
    return made


def halving_doubling_all_reduce(ranks: Sequence[str], data: int) -> Transfers:
    """The same by recursive halving and doubling.

    Raises:
        UsageError: if the number of ranks is no power of two.
    """
    count = _ranks(ranks, "halving_doubling")
    if count & (count - 1):
        message = f"are {count}, no power of two, which halving and doubling needs"
        raise UsageError("ranks", message)
    made = Transfers()
    came: list[list[int]] = [[] for _ in ranks]
    halving = [count >> step for step in range(1, count.bit_length())]
    for distance in (*halving, *reversed(halving)):
        size = -(-data * distance // count)
        sent = [made.add(rank, ranks[i ^ distance], size, came[i]) for i, rank in enumerate(ranks)]
        came = [[sent[i ^ distance]] for i in range(count)]
    return made


def all_to_all(ranks: Sequence[str], data: int) -> Transfers:
    """`data` bytes of each rank, an n-th of them for each, in n - 1 rounds."""
    count = _ranks(ranks, "all_to_all")
    made = Transfers()
    before: list[list[int]] = [[] for _ in ranks]
    for step in range(1, count):
        sent = [
            made.add(rank, ranks[(i + step) % count], -(-data // count), before[i])
            for i, rank in enumerate(ranks)
        ]
        before = [[sent[i], sent[i - step]] for i in range(count)]
    return made


def pipeline(ranks: Sequence[str], data: int, batches: int = 8, work: str = "0s") -> Transfers:
    """`data` bytes of each of `batches` go from stage to stage, `work` of time after they came.

    A stage hands on one batch after the other.
    """
    _ranks(ranks, "pipeline", batches)
    made = Transfers()
    sent: dict[tuple[int, int], int] = {}
    for batch in range(batches):
        for stage in range(len(ranks) - 1):
            waits = [
                sent[place] for place in ((stage - 1, batch), (stage, batch - 1)) if place in sent
            ]
            number = made.add(ranks[stage], ranks[stage + 1], data, waits, work)
            sent[stage, batch] = number
    return made


#: By name, of ranks and bytes.
COLLECTIVES: Mapping[str, Callable[[Sequence[str], int], Transfers]] = {
    "ring": ring_all_reduce,
    "halving_doubling": halving_doubling_all_reduce,
    "all_to_all": all_to_all,
    "pipeline": pipeline,
}


#: How many transfers that are, of a number of ranks; of a pipeline for each batch.
TRANSFERS: Mapping[str, Callable[[int], int]] = {
    "ring": lambda ranks: 2 * (ranks - 1) * ranks,
    "halving_doubling": lambda ranks: 2 * (ranks.bit_length() - 1) * ranks,
    "all_to_all": lambda ranks: (ranks - 1) * ranks,
    "pipeline": lambda ranks: ranks - 1,
}


def _ranks(ranks: Sequence[str], name: str, times: int = 1) -> int:
    count = len(ranks)
    if count < 2:
        raise UsageError("ranks", "are fewer than two; give at least two")
    few_enough("transfers", times * TRANSFERS[name](count), ranks=count)
    return count
