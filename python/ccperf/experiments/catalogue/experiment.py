"""What an experiment of the catalogue is: parameters with grids, and a scenario at each point."""

from __future__ import annotations

import itertools
import random
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ccperf import _native
from ccperf.algorithms import registry, roles
from ccperf.errors import ScenarioError, UsageError, unknown
from ccperf.experiments.catalogue.parameter import AUTO, File
from ccperf.experiments.published import Published, published
from ccperf.runs import backends
from ccperf.scenario import profiles

if TYPE_CHECKING:
    from ccperf.algorithms.roles import Role
    from ccperf.experiments.catalogue.answer import Answer
    from ccperf.experiments.catalogue.parameter import Parameter, Value
    from ccperf.experiments.catalogue.printed import PrintedValues
    from ccperf.scenario import Scenario

#: What jitter, the profile of its TCP and the sysctls of its hosts are called.
JITTER = "jitter"
PROFILE = "profile"
SYSCTL = "sysctl"
#: The settings that are among the labels of a point where they are given.
LABELLED = (JITTER, PROFILE, SYSCTL)
RECOVERY = "PrrRfc6937"
SEED = 42
STOP_TIME = "15s"


@dataclass(frozen=True)
class Setup:
    """One point of an experiment with all that holds there, checked and in canonical form."""

    #: The algorithm under test; empty where nobody is (`Experiment.is_tested`).
    cc: str
    #: Every parameter of the experiment.
    parameters: Mapping[str, Value]
    seed: int = SEED
    recovery: str = RECOVERY
    stop_time: str = STOP_TIME
    #: Within which time flows start later than they would, drawn from the seed; None: as the
    #: experiment has it.
    jitter: str | None = None
    #: Whose TCP it is: a release of ns-3, or one of `profiles.TCPS`; None: the default.
    profile: str | None = None
    #: Sysctls of all hosts, as `sysctl.one_spelling` writes them; None: the kernel's own.
    sysctl: str | None = None

    def __getitem__(self, name: str) -> Any:
        return self.parameters[name]

    @property
    def labels(self) -> dict[str, str]:
        """What the point is called in databases and published command lines."""
        tested = {roles.LABELS[roles.UNDER_TEST]: self.cc} if self.cc else {}
        point = {**tested, **self.parameters, **self.labelled}
        return {
            name: value.name if isinstance(value, File) else str(value)
            for name, value in point.items()
        }

    @property
    def labelled(self) -> dict[str, str]:
        """The settings among its labels."""
        given = {name: getattr(self, name) for name in LABELLED}
        return {name: value for name, value in given.items() if value is not None}

    def __str__(self) -> str:
        """``aut=TcpNewReno k=5``."""
        return " ".join(f"{name}={value}" for name, value in self.labels.items())


class Experiment(ABC):
    """One experiment of the catalogue; subclasses are its description."""

    name: ClassVar[str]
    #: What `ccperf run` is given for one that is in no catalogue.
    file: ClassVar[str] = ""
    title: ClassVar[str]
    #: Group of the survey's taxonomy.
    group: ClassVar[str]
    #: A paragraph for people: what is done, and what a good algorithm does.
    description: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]]
    #: What its tables and figures show first.
    answer: ClassVar[Answer]

    #: What is under test: a congestion control, or a queue discipline.
    kind: ClassVar[registry.Kind] = "cc"
    #: What is tested unless something else is asked for; the algorithm of the published tables.
    usual: ClassVar[tuple[str, ...]] = ("TcpNewReno",)
    #: The parameter that decides whether what is under test takes part, and the values at which it
    #: does; None: it always does.
    tested_at: ClassVar[tuple[str, tuple[str, ...]] | None] = None
    #: The loss recovery of its flows, and the length of a run.
    recovery: ClassVar[str] = RECOVERY
    stop_time: ClassVar[str] = STOP_TIME
    #: Whether the seed draws when flows start, jitter included, as :meth:`starts` says; otherwise
    #: flows start as written, and jitter is added.
    draws_starts: ClassVar[bool] = False
    #: Whether `build` draws anything else from the seed, so that another is another scenario; None
    #: where nobody says, and scenarios of two seeds are built to see.
    draws_more: ClassVar[bool | None] = None
    #: Whether the seed draws what the flows send that the scenario lists, or between whom: flows of
    #: different seeds then are flows of one point. Workloads are drawn in any case.
    draws_flows: ClassVar[bool] = False
    #: Keys of the papers whose experiment it is, in the bibliography.
    papers: ClassVar[tuple[str, ...]] = ()
    #: What another seed changes when the algorithms draw no random numbers; nothing, if empty.
    seeded: ClassVar[str] = ""
    #: What the paper that it is from prints for it; None if that is not known here.
    printed: ClassVar[PrintedValues | None] = None

    @property
    def roles(self) -> tuple[Role, ...]:
        """Who takes part; a parameter of the role's name says who it is."""
        names = {parameter.name for parameter in self.parameters}
        return (roles.UNDER_TEST, *([roles.AGAINST] if roles.AGAINST in names else []))

    @classmethod
    def draws(cls, parameters: Mapping[str, Any]) -> bool:
        """Whether the scenario at a point depends on the seed, before anything runs."""
        return bool(cls.draws_starts or cls.draws_more or parameters.get(JITTER))

    @abstractmethod
    def build(self, setup: Setup) -> Scenario:
        """The scenario at one point: the one method that an experiment writes."""

    def scenario(self, cc: str, **given: Any) -> Scenario:
        """The scenario at one point, its meaning checked.

        Args:
            cc: the algorithm under test.
            given: parameters, their defaults if not given; ``seed``, ``recovery``, ``stop_time``,
                ``jitter``, ``profile``, ``sysctl``.

        Raises:
            UsageError: names the argument that is wrong, or the point that makes no sense.
        """
        setup = self.setup(cc, **given)
        try:
            scenario = self.build(setup)
            if setup.jitter is not None and not self.draws_starts:
                scenario = _started_later(scenario, setup)
            if setup.profile is not None:
                scenario = profiles.with_tcp(scenario, setup.profile, setup.recovery)
            if setup.sysctl is not None:
                scenario = scenario.with_sysctls(setup.sysctl)
            scenario.check()
        except ScenarioError as error:
            raise UsageError(self.name, f"at {setup}: {error.problems[0]}") from None
        return scenario

    def starts(self, setup: Setup) -> list[str] | None:  # noqa: ARG002
        """When each flow starts, where the seed draws that and nothing else; None elsewhere.

        Scenarios of other seeds are made of the first by it (:mod:`ccperf.campaign.seeds`).
        """
        return None

    def drawn_starts(self, cc: str, **given: Any) -> Callable[[int], list[str]] | None:
        """What :meth:`starts` says for any seed; None where nothing is said."""
        setup = self.setup(cc, **given)
        if self.starts(setup) is None or (setup.jitter is not None and not self.draws_starts):
            return None
        return lambda seed: self.starts(replace(setup, seed=seed)) or []

    def jittered(self, cc: str, **given: Any) -> Callable[[int], list[str]] | None:
        """When the flows of :meth:`scenario` start with a seed, where jitter is added to them.

        None where there is none, and where a flow that ends before the run could start too late:
        then each scenario has to be built and checked.
        """
        jitter = given.get(JITTER)
        if jitter is None or self.draws_starts:
            return None
        plain = self.scenario(cc, **{**given, JITTER: None})
        if any(flow.stop not in (None, plain.stop_time) for flow in plain.flows):
            return None
        return lambda seed: _later(plain, jitter, seed)

    def setup(
        self,
        cc: str,
        *,
        seed: int = SEED,
        recovery: str | None = None,
        stop_time: str | None = None,
        jitter: str | None = None,
        profile: str | None = None,
        sysctl: str | None = None,
        **parameters: object,
    ) -> Setup:
        """The point that is meant; parameters not given have their defaults.

        A release of ns-3 that is named is taken as it is, with its own loss recovery.

        Raises:
            UsageError: names the argument that is wrong.
        """
        length = _length(self.stop_time if stop_time is None else stop_time)
        release = None if profile is None else _release(profile)
        point = self.point(parameters, length)
        return Setup(
            cc=self.resolve(cc) if self.is_tested(point) else "",
            parameters=point,
            seed=seed,
            recovery=resolved("recovery", recovery or self.own_recovery(release)),
            stop_time=length,
            jitter=None if jitter is None else _time("jitter", jitter),
            profile=release,
            sysctl=None if sysctl is None else _sysctls(sysctl),
        )

    def own_recovery(self, profile: str | None) -> str:
        """The loss recovery if none is asked for: the experiment's, or that of a release."""
        return self.recovery if profile is None else profiles.RECOVERY

    def resolve(self, name: str) -> str:
        """The algorithm under test that is called so.

        Raises:
            UsageError: if there is none.
        """
        return resolved(self.kind, name)

    def is_tested(self, point: Mapping[str, Value]) -> bool:
        """Whether the algorithm under test takes part at a point, which has all parameters."""
        if self.tested_at is None:
            return True
        name, values = self.tested_at
        return point[name] in values

    def tested(self, names: Sequence[str], points: Iterable[Mapping[str, Value]]) -> list[str]:
        """Who is under test at these points: `names`, the usual ones if there are none, and an
        empty name for the points where nobody is.

        Raises:
            UsageError: if names are given, and none of them takes part anywhere.
        """
        who = list(names or self.usual)
        if self.tested_at is None:
            return who
        name, values = self.tested_at
        given = dict.fromkeys(str(point[name]) for point in points)
        nobody = [value for value in given if value not in values]
        if not nobody:
            return who
        if len(nobody) < len(given):
            return [*who, ""]
        if names:
            message = (
                f"`{','.join(names)}` takes no part where {name} is {', '.join(nobody)}; leave it "
                f"out, or choose {name} {' or '.join(values)}"
            )
            raise UsageError(self.kind, message)
        return [""]

    def takes(self, name: str) -> bool:  # noqa: ARG002
        """Whether an algorithm of this kind can be tested here, given its canonical name."""
        return True

    def length(self, setup: Setup) -> str:
        """How long a run takes at one point; its stop time, unless it ends when its flows have."""
        return setup.stop_time

    def own_length(self, point: Mapping[str, object]) -> str:
        """How long a run takes at a point if nobody asks for another stop time.

        Raises:
            UsageError: names the parameter that is wrong.
        """
        length = _length(self.stop_time)
        return self.length(Setup("", self.point(point, length), stop_time=length))

    def chosen(self, point: Mapping[str, object]) -> dict[str, object]:
        """The parameters of a point in which there was a choice: those that the catalogue varies,
        and those that are not as it has them."""
        varied = {each.name for each in self.parameters if len(each.grid) > 1}
        usual = self.point({})
        return {
            name: value
            for name, value in point.items()
            if name in varied or str(usual.get(name)) != str(value)
        }

    def following(self, points: Iterable[Mapping[str, str]]) -> set[str]:
        """The parameters that are `AUTO` by default and, at these points, follow from the others:
        none to choose, and in the way of a line over another one."""
        places = list(points)
        names = [each.name for each in self.parameters if each.default != AUTO]

        def follows(name: str) -> bool:
            pairs = {(*(place.get(other) for other in names), place.get(name)) for place in places}
            return len(pairs) == len({pair[:-1] for pair in pairs})

        return {
            each.name for each in self.parameters if each.default == AUTO and follows(each.name)
        }

    @property
    def published(self) -> tuple[Published, ...]:
        """The points whose result tables are published."""
        return tuple(page for page in published() if page.experiment == self.name)

    def grid(self) -> Iterator[dict[str, Value]]:
        """Every point of the catalogue, the last parameter varying fastest."""
        return self.product({parameter.name: parameter.grid for parameter in self.parameters})

    def product(
        self, axes: Mapping[str, Iterable[object]], stop_time: str | None = None
    ) -> Iterator[dict[str, Value]]:
        """The points of a grid, each once; parameters that are not among `axes` have all values of
        the catalogue.

        Raises:
            UsageError: names the parameter that is wrong.
        """
        self._check_names(axes)
        length = _length(stop_time or self.stop_time)
        values = [
            dict.fromkeys(map(parameter.value, axes.get(parameter.name, parameter.grid)))
            for parameter in self.parameters
        ]
        names = [parameter.name for parameter in self.parameters]
        seen = set()
        for point in itertools.product(*values):
            named = dict(zip(names, point, strict=True))
            settled = self.settle(named, length)
            # What was settled may make points equal.
            if (key := tuple(settled.values())) not in seen:
                seen.add(key)
                yield settled

    def point(
        self, parameters: Mapping[str, object], stop_time: str | None = None
    ) -> dict[str, Value]:
        """All parameters in canonical form, the default for those not given, of a run of this
        length.

        Raises:
            UsageError: names the parameter that is wrong.
        """
        self._check_names(parameters)
        values = {
            parameter.name: parameter.value(parameters.get(parameter.name, parameter.default))
            for parameter in self.parameters
        }
        return self.settle(values, stop_time or self.stop_time)

    def settle(
        self,
        values: dict[str, Value],
        stop_time: str,  # noqa: ARG002
    ) -> dict[str, Value]:
        """Replace what is `AUTO`, and check what depends on several parameters.

        Raises:
            UsageError: names the parameter that is wrong.
        """
        return values

    def _check_names(self, parameters: Iterable[str]) -> None:
        known = [parameter.name for parameter in self.parameters]
        for name in parameters:
            if name not in known:
                raise UsageError(name, unknown(f"parameter of {self.name}", name, known))

    def reproduce(self, cc: str, backend: str = backends.DEFAULT, **given: Any) -> str:
        """The ``ccperf run`` command that makes the run of one point again.

        Takes what :meth:`scenario` takes.
        """
        setup = self.setup(cc, **given)
        options: dict[str, Any] = {
            **({self.kind: setup.cc} if setup.cc else {}),
            **{name.replace("_", "-"): value for name, value in setup.parameters.items()},
            "seed": setup.seed,
        }
        if setup.recovery != self.own_recovery(setup.profile):
            options["recovery"] = setup.recovery
        if setup.stop_time != _length(self.stop_time):
            options["stop-time"] = setup.stop_time
        options |= setup.labelled
        if backend != backends.DEFAULT:
            options["backend"] = backend
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return shlex.join(["ccperf", "run", self.file or self.name, *words])


def resolved(kind: registry.Kind, name: str) -> str:
    """The canonical name of an algorithm. Raises :class:`~ccperf.errors.UsageError`."""
    try:
        return registry.resolve(kind, name)
    except ValueError as error:
        raise UsageError(kind, str(error)) from None


def _release(name: str) -> str:
    """The name of a TCP. Raises :class:`~ccperf.errors.UsageError`."""
    try:
        return profiles.resolve_tcp(name)
    except ValueError as error:
        raise UsageError(PROFILE, str(error)) from None


def _sysctls(given: str) -> str:
    from ccperf.scenario.sysctl import one_spelling  # few runs have any

    return one_spelling(given)


def _started_later(scenario: Scenario, setup: Setup) -> Scenario:
    return scenario.starting(_later(scenario, setup.jitter or "0s", setup.seed))


def _later(scenario: Scenario, jitter: str, seed: int) -> list[str]:
    """When its flows start with jitter: each up to so much later, drawn from the seed alone.

    Their ends stay where they are.
    """
    latest = _native.parse_time(scenario.stop_time) - 1
    by = jitters(_native.parse_time(jitter), seed, len(scenario.flows))
    plain = (_native.parse_time(flow.start) for flow in scenario.flows)
    starts = (start + later for start, later in zip(plain, by, strict=True))
    return [_native.format_time(min(start, latest)) for start in starts]


def jitters(longest_ns: int, seed: int, count: int) -> list[int]:
    """By how many ns a seed moves the starts of so many flows, each by at most `longest_ns`."""
    rng = random.Random(f"{seed}/jitter")
    return [rng.randint(0, longest_ns) for _ in range(count)]


def _time(name: str, given: object) -> str:
    if isinstance(given, int | float):
        raise UsageError(name, f'`{given}` has no unit; write "{given}s" for seconds')
    if not isinstance(given, str):
        raise UsageError(name, f"`{given}` is not a time; write one like 15ms")
    try:
        return _native.format_time(_native.parse_time(given))
    except ValueError as error:
        raise UsageError(name, str(error)) from None


def _length(stop_time: object) -> str:
    length = _time("stop_time", stop_time)
    if _native.parse_time(length) == 0:
        raise UsageError("stop_time", f"`{stop_time}` must be above 0")
    return length


def known_to(experiments: Iterable[Experiment], name: str) -> str:
    """What is called so in the first of these experiments that takes it.

    Raises:
        UsageError: what the first one says, if none does.
    """
    errors = []
    for experiment in experiments:
        try:
            return experiment.resolve(name)
        except UsageError as error:
            errors.append(error)
    raise errors[0]
