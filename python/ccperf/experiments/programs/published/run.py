"""One run of a published ccperf program, as data: what its command line says, checked.

:class:`DumbbellRun` stands between three things that must agree: the published command lines
(parsed by :mod:`ccperf.experiments.programs.published.parse`), the catalogue (whose published
experiments have one for each point) and the :class:`~ccperf.scenario.Scenario` that runs
(:mod:`ccperf.experiments.programs.published.build`).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

from ccperf.experiments.programs.published import traffic
from ccperf.experiments.programs.published.options import (
    ACK_COMPRESSION,
    BOTTLENECK,
    BURST,
    PER_FLOW,
    REPLAY,
    SERIES,
    STATIC,
    TRACE,
)
from ccperf.runs import backends

Transport: TypeAlias = Literal["TCP", "UDP"]

#: The published tables were made with the recovery that ns-3's development tree had in mid-2024
#: under the name that belongs to another algorithm since.
PUBLISHED_RECOVERY = {"TcpPrrRecovery": "PrrRfc6937"}
_PUBLISHED_NAME = {ours: theirs for theirs, ours in PUBLISHED_RECOVERY.items()}


class FlowOptions(NamedTuple):
    """One entry of each per-flow list."""

    source: str
    destination: str
    cc: str
    rtt: str
    start: str
    stop: str
    recovery: str = "PrrRfc6937"
    #: Fields of the scenario's application.
    application: Mapping[str, str] = traffic.GREEDY
    #: Over UDP the congestion control and the recovery are named for nothing.
    transport: Transport = "TCP"


class Step(NamedTuple):
    """One entry of the series: from ``time`` on the bottleneck has these values."""

    time: str
    rate: str
    rtt: str
    loss: float


@dataclass(frozen=True)
class DumbbellRun:
    """The values of one command line. Texts with units are kept as given."""

    bw: str
    qlen: str
    qdisc: str
    flows: tuple[FlowOptions, ...]
    stop_time: str
    seed: int = 42
    loss: float = 0.0
    program: str = STATIC
    #: Program ``responsiveness`` only.
    series: tuple[Step, ...] = ()
    #: Program ``ack-compression`` only: time between two releases, packets a release.
    interval: str = ""
    quota: int = 0
    #: Program ``replay-rate-trace`` only: a trace, and the folder that has it.
    trace_file: str = ""
    trace_dir: str = ""
    #: ``(class, attribute, value)``.
    attributes: tuple[tuple[str, str, str], ...] = ()
    experiment: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    aut: str = ""
    db_path: str = ""

    def with_recovery(self, recovery: str) -> DumbbellRun:
        """The same run with one recovery for all flows."""
        flows = tuple(flow._replace(recovery=recovery) for flow in self.flows)
        return replace(self, flows=flows)

    def command(self, first: Sequence[str] = ()) -> str:
        """The command line in its published form; options in ``first`` come before the others."""
        values: dict[str, str] = {
            "bw": self.bw,
            "loss": str(self.loss),
            "qlen": self.qlen,
            "qdisc": self.qdisc,
            "rtts": _join(f.rtt for f in self.flows),
            "sources": _join(f.source for f in self.flows),
            "destinations": _join(f.destination for f in self.flows),
            "protocols": _join(f.transport for f in self.flows),
            "algs": _join(f.cc for f in self.flows),
            "recoveries": _join(_PUBLISHED_NAME.get(f.recovery, f.recovery) for f in self.flows),
            "start-times": _join(f.start for f in self.flows),
            "stop-times": _join(f.stop for f in self.flows),
            "traffic-models": _join(traffic.write(f.application) for f in self.flows),
        }
        order: tuple[str, ...] = BOTTLENECK + PER_FLOW
        if self.series:
            values |= {
                "time-series": _join(s.time for s in self.series),
                "rate-series": _join(s.rate for s in self.series),
                "rtt-series": _join(s.rtt for s in self.series),
                "loss-series": _join(str(s.loss) for s in self.series),
            }
            order = ("bw", *SERIES, *order)
        if self.program == ACK_COMPRESSION:
            values |= {"interval": self.interval, "quota": str(self.quota)}
            order = BURST + order
        if self.program == REPLAY:
            values |= {"trace-file": self.trace_file}
            order = TRACE + order
            if self.trace_dir:
                values |= {"trace-dir": self.trace_dir}
                order = (*order, "trace-dir")
        labels = {
            "experiment-name": self.experiment,
            "db-path": self.db_path,
            "parameters": _braces(self.parameters),
            "aut": self.aut,
        }
        words = [f"ns3-dev-ccperf-{self.program}-default"]
        words += [f"--{name}={value}" for name, value in labels.items() if value]
        words += [f"--stop-time={self.stop_time}", f"--seed={self.seed}"]
        words += [f"--{name}={values[name]}" for name in dict.fromkeys((*first, *order))]
        words += [f"--ns3::{c}::{attribute}={value}" for c, attribute, value in self.attributes]
        return shlex.join(words)

    def reproduce(
        self,
        backend: str = backends.DEFAULT,
        first: Sequence[str] = (),
        options: Sequence[str] = (),
    ) -> str:
        """The one command that makes this run again, with more options of `exec`.

        A published line cannot say that it means the recovery of ns-3 3.44, so that is an option.
        """
        words = ["ccperf", "exec"]
        if backend != backends.DEFAULT:
            words += ["--backend", backend]
        if any(flow.recovery in PUBLISHED_RECOVERY for flow in self.flows):
            words += ["--recovery", self.flows[0].recovery]
        return f"{shlex.join([*words, *options])} -- {self.command(first)}"


def _join(items: Iterable[str]) -> str:
    return ",".join(items)


def _braces(parameters: Mapping[str, str]) -> str:
    inner = _join(f"{name}:{value}" for name, value in parameters.items())
    return f"{{{inner}}}" if inner else ""
