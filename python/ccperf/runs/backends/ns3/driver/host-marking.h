// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_HOST_MARKING_H
#define CCPERF_HOST_MARKING_H

#include "scenario.h"

#include "ns3/node-container.h"

namespace ccperf
{

// Has the hosts write the DSCPs of the scenario's flows into all packets of these, between TCP and IP: the ECN
// bits stay as TCP has set them, and the packet gets the priority that the type of service asks for.
//
// A socket with a type of service (SetIpTos) is no way to do that: its data segments then are not ECN capable.
void InstallHostMarking(const Scenario& scenario, const ns3::NodeContainer& nodes);

} // namespace ccperf

#endif
