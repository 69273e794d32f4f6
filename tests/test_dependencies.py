"""What `make lint` says of crates and packages."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ccperf.cli.doctor import EXTRAS
from user_scenarios import ROOT


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


dependencies = _module("dependencies")

CARGO = """
[[package]]
name = "left"
version = "0.3.4"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "00"
"""
PIP = "Right_Pad==2.1.0 ; python_version < '3.11' \\\n    --hash=sha256:00\nright-pad==3.0.0 \\\n"


def test_what_is_locked_is_ours_or_has_a_hash() -> None:
    cargo = (ROOT / "Cargo.lock").read_text()
    for lock in dependencies.LOCKS:
        assert list(dependencies.origins(cargo, (ROOT / lock).read_text())) == []
    elsewhere = CARGO.replace("crates.io-index", "other-index")
    found = list(dependencies.origins(elsewhere, PIP))
    assert found[0].startswith("left 0.3.4: comes from registry+")
    assert found[1] == "right-pad==3.0.0: has no hash"


@pytest.mark.parametrize(
    ("expression", "free"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("MIT AND (GPL-3.0-only OR SSPL-1.0)", False),
        ("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only", True),
        ("none", False),
    ],
)
def test_licences_ask_for_no_more_than_their_text(expression: str, free: bool) -> None:
    assert dependencies.is_free(expression) is free


@pytest.mark.parametrize(
    ("requirement", "inside", "outside"),
    [
        (">= 0.3.4", ["0.3.4", "1.0.0"], ["0.3.3"]),
        (">= 1.2, < 1.3", ["1.2.9"], ["1.3.0", "1.1.9"]),
        ("^0.3.2", ["0.3.2", "0.3.9"], ["0.4.0", "0.3.1"]),
        ("1.2.3", ["1.9.0"], ["2.0.0", "1.2.2"]),
        ("~1.2.3", ["1.2.9"], ["1.3.0"]),
        ("=1.2.3", ["1.2.3"], ["1.2.4"]),
        ("<= 2.0.0-rc.1", ["1.9.9"], ["2.0.1"]),
    ],
)
def test_requirements_are_those_of_cargo(
    requirement: str, inside: list[str], outside: list[str]
) -> None:
    assert all(dependencies.satisfies(version, requirement) for version in inside)
    assert not any(dependencies.satisfies(version, requirement) for version in outside)


def test_advisories_are_found_in_both_databases(tmp_path: Path) -> None:
    rust, python = tmp_path / "advisory-db/crates/left", tmp_path / "advisory-database/vulns"
    rust.mkdir(parents=True)
    (python / "right-pad").mkdir(parents=True)
    head = '```toml\n[advisory]\nid = "x"\n[versions]\npatched = ["{}"]\n```\n# Text\n'
    (rust / "RUSTSEC-1.md").write_text(head.format(">= 0.3.5"))
    (rust / "RUSTSEC-2.md").write_text(head.format(">= 0.3.4"))
    events = "  - introduced: '0'\n  - fixed: {}\n"
    (python / "right-pad" / "PYSEC-1.yaml").write_text(events.format("2.2"))
    (python / "right-pad" / "PYSEC-2.yaml").write_text("withdrawn: 1\n" + events.format("9"))
    assert list(dependencies.advisories(tmp_path, CARGO, PIP)) == [
        "left 0.3.4: RUSTSEC-1",
        "right-pad 2.1.0: PYSEC-1",
    ]


def test_the_bill_of_materials_has_all_that_is_locked_with_hashes() -> None:
    """The same bytes each time, so that two builds can be compared by it."""
    sbom = _module("sbom")
    found = sbom.components()
    cargo, pip = (ROOT / "Cargo.lock").read_text(), (ROOT / "requirements.lock").read_text()
    crates = [crate for crate in dependencies.crates(cargo) if "source" in crate]
    packages = sum(map(len, dependencies.packages(pip).values()))
    assert len(found) == len(crates) + packages
    assert all(one["hashes"] and len(one["hashes"][0]["content"]) == 64 for one in found)
    assert len({one["purl"] for one in found}) == len(found)
    bill = sbom.bill(found)
    assert bill["bomFormat"] == "CycloneDX"
    assert bill == sbom.bill(sbom.components())


def test_what_bench_ends_with_needs_no_extra() -> None:
    """Without jinja2 it made all runs and then said that there can be no site."""
    project = dependencies.tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = "".join(path.read_text() for path in (ROOT / "python/ccperf/site").glob("*.py"))
    used = set(re.findall(r"^(?:from|import) (\w+)[\w. ]*import", text, re.MULTILINE))
    foreign = used - sys.stdlib_module_names - {"ccperf", "markupsafe"}  # jinja2 brings the last
    assert foreign <= {re.split(r"[>=<]", each)[0] for each in project["dependencies"]}


def test_doctor_knows_all_extras_and_what_they_install() -> None:
    extras = dependencies.tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {
        extra: {re.split(r"[>=<]", each)[0] for each in needed}
        for extra, needed in extras["optional-dependencies"].items()
        if extra != "dev"
    }
    assert {extra: set(modules) for extra, modules in EXTRAS.items()} == declared


def test_notices_are_of_what_is_linked() -> None:
    """`.venv/bin/python tools/notices.py` after a change of Cargo.lock, as `make lock` does."""
    notices = _module("notices")
    try:
        assert notices.TARGET.read_text("utf-8") == notices.text()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"cargo has not all crates here: {error.stderr.strip()}")
    project = dependencies.tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert str(notices.TARGET.relative_to(ROOT)) in project["license-files"]
