"""One run from Python: one call, one result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf import campaign
from ccperf.api import asked
from ccperf.base import outputs
from ccperf.present import notebook
from ccperf.runs import backends

if TYPE_CHECKING:
    from ccperf.api.asked import Algorithm
    from ccperf.runs.result import Result
    from ccperf.scenario import Scenario

Progress = Callable[[float], None]


def run(
    experiment: str | Path,
    *,
    cc: Algorithm | None = None,
    seed: int | None = None,
    recovery: str | None = None,
    stop_time: str | None = None,
    jitter: str | None = None,
    profile: str | None = None,
    sysctl: str | Mapping[str, object] | None = None,
    backend: str = backends.DEFAULT,
    packets: str | Path | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    **parameters: Any,
) -> Result:
    """Run one point of an experiment of the catalogue, or a dumbbell of your own.

    >>> ccperf.run("aqm", cc="cubic", k=2, qdisc="codel")  # doctest: +SKIP
    >>> ccperf.run("dumbbell", cc="bbr", rate="9Mbps", rtt="40ms", flows=2)  # doctest: +SKIP

    Args:
        experiment: its name, e.g. ``"aqm"``; ``ccperf list`` has them all. Or ``"dumbbell"``, with
            ``rate``, ``rtt``, ``buffer``, ``flows`` and ``qdisc`` of yours; or a file with an
            experiment of your own, ``"mine.toml"``.
        cc: the algorithm under test, under ns-3's or Linux's name, or one of your own:
            ``"./libmycca.so"``, ``"my_module:MyCca"``, or the class itself. Experiments on queue
            disciplines have ``qdisc`` instead, those on load balancers ``routing``. If not given,
            NewReno, or the first of the experiment's usual disciplines or balancers.
        seed, recovery, stop_time: instead of the experiment's own.
        jitter: time within which flows start, drawn from the seed, e.g. ``"10ms"``.
        profile: a release of ns-3, e.g. ``"ns3-3.48"``, with its TCP and its own loss recovery.
        sysctl: of all hosts on the backend ``linux``: ``{"tcp_sack": 0}``.
        backend: ``"native"``, ``"ns3"`` or ``"linux"``.
        packets: File for the packet trace: CSV, or a capture if it ends in `.pcapng`.
        threads: that share the run of a network of several racks; the result is the same.
        progress: called with the part that is done, from 0 to 1; in a notebook, a bar if not given.
        parameters: of the experiment, e.g. ``k=5``; the published point's values if not given.

    Raises:
        UsageError: names the argument that is wrong.
        RunError: if the run fails.
    """
    chosen = asked.experiment(experiment)
    given = {name: asked.single(name, value) for name, value in parameters.items()}
    names, rest = asked.tested(chosen, asked.single("cc", cc), given)
    if cc is not None or chosen.kind in given:
        asked.single(chosen.kind, names if names[1:] else names[0])
    for name, setting in (("recovery", recovery), ("profile", profile)):
        asked.text(name, setting)
    own = {
        "recovery": recovery,
        "stop_time": stop_time,
        "jitter": jitter,
        "profile": profile,
        "sysctl": asked.sysctl(sysctl, backend),
    }
    settings = {name: value for name, value in own.items() if value is not None}
    number = None if seed is None else asked.seed(asked.single("seed", seed))
    length = {} if stop_time is None else {"stop_time": stop_time}
    tested = chosen.tested(names, [chosen.point(rest, **length)])
    (point,) = campaign.expand(chosen, tested[0], grid=[rest], seeds=[number], **settings)
    return _simulate(point, backend, packets, threads, progress)


def simulate(
    scenario: Scenario | str | Path | Mapping[str, Any],
    *,
    backend: str = backends.DEFAULT,
    packets: str | Path | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Result:
    """Run a scenario of your own.

    Args:
        scenario: what to run, whose seed it has: a `Scenario`, a file, or what a file would have,
            ``{"stop_time": "9s", "dumbbell": {...}}``.
        backend: ``"native"``, ``"ns3"`` or ``"linux"``.
        packets: File for the packet trace: CSV, or a capture if it ends in `.pcapng`.
        threads: that share the run of a network of several racks; the result is the same.
        progress: called with the part that is done, from 0 to 1; in a notebook, a bar if not given.

    Raises:
        UsageError: names the argument that is wrong.
        ScenarioError: has the path of everything in the scenario that makes no sense.
        RunError: if the run fails.
    """
    return _simulate(campaign.Point(asked.scenario(scenario)), backend, packets, threads, progress)


def _simulate(
    point: campaign.Point,
    backend: str,
    packets: str | Path | None,
    threads: int,
    progress: Progress | None,
) -> Result:
    made_by = asked.backend(backend)
    backends.share(made_by, threads, "threads")
    if not made_by.abilities.is_in_process:
        # What it lacks is said before its program starts.
        made_by.prepare(point.scenario)
    asked.file("packets", packets)
    trace = Path(packets) if packets is not None else None
    if trace:
        outputs.may_write_packets(trace, backend, made_by.abilities.packets, "packets")
    bar = None if progress else notebook.progress()
    result = campaign.simulate(point, made_by, progress or bar, packets=trace)
    if bar:
        bar(1.0)
    return result
