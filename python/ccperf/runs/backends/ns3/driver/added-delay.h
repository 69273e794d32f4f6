// SPDX-License-Identifier: GPL-2.0-only
//
// Propagation that single flows have over others on the first link of their path.

#ifndef CCPERF_ADDED_DELAY_H
#define CCPERF_ADDED_DELAY_H

#include "network.h"
#include "scenario.h"

namespace ccperf
{

// Gives the first link of each flow with an added delay a channel on which its packets take longer.
void InstallAddedDelays(const Scenario& scenario, Network& network);

} // namespace ccperf

#endif
