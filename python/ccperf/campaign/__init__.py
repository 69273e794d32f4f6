"""Campaigns: many runs in parallel, into a store, with only what is missing made."""

from __future__ import annotations

from ccperf.campaign.points import Point, expand
from ccperf.campaign.progress import Bar, Progress, Silent
from ccperf.campaign.run import CampaignReport, Failure, cores, run, simulate

__all__ = [
    "Bar",
    "CampaignReport",
    "Failure",
    "Point",
    "Progress",
    "Silent",
    "cores",
    "expand",
    "run",
    "simulate",
]
