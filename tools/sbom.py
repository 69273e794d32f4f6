"""What ccperf is made of, as a bill of materials: CycloneDX 1.6 in JSON, of the lock files.

    .venv/bin/python tools/sbom.py [-o sbom.json]

Each crate and package has its version, its hashes and, where it is here to be asked, its licence;
the same lock files give the same bytes. With --licences it prints a table of licences instead.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import dependencies

ROOT = dependencies.ROOT
Component = dict[str, Any]


def main() -> None:
    """Write it, or print the licences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "dist" / "sbom.json")
    parser.add_argument("--licences", action="store_true")
    given = parser.parse_args()
    found = components()
    if given.licences:
        print("\n".join(licence_lines(found)))
        return
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(json.dumps(bill(found), indent=1) + "\n")
    print(f"{given.output}: {len(found)} components")


def bill(found: list[Component]) -> dict[str, Any]:
    """The whole document, without a time and a serial number: they would differ each time."""
    version = dependencies.tomllib.loads((ROOT / "Cargo.toml").read_text())
    own = {
        "type": "application",
        "name": "ccperf",
        "version": version["workspace"]["package"]["version"],
        "licenses": _licence(version["workspace"]["package"]["license"]),
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": found,
    }


def components() -> list[Component]:
    """Every crate and package that is locked, by kind, name and version."""
    cargo, pip = (ROOT / "Cargo.lock").read_text(), (ROOT / "requirements.lock").read_text()
    return [*_crates(cargo), *_packages(pip)]


def licence_lines(found: list[Component]) -> Iterator[str]:
    """Each licence with what has it."""
    by = defaultdict(list)
    for each in found:
        said = [one.get("expression", "") for one in each.get("licenses", [])]
        by[said[0] if said else "not known here"].append(f"{each['name']} {each['version']}")
    for licence in sorted(by):
        yield f"{licence}: {', '.join(by[licence])}"


def _crates(lock: str) -> Iterator[Component]:
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    known = json.loads(told.stdout)["packages"] if told.returncode == 0 else []
    licences = {(one["name"], one["version"]): one["license"] for one in known}
    for crate in dependencies.crates(lock):
        if "source" in crate:
            name, version = crate["name"], crate["version"]
            licence = licences.get((name, version))
            yield _component("cargo", name, version, [crate["checksum"]], licence)


def _packages(lock: str) -> Iterator[Component]:
    for entry in re.split(r"\n(?=[A-Za-z0-9])", lock):
        if found := re.match(r"([A-Za-z0-9._-]+)==([^ ;\\]+)", entry):
            name, version = found.groups()
            hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})", entry)
            yield _component("pypi", name.lower(), version, hashes, _licence_of(name, version))


def _licence_of(name: str, version: str) -> str | None:
    """What the package that is installed says."""
    try:
        about = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    if about.get("Version") != version:
        return None
    plain = about.get("License-Expression") or about.get("License")
    if plain and len(plain) < 60 and "\n" not in plain:
        return str(plain)
    classifiers = about.get_all("Classifier") or []
    named = [one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License :: ")]
    return " AND ".join(sorted(named)) or None


def _component(
    kind: str, name: str, version: str, hashes: list[str], licence: str | None
) -> Component:
    return {
        "type": "library",
        "name": name,
        "version": version,
        "purl": f"pkg:{kind}/{name}@{version}",
        "hashes": [{"alg": "SHA-256", "content": one} for one in sorted(hashes)],
        **({"licenses": _licence(licence)} if licence else {}),
    }


def _licence(text: str) -> list[dict[str, str]]:
    return [{"expression": text.replace("/", " OR ")}]


if __name__ == "__main__":
    main()
