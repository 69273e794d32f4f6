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
    return std::any_of(link.directions.begin(), link.directions.end(), [](const Direction& direction) {
        return direction.jitter || direction.reordering;
    });
}

void
VaryingChannel::Install(const ccperf::Link& link, const ns3::NetDeviceContainer& devices)
{
    const auto channel = ns3::CreateObject<VaryingChannel>();
    channel->SetAttribute("Delay", ns3::TimeValue(ns3::NanoSeconds(link.delay)));
    for (std::uint32_t side = 0; side < 2; ++side)
    {
        channel->m_impairments[side] = ImpairmentsOf(link.directions[side]);
        ns3::DynamicCast<ns3::PointToPointNetDevice>(devices.Get(side))->Attach(channel);
    }
}

void
VaryingChannel::VaryAs(const VaryingChannel& other)
{
    m_impairments = other.m_impairments;
}

VaryingChannel::Impairments
VaryingChannel::ImpairmentsOf(const Direction& direction)
{
    Impairments impairments;
    if (direction.jitter)
    {
        impairments.jitter = CreateVariable(direction.jitter->delay);
        impairments.jitter->SetStream(direction.jitter->stream);
        impairments.keepsOrder = direction.jitter->keepsOrder;
    }
    if (direction.reordering)
    {
        impairments.probability = direction.reordering->probability;
        impairments.choice = ns3::CreateObject<ns3::UniformRandomVariable>();
        impairments.choice->SetStream(direction.reordering->stream);
        impairments.lateness = CreateVariable(direction.reordering->delay);
        impairments.lateness->SetStream(direction.reordering->stream + 1);
    }
    return impairments;
}

bool
VaryingChannel::TransmitStart(ns3::Ptr<const ns3::Packet> packet,
                              ns3::Ptr<ns3::PointToPointNetDevice> source,
                              ns3::Time txTime)
{
    Impairments& impairments = m_impairments[source == GetSource(0) ? 0 : 1];
    const ns3::Time flight = Flight(impairments, txTime + GetDelay());
    return ns3::PointToPointChannel::TransmitStart(packet, source, flight - GetDelay());
}

ns3::Time
VaryingChannel::Flight(Impairments& impairments, ns3::Time plain)
{
    const ns3::Time now = ns3::Simulator::Now();
    ns3::Time arrival = now + plain;
    if (impairments.jitter)
    {
        arrival += ns3::Seconds(impairments.jitter->GetValue());
        if (impairments.keepsOrder)
        {
            impairments.lastArrival = arrival = std::max(arrival, impairments.lastArrival);
        }
    }
    if (impairments.choice && impairments.choice->GetValue() < impairments.probability)
    {
        arrival += ns3::Seconds(impairments.lateness->GetValue());
    }
    return arrival - now;
}

} // namespace ccperf
