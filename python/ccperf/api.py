"""The Python interface: one call, one result.

>>> import ccperf
>>> result = ccperf.run("aqm", cc="TcpNewReno", k=5, qdisc="FqCoDelQueueDisc")  # doctest: +SKIP
>>> result.flow_metrics["flow_1"]["mean_throughput_l4"]  # doctest: +SKIP
14.91...
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf import campaign
from ccperf.algorithms.user_code import names
from ccperf.base import outputs
from ccperf.experiments import catalogue
from ccperf.present import notebook
from ccperf.runs import backends

if TYPE_CHECKING:
    from ccperf.runs.result import Result
    from ccperf.scenario import Scenario

Progress = Callable[[float], None]


def run(
    experiment: str,
    *,
    cc: str | type,
    seed: int | None = None,
    recovery: str | None = None,
    stop_time: str | None = None,
    backend: str = backends.DEFAULT,
    packets: str | Path | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> Result:
    """Run one point of an experiment of the catalogue.

    Args:
        experiment: its name, e.g. ``"aqm"``; ``ccperf list`` has them all.
        cc: the algorithm under test, under ns-3's or Linux's name, or one of your own:
            ``"./libmycca.so"``, ``"my_module:MyCca"``, or the class itself.
        seed, recovery, stop_time: instead of the experiment's own.
        backend: ``"native"`` or ``"ns3"``.
        packets: File for the packet trace: CSV, or a capture if it ends in `.pcapng`.
        progress: called with the part that is done, from 0 to 1; in a notebook, a bar if not given.
        parameters: of the experiment, e.g. ``k=5``; the published point's values if not given.

    Raises:
        UsageError: names the argument that is wrong.
        RunError: if the run fails.
    """
    chosen = catalogue.get(experiment)
    if isinstance(cc, type):
        cc = names.name_of(cc)
    given = {"recovery": recovery, "stop_time": stop_time}
    settings = {name: value for name, value in given.items() if value is not None}
    (point,) = campaign.expand(chosen, cc, grid=[parameters], seeds=[seed], **settings)
    return _simulate(point, backend, packets, progress)


def simulate(
    scenario: Scenario,
    *,
    backend: str = backends.DEFAULT,
    packets: str | Path | None = None,
    progress: Progress | None = None,
) -> Result:
    """Run a scenario of your own.

    Raises:
        ScenarioError: has the path of everything in the scenario that makes no sense.
        RunError: if the run fails.
    """
    return _simulate(campaign.Point(scenario), backend, packets, progress)


def _simulate(
    point: campaign.Point, backend: str, packets: str | Path | None, progress: Progress | None
) -> Result:
    made_by = backends.get(backend)
    if missing := made_by.available():
        from ccperf.errors import UsageError

        raise UsageError("backend", f"`{backend}` cannot be used here: {missing}")
    trace = Path(packets) if packets is not None else None
    if trace:
        outputs.may_write(trace, outputs.packets(trace), "packets")
    bar = None if progress else notebook.progress()
    result = campaign.simulate(point, made_by, progress or bar, packets=trace)
    if bar:
        bar(1.0)
    return result
