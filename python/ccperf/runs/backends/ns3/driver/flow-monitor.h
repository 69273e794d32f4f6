// SPDX-License-Identifier: GPL-2.0-only
//
// ns-3's own FlowMonitor, with a probe in every node, and the tables made of it.

#ifndef CCPERF_FLOW_MONITOR_H
#define CCPERF_FLOW_MONITOR_H

#include "rows.h"
#include "table.h"
#include "paths.h"

#include "ns3/flow-monitor-helper.h"

#include <utility>

namespace ccperf
{

class FlowMonitoring
{
  public:
    using Both = std::pair<TableOf<rows::FlowMonitor>, TableOf<rows::FlowHistograms>>;

    // To be called when the network is complete; nothing is observed otherwise.
    void Install(const ns3::NodeContainer& nodes);
    // Of what has happened so far: each way, and its histograms.
    Both Tables(const Paths& paths);

  private:
    ns3::FlowMonitorHelper m_helper;
};

} // namespace ccperf

#endif
