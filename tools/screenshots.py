"""Pictures of the site's pages for `docs/site.md`: `.venv/bin/python tools/screenshots.py`.

Makes some runs, builds their site and takes each kind of page on a desk, on a phone and dark, with
the headless Chromium that the tests drive. Look at what comes out before you commit it.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "site"))

from site_browser import Browser, executable  # noqa: E402

from ccperf import site  # noqa: E402
from ccperf.cli.app import invoke  # noqa: E402
from ccperf.store import Store  # noqa: E402

PICTURES = ROOT / "docs" / "images" / "site"
COLOURS = 128
DESK, PHONE = (1280, 900), (390, 844)
RUNS = (
    ("aqm", "--k", "1,5", "--qdisc", "fifo,codel,fq_codel", "--stop-time", "8s"),
    ("scalability", "--stop-time", "8s"),
    ("competition", "--against", "cubic", "--seed", "1..3", "--stop-time", "8s"),
    ("short_against_long", "--seed", "1..3", "--stop-time", "8s"),
)
ALGORITHMS = "newreno,cubic,bbr,vegas"
#: What a page needs to be what it is, and what is done on it first.
READY = {
    "front": ("true", ""),
    "experiment": ("globalThis.ccperf?.experiment", ""),
    "algorithm": ("true", ""),
    "run": (
        "ccperf.page.plots.get('window').figure.panels.length === 2",
        "document.querySelector('#runs .buttons button').click();"
        "document.getElementById('figures').scrollIntoView()",
    ),
    "live": (
        "document.querySelector('#live [role=status]').textContent.includes('simulated')",
        "document.querySelector('#live').open = true",
    ),
    "play": (
        "document.querySelector('#live [role=status]').textContent.includes('simulated')",
        "",
    ),
}


def main() -> None:
    """Take all pictures."""
    browser_at = executable()
    if browser_at is None:
        raise SystemExit("needs Chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory(prefix="ccperf-pictures-") as folder:
        pages = _site(Path(folder))
        with Browser(browser_at) as browser:
            for kind, (page, fragment) in pages.items():
                for look, size, scheme in (
                    ("", DESK, "light"),
                    ("_phone", PHONE, "light"),
                    ("_dark", DESK, "dark"),
                ):
                    browser.size(*size)
                    browser.media(prefers_color_scheme=scheme)
                    browser.open(page.parent / "none")
                    browser.open(page, fragment)
                    ready, first = READY[kind]
                    if kind in ("run", "live", "play"):
                        browser.wait_for("globalThis.ccperf?.page?.plots.size === 5")
                    if first:
                        browser.evaluate(f"(() => {{ {first} }})()")
                    browser.wait_for(ready)
                    taken = base64.b64decode(browser.call("Page.captureScreenshot")["data"])
                    _save(taken, PICTURES / f"{kind}{look}.png")


def _save(taken: bytes, target: Path) -> None:
    """Write a picture with a palette, which is a third as large and looks the same."""
    picture = Image.open(BytesIO(taken)).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


def _site(folder: Path) -> dict[str, tuple[Path, str]]:
    """Return each kind of page with its fragment."""
    database = folder / "runs.db"
    for name, *options in RUNS:
        words = ["run", name, "--cc", ALGORITHMS, "--db", str(database), *options]
        if invoke(words):
            raise SystemExit(f"these runs failed: {' '.join(words)}")
    built = site.build([database], folder / "site").index.parent
    point = {"k": "1", "qdisc": "CoDelQueueDisc"}
    with Store(database, "r") as store:
        (run,) = store.runs(experiment="aqm", under_test="TcpCubic", parameters=point)
        (other,) = store.runs(experiment="aqm", under_test="TcpBbr", parameters=point)
    of_run = built / "runs" / run.id / "index.html"
    return {
        "front": (built / "index.html", ""),
        "experiment": (built / "experiments" / "competition.html", ""),
        "algorithm": (built / "algorithms" / "TcpBbr.html", ""),
        "run": (of_run, f"#with={other.id}"),
        "live": (of_run, "#what-if=rtt%3D60ms"),
        "play": (built / "play.html", "#what-if=cc%3DTcpCubic%2BTcpBbr%2Cflows%3D2"),
    }


if __name__ == "__main__":
    main()
