// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_FAILURES_H
#define CCPERF_FAILURES_H

#include "network.h"
#include "scenario.h"

namespace ccperf
{

// Makes links fail and come back at their times. What waits in the discipline and the device of a link that
// fails is lost, and so is what is on its wire, when it would have arrived; routes change at once.
// Both must outlive the simulation.
void ScheduleFailures(const Scenario& scenario, Network& network);

// Tells the network's observers of packets without a route.
void ObserveRoutes(Network& network);

} // namespace ccperf

#endif
