"""What an experiment is about: its headline metrics and its figure, declared once.

The table of `run`, the metrics of `compare`, the first figure of its page, `plot` without options
and the site's overview take them from here. In which direction a metric is good is its own matter
(`Metric.better`); a headline has one.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

#: `sweep`: the first headline over `over`; `ratio`: that over the base's; `plane`: the first
#: two headlines against each other, at one point; `time`: how runs at one point went over time.
Shape: TypeAlias = Literal["sweep", "ratio", "plane", "time"]


class Answer(NamedTuple):
    """What an experiment's tables and figures show first."""

    #: Two to four, the one that matters most first; a class of transfers or a group of flows stands
    #: before a point, `small.p99_fct_l4`.
    metrics: tuple[str, ...]
    #: The parameter of the x axis; "" for one without parameters.
    over: str = ""
    shape: Shape = "sweep"


USED, THROUGHPUT = "used_capacity_l1", "mean_agg_throughput_l4"
SRTT, SRTT_P99, QUEUE = "mean_srtt_l4", "p99_srtt_l4", "p99_sojourn_l2"
#: As senders see it: of each flow one, where the queue of a link is one for all.
EST_QUEUE = "mean_est_qdelay_l4"
#: Of seconds. In the 30 ms of a sample one flow's packets pass, then another's: two flows that
#: share every second fairly have 0.6 there.
JAIN = "mean_jains_fairness_1s_l4"
#: Of samples, where these are long beside a round trip, and seconds beside the run.
JAIN_OF_SAMPLES = "mean_jains_fairness_throughput_l4"
#: Of whole runs, where flows are too many to sample them all, or runs are short.
JAIN_OF_TOTALS = "jains_fairness_goodput_l4"
CONVERGENCE, RESPONSE, SETTLING = "convergence_time_l4", "response_time_l4", "settling_time_l4"
RETRANSMITTED, TIMEOUTS = "retransmission_rate_l4", "total_timeouts_l4"
FCT, FCT_P99 = "mean_fct_l4", "p99_fct_l4"
SMALL, SMALL_P99 = "small.mean_fct_l4", "small.p99_fct_l4"
LARGE = "large.mean_fct_l4"
QCT, QCT_P99 = "mean_qct_l4", "p99_qct_l4"
MAKESPAN, STRAGGLER = "makespan_l4", "straggling_l4"
UNFINISHED = "unfinished_share_l4"

#: Of what is no experiment of the catalogue: whatever of these it has.
USUAL = Answer((THROUGHPUT, SRTT, JAIN, RETRANSMITTED, FCT))
