// SPDX-License-Identifier: GPL-2.0-only

#include "added-delay.h"

#include "headers.h"
#include "varying-channel.h"

#include "ns3/node.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"

#include <unordered_map>

namespace ccperf
{

namespace
{

// A channel on which the packets of some flows, from one of its ends, arrive later than others. Nothing
// waits in it: each packet has a time of arrival of its own.
class LongerChannel : public VaryingChannel
{
  public:
    static ns3::TypeId GetTypeId()
    {
        static ns3::TypeId tid = ns3::TypeId("ccperf::LongerChannel")
                                     .SetParent<VaryingChannel>()
                                     .AddConstructor<LongerChannel>();
        return tid;
    }

    void Add(ns3::Ptr<ns3::PointToPointNetDevice> from, const FourTuple& flow, ns3::Time delay)
    {
        m_added[ns3::PeekPointer(from)][flow] = delay;
    }

    bool TransmitStart(ns3::Ptr<const ns3::Packet> packet,
                       ns3::Ptr<ns3::PointToPointNetDevice> source,
                       ns3::Time transmission) override
    {
        return VaryingChannel::TransmitStart(packet,
                                             source,
                                             transmission + AddedTo(packet, source));
    }

  private:
    ns3::Time AddedTo(ns3::Ptr<const ns3::Packet> packet,
                      ns3::Ptr<ns3::PointToPointNetDevice> source) const
    {
        const auto flows = m_added.find(ns3::PeekPointer(source));
        if (flows == m_added.end())
        {
            return {};
        }
        const auto ip = ReadIp(packet, PPP_BYTES);
        const auto transport = ReadTransport(packet, PPP_BYTES + IP_BYTES, ip.protocol);
        const auto found = flows->second.find(TupleOf(ip, transport));
        return found == flows->second.end() ? ns3::Time{} : found->second;
    }

    using Delays = std::unordered_map<FourTuple, ns3::Time, FourTuple::Hash>;

    std::unordered_map<const ns3::PointToPointNetDevice*, Delays> m_added;
};

NS_OBJECT_ENSURE_REGISTERED(LongerChannel);

ns3::Ptr<LongerChannel>
ChannelOf(std::size_t link, Network& network)
{
    Port& forward = network.ports[2 * link];
    Port& reverse = network.ports[2 * link + 1];
    if (const auto channel = ns3::DynamicCast<LongerChannel>(forward.channel))
    {
        return channel;
    }
    const auto channel = ns3::CreateObject<LongerChannel>();
    ns3::TimeValue delay;
    forward.channel->GetAttribute("Delay", delay);
    channel->SetAttribute("Delay", delay);
    if (const auto varying = ns3::DynamicCast<VaryingChannel>(forward.channel))
    {
        channel->VaryAs(*varying);
    }
    forward.device->Attach(channel);
    reverse.device->Attach(channel);
    forward.channel = reverse.channel = channel;
    return channel;
}

} // namespace

void
InstallAddedDelays(const Scenario& scenario, Network& network)
{
    for (const Flow& flow : scenario.flows)
    {
        if (flow.addedDelay > 0)
        {
            const Hop& first = flow.path.front();
            ChannelOf(first.link, network)
                ->Add(network.ports[2 * first.link + first.direction].device,
                      FourTuple::Of(flow),
                      ns3::NanoSeconds(flow.addedDelay));
        }
    }
}

} // namespace ccperf
