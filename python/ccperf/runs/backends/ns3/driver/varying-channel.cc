// SPDX-License-Identifier: GPL-2.0-only

#include "varying-channel.h"

#include "sources.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(VaryingChannel);

ns3::TypeId
VaryingChannel::GetTypeId()
{
    static ns3::TypeId tid = ns3::TypeId("ccperf::VaryingChannel")
                                 .SetParent<ns3::PointToPointChannel>()
                                 .AddConstructor<VaryingChannel>();
    return tid;
}

bool
VaryingChannel::IsNeeded(const ccperf::Link& link)
{
    return std::any_of(link.directions.begin(), link.directions.end(), [](const Direction& way) {
        return way.jitter || way.reordering;
    });
}

void
VaryingChannel::Install(const ccperf::Link& link, const ns3::NetDeviceContainer& devices)
{
    const auto channel = ns3::CreateObject<VaryingChannel>();
    channel->SetAttribute("Delay", ns3::TimeValue(ns3::NanoSeconds(link.delay)));
    for (std::uint32_t side = 0; side < 2; ++side)
    {
        channel->m_ways[side] = WayOf(link.directions[side]);
        ns3::DynamicCast<ns3::PointToPointNetDevice>(devices.Get(side))->Attach(channel);
    }
}

void
VaryingChannel::VaryAs(const VaryingChannel& other)
{
    m_ways = other.m_ways;
}

VaryingChannel::Way
VaryingChannel::WayOf(const Direction& direction)
{
    Way way;
    if (direction.jitter)
    {
        way.jitter = CreateVariable(direction.jitter->delay);
        way.jitter->SetStream(direction.jitter->stream);
        way.keepsOrder = direction.jitter->keepsOrder;
    }
    if (direction.reordering)
    {
        way.probability = direction.reordering->probability;
        way.choice = ns3::CreateObject<ns3::UniformRandomVariable>();
        way.choice->SetStream(direction.reordering->stream);
        way.lateness = CreateVariable(direction.reordering->delay);
        way.lateness->SetStream(direction.reordering->stream + 1);
    }
    return way;
}

bool
VaryingChannel::TransmitStart(ns3::Ptr<const ns3::Packet> packet,
                              ns3::Ptr<ns3::PointToPointNetDevice> source,
                              ns3::Time txTime)
{
    Way& way = m_ways[source == GetSource(0) ? 0 : 1];
    const ns3::Time flight = Flight(way, txTime + GetDelay());
    return ns3::PointToPointChannel::TransmitStart(packet, source, flight - GetDelay());
}

ns3::Time
VaryingChannel::Flight(Way& way, ns3::Time plain)
{
    const ns3::Time now = ns3::Simulator::Now();
    ns3::Time arrival = now + plain;
    if (way.jitter)
    {
        arrival += ns3::Seconds(way.jitter->GetValue());
        if (way.keepsOrder)
        {
            way.lastArrival = arrival = std::max(arrival, way.lastArrival);
        }
    }
    if (way.choice && way.choice->GetValue() < way.probability)
    {
        arrival += ns3::Seconds(way.lateness->GetValue());
    }
    return arrival - now;
}

} // namespace ccperf
