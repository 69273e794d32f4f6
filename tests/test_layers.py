"""The layers: which unit may use which, in the package and in the engine.

A unit is a file or folder at the top of either. Each line of the tables says what a unit may use;
what is not said is forbidden, in a re-export or inside a function as well as at a file's head. To
let in a new arrow, add it here, and see that it still points down.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import arrows
from arrows import Arrows

_ENGINE = """
time             :
seq              :
cpp              :
math             :
ring             :
fetch            :
units            : time
attributes       : time units
flow_monitor     : time
mix              :
pair_table       : mix
path_monitor     : pair_table time
packet           : fetch flow_monitor path_monitor seq time
verdict          :
event            : time
rng              : math
lowered          : rng time
capture          : packet time
trace            : capture packet time verdict
qdisc            : attributes flow_monitor math packet rng time trace units verdict
departures       : time
tcp              : attributes cpp departures packet ring seq time
congestion       : attributes cpp math packet rng seq tcp time
recovery         : attributes cpp tcp
error            : time
user             : error lowered qdisc routing tcp
routing          : attributes math mix packet pair_table rng seq time
network          : event fetch flow_monitor lowered packet pair_table path_monitor qdisc ring rng
                   routing time trace verdict
application      : event lowered math ring rng tcp time
hosts            : application departures event lowered network packet seq tcp time
recording        :
recorder         : error flow_monitor hosts lowered network path_monitor recording routing tcp
                   time verdict
build            : application attributes capture congestion error event hosts lowered network
                   packet qdisc recovery rng routing tcp time trace user
schedule         : event lowered time
openings         : event
simulate         : build error event hosts lowered network openings recorder recording schedule
                   time trace user
scenario         : attributes congestion lowered packet qdisc recording recovery rng routing tcp
                   time units user
"""

#: `_native` is the engine.
_PACKAGE = """
_native          :
errors           :
wording          :
expression       :
diagnoses        : _native recording registry
outputs          : errors
interruption     :
startup          :
lazy             :
data             :
grid             : errors expression
toml             : errors
traces           : data errors
algorithms       :
user_code        : _native algorithms errors expression
registry         : _native errors expression user_code
chance           : registry
recording        : _native errors wording
canonical        : _native user_code
parquet          : _native recording
fields           : expression user_code
added_delay      : fields
profiles         : errors
workload         : added_delay fields
metrics          : _native canonical errors
figures          : _native diagnoses errors metrics outputs wording
notebook         : errors figures
scenario         : _native added_delay canonical errors fields notebook profiles toml user_code
                   wording workload
topologies       : _native errors scenario toml user_code wording
programs         : _native backends data errors expression flow_monitor lazy outputs profiles
                   registry scenario topologies traces wording
published        : data
roles            :
catalogue        : _native backends errors expression lazy profiles programs published registry
                   roles scenario toml topologies traces user_code wording
flow_monitor     : errors
backends         : _native algorithms canonical errors parquet recording user_code
result           : _native backends canonical diagnoses errors figures metrics notebook user_code
                   wording
citation         : backends catalogue data registry wording
evidence         : chance errors expression figures grid metrics notebook registry result roles
                   store user_code wording
exporters        : backends errors flow_monitor metrics outputs result roles store
store            : canonical errors metrics outputs parquet recording result roles scenario
                   user_code
what_if          : _native errors expression grid scenario topologies
campaign         : _native backends canonical chance errors interruption metrics notebook result
                   roles scenario store user_code wording
plan             : campaign catalogue errors expression grid registry
reproduce        : catalogue errors expression roles user_code
verify           : _native backends campaign catalogue data diagnoses errors interruption metrics
                   outputs profiles programs published registry scenario topologies traces
site             : _native backends catalogue citation data diagnoses errors evidence expression
                   figures metrics outputs published registry reproduce result roles store verify
                   what_if wording
api              : backends campaign catalogue errors notebook outputs user_code
include          :
cli              : _native backends campaign catalogue citation data diagnoses errors evidence
                   exporters expression figures grid interruption metrics outputs plan programs
                   registry reproduce roles scenario site startup store toml topologies user_code
                   verify what_if wording
__main__         : cli
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
HOUSES = {"engine": (ENGINE, arrows.rust()), "package": (PACKAGE, arrows.python())}
both = pytest.mark.parametrize(("allowed", "found"), HOUSES.values(), ids=HOUSES)


@both
def test_no_unit_uses_what_it_may_not(allowed: Arrows, found: Arrows) -> None:
    # The package's own front door has its version, which everybody may ask for.
    forbidden = [
        f"{unit} uses {other}, in {module}"
        for unit, other, module in arrows.between_units(found)
        if other and other not in allowed.get(unit, ())
    ]
    assert not forbidden, "\n".join(forbidden)


@both
def test_the_table_names_what_there_is(allowed: Arrows, found: Arrows) -> None:
    units = {arrows.unit(module) for module in found} - {""}
    assert units <= allowed.keys()
    assert set().union(*allowed.values()) <= allowed.keys()


@pytest.mark.parametrize("allowed", [ENGINE, PACKAGE], ids=HOUSES)
def test_what_is_allowed_has_no_circle(allowed: Arrows) -> None:
    assert arrows.circles(allowed) == []


@pytest.mark.parametrize("found", [arrows.rust(), arrows.python()], ids=HOUSES)
def test_files_make_no_circles(found: Arrows) -> None:
    """A file in a folder belongs to the folder's module, and may use what stands at its head."""
    without_heads = {
        module: {other for other in used if not module.startswith(f"{other}.")}
        for module, used in found.items()
    }
    assert arrows.circles(without_heads) == []


def test_a_library_knows_no_command_line() -> None:
    """Not even for its types."""
    for module, used in arrows.python(types=True).items():
        if arrows.unit(module) not in ("cli", "__main__"):
            assert not [other for other in used if arrows.unit(other) == "cli"], module


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
    found = arrows.rust(crate)
    assert found["low"] == {"high", "other", "low.part"}
    assert found["low.part"] == {"third", "low"}
    assert not {"low.bench", "low.bench.more"} & found.keys()


def test_a_circle_is_found() -> None:
    assert arrows.circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"]]
    assert arrows.circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
