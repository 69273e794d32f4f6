// SPDX-License-Identifier: GPL-2.0-only

#include "ways.h"

#include "ns3/traffic-control-layer.h"

namespace ccperf
{

namespace
{

Way
WayOf(const Scenario& scenario, std::size_t flow, bool isReturn)
{
    Way way{flow, isReturn, {}};
    const Flow& description = scenario.flows[flow];
    for (const Hop& hop : isReturn ? description.returnPath : description.path)
    {
        way.portOutOf[scenario.links[hop.link].ends[hop.direction]] = 2 * hop.link + hop.direction;
    }
    return way;
}

} // namespace

Ways::Ways(const Scenario& scenario)
{
    for (std::size_t i = 0; i < scenario.flows.size(); ++i)
    {
        const auto tuple = FourTuple::Of(scenario.flows[i]);
        m_ways[tuple] = WayOf(scenario, i, false);
        m_ways[tuple.Reversed()] = WayOf(scenario, i, true);
    }
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
            ns3::Callback<void, ns3::Ptr<const ns3::Packet>>([this, node, onDrop](auto packet) {
                const Way* way = Find(TupleOf(ReadIp(packet, 0), ReadTcp(packet, IP_BYTES)));
                if (way && way->portOutOf.count(node))
                {
                    onDrop(way->portOutOf.at(node), packet);
                }
            }));
    }
}

} // namespace ccperf
