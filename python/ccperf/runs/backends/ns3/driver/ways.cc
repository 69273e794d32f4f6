// SPDX-License-Identifier: GPL-2.0-only

#include "ways.h"

#include "switch-routing.h"

#include "ns3/traffic-control-layer.h"

#include <algorithm>

namespace ccperf
{

namespace
{

template <class T>
Way
WayOf(const Scenario& scenario, const T& sender, std::size_t number, bool isReturn)
{
    Way way{number, isReturn, {}};
    for (const Hop& hop : isReturn ? sender.returnPath : sender.path)
    {
        way.portOutOf[scenario.links[hop.link].ends[hop.direction]] = 2 * hop.link + hop.direction;
    }
    return way;
}

} // namespace

Ways::Ways(const Scenario& scenario)
{
    std::size_t number = 0;
    const auto add = [&](const auto& sender) {
        const auto tuple = FourTuple::Of(sender);
        m_ways[tuple] = WayOf(scenario, sender, number, false);
        m_ways[tuple.Reversed()] = WayOf(scenario, sender, number, true);
        ++number;
    };
    std::for_each(scenario.flows.begin(), scenario.flows.end(), add);
    std::for_each(scenario.pings.begin(), scenario.pings.end(), add);
}

TransportFields
Ways::Transport(const IpFields& ip,
                ns3::Ptr<const ns3::Packet> packet,
                std::uint32_t offset) const
{
    if (!ip.IsFragment())
    {
        return ReadTransport(packet, offset, ip.protocol);
    }
    const std::pair key{std::uint64_t{ip.source} << 32 | ip.destination,
                        std::uint32_t{ip.protocol} << 16 | ip.identification};
    if (ip.offset == 0)
    {
        return m_cut[key] = ReadTransport(packet, offset, ip.protocol);
    }
    // The first fragment is the first that is seen.
    TransportFields fields = m_cut.at(key);
    fields.headerBytes = 0;
    return fields;
}

const Way*
Ways::Find(const FourTuple& tuple) const
{
    const auto found = m_ways.find(tuple);
    return found == m_ways.end() ? nullptr : &found->second;
}

void
Ways::ConnectStoppedDrops(
    const Network& network,
    std::function<void(std::size_t, ns3::Ptr<const ns3::Packet>)> onDrop) const
{
    for (std::uint32_t node = 0; node < network.nodes.GetN(); ++node)
    {
        network.nodes.Get(node)->GetObject<ns3::TrafficControlLayer>()->TraceConnectWithoutContext(
            "TcDrop",
            ns3::Callback<void, ns3::Ptr<const ns3::Packet>>([this, &network, node, onDrop](auto packet) {
                if (!network.routing.empty())
                {
                    onDrop(network.routing[node]->LastPort(), packet);
                    return;
                }
                const auto ip = ReadIp(packet, 0);
                const Way* way = Find(TupleOf(ip, Transport(ip, packet, IP_BYTES)));
                if (way && way->portOutOf.count(node))
                {
                    onDrop(way->portOutOf.at(node), packet);
                }
            }));
    }
}

} // namespace ccperf
