"""A finished run: what was asked for, what came out, and where it came from."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from ccperf import __version__
from ccperf.algorithms.user_code.names import label, labels, without_paths
from ccperf.base.wording import counted
from ccperf.errors import UnknownKey, unknown
from ccperf.runs import backends
from ccperf.runs.metrics import METRICS, compute
from ccperf.runs.sources import sources_hash
from ccperf.scenario.canonical import canonical_json, json_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from ccperf.present.notebook import Plot
    from ccperf.runs.backends import Backend
    from ccperf.runs.diagnoses import Note
    from ccperf.runs.metrics import MetricTables
    from ccperf.runs.recording import Recording
    from ccperf.runs.summary import Part
    from ccperf.scenario import Scenario
    from ccperf.scenario.canonical import Runnable


@dataclass(frozen=True)
class Provenance:
    """Where a result comes from: what has to be the same to get the same again.

    Nothing in here depends on the host; how long it took there is `Result.wall_seconds`.
    """

    ccperf_version: str
    #: Of the sources of engine and metrics.
    engine_hash: str
    backend: str
    backend_version: str
    scenario_hash: str
    seed: int
    #: SHA-256 of the files of each user's algorithm, by its label.
    user_code: Mapping[str, str] = field(default_factory=dict)


class Identity(NamedTuple):
    """Which run it is, known before it is made; see :func:`identify`."""

    #: 16 hex digits.
    id: str
    #: SHA-256 of the files of each user's algorithm, by its name in the scenario.
    user_code: Mapping[str, str] = {}

    @classmethod
    def of(cls, backend: Backend, scenario: str, user_code: Mapping[str, str]) -> Identity:
        """That of a run on `backend`; `scenario` is what `identity_text` returns."""
        fields = {
            "scenario": scenario,
            "backend": canonical_json([backend.name, backend.version]),
            "engine": canonical_json(sources_hash()),
        }
        return cls(hashlib.sha256(json_object(fields).encode()).hexdigest()[:16], user_code)


@dataclass(frozen=True, eq=False)
class Result:
    """One run with its metrics and its recording.

    `experiment` and `parameters` say which point of the catalogue it is, if it is one. Results are
    equal if they are the same run as the same point.
    """

    id: str
    scenario: Scenario
    recording: Recording = field(repr=False)
    metrics: MetricTables = field(repr=False)
    provenance: Provenance
    experiment: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    wall_seconds: float | None = None

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        recording: Recording,
        backend: Backend,
        *,
        identity: Identity | None = None,
        experiment: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        wall_seconds: float | None = None,
    ) -> Result:
        """Compute the metrics of `recording`, which `backend` made of `scenario`.

        `identity` is that of before the run: what the files hold by now is of no interest.
        """
        identity = identity or identify(scenario, backend)
        return cls(
            id=identity.id,
            scenario=scenario,
            recording=recording,
            metrics=compute(scenario, recording),
            provenance=provenance(scenario, backend, identity),
            experiment=experiment,
            parameters=dict(parameters or {}),
            wall_seconds=wall_seconds,
        )

    @property
    def flow_metrics(self) -> dict[str, dict[str, float]]:
        """Metrics of each flow: `{flow: {metric: value}}`."""
        return _known("flow", self.metrics.flow)

    @property
    def link_metrics(self) -> dict[str, dict[str, float]]:
        """Metrics of each bottleneck direction: `{direction: {metric: value}}`."""
        return _known("link", self.metrics.link)

    @property
    def network_metrics(self) -> dict[str, dict[str, float]]:
        """Metrics of all flows together: `{"net": {metric: value}}`."""
        return _known("network", self.metrics.network)

    @property
    def class_metrics(self) -> dict[str, dict[str, float]]:
        """Metrics of each class of transfers: `{class: {metric: value}}`; empty if not recorded."""
        return _known("class", self.metrics.classes)

    def json(self, *, scenario: bool = True) -> dict[str, Any]:
        """Return the run as one JSON object, as `exec --json` prints it; or without `scenario`."""
        return {
            "run": self.id,
            "experiment": self.experiment,
            "parameters": dict(self.parameters),
            **({"scenario": self.scenario.portable()} if scenario else {}),
            "flow_metrics": self.flow_metrics,
            "link_metrics": self.link_metrics,
            "network_metrics": self.network_metrics,
            "class_metrics": self.class_metrics,
            "notes": [note._asdict() for note in self.notes],
            "provenance": asdict(self.provenance),
        }

    @cached_property
    def notes(self) -> list[Note]:
        """Return what holds the run back, or looks wrong in it, by :mod:`ccperf.runs.diagnoses`."""
        from ccperf.runs.diagnoses import diagnose

        return diagnose(self.scenario.parsed, self.recording, self.link_metrics)

    @property
    def summary(self) -> list[Part]:
        """Return what people look at first, by :mod:`ccperf.runs.summary`."""
        from ccperf.runs.summary import parts

        names = (str(flow.name or f"flow_{i}") for i, flow in enumerate(self.scenario.flows, 1))
        flows = zip(names, self.scenario.flows, strict=True)
        return parts(self.metrics, {name: flow.cc.type for name, flow in flows if flow.cc})

    @property
    def called(self) -> str:
        """The experiment, or the scenario's label."""
        return called(self.experiment, self.scenario.label)

    @property
    def title(self) -> str:
        """The experiment with its parameters, or the scenario's label."""
        return title(self.experiment, self.parameters, self.scenario.label)

    def __eq__(self, other: object) -> bool:
        # All that the outcome depends on is in the id.
        if not isinstance(other, Result):
            return NotImplemented
        return (self.id, self.experiment, self.parameters) == (
            other.id,
            other.experiment,
            other.parameters,
        )

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        flows = counted(self.recording.flows.rows, "flow")
        return f"<Result {self.id}: {self.title}, {flows}>"

    @overload
    def plot(
        self,
        name: str = ...,
        *,
        panel: str = ...,
        bin: str = ...,
        sum: bool = ...,
        log: str = ...,
        labels: Mapping[str, str] = ...,
        ax: None = ...,
    ) -> Plot: ...

    @overload
    def plot(
        self,
        name: str = ...,
        *,
        panel: str = ...,
        bin: str = ...,
        sum: bool = ...,
        log: str = ...,
        labels: Mapping[str, str] = ...,
        ax: Axes,
    ) -> Axes: ...

    def plot(
        self,
        name: str = "time_series",
        *,
        panel: str = "",
        bin: str = "",
        sum: bool = False,
        log: str = "",
        labels: Mapping[str, str] = MappingProxyType({}),
        ax: Axes | None = None,
    ) -> Plot | Axes:
        """Return a figure of the run, which a notebook shows; or draw it into axes of your own.

        Args:
            name: the figure, e.g. ``"time_series"``, ``"queue"``; ``ccperf list figures`` has all.
            panel: only that panel, e.g. ``"throughput"``.
            bin: means over bins of that length, e.g. ``"200ms"``, of a figure over time.
            sum: the flows together: throughput and data in flight added up, means of the rest.
            log: axes that are logarithmic: ``"x"``, ``"y"`` or ``"xy"``.
            labels: other words for what is shown, ``{"TcpCubic": "CUBIC"}``.
            ax: Matplotlib axes to draw a single panel into; your own settings hold.

        Returns:
            A plot, whose `save` writes it for a paper; with `ax` those axes.

        Raises:
            UsageError: names the argument that is wrong, or what the run has nothing of.
        """
        from ccperf.present.figures import adjusted, describe, origin
        from ccperf.present.notebook import Plot

        figure = describe(name, self.scenario, self.recording)
        figure = replace(figure, origin=origin([self]))
        plot = Plot(adjusted(figure, panel=panel, bin=bin, sum=sum, log=log, labels=labels))
        return plot if ax is None else plot.onto(ax)

    def to_pandas(self, table: str | None = None) -> Any:
        """Return the metrics as a data frame of pandas, one row a value; or a recording's table.

        Raises `UsageError` without pandas, `KeyError` for a table that there is not.
        """
        return self._frame(table, "pandas")

    def to_polars(self, table: str | None = None) -> Any:
        """Return what `to_pandas` does as a data frame of polars."""
        return self._frame(table, "polars")

    def _frame(self, table: str | None, library: str) -> Any:
        from ccperf.base.libraries import frame

        if table is not None:
            if table not in self.recording.tables:
                raise UnknownKey(unknown("table", table, self.recording.tables))
            return frame(dict(self.recording.tables[table]), library)
        values = [
            # A database may be of a ccperf with other metrics.
            (scope, subject, name, value, METRICS[name].unit if name in METRICS else None)
            for scope, columns in self.metrics.by_scope.items()
            for subject, metrics in columns.items()
            for name, value in metrics.items()
        ]
        names = ("scope", "subject", "metric", "value", "unit")
        return frame({n: [row[i] for row in values] for i, n in enumerate(names)}, library)

    def _repr_html_(self) -> str:
        """Show a figure, what people look at first, and folded up all metrics with definitions."""
        from html import escape

        from ccperf.errors import UsageError
        from ccperf.present import notebook
        from ccperf.runs.diagnoses import grouped

        made = self.provenance
        caption = (
            f"run {self.id}, {made.backend} {made.backend_version}, seed {made.seed}, "
            f"scenario {made.scenario_hash[:16]}"
        )
        tables = self.metrics.by_scope.values()
        try:
            drawn = self.plot()._repr_html_()
        except UsageError:  # nothing to draw
            drawn = ""
        first = "".join(
            notebook.table(each.head, each.rows) + f"<p>and {each.more} more</p>" * bool(each.more)
            for each in self.summary
        )
        notes = [f"{note.subject}: {note.text}" for note, _ in grouped(self.notes)]
        said = "".join(f"<p>{escape(text)}</p>" for text in notes)
        return (
            f"<h4>{escape(self.title)}</h4><p><small>{escape(caption)}</small></p>"
            f"{drawn}{first}{said}<details><summary>All metrics</summary>"
            f"{''.join(map(_metric_table, filter(None, tables)))}</details>"
        )


class _Known(dict[str, Any]):
    """What has a name; a name that is not there is answered with those that are."""

    def __init__(self, what: str, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self._what = what

    def __missing__(self, name: str) -> Any:
        raise UnknownKey(unknown(self._what, name, self))


def _known(scope: str, columns: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return _Known(scope, {name: _Known("metric", values) for name, values in columns.items()})


def identify(scenario: Scenario, backend: Backend) -> Identity:
    """Return the identity of the run of `scenario` on `backend`.

    It depends on everything that the outcome depends on: the scenario (its label left out), the
    backend with its version, the sources of engine and metrics, and the content of the user's code
    if there is some, but not on where that lies.  Raises what
    :func:`ccperf.runs.backends.user_code` does.
    """
    digests = backends.user_code(scenario.user_code, backend)
    return Identity.of(backend, identity_text(scenario.canonical(), digests), digests)


def identity_text(canonical: Mapping[str, Any], user_code: Mapping[str, str]) -> str:
    """Return what an identity depends on of a scenario, as JSON: all but its label, and of user
    code its digests.
    """
    called = {name: f"{label(name)} {digest}" for name, digest in user_code.items()}
    portable = without_paths(canonical, called)
    return canonical_json({name: each for name, each in portable.items() if name != "label"})


def provenance(scenario: Runnable, backend: Backend, identity: Identity) -> Provenance:
    """Return the provenance of a run of `scenario` on `backend` with this version of ccperf."""
    called = labels(list(identity.user_code))
    return Provenance(
        ccperf_version=__version__,
        engine_hash=sources_hash(),
        backend=backend.name,
        backend_version=backend.version,
        scenario_hash=scenario.hash,
        seed=scenario.parsed["seed"],
        user_code={called[name]: digest for name, digest in identity.user_code.items()},
    )


def called(experiment: str | None, label: str | None) -> str:
    """Return the name of a run's experiment; without one the label of its scenario, if any."""
    return experiment or label or "scenario"


def title(experiment: str | None, parameters: Mapping[str, Any], label: str | None) -> str:
    """Return `aqm k=5 qdisc=FqCoDelQueueDisc`; without experiment only what it is `called`."""
    point = (f"{name}={value}" for name, value in parameters.items()) if experiment else ()
    return " ".join([called(experiment, label), *point])


def _metric_table(table: Mapping[str, Mapping[str, float]]) -> str:
    from html import escape

    names = [name for name in METRICS if any(name in values for values in table.values())]
    head = "".join(f"<th>{escape(column)}</th>" for column in table)
    rows = []
    for name in names:
        metric = METRICS[name]
        cells = "".join(
            f"<td>{values[name]:,.2f}</td>" if name in values else "<td></td>"
            for values in table.values()
        )
        hint = escape(metric.definition, quote=True)
        rows.append(f'<tr><th title="{hint}">{name} [{metric.unit}]</th>{cells}</tr>')
    return f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"
