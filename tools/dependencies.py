"""What ccperf is made of, checked without a network: origins, licences, advisories.

Every crate and package is locked by its hash, crates come from crates.io alone, and their licences
let everybody use them. Advisories are compared with both lock files where their databases lie on
this machine: `advisory-db` of RustSec and `advisory-database` of PyPA, cloned into the folder that
ADVISORIES names.

    git clone https://github.com/rustsec/advisory-db
    git clone https://github.com/pypa/advisory-database
    ADVISORIES=. .venv/bin/python tools/dependencies.py
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
#: That ask for no more than their text to be kept.
LICENCES = {
    *("Apache-2.0", "Apache-2.0 WITH LLVM-exception", "MIT", "BSD-2-Clause", "BSD-3-Clause"),
    *("BSL-1.0", "CC0-1.0", "ISC", "NCSA", "Unicode-3.0", "Unlicense", "Zlib", "0BSD"),
}


#: Of the package, and of what builds the documents.
LOCKS = ("requirements.lock", "docs/requirements.lock")


def crates(lock: str) -> list[dict[str, Any]]:
    """The packages of a Cargo.lock."""
    found: list[dict[str, Any]] = tomllib.loads(lock)["package"]
    return found


def packages(lock: str) -> dict[str, set[str]]:
    """The packages of a requirements.lock with their versions: others for other Pythons."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", lock, re.MULTILINE):
        found.setdefault(re.sub(r"[-_.]+", "-", name).lower(), set()).add(version)
    return found


def origins(cargo: str, pip: str) -> Iterator[str]:
    """What does not come from where it should, or is not locked by its hash."""
    for crate in crates(cargo):
        if "source" in crate and (crate["source"] != CRATES_IO or "checksum" not in crate):
            name = f"{crate['name']} {crate['version']}"
            yield f"{name}: comes from {crate['source']}, or has no hash"
    for entry in re.split(r"\n(?=[A-Za-z0-9])", pip):
        if re.match(r"[A-Za-z0-9._-]+==", entry) and "--hash=sha256:" not in entry:
            yield f"{entry.split()[0]}: has no hash"


def is_free(expression: str) -> bool:
    """Whether an SPDX expression leaves a choice of licences that are all among `LICENCES`."""
    spelt = expression.replace("/", " OR ")
    words = re.findall(r"[()]|[^\s()]+(?: WITH [^\s()]+)?", spelt)

    def any_of() -> bool:
        found = all_of()
        while words and words[0] == "OR":
            words.pop(0)
            found = all_of() or found
        return found

    def all_of() -> bool:
        found = one()
        while words and words[0] == "AND":
            words.pop(0)
            found = one() and found
        return found

    def one() -> bool:
        word = words.pop(0)
        if word != "(":
            return word in LICENCES
        found = any_of()
        words.pop(0)
        return found

    return any_of()


def licences() -> Iterator[str]:
    """Crates whose licence asks for more."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if told.returncode:
        print(f"licences: not looked at, for cargo has not all crates here: {told.stderr.strip()}")
        return
    for crate in json.loads(told.stdout)["packages"]:
        if crate["source"] and not is_free(crate["license"] or "none"):
            yield f"{crate['name']} {crate['version']}: licence {crate['license']}"


# --- advisories ---


def advisories(folder: Path, cargo: str, pip: str) -> Iterator[str]:
    """Advisories of the databases in a folder that hold for what is locked."""
    for crate in crates(cargo):
        for path in sorted((folder / "advisory-db" / "crates" / crate["name"]).glob("*.md")):
            advisory = tomllib.loads(path.read_text("utf-8").split("```")[1].removeprefix("toml"))
            safe = advisory["versions"]
            requirements = [*safe.get("patched", ()), *safe.get("unaffected", ())]
            if "withdrawn" in advisory["advisory"]:
                continue
            if not any(satisfies(crate["version"], each) for each in requirements):
                kind = advisory["advisory"].get("informational", "")
                yield f"{crate['name']} {crate['version']}: {path.stem}{f' ({kind})' * bool(kind)}"
    for name, versions in packages(pip).items():
        for path in sorted((folder / "advisory-database" / "vulns" / name).glob("*.yaml")):
            text = path.read_text("utf-8")
            if re.search(r"^withdrawn:", text, re.MULTILINE):
                continue
            for version in sorted(versions):
                if is_affected(version, text):
                    yield f"{name} {version}: {path.stem}"


def satisfies(version: str, requirement: str) -> bool:
    """Whether a crate's version is among those of a requirement: `>= 1.2, < 2`, `^1.2`."""
    return all(_compares(_numbers(version), each.strip()) for each in requirement.split(","))


def _compares(version: tuple[int, ...], comparator: str) -> bool:
    found = re.fullmatch(r"(>=|<=|>|<|=|\^|~)?\s*v?([0-9][^\s]*)", comparator)
    if not found:
        raise ValueError(f"`{comparator}` is no requirement")
    given = found[2].split("-")[0].split("+")[0].split(".")
    bound = _numbers(found[2])
    if found[1] in (">=", "<=", ">", "<"):
        return {
            ">=": version >= bound,
            "<=": version <= bound,
            ">": version > bound,
            "<": version < bound,
        }[found[1]]
    # What may not change: all that is given of `=`, two places of `~`, up to the first that is not
    # 0 otherwise.
    first = next((i for i, number in enumerate(bound[: len(given)]) if number), len(given) - 1)
    fixed = {"=": len(given), "~": min(2, len(given))}.get(found[1] or "^", first + 1)
    return version >= bound and version[:fixed] == bound[:fixed]


def _numbers(version: str) -> tuple[int, ...]:
    """The three numbers of a version; releases to come count as such."""
    numbers = [int(part) for part in re.split(r"[-+]", version)[0].split(".") if part.isdigit()]
    return tuple([*numbers, 0, 0, 0][:3])


def is_affected(version: str, advisory: str) -> bool:
    """Whether a version is in one of the ranges of an advisory (OSV, as YAML)."""
    own, begun = Version(version), None
    events = r"- (introduced|fixed|last_affected): ['\"]?([^'\"\s]+)"
    for event, text in re.findall(events, advisory):
        try:
            at = Version(text)
        except InvalidVersion:  # a commit
            continue
        if event == "introduced":
            begun = at
        elif begun is not None:
            if begun <= own and (own < at or (event == "last_affected" and own == at)):
                return True
            begun = None
    return begun is not None and begun <= own


def main() -> int:
    cargo = (ROOT / "Cargo.lock").read_text()
    pip = "".join((ROOT / lock).read_text() for lock in LOCKS)
    wrong = [*origins(cargo, pip), *licences()]
    folder = os.environ.get("ADVISORIES")
    if folder:
        wrong += advisories(Path(folder), cargo, pip)
    print("\n".join([*wrong, f"{len(crates(cargo))} crates, {len(packages(pip))} Python packages"]))
    if not folder:
        print("advisories: not looked at; CONTRIBUTING.md says how")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
