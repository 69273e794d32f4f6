// SPDX-License-Identifier: GPL-2.0-only

#include "balancer.h"

#include "ns3/queue.h"

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(Balancer);

FourTuple
Arrival::Flow() const
{
    const std::uint8_t protocol = header.GetProtocol();
    FourTuple flow{header.GetSource().Get(), header.GetDestination().Get(), 0, 0};
    if (protocol != ICMP)
    {
        const auto transport = ReadTransport(packet, 0, protocol);
        flow.sourcePort = transport.sourcePort;
        flow.destinationPort = transport.destinationPort;
    }
    return flow;
}

ns3::TypeId
Balancer::GetTypeId()
{
    static const auto id = ns3::TypeId("ccperf::Balancer").SetParent<ns3::Object>();
    return id;
}

void
Balancer::Attach(Network& network, std::size_t node, std::int64_t stream)
{
    m_network = &network;
    m_node = node;
    m_uniform = ns3::CreateObject<ns3::UniformRandomVariable>();
    m_uniform->SetStream(stream + static_cast<std::int64_t>(node));
    OnAttached();
}

bool
Balancer::SeesEveryHop() const
{
    return false;
}

ns3::Time
Balancer::Period() const
{
    return ns3::Time(0);
}

void
Balancer::OnPeriod()
{
}

void
Balancer::OnRoutesChanged()
{
}

void
Balancer::OnAttached()
{
}

std::size_t
Balancer::Draw(std::size_t least, std::size_t most)
{
    return m_uniform->GetInteger(static_cast<std::uint32_t>(least),
                                 static_cast<std::uint32_t>(most));
}

std::uint32_t
Balancer::WaitingBytes(std::size_t port) const
{
    const Port& asked = m_network->ports[port];
    const std::uint32_t inDiscipline = asked.qdisc ? asked.qdisc->GetNBytes() : 0;
    return inDiscipline + asked.device->GetQueue()->GetNBytes();
}

} // namespace ccperf
