// SPDX-License-Identifier: GPL-2.0-only
//
// Switches that lose packets.

#ifndef CCPERF_FAULTS_H
#define CCPERF_FAULTS_H

#include "network.h"
#include "scenario.h"

namespace ccperf
{

// Gives the loss models of the links into each faulty switch its faults.
void InstallFaults(const Scenario& scenario, Network& network);

} // namespace ccperf

#endif
