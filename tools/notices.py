"""What else is in the engines that a wheel has, under which terms: python/ccperf/data/notices.txt.

    .venv/bin/python tools/notices.py

Most crates leave a choice that includes Apache-2.0, the package's own licence, and need no more
than that. Of the others their licence says that its text goes along, also with a program.
`make lock` writes the file anew.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import dependencies

TARGET = dependencies.ROOT / "python" / "ccperf" / "data" / "notices.txt"
#: The engine of the package, that of pages, and the guest of a kernel.
LINKED = ("ccperf-py", "ccperf-wasm", "ccperf-guest")
RULE = "-" * 78
HEAD = """\
ccperf is licensed under the Apache License, version 2.0, which is at the end. Its engines,
which are in wheels and, for browsers, in the sites that it writes (static/engine.js), are
linked with the Rust standard library (MIT OR Apache-2.0) and with the crates below.

The guest for Linux kernels (data/guest, in wheels for Linux on x86-64) is also linked with the
GNU C Library, which is under the GNU Lesser General Public License, version 2.1 or later
(LICENSES/LGPL-2.1-or-later.txt). Its source is that of the distribution on which the wheel was
built; `make guest` in a checkout links the guest with another.

Under the Apache License, version 2.0, where there is a choice:

"""


def text() -> str:
    """Return the whole file. Raises `CalledProcessError` where cargo does not have all crates."""
    by_choice, others = [], []
    for name, version, licence, folder in linked():
        if "Apache-2.0" in re.split(r" OR |/", licence):
            by_choice.append(f"{name} {version}\n")
            files = sorted(folder.glob("NOTICE*"))
        else:
            # A library in C is beside what binds it.
            files = [
                file for at in (folder, folder / "zstd") for file in sorted(at.glob("LICENSE*"))
            ]
        texts = dict.fromkeys(file.read_text("utf-8").strip() for file in files)
        others += [f"\n{RULE}\n{name} {version} ({licence})\n\n{it}\n" for it in texts]
    own = (dependencies.ROOT / "LICENSE").read_text("utf-8")
    return f"{HEAD}{''.join([*by_choice, *others])}\n{RULE}\n{own}"


def linked() -> Iterator[tuple[str, str, str, Path]]:
    """Yield name, version, licence and folder of each crate that is linked into an engine."""
    offline = ("--locked", "--offline")
    metadata = json.loads(_cargo("metadata", "--format-version", "1", *offline))
    folders = {
        (each["name"], each["version"]): Path(each["manifest_path"]).parent
        for each in metadata["packages"]
    }
    packages = [word for name in LINKED for word in ("--package", name)]
    edges = ("--edges", "normal,no-proc-macro", "--target", "x86_64-unknown-linux-gnu")
    form = ("--prefix", "none", "--format", "{p}|{l}")
    lines = _cargo("tree", *packages, *edges, *form, *offline).splitlines()
    for line in sorted({line.removesuffix(" (*)") for line in lines if line}):
        crate, _, licence = line.partition("|")
        name, version = crate.split()[:2]
        if not name.startswith("ccperf"):
            yield name, version[1:], licence, folders[name, version[1:]]


def _cargo(*words: str) -> str:
    command = ["cargo", *words]
    done = subprocess.run(
        command, cwd=dependencies.ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


if __name__ == "__main__":
    TARGET.write_text(text(), "utf-8")
    print(TARGET)
