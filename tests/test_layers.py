"""The layers: which unit may use which, in the package and in the crates below it.

Each line of the tables names a unit and what it may use. A unit is a module with all below it that
has no line of its own. What is not said is forbidden, in a re-export or inside a function as well
as at a file's head. To let in a new arrow, add it here, and see that it still points down.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import arrows
from arrows import Arrows

Find = Callable[[], Arrows]

_ENGINE = """
schema.problem      :
schema.lowered      :
schema              : schema.problem
schema.written      : schema schema.lowered
base.time           :
base.limits         : base.time
base.seq            :
base.cpp            :
base.math           :
base.fetch          :
base.ring           : base.fetch
base.units          : base.time
base.attributes     : base.time base.units
packet.flow_monitor : base.time
base.mix            :
base.opaque         :
base.pair_table     : base.mix
packet.path_monitor : base.pair_table base.time
packet              : base.fetch base.seq base.time packet.flow_monitor packet.path_monitor
packet.verdict      :
base.event          : base.fetch base.mix base.time
base.rng            : base.math schema.lowered
packet.capture      : base.time packet
packet.trace        : base.time packet packet.capture packet.verdict
net.qdisc           : base.attributes base.math base.rng base.time base.units packet
                      packet.flow_monitor packet.trace packet.verdict
host.departures     : base.time
host.tcp            : base.attributes base.cpp base.fetch base.ring base.seq base.time
                      host.departures packet
host.slow_start     : base.seq base.time host.tcp
host.congestion     : base.attributes base.cpp base.math base.rng base.seq base.time host.slow_start
                      host.tcp packet
host.recovery       : base.attributes base.cpp host.tcp
base.error          : base.time
host.user           : base.error host.tcp net.qdisc net.routing schema.lowered
net.routing         : base.attributes base.math base.mix base.pair_table base.rng base.seq base.time
                      packet
net.network         : base.event base.fetch base.pair_table base.ring base.rng base.time net.qdisc
                      net.routing packet packet.flow_monitor packet.path_monitor packet.trace
                      packet.verdict schema.lowered
host.application    : base.event base.math base.ring base.rng base.time host.tcp schema.lowered
host.path           : base.time
host.rate_control   : base.attributes base.time host.path packet
host.trimming       : base.attributes base.time host.path
host.hosts          : base.error base.event base.fetch base.limits base.seq base.time
                      host.application host.departures host.rate_control host.tcp host.trimming
                      net.network packet schema.lowered
run.recording       :
run.recorder        : base.error base.time host.hosts net.network net.routing packet.flow_monitor
                      packet.path_monitor packet.verdict run.recording schema.lowered
host.outside        : base.error host.application host.departures host.hosts net.network
                      schema.lowered
run.build           : base.attributes base.error base.event base.limits base.rng base.time
                      host.application host.congestion host.hosts host.outside host.path
                      host.rate_control host.recovery host.slow_start host.tcp host.trimming
                      host.user net.network net.qdisc net.routing packet packet.capture packet.trace
                      schema.lowered
run.schedule        : base.event base.time schema.lowered
run.openings        : base.event
run.simulate        : base.error base.event base.time host.hosts host.outside host.user net.network
                      packet packet.trace run.build run.openings run.recorder run.recording
                      run.schedule schema.lowered
run.parallel        : base.error base.event base.fetch base.time host.user net.network net.qdisc
                      packet run.recording run.simulate schema.lowered
scenario            : base.attributes base.limits base.rng base.time base.units host.congestion
                      host.rate_control host.recovery host.tcp host.trimming host.user net.qdisc
                      net.routing packet run.recording schema schema.lowered schema.written
"""

#: `_native` is the engine.
_PACKAGE = """
_native                :
errors                 :
base.prose             :
base.wording           :
base.columns           :
base.consoles          :
base.expression        :
base.outputs           : errors
base.interruption      :
base.folders           : base.interruption
base.process           :
base.lazy              :
base.libraries         : errors
data                   :
experiments.grid       : algorithms.user_code base.expression errors
scenario.readable      : errors
scenario.toml          : errors scenario.readable
scenario.differences   :
experiments.bounds     : _native errors
experiments.traces     : _native data errors experiments.bounds
experiments.collectives : errors experiments.bounds
algorithms             :
algorithms.user_code   : _native algorithms base.expression errors
algorithms.judges      : data
algorithms.registry    : _native algorithms.judges algorithms.user_code base.expression errors
scenario.chance        : algorithms.registry
runs.recording         : _native base.libraries base.wording errors
scenario.canonical     : _native algorithms.user_code
runs.consistency       : _native runs.recording
runs.parquet           : _native runs.recording
scenario.fields        : algorithms.user_code base.expression
scenario.added_delay   : scenario.fields
algorithms.releases    : algorithms.registry errors
scenario.profiles      : algorithms.releases errors
scenario.sysctl        : errors
scenario.workload      : scenario.added_delay scenario.fields
scenario.flow_trace    : _native base.wording errors
runs.metrics           : _native algorithms.registry
runs.diagnoses         : _native algorithms.registry runs.metrics
runs.sources           : _native runs.metrics
runs.summary           : runs.metrics
present.varying        : _native runs.metrics
present.figures        : _native algorithms.registry algorithms.user_code base.folders
                         base.expression base.libraries base.outputs base.wording errors
                         present.varying runs.diagnoses runs.metrics
present.notebook       : base.libraries present.figures
scenario               : _native algorithms.registry algorithms.user_code base.expression
                         base.lazy base.libraries base.wording errors
                         present.notebook scenario.added_delay scenario.canonical scenario.fields
                         scenario.flow_trace scenario.profiles scenario.readable scenario.sysctl
                         scenario.toml scenario.workload
experiments.topologies : _native algorithms.registry algorithms.user_code base.wording errors
                         experiments.bounds scenario scenario.toml
experiments.programs   : _native algorithms.registry base.expression base.lazy base.outputs
                         base.wording data errors experiments.topologies experiments.traces
                         runs.backends runs.flow_monitor scenario scenario.profiles
experiments.published  : data
algorithms.roles       :
experiments.catalogue  : _native algorithms.registry algorithms.roles algorithms.user_code
                         base.expression base.lazy base.outputs base.wording errors
                         experiments.bounds experiments.collectives experiments.programs
                         experiments.published experiments.topologies experiments.traces
                         runs.backends scenario.flow_trace scenario.profiles scenario.sysctl
                         scenario.toml
runs.flow_monitor      : errors
runs.backends          : _native algorithms algorithms.registry algorithms.releases
                         algorithms.user_code base.folders base.process errors runs.consistency
                         runs.parquet runs.recording
runs.result            : algorithms.user_code base.libraries base.wording errors present.figures
                         present.notebook runs.backends runs.diagnoses runs.metrics runs.sources
                         runs.summary scenario.canonical
present.laid_over      : algorithms.roles present.figures
present.citation       : algorithms.registry algorithms.releases algorithms.roles base.expression
                         base.prose base.wording data experiments.catalogue present.varying
                         runs.backends scenario.profiles
evidence               : _native algorithms.registry algorithms.roles algorithms.user_code
                         base.columns base.expression base.libraries base.outputs base.wording
                         errors experiments.catalogue experiments.grid present.figures
                         present.notebook runs.metrics scenario.canonical scenario.chance
                         scenario.differences store
present.exporters      : algorithms.roles base.outputs errors runs.backends runs.flow_monitor
                         runs.metrics runs.result scenario store
store                  : _native algorithms.registry algorithms.roles algorithms.user_code
                         base.outputs base.wording errors runs.consistency runs.metrics
                         runs.parquet runs.recording runs.result scenario scenario.canonical
experiments.what_if    : _native algorithms.user_code base.expression base.wording errors
                         experiments.grid experiments.topologies scenario
campaign               : _native algorithms.user_code base.folders base.consoles base.process
                         base.interruption base.wording errors present.notebook runs.backends
                         runs.metrics runs.result runs.sources scenario scenario.canonical
                         scenario.chance store
campaign.plan          : base.expression campaign errors experiments.catalogue experiments.grid
present.reproduce      : algorithms.roles algorithms.user_code base.expression errors
                         experiments.catalogue
verify                 : _native algorithms.judges algorithms.registry algorithms.releases
                         base.folders base.process base.interruption base.wording base.outputs
                         campaign data errors experiments.catalogue experiments.programs
                         experiments.published experiments.topologies experiments.traces
                         runs.backends runs.diagnoses runs.metrics scenario scenario.profiles
site                   : _native algorithms.registry algorithms.roles base.process base.expression
                         base.outputs base.prose base.wording data errors evidence
                         experiments.catalogue experiments.what_if present.citation present.figures
                         present.reproduce present.varying runs.backends runs.diagnoses runs.metrics
                         runs.result runs.sources store verify
api                    : algorithms.roles algorithms.user_code base.folders base.columns
                         base.expression base.libraries base.outputs base.wording campaign
                         campaign.plan errors evidence experiments.catalogue experiments.grid
                         experiments.topologies present.figures present.laid_over present.notebook
                         runs.backends runs.metrics scenario.sysctl scenario.toml site store
include                :
gym                    : _native algorithms base.libraries base.wording errors experiments.catalogue
cli                    : algorithms.registry algorithms.releases algorithms.roles
                         algorithms.user_code api base.columns base.consoles base.process
                         base.expression base.interruption base.outputs base.wording campaign
                         campaign.plan data errors evidence experiments.catalogue experiments.grid
                         experiments.programs experiments.topologies experiments.what_if
                         present.citation present.exporters present.figures present.laid_over
                         present.reproduce runs.backends runs.diagnoses runs.metrics runs.sources
                         runs.summary scenario scenario.differences scenario.profiles
                         scenario.sysctl scenario.toml site store verify
__main__               : cli
"""


def _table(text: str) -> dict[str, set[str]]:
    lines: list[str] = []
    for line in text.strip().splitlines():
        if line.startswith(" "):
            lines[-1] += line
        else:
            lines.append(line)
    return {
        unit.strip(): set(used.split()) for unit, _, used in (line.partition(":") for line in lines)
    }


ENGINE, PACKAGE = _table(_ENGINE), _table(_PACKAGE)
#: What is allowed, and what finds what there is: once, and not where tests are only collected.
HOUSES = {"engine": (ENGINE, cache(arrows.rust)), "package": (PACKAGE, cache(arrows.python))}
both = pytest.mark.parametrize(("allowed", "find"), HOUSES.values(), ids=HOUSES)


@both
def test_no_unit_uses_what_it_may_not(allowed: Arrows, find: Find) -> None:
    # The package's own front door has its version, which everybody may ask for.
    forbidden = [
        f"{unit} uses {other}, in {module}"
        for unit, other, module in arrows.between_units(find(), allowed)
        if other and other not in allowed.get(unit, ())
    ]
    assert not forbidden, "\n".join(forbidden)


@both
def test_no_unit_may_use_what_it_does_not(allowed: Arrows, find: Find) -> None:
    used = {(unit, other) for unit, other, _ in arrows.between_units(find(), allowed)}
    may_use = {(unit, other) for unit, others in allowed.items() for other in others}
    assert not sorted(may_use - used)


@both
def test_the_table_names_what_there_is(allowed: Arrows, find: Find) -> None:
    found = find()
    rooms = {module.partition(".")[0] for module in allowed}
    nameless = {m for m in found if not arrows.unit(m, allowed)} - rooms - {""}
    assert not nameless
    assert allowed.keys() <= {*found, "_native"}
    assert set().union(*allowed.values()) <= allowed.keys()


@pytest.mark.parametrize("allowed", [ENGINE, PACKAGE], ids=HOUSES)
def test_what_is_allowed_has_no_circle(allowed: Arrows) -> None:
    assert arrows.circles(allowed) == []


@pytest.mark.parametrize("find", [find for _, find in HOUSES.values()], ids=HOUSES)
def test_files_make_no_circles(find: Find) -> None:
    """A file in a folder belongs to the folder's module, and may use what stands at its head."""
    without_heads = {
        module: {other for other in used if not module.startswith(f"{other}.")}
        for module, used in find().items()
    }
    assert arrows.circles(without_heads) == []


def test_a_library_knows_no_command_line() -> None:
    """Not even for its types."""
    for module, used in arrows.python(types=True).items():
        if module.partition(".")[0] not in ("cli", "__main__"):
            assert not [other for other in used if other.partition(".")[0] == "cli"], module


def test_an_arrow_is_seen_wherever_it_hides(tmp_path: Path) -> None:
    house = tmp_path / "ccperf"
    house.mkdir()
    (house / "low.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from ccperf.types import T\n"
        "def f() -> None:\n    from ccperf import high\n"
    )
    for name in ("high", "types"):
        (house / f"{name}.py").write_text("")
    assert arrows.python(house)["low"] == {"high"}
    assert arrows.python(house, types=True)["low"] == {"high", "types"}

    crate = tmp_path / "src"
    (crate / "low").mkdir(parents=True)
    for name in ("high", "other", "third", "tests_only"):
        (crate / f"{name}.rs").write_text("")
    (crate / "low" / "mod.rs").write_text(
        "mod part;\n#[cfg(test)]\nmod bench;\npub use crate::high::{A, b::C};\n"
        "// use crate::tests_only;\nfn f() { part::g(crate::other::VALUE, self::part::X) }\n"
        '#[cfg(test)]\nmod tests { fn f() { use crate::tests_only; let s = "}"; } }\n'
    )
    (crate / "low" / "part.rs").write_text("use super::super::third;\nuse super::f;\n")
    (crate / "low" / "bench.rs").write_text("mod more;\nuse crate::tests_only;\n")
    (crate / "low" / "bench").mkdir()
    (crate / "low" / "bench" / "more.rs").write_text("use crate::tests_only;\n")
    found = arrows.rust({"": crate})
    assert found["low"] == {"high", "other", "low.part"}
    assert found["low.part"] == {"third", "low"}
    assert not {"low.bench", "low.bench.more"} & found.keys()

    above = tmp_path / "scenario"
    above.mkdir()
    (above / "lib.rs").write_text("mod check;\nuse ccperf_engine::low::part;\n")
    (above / "check.rs").write_text("use ccperf_engine::{high, third::X};\nuse crate::Problem;\n")
    found = arrows.rust({"": crate, "scenario": above})
    assert found["scenario"] == {"low.part"}
    assert found["scenario.check"] == {"high", "third", "scenario"}


def test_a_circle_is_found() -> None:
    assert arrows.circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"]]
    assert arrows.circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
