"""What the page on fidelity says: its numbers, its records, its departures."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from ccperf.algorithms import judges, registry
from ccperf.verify import counting, departures, fidelity, matrix, page, record

ROOT = Path(__file__).parents[2]
#: Neither ns-3 nor the driver has them: they are held against Linux, laws, or nothing.
WITHOUT_A_TWIN = {
    name
    for kind in registry.WORDS
    for name in registry.algorithms(kind)
    if judges.kind(name) not in (judges.NS3, judges.TWICE)
}


#: What nobody but its own unit tests has looked at yet.
UNJUDGED: set[str] = set()


def _with_tcp_lp() -> list[matrix.Case]:
    """One of the less used algorithms, in flows that are described one by one."""
    return [
        case
        for case in matrix.cases()
        if any(flow.cc and flow.cc.type == "TcpLp" for flow in case.scenario.flows)
    ]


def test_the_matrix_is_counted() -> None:
    cases = matrix.cases()
    counted = fidelity.last()
    assert counted == counting.counted(record.last()), "make docs"
    assert counted.total.scenarios == len(cases)
    assert sum(group.scenarios for group in counted.groups) == len(cases)
    for kind in page.KINDS:
        counts = counted.algorithms[kind]
        assert set(counts) == set(registry.algorithms(kind))
        judged = {name: count for name, count in counts.items() if name not in WITHOUT_A_TWIN}
        assert min(count.scenarios for count in judged.values()) >= 4
    assert counted.algorithms["qdisc"]["MqQueueDisc"].scenarios >= 20
    assert counted.algorithms["cc"]["TcpLp"].scenarios == len(_with_tcp_lp())
    features = {name: count.scenarios for name, count in counted.features.items()}
    assert all(0 < count < len(cases) for count in features.values())
    assert features["random loss"] >= len(matrix.cases("loss/*"))
    assert features["several transmit queues"] == sum(
        any(
            d.device_queues > 1
            for link in case.scenario.links
            for d in (link.forward, link.reverse)
        )
        for case in cases
    )


def test_the_page_says_what_the_record_holds() -> None:
    """It may be older than the matrix; the page says by how much."""
    total = fidelity.last().total
    assert 0 <= total.identical <= total.recorded <= total.scenarios
    last = record.last()
    assert set(last.different) <= set(last.scenarios)
    assert last.ns3.startswith(f"{fidelity.NS3_RELEASE}+")
    assert f"{total.recorded:,} of {total.scenarios:,} scenarios" in str(page.sections())


def test_the_coverage_is_that_of_today_s_matrix() -> None:
    """With a reason for everything that it does not reach."""
    coverage = record.coverage()
    ran = sum(not case.heavy for case in matrix.cases())
    assert coverage["scenarios"] == ran, "make record"
    assert coverage["unreached"]
    assert "(no reason given)" not in coverage["unreached"], "tools/unreached.toml"


def test_what_is_not_in_the_record_is_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = _with_tcp_lp()
    scenarios = {case.name: record.fingerprint(case.scenario) for case in cases}
    first, second, *_ = scenarios
    changed = {**scenarios, first: "0" * 16}
    old = replace(record.last(), scenarios=changed, different=(second,))
    counted = counting.counted(old)
    monkeypatch.setattr(record, "last", lambda: old)
    monkeypatch.setattr(fidelity, "last", lambda: counted)
    count = counted.algorithms["cc"]["TcpLp"]
    all_, recorded, identical = len(cases), len(cases) - 1, len(cases) - 2
    assert (count.scenarios, count.recorded, count.identical) == (all_, recorded, identical)
    says = f"the last record has {recorded} of them, {identical} identical"
    assert says in fidelity.status("cc", "TcpLp")
    assert "the last record has none" in fidelity.status("cc", "TcpBic")
    [found] = [s for s in page.sections() if s.title == "The claim"]
    assert f"{recorded:,} were packet-identical, and not {second}" in str(found.blocks[0])


def test_an_algorithm_that_was_just_added_has_a_status() -> None:
    """Before `make docs` has counted what compares it."""
    assert fidelity.status("cc", "TcpAdded").startswith(f"judged by {judges.NONE}; `make docs`")


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("cc", "TcpCubic", "ns-3 3.44's TcpCubic"),
        ("recovery", "TcpPrrRecovery", "ns-3 3.44's TcpPrrRecovery"),
        ("recovery", "PrrRfc6937", "a class that the driver adds"),
        ("qdisc", "BurstReleaseQueueDisc", "a class that the driver adds"),
    ],
)
def test_what_each_is_compared_with(kind: registry.Kind, name: str, says: str) -> None:
    assert f": compared with {says}" in fidelity.status(kind, name)


def test_everybody_knows_who_judged_each_algorithm() -> None:
    """Every algorithm has a judge, and each judge is where it says."""
    for kind in registry.WORDS:
        for name, spec in registry.algorithms(kind).items():
            found = judges.judges(name)
            assert bool(found) != (name in UNJUDGED), name
            if not found:
                assert judges.NONE in fidelity.status(kind, name)
                continue
            assert [judge["kind"] for judge in spec["judges"]] == [judge.kind for judge in found]
            runs = fidelity.last().algorithms[kind][name].scenarios
            # In ns-3 itself a packet-by-packet judge has scenarios; a law needs none.
            is_compared = any(judge.kind in (judges.NS3, judges.TWICE) for judge in found)
            assert is_compared == (runs > 0), name
            for judge in found:
                for path in re.findall(r"`(tests/[\w/]+\.py)`", judge.where):
                    assert name in (ROOT / path).read_text(encoding="utf-8"), name
            assert found[0].kind in fidelity.status(kind, name)


def test_departures_name_tests_and_scenarios_that_exist() -> None:
    for each in departures.KNOWN:
        assert f"{each.test}(" in (ROOT / each.file).read_text(encoding="utf-8"), each.test
    source = (ROOT / "tests" / "verify" / "test_departures.py").read_text(encoding="utf-8")
    for end in departures.ENDS:
        assert f"def {end.test}(" in source, end.test
    for other in departures.AGAINST_RFCS:
        assert len(matrix.cases(other.case)) == 1, other.case
