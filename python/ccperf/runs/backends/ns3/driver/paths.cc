// SPDX-License-Identifier: GPL-2.0-only

#include "paths.h"

#include "switch-routing.h"

#include "ns3/traffic-control-layer.h"

#include <algorithm>

namespace ccperf
{

namespace
{

template <class T>
Path
PathOf(const Scenario& scenario, const T& sender, std::size_t number, bool isReturn)
{
    Path path{number, isReturn, {}};
    for (const Hop& hop : isReturn ? sender.returnPath : sender.path)
    {
        path.portOutOf[scenario.links[hop.link].ends[hop.direction]] = 2 * hop.link + hop.direction;
    }
    return path;
}

} // namespace

Paths::Paths(const Scenario& scenario)
{
    std::size_t number = 0;
    const auto add = [&](const auto& sender) {
        const auto tuple = FourTuple::Of(sender);
        m_paths[tuple] = PathOf(scenario, sender, number, false);
        m_paths[tuple.Reversed()] = PathOf(scenario, sender, number, true);
        ++number;
    };
    std::for_each(scenario.flows.begin(), scenario.flows.end(), add);
    std::for_each(scenario.pings.begin(), scenario.pings.end(), add);
}

TransportFields
Paths::Transport(const IpFields& ip,
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

const Path*
Paths::Find(const FourTuple& tuple) const
{
    const auto found = m_paths.find(tuple);
    return found == m_paths.end() ? nullptr : &found->second;
}

void
Paths::ConnectStoppedDrops(
    const Network& network,
    std::function<void(std::size_t, ns3::Ptr<const ns3::Packet>)> onDrop) const
{
    for (const Port& port : network.ports)
    {
        if (!port.qdisc)
        {
            // A fragment that a device takes in has not been seen yet, and may wait there when the next is dropped.
            port.device->TraceConnectWithoutContext(
                "MacTx",
                ns3::Callback<void, ns3::Ptr<const ns3::Packet>>([this](auto packet) {
                    Transport(ReadIp(packet, PPP_BYTES), packet, PPP_BYTES + IP_BYTES);
                }));
        }
    }
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
                const Path* path = Find(TupleOf(ip, Transport(ip, packet, IP_BYTES)));
                if (path && path->portOutOf.count(node))
                {
                    onDrop(path->portOutOf.at(node), packet);
                }
            }));
    }
}

} // namespace ccperf
