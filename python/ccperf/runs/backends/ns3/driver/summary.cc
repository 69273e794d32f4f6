// SPDX-License-Identifier: GPL-2.0-only
//
// The recorder's tables of counters.

#include "recorder.h"

#include <algorithm>
#include <tuple>

namespace ccperf
{

TableOf<rows::Flows>
Recorder::Flows() const
{
    TableOf<rows::Flows> table;
    for (std::size_t i = 0; i < m_flows.size(); ++i)
    {
        const FlowProbe& probe = m_flows[i];
        const Flow& flow = m_scenario.flows[i];
        const auto& links = m_scenario.links;
        std::int64_t baseRtt = flow.addedDelay;
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
        table.Append({
            .name = flow.name,
            .segments_sent = probe.segmentsSent,
            .retransmissions = probe.retransmissions,
            .rtos = probe.rtos,
            .recovery_episodes = probe.episodes,
            .recovery_time_ns = probe.recoveryTime.GetNanoSeconds(),
            .start_ns = flow.start,
            .stop_ns = flow.stop > 0 ? flow.stop : m_scenario.stop,
            .completion_ns = NanosecondsOf(probe.completed),
            .base_rtt_ns = baseRtt,
            .bottleneck = directionOf(*bottleneck).name,
        });
    }
    return table;
}

TableOf<rows::Completions>
Recorder::Completions() const
{
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < m_flows.size(); ++i)
    {
        if (m_scenario.flows[i].transport == Transport::TCP)
        {
            order.push_back(i);
        }
    }
    // Without an end comes last; equals stay in the order of flows.
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
        const auto& [first, second] = std::tie(m_flows[a].completed, m_flows[b].completed);
        return first && (!second || *first < *second);
    });
    TableOf<rows::Completions> table;
    for (const std::size_t i : order)
    {
        const FlowProbe& probe = m_flows[i];
        const Flow& flow = m_scenario.flows[i];
        const auto size = std::visit([](const auto& traffic) { return traffic.bytes; }, flow.traffic);
        table.Append({
            .flow = i,
            .group = flow.group,
            .start_ns = flow.start,
            .end_ns = NanosecondsOf(probe.completed),
            .finished = probe.completed ? 1 : 0,
            .size_bytes = size,
            .acked_bytes = probe.ackedBytes,
            .retransmissions = probe.retransmissions,
            .rtos = probe.rtos,
            .ideal_ns = flow.ideal ? static_cast<double>(*flow.ideal) : NAN,
        });
    }
    return table;
}

TableOf<rows::Deliveries>
Recorder::Deliveries() const
{
    TableOf<rows::Deliveries> table;
    for (std::size_t i = 0; i < m_flows.size(); ++i)
    {
        if (m_flows[i].lastDelivery)
        {
            table.Append({.flow = i, .last_rx_ns = m_flows[i].lastDelivery->GetNanoSeconds()});
        }
    }
    return table;
}

TableOf<rows::Workloads>
Recorder::Workloads() const
{
    TableOf<rows::Workloads> table;
    for (const Workload& workload : m_scenario.workloads)
    {
        table.Append({
            .name = workload.name,
            .transfers = workload.transfers,
            .bytes = workload.bytes,
            .mean_bytes = workload.meanBytes,
            .realised_mean_bytes =
                static_cast<double>(workload.bytes) / static_cast<double>(workload.transfers),
            .load = workload.load.value_or(NAN),
            .realised_load = workload.realisedLoad.value_or(NAN),
        });
    }
    return table;
}

TableOf<rows::Links>
Recorder::Links() const
{
    TableOf<rows::Links> table;
    for (std::size_t i = 0; i < m_ports.size(); ++i)
    {
        const PortProbe& probe = m_ports[i];
        table.Append({
            .name = m_network.ports[i].name,
            .tx_packets = probe.txPackets,
            .tx_bytes = probe.txBytes,
            .qdisc_enqueued = probe.enqueued,
            .qdisc_dropped = probe.dropped,
            .qdisc_marked = probe.marked,
            .device_dropped = probe.deviceDropped,
            .loss_dropped = probe.lossDropped,
            .failure_dropped = probe.failureDropped,
        });
    }
    return table;
}

TableOf<rows::Pings>
Recorder::Pings() const
{
    TableOf<rows::Pings> table;
    for (std::size_t i = 0; i < m_pings.size(); ++i)
    {
        for (const Echo& echo : m_pings[i])
        {
            table.Append({.time_ns = echo.sent.GetNanoSeconds(),
                          .ping = i,
                          .rtt_ns = NanosecondsOf(echo.rtt)});
        }
    }
    return table;
}

TableOf<rows::Drops>
Recorder::Drops() const
{
    TableOf<rows::Drops> table;
    for (std::size_t i = 0; i < m_ports.size(); ++i)
    {
        for (const auto& count : m_ports[i].counts)
        {
            table.Append({.link = m_network.ports[i].name,
                          .verdict = count.verdict,
                          .reason = count.reason,
                          .packets = count.packets,
                          .bytes = count.bytes});
        }
    }
    return table;
}

} // namespace ccperf
