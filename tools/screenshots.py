"""Pictures of the pages for `docs/site.md`: `.venv/bin/python tools/screenshots.py [FOLDER]`.

Makes the runs, some minutes of them (in FOLDER they stay for the next time), builds their site and
takes each kind of page on a desk and on a phone, light and dark, with the headless Chromium that
the tests drive. Look at what comes out before you commit it.
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
DESK, PHONE = (1440, 900), (390, 844)
#: How each page is taken, by the end of the picture's name.
LOOKS = (
    ("", DESK, "light"),
    ("_dark", DESK, "dark"),
    ("_phone", PHONE, "light"),
    ("_phone_dark", PHONE, "dark"),
)
#: What is run, by database.
RUNS: dict[str, tuple[tuple[str, ...], ...]] = {
    "cc.db": (("bench", "newreno,cubic,bbr", "--seed", "1..3"),),
    "dc.db": (
        (
            *("bench", "--datacentre", "ECNSharp,TCN,RED-tail,RED-average,MarkingCoDel"),
            *("--experiments", "testbed,rtt_variation,query_burst,dwrr,query_completion"),
            *("--seed", "1..2"),
        ),
    ),
    "lb.db": tuple(
        (
            *("run", name, "--routing", "ecmp,conga,hermes,presto", "--seed", "1..3"),
            *("--leaves", "4", "--spines", "4", "--servers", "4", "--arrivals", "20ms"),
        )
        for name in ("hermes_symmetric", "hermes_asymmetric")
    ),
}
#: What a page needs to be what it is, and what is done on it first.
READY = {
    **dict.fromkeys(("front", "datacentre", "balancing"), ("true", "")),
    **dict.fromkeys(
        ("experiment", "experiment_datacentre", "experiment_balancing"),
        ("globalThis.ccperf?.experiment", ""),
    ),
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
    with tempfile.TemporaryDirectory(prefix="ccperf-pictures-") as scratch:
        kept = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(scratch)
        kept.mkdir(parents=True, exist_ok=True)
        pages = _site(kept, Path(scratch) / "site")
        with Browser(browser_at) as browser:
            for kind, (page, fragment) in pages.items():
                for look, size, scheme in LOOKS:
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


def _site(folder: Path, output: Path) -> dict[str, tuple[Path, str]]:
    """Return each kind of page with its fragment."""
    for name, lines in RUNS.items():
        if (folder / name).exists():
            continue
        for line in lines:
            no_site = ["--no-site"] if line[0] == "bench" else []
            if invoke([*line, "--db", str(folder / name), *no_site]):
                raise SystemExit(f"these runs failed: {' '.join(line)}")
    built = site.build([folder / name for name in RUNS], output).index.parent
    with Store(folder / "cc.db", "r") as store:
        point = {"against": "TcpCubic", "rtts": "[40ms,40ms]", "buffer": "1"}
        run, other = (
            min(
                store.runs(experiment="competition", under_test=name, parameters=point),
                key=lambda run: run.seed,  # whichever was made first, that one has a page
            )
            for name in ("TcpNewReno", "TcpBbr")
        )
    of_run = built / "runs" / run.id / "index.html"
    return {
        "front": (built / "index.html", ""),
        "datacentre": (built / "datacentre.html", ""),
        "balancing": (built / "loadbalance.html", ""),
        "experiment": (built / "experiments" / "bursty_loss.html", ""),
        "experiment_datacentre": (built / "experiments" / "testbed.html", ""),
        "experiment_balancing": (built / "experiments" / "hermes_asymmetric.html", ""),
        "algorithm": (built / "algorithms" / "TcpBbr.html", ""),
        "run": (of_run, f"#with={other.id}"),
        "live": (of_run, "#what-if=rtt%3D60ms"),
        "play": (built / "play.html", "#what-if=cc%3DTcpCubic%2BTcpBbr%2Cflows%3D2"),
    }


if __name__ == "__main__":
    main()
