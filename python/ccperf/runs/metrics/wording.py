"""What metrics are called in words: `small.p99_fct_l4` is `99th percentile completion time, small
flows`."""

from __future__ import annotations

import re

from ccperf.runs.metrics.windows import STEADY_PREFIX

#: What is measured, without statistic and layer; what is not here is a word already.
_WORDS = {
    "agg_utilization_bw": "utilisation, summed over flows",
    "agg_utilization_bdp": "data in flight of all flows in BDPs",
    "agg_utility_pf": "proportional-fair utility of all flows",
    "agg_utility_mpdf": "delay-minimising utility of all flows",
    "agg_throughput": "throughput of all flows",
    "agg_in_flight": "data in flight of all flows",
    "jains_fairness_throughput": "Jain's fairness index",
    "jains_fairness_1s": "Jain's fairness index of a second",
    "jains_fairness_goodput": "Jain's fairness index of the whole run",
    "entropy_fairness_throughput": "entropy of the shares",
    "product_fairness_throughput": "product of throughputs",
    "est_qdelay": "estimated queueing delay",
    "srtt": "smoothed RTT",
    "idt_ewma": "time between deliveries",
    "utilization_bw": "utilisation",
    "utilization_bdp": "data in flight in BDPs",
    "utilization": "utilisation of links",
    "in_flight": "data in flight",
    "unfinished": "unfinished transfers",
    "unfinished_share": "unfinished share",
    "timeouts": "timeouts of transfers",
    "utility_pf": "proportional-fair utility",
    "utility_mpdf": "delay-minimising utility",
    "network_power": "power (throughput over delay)",
    "qdisc_delay": "queueing delay in whole ms",
    "qdisc_length": "queue length",
    "qdisc_drops": "drops",
    "qdisc_marks": "marks",
    "sojourn": "queueing delay",
    "fct": "completion time",
    "qct": "query completion time",
    "rtos": "timeouts",
    "used_capacity": "utilisation of the bottleneck",
    "overshoot_in_flight": "overshoot of data in flight",
    "harm_throughput": "harm (throughput lost)",
    "one_way_delay": "one-way delay",
    "base_rtt": "base RTT",
    "cwnd": "congestion window",
    "trimmed": "packets cut to their headers",
}
_STATISTICS = {
    "mean": "",
    "total": "",
    "cov": "variation of",
    "p50": "median",
    "p90": "90th percentile",
    "p95": "95th percentile",
    "p99": "99th percentile",
    "max": "largest",
}
_LAYERS = {"l7": " (application)", "l1": " (wire)"}
#: Metrics whose layer has to be told: another layer has one of the same words.
_OF_LAYERS = ("throughput", "sending_rate")


def title(name: str) -> str:
    """Return what a metric is called, given its name."""
    of_class, _, name = name.rpartition(".")
    plain = name.removeprefix(STEADY_PREFIX)
    found = re.fullmatch(r"(?:(mean|total|cov|p\d\d|max)_)?(.*)_(l\d)", plain)
    if found is None:
        return name
    statistic, measured, layer = found.groups()
    text = _WORDS.get(measured, measured.replace("_", " "))
    if measured in _OF_LAYERS:
        text += _LAYERS.get(layer, "")
    text = f"{_STATISTICS[statistic or 'mean']} {text}".strip()
    if plain != name:
        text += ", steady state"
    if of_class:
        text += f", {of_class} flows"
    return text[0].upper() + text[1:]
