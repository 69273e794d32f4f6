"""docs/bbr-draft.md: the test cases of BBR's draft, passed or failed.

python -m benchmarks.bbr_draft
"""

from __future__ import annotations

from pathlib import Path

import ccperf
from ccperf.evidence import bbr_draft
from ccperf.experiments.catalogue import sets

PAGE = Path(__file__).parents[1] / "docs" / "bbr-draft.md"
#: Beside BBRv3.
OTHERS = ("bbr", "cubic", "newreno")
#: By case: why it is failed.
REASONS = {
    "9": "With the pacing margin of 1 % it paces at 0.90 * 0.99 = 0.891 of its estimate, a little "
    "less than the 0.9 that are left. So the queue drains after all, in 1.8 s, sooner than the "
    "wait of 2 to 3 s is over, and it cruises for 0.1 s. With 12 % less bandwidth in place of "
    "the draft's 10 % the case is passed (next probe after 1.5 s, 20 ms at the estimate).",
    "17": "The token rate is reached, but the rate that it takes for the path's is 7 % above it in "
    "the median and 30 % in a quarter of the time: a bucket that has filled lets more through for "
    "a while, which the maximum filter keeps for two cycles. The draft has nothing that would find "
    "the rate of a policer, as Linux's BBRv1 has in its long-term sampling.",
}


def verdicts(cc: str) -> dict[str, bbr_draft.Verdict]:
    """Of one run of each case."""
    return {
        case: bbr_draft.judge(case, ccperf.run("bbr_draft", cc=cc, case=case).recording)
        for case in bbr_draft.CASES
    }


def page() -> str:
    found = {cc: verdicts(cc) for cc in ("bbr3", *OTHERS)}
    chosen = sets.get("bbr-draft")
    sections = chosen.sections
    rows = [
        f"| A.{case} {sections[f'A.{case}']} | {of.asks} | {found['bbr3'][case].figure} | "
        + " | ".join("yes" if found[cc][case].passed else "**no**" for cc in found)
        + " |"
        for case, of in bbr_draft.CASES.items()
    ]
    failed = [case for case, verdict in found["bbr3"].items() if not verdict.passed]
    counts = [sum(verdict.passed for verdict in of.values()) for of in found.values()]
    names = " | ".join(f"`{cc}`" for cc in found)
    reasons = [f"* A.{case}: {REASONS[case]}" for case in failed]
    return "\n".join(
        [
            "# The test cases of BBR's draft",
            "",
            f"[draft-ietf-ccwg-bbr-06]({chosen.url}) has 22 test cases in its appendix. This runs "
            "them, for any algorithm:",
            "",
            "```sh",
            "ccperf bench --set bbr-draft bbr3 --no-site",
            "```",
            "",
            "The draft asks for values of BBR's variables. What is looked at is what they bring "
            "about, which any algorithm has: pacing rate (cwnd over sRTT of what does not pace), "
            "window, data in flight, throughput. The",
            "path is one of 100 Mbps and 20 ms with a queue of a BDP, unless the case says "
            "otherwise; the TCP that of the [profile `linux`](linux-profile.md). State by state "
            "the same is asked of the code in `congestion/bbr3/tests.rs`.",
            f"(Made by `python -m benchmarks.bbr_draft`.) BBRv3 passes {counts[0]} of {len(rows)}.",
            "",
            f"| case | what is looked at | BBRv3 | {names} |",
            "| --- | --- | --- |" + " --- |" * len(found),
            *rows,
            "| passed | | | " + " | ".join(map(str, counts)) + " |",
            "",
            "## What BBRv3 fails, and why",
            "",
            *reasons,
            "",
            "Others fail where they have no such phase: CUBIC never probes for a shorter round "
            "trip.",
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
