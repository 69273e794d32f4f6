"""What the options of a published command line mean."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.base.wording import counted
from ccperf.errors import UsageError
from ccperf.experiments.programs import attributes as ns3_attributes
from ccperf.experiments.programs.published import traffic
from ccperf.experiments.programs.published.options import (
    ACK_COMPRESSION,
    PER_FLOW,
    REPLAY,
    RESPONSIVENESS,
    SERIES,
    Tokens,
    parse_parameters,
    split_list,
    tokenize,
)
from ccperf.experiments.programs.published.run import (
    PUBLISHED_RECOVERY,
    DumbbellRun,
    FlowOptions,
    Step,
    Transport,
)

T = TypeVar("T")

REQUIRED = ("stop-time", "bw", "qlen", "rtts", "algs")
#: The access links take 1 ms each way on both sides.
ACCESS_RTT_NS = 4_000_000


def parse(words: Sequence[str], others: Mapping[str, Sequence[str]] | None = None) -> DumbbellRun:
    """The run that a command line describes.

    ``words`` is the command line as a shell splits it, or in one text; `others` are programs that
    are known elsewhere, by where they are from. Raises :class:`~ccperf.errors.UsageError`, naming
    the option, for everything that is wrong with it.
    """
    return _Options(tokenize(words, others or {})).run()


class _Options:
    """Typed access to the texts of one command line."""

    def __init__(self, tokens: Tokens) -> None:
        self.program = tokens.program
        self.text = tokens.options
        self.attributes = tokens.attributes
        for name in REQUIRED:
            if name not in self.text:
                raise UsageError(f"--{name}", "is missing; the program needs it")
        for class_name, attribute, _ in self.attributes:
            ns3_attributes.check(class_name, attribute)

    def run(self) -> DumbbellRun:
        stop_time = self.time("stop-time")
        if self.ns(stop_time, "stop-time") == 0:
            raise UsageError("--stop-time", "is 0; a run needs a length, e.g. 15s")
        aut = self.text.get("aut", "")
        return DumbbellRun(
            program=self.program,
            bw=self.rate("bw"),
            qlen=self.queue_size("qlen"),
            qdisc=self.word("qdisc", "qdisc", self.text.get("qdisc", "FifoQueueDisc")),
            flows=self.flows(stop_time),
            stop_time=stop_time,
            seed=self.integer("seed", "42"),
            loss=self.probability("loss", self.text.get("loss", "0.0")),
            series=self.series(),
            interval=self.interval(),
            quota=self.quota(),
            trace_file=self.trace_file(),
            trace_dir=self.text.get("trace-dir", ""),
            attributes=self.attributes,
            experiment=self.text.get("experiment-name", ""),
            parameters=parse_parameters(self.text["parameters"])
            if "parameters" in self.text
            else {},
            aut=self.word("aut", "cc", aut) if aut else "",
            db_path=self.text.get("db-path", ""),
        )

    def flows(self, stop_time: str) -> tuple[FlowOptions, ...]:
        given = {name: self.list(name) for name in PER_FLOW if name in self.text}
        count = len(given["algs"])
        for name, items in given.items():
            if len(items) != count:
                raise UsageError(
                    f"--{name}",
                    f"has {counted(len(items), 'entry')} but --algs has {count}; give one a flow",
                )
        defaults: dict[str, list[str]] = {
            "sources": [f"src_{i}" for i in range(count)],
            "destinations": [f"dst_{i}" for i in range(count)],
            "protocols": ["TCP"] * count,
            "recoveries": ["TcpPrrRecovery"] * count,
            "start-times": ["0s"] * count,
            "stop-times": [stop_time] * count,
            "traffic-models": ["Greedy(bytes=0)"] * count,
        }
        columns = defaults | given
        for name in ("sources", "destinations"):
            self.node_names(name, columns[name])
        if both := set(columns["sources"]) & set(columns["destinations"]):
            raise UsageError(
                "--destinations", f"`{min(both)}` is a source as well; name every end differently"
            )
        return tuple(
            self.flow(i, dict(zip(PER_FLOW, row, strict=True)))
            for i, row in enumerate(zip(*(columns[name] for name in PER_FLOW), strict=True))
        )

    def flow(self, i: int, entry: dict[str, str]) -> FlowOptions:
        transport: Transport = "TCP"
        if entry["protocols"] == "UDP":
            transport = "UDP"
        elif entry["protocols"] != "TCP":
            message = f"entry {i + 1}: `{entry['protocols']}` is not a protocol; write TCP or UDP"
            raise UsageError("--protocols", message)
        start = self.time("start-times", entry["start-times"])
        stop = self.time("stop-times", entry["stop-times"])
        if self.ns(stop, "stop-times") <= self.ns(start, "start-times"):
            raise UsageError(
                "--stop-times", f"entry {i + 1}: {stop} is not after its start, {start}"
            )
        recovery = PUBLISHED_RECOVERY.get(entry["recoveries"], entry["recoveries"])
        return FlowOptions(
            source=entry["sources"],
            destination=entry["destinations"],
            cc=self.word("algs", "cc", entry["algs"]),
            rtt=self.rtt("rtts", entry["rtts"]),
            start=start,
            stop=stop,
            recovery=self.word("recoveries", "recovery", recovery),
            application=traffic.parse(entry["traffic-models"], f"entry {i + 1}"),
            transport=transport,
        )

    def series(self) -> tuple[Step, ...]:
        if self.program != RESPONSIVENESS:
            return ()
        for name in ("time-series", "rate-series"):
            if name not in self.text:
                raise UsageError(f"--{name}", "is missing; this program needs it")
        given = {name: self.list(name) for name in SERIES if name in self.text}
        count = len(given["time-series"])
        for name, items in given.items():
            if len(items) != count:
                raise UsageError(
                    f"--{name}",
                    f"has {counted(len(items), 'entry')} but --time-series has {count}; give one a "
                    "time",
                )
        defaults = {
            "rtt-series": [self.bottleneck_rtt()] * count,
            "loss-series": [self.text.get("loss", "0.0")] * count,
        }
        columns = defaults | given
        steps = tuple(
            Step(
                self.time("time-series", time),
                self.rate("rate-series", rate),
                self.rtt("rtt-series", rtt),
                self.probability("loss-series", loss),
            )
            for time, rate, rtt, loss in zip(*(columns[name] for name in SERIES), strict=True)
        )
        times = [self.ns(step.time, "time-series") for step in steps]
        if times != sorted(set(times)):
            raise UsageError("--time-series", "must ascend, each time once")
        return steps

    def bottleneck_rtt(self) -> str:
        return min(self.list("rtts"), key=lambda text: self.ns(self.rtt("rtts", text), "rtts"))

    def interval(self) -> str:
        if self.program != ACK_COMPRESSION:
            return ""
        if "interval" not in self.text:
            raise UsageError("--interval", "is missing; this program needs it")
        interval = self.time("interval")
        if self.ns(interval, "interval") == 0:
            raise UsageError("--interval", "is 0; write the time between two releases, e.g. 5ms")
        return interval

    def quota(self) -> int:
        if self.program != ACK_COMPRESSION:
            return 0
        if "quota" not in self.text:
            raise UsageError("--quota", "is missing; this program needs it")
        return self.integer("quota", "")

    def trace_file(self) -> str:
        if self.program != REPLAY:
            return ""
        if "trace-file" not in self.text:
            raise UsageError("--trace-file", "is missing; this program needs it")
        return self.text["trace-file"]

    # --- values -------------------------------------------------------------------------------

    def list(self, name: str) -> list[str]:
        return split_list(f"--{name}", self.text[name])

    def node_names(self, option: str, names: Sequence[str]) -> None:
        for name in names:
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", name, re.ASCII):
                raise UsageError(f"--{option}", f"`{name}` is not a name; write one like src_0")
            if name in ("left", "right"):
                raise UsageError(f"--{option}", f"`{name}` is a gateway; choose another name")

    def word(self, option: str, kind: registry.Kind, text: str) -> str:
        try:
            return registry.resolve(kind, text)
        except ValueError as error:
            raise UsageError(f"--{option}", str(error)) from None

    def integer(self, name: str, default: str) -> int:
        """A whole number from 1 to 2^32 - 1, as seeds and quotas are."""
        text = self.text.get(name, default)
        if not re.fullmatch(r"[+-]?[0-9]{1,20}", text, re.ASCII):
            raise UsageError(f"--{name}", f"`{text}` is not a whole number")
        if not 1 <= int(text) < 2**32:
            raise UsageError(f"--{name}", f"`{text}` must be between 1 and {2**32 - 1}")
        return int(text)

    def probability(self, name: str, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value <= 1 or not text.isascii() or "_" in text:
            raise UsageError(f"--{name}", f"`{text}` is not a probability from 0 to 1")
        return value + 0.0  # no -0.0

    def time(self, name: str, text: str | None = None) -> str:
        text = self.text[name] if text is None else text
        self.ns(text, name)
        return text

    def ns(self, text: str, name: str) -> int:
        return self.unit(name, _native.parse_time, text)

    def rate(self, name: str, text: str | None = None) -> str:
        text = self.text[name] if text is None else text
        if self.unit(name, _native.parse_rate, text) == 0:
            raise UsageError(f"--{name}", f"`{text}` is no rate; it must be above 0")
        return text

    def queue_size(self, name: str) -> str:
        text = self.text[name]
        limit, _ = self.unit(name, _native.parse_queue_size, text)
        if limit == 0:
            raise UsageError(f"--{name}", f"`{text}` holds nothing; it must be at least 1p")
        return text

    def rtt(self, name: str, text: str) -> str:
        if self.ns(text, name) < ACCESS_RTT_NS:
            raise UsageError(
                f"--{name}", f"`{text}` is too short; the access links take 4 ms, so at least 4ms"
            )
        return text

    def unit(self, name: str, parse: Callable[[str], T], text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise UsageError(f"--{name}", str(error)) from None
