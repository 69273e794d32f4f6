// SPDX-License-Identifier: GPL-2.0-only
//
// The recorder's tables of counters.

#include "recorder.h"

#include <algorithm>

namespace ccperf
{

void
Recorder::FillFlows(Table& table) const
{
    table.Add<Strings>({"name"});
    table.Add<Integers>({"segments_sent",
                         "retransmissions",
                         "rtos",
                         "recovery_episodes",
                         "recovery_time_ns",
                         "start_ns",
                         "stop_ns"});
    table.Add<Reals>({"completion_ns"});
    table.Add<Integers>({"base_rtt_ns"});
    table.Add<Strings>({"bottleneck"});
    for (std::size_t i = 0; i < m_flows.size(); ++i)
    {
        const FlowProbe& probe = m_flows[i];
        const Flow& flow = m_scenario.flows[i];
        const auto& links = m_scenario.links;
        std::int64_t baseRtt = 0;
        for (const auto* path : {&flow.path, &flow.returnPath})
        {
            for (const Hop& hop : *path)
            {
                baseRtt += links[hop.link].delay;
            }
        }
        const auto directionOf = [&](const Hop& hop) -> const Direction& {
            return links[hop.link].directions[hop.direction];
        };
        const auto bottleneck =
            std::min_element(flow.path.begin(), flow.path.end(), [&](const Hop& a, const Hop& b) {
                return directionOf(a).rate < directionOf(b).rate;
            });
        table.Append(flow.name,
                     probe.segmentsSent,
                     probe.retransmissions,
                     probe.rtos,
                     probe.episodes,
                     probe.recoveryTime.GetNanoSeconds(),
                     flow.start,
                     flow.stop > 0 ? flow.stop : m_scenario.stop,
                     NanosecondsOf(probe.completed),
                     baseRtt,
                     directionOf(*bottleneck).name);
    }
}

void
Recorder::FillLinks(Table& table) const
{
    table.Add<Strings>({"name"});
    table.Add<Integers>({"tx_packets",
                         "tx_bytes",
                         "qdisc_enqueued",
                         "qdisc_dropped",
                         "qdisc_marked",
                         "device_dropped",
                         "loss_dropped"});
    for (std::size_t i = 0; i < m_ports.size(); ++i)
    {
        const PortProbe& probe = m_ports[i];
        table.Append(m_network.ports[i].name,
                     probe.txPackets,
                     probe.txBytes,
                     probe.enqueued,
                     probe.dropped,
                     probe.marked,
                     probe.deviceDropped,
                     probe.lossDropped);
    }
}

void
Recorder::FillPings(Table& table) const
{
    table.Add<Integers>({"time_ns", "ping"});
    table.Add<Reals>({"rtt_ns"});
    for (std::size_t i = 0; i < m_pings.size(); ++i)
    {
        for (const Echo& echo : m_pings[i])
        {
            table.Append(echo.sent.GetNanoSeconds(), i, NanosecondsOf(echo.rtt));
        }
    }
}

void
Recorder::FillDrops(Table& table) const
{
    table.Add<Strings>({"link", "verdict", "reason"});
    table.Add<Integers>({"packets", "bytes"});
    for (std::size_t i = 0; i < m_ports.size(); ++i)
    {
        for (const auto& count : m_ports[i].counts)
        {
            table.Append(m_network.ports[i].name,
                         std::string(count.verdict),
                         count.reason,
                         count.packets,
                         count.bytes);
        }
    }
}

} // namespace ccperf
