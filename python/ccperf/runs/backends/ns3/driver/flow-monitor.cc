// SPDX-License-Identifier: GPL-2.0-only

#include "flow-monitor.h"

#include "ns3/flow-monitor.h"
#include "ns3/ipv4-flow-classifier.h"
#include "ns3/ipv4-flow-probe.h"

#include <cmath>

namespace ccperf
{

namespace
{

void
AppendHistogram(TableOf<rows::FlowHistograms>& table,
                std::size_t way,
                const char* name,
                const ns3::Histogram& histogram)
{
    for (std::uint32_t bin = 0; bin < histogram.GetNBins(); ++bin)
    {
        if (histogram.GetBinCount(bin) > 0)
        {
            table.Append({.way = way,
                          .histogram = name,
                          .bin = bin,
                          .packets = histogram.GetBinCount(bin)});
        }
    }
}

template <class T>
T
At(const std::vector<T>& values, std::size_t i)
{
    return i < values.size() ? values[i] : 0;
}

} // namespace

void
FlowMonitoring::Install(const ns3::NodeContainer& nodes)
{
    m_helper.Install(nodes);
}

FlowMonitoring::Both
FlowMonitoring::Tables(const Paths& paths)
{
    Both tables;
    const auto monitor = m_helper.GetMonitor();
    monitor->CheckForLostPackets();
    const auto classifier = ns3::DynamicCast<ns3::Ipv4FlowClassifier>(m_helper.GetClassifier());
    std::size_t number = 0;
    for (const auto& [id, stats] : monitor->GetFlowStats()) // by id: in the order of first packets
    {
        const auto tuple = classifier->FindFlow(id);
        const Path* path = paths.Find({tuple.sourceAddress.Get(),
                                       tuple.destinationAddress.Get(),
                                       tuple.sourcePort,
                                       tuple.destinationPort,
                                       tuple.protocol});
        if (!path)
        {
            continue;
        }
        const bool isReceived = stats.rxPackets > 0;
        const auto ifReceived = [isReceived](const ns3::Time& time) {
            return isReceived ? static_cast<double>(time.GetNanoSeconds()) : NAN;
        };
        using Probe = ns3::Ipv4FlowProbe;
        tables.first.Append({
            .flow = path->flow,
            .direction = path->isReturn ? 1 : 0,
            .first_tx_ns = stats.timeFirstTxPacket.GetNanoSeconds(),
            .last_tx_ns = stats.timeLastTxPacket.GetNanoSeconds(),
            .first_rx_ns = ifReceived(stats.timeFirstRxPacket),
            .last_rx_ns = ifReceived(stats.timeLastRxPacket),
            .delay_sum_ns = stats.delaySum.GetNanoSeconds(),
            .jitter_sum_ns = stats.jitterSum.GetNanoSeconds(),
            .last_delay_ns = ifReceived(stats.lastDelay),
            .max_delay_ns = ifReceived(stats.maxDelay),
            .min_delay_ns = ifReceived(stats.minDelay),
            .tx_bytes = stats.txBytes,
            .rx_bytes = stats.rxBytes,
            .tx_packets = stats.txPackets,
            .rx_packets = stats.rxPackets,
            .lost_packets = stats.lostPackets,
            .times_forwarded = stats.timesForwarded,
            .no_route_packets = At(stats.packetsDropped, Probe::DROP_NO_ROUTE),
            .no_route_bytes = At(stats.bytesDropped, Probe::DROP_NO_ROUTE),
            .device_packets = At(stats.packetsDropped, Probe::DROP_QUEUE),
            .device_bytes = At(stats.bytesDropped, Probe::DROP_QUEUE),
            .qdisc_packets = At(stats.packetsDropped, Probe::DROP_QUEUE_DISC),
            .qdisc_bytes = At(stats.bytesDropped, Probe::DROP_QUEUE_DISC),
        });
        AppendHistogram(tables.second, number, "delay", stats.delayHistogram);
        AppendHistogram(tables.second, number, "jitter", stats.jitterHistogram);
        AppendHistogram(tables.second, number, "packet_size", stats.packetSizeHistogram);
        AppendHistogram(tables.second, number, "interruption", stats.flowInterruptionsHistogram);
        ++number;
    }
    return tables;
}

} // namespace ccperf
