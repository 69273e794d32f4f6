"""Campaigns: many runs in parallel, into a store, with only what is missing made."""

from __future__ import annotations

from ccperf.campaign.executor import Executor, JobProgress, Stopped
from ccperf.campaign.job import Job, perform
from ccperf.campaign.local import LocalExecutor, Processes
from ccperf.campaign.points import Point, Repeated, expand, is_another, repeats
from ccperf.campaign.progress import Bar, Lines, Progress, Silent, bar, bar_if_seen
from ccperf.campaign.run import CampaignReport, Failure, run, simulate

__all__ = [
    "Bar",
    "CampaignReport",
    "Executor",
    "Failure",
    "Job",
    "JobProgress",
    "Lines",
    "LocalExecutor",
    "Point",
    "Processes",
    "Progress",
    "Repeated",
    "Silent",
    "Stopped",
    "bar",
    "bar_if_seen",
    "expand",
    "is_another",
    "perform",
    "repeats",
    "run",
    "simulate",
]
