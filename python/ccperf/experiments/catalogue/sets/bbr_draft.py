"""draft-ietf-ccwg-bbr-06 (N. Cardwell and others, 2026): the test cases of its appendix."""

from __future__ import annotations

from ccperf.experiments.catalogue.sets.named_set import Entry, NamedSet

_SECTIONS = {
    "A.1": "Exiting STARTUP on Bandwidth Plateau",
    "A.2": "Exiting STARTUP on Loss When Application-Limited",
    "A.3": "Exiting DRAIN Based on Inflight",
    "A.4": "Exiting DRAIN Based on Time",
    "A.5": "Exiting PROBE_UP on Bandwidth Plateau",
    "A.6": "Exiting PROBE_UP on Loss When Application-Limited",
    "A.7": "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss",
    "A.8": "Exiting PROBE_DOWN on Inflight",
    "A.9": "Exiting PROBE_DOWN After Max Time",
    "A.10": "Entering and Exiting PROBE_RTT",
    "A.11": "Skipping PROBE_RTT Due to Application-Limited Sending",
    "A.12": "Achieving Expected STARTUP Bandwidth on a Link With Aggregation",
    "A.13": "Achieving Expected Cruise Bandwidth on a Link With Aggregation",
    "A.14": "Correctly Managing Sub-Packet BDPs",
    "A.15": "Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached",
    "A.16": "Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down",
    "A.17": "Handling Token Bucket Policers",
    "A.18": "Handling Spurious Fast Recovery",
    "A.19": "Handling Spurious RTO Recovery",
    "A.20": "Entering and Exiting PROBE_RTT During STARTUP",
    "A.21": "Handling Loss During PROBE_UP After inflight_longterm is Set",
    "A.22": "Handling Application-Limited Sending During PROBE_REFILL",
}

BBR_DRAFT = NamedSet(
    name="bbr-draft",
    title="draft-ietf-ccwg-bbr-06, BBR Example Test Cases",
    url="https://datatracker.ietf.org/doc/html/draft-ietf-ccwg-bbr-06",
    sections=_SECTIONS,
    entries=tuple(
        Entry(section, f"{title}.", "bbr_draft", {"case": (section.partition(".")[2],)})
        for section, title in _SECTIONS.items()
    ),
    gaps=(),
    is_judged=True,
)
