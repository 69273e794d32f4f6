// SPDX-License-Identifier: GPL-2.0-only

#include "switch-routing.h"

#include "attributes.h"

#include "ns3/ipv4-route.h"
#include "ns3/simulator.h"

namespace ccperf
{

namespace
{

NS_OBJECT_ENSURE_REGISTERED(SwitchRouting);

} // namespace

ns3::TypeId
SwitchRouting::GetTypeId()
{
    static const auto id = ns3::TypeId("ccperf::SwitchRouting")
                               .SetParent<ns3::Ipv4RoutingProtocol>()
                               .AddConstructor<SwitchRouting>();
    return id;
}

void
SwitchRouting::Configure(const Algorithm& routing, std::size_t node, Network& network)
{
    m_network = &network;
    m_node = node;
    if (routing.type != "static")
    {
        m_balancer = CreateWithAttributes<Balancer>(routing);
        m_balancer->Attach(network, node, routing.stream);
    }
}

ns3::Ptr<Balancer>
SwitchRouting::GetBalancer() const
{
    return m_balancer;
}

std::size_t
SwitchRouting::LastPort() const
{
    return m_lastPort;
}

ns3::Ptr<ns3::Ipv4Route>
SwitchRouting::RouteOver(std::size_t port, ns3::Ipv4Address destination)
{
    const auto device = m_network->ports[port].device;
    const auto interface = static_cast<std::uint32_t>(m_ipv4->GetInterfaceForDevice(device));
    const auto route = ns3::Create<ns3::Ipv4Route>();
    route->SetDestination(destination);
    route->SetSource(m_ipv4->GetAddress(interface, 0).GetLocal());
    route->SetGateway(ns3::Ipv4Address::GetZero());
    route->SetOutputDevice(device);
    return route;
}

ns3::Ptr<ns3::Ipv4Route>
SwitchRouting::RouteOutput(ns3::Ptr<ns3::Packet> packet,
                           const ns3::Ipv4Header& header,
                           ns3::Ptr<ns3::NetDevice>,
                           ns3::Socket::SocketErrno& error)
{
    const auto& ports = m_network->routes->Ports(m_node, header.GetDestination().Get());
    if (!packet)
    {
        // A socket that connects asks for its own address, not for a route.
        const auto port = ports.empty() ? m_network->routes->FirstPort(m_node) : ports[0];
        return RouteOver(port, header.GetDestination());
    }
    if (ports.empty())
    {
        error = ns3::Socket::ERROR_NOROUTETOHOST;
        return nullptr;
    }
    // Hosts have one link, unless routing is static.
    m_lastPort = ports[0];
    return RouteOver(m_lastPort, header.GetDestination());
}

bool
SwitchRouting::RouteInput(ns3::Ptr<const ns3::Packet> packet,
                          const ns3::Ipv4Header& header,
                          ns3::Ptr<const ns3::NetDevice> device,
                          const UnicastForwardCallback& forward,
                          const MulticastForwardCallback&,
                          const LocalDeliverCallback& deliver,
                          const ErrorCallback&)
{
    const auto interface = static_cast<std::uint32_t>(m_ipv4->GetInterfaceForDevice(device));
    if (m_ipv4->IsDestinationAddress(header.GetDestination(), interface))
    {
        deliver(packet, header, interface);
        return true;
    }
    const auto& ports = m_network->routes->Ports(m_node, header.GetDestination().Get());
    if (ports.empty())
    {
        return false;
    }
    const auto leaving = packet->Copy();
    std::size_t chosen = 0;
    if (m_balancer && (ports.size() > 1 || m_balancer->SeesEveryHop()))
    {
        chosen = m_balancer->Choose({ports, header, leaving});
    }
    m_lastPort = ports[chosen];
    forward(RouteOver(m_lastPort, header.GetDestination()), leaving, header);
    return true;
}

void
SwitchRouting::NotifyInterfaceUp(std::uint32_t)
{
}

void
SwitchRouting::NotifyInterfaceDown(std::uint32_t)
{
}

void
SwitchRouting::NotifyAddAddress(std::uint32_t, ns3::Ipv4InterfaceAddress)
{
}

void
SwitchRouting::NotifyRemoveAddress(std::uint32_t, ns3::Ipv4InterfaceAddress)
{
}

void
SwitchRouting::SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4)
{
    m_ipv4 = ipv4;
}

void
SwitchRouting::PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const
{
}

SwitchRoutingHelper::SwitchRoutingHelper(const Algorithm& routing, Network& network)
    : m_routing(routing),
      m_network(network)
{
}

SwitchRoutingHelper*
SwitchRoutingHelper::Copy() const
{
    return new SwitchRoutingHelper(*this);
}

ns3::Ptr<ns3::Ipv4RoutingProtocol>
SwitchRoutingHelper::Create(ns3::Ptr<ns3::Node> node) const
{
    const auto routing = ns3::CreateObject<SwitchRouting>();
    routing->Configure(m_routing, node->GetId(), m_network);
    m_network.routing.push_back(routing);
    return routing;
}

namespace
{

// For all nodes in order.
void
OnPeriod(Network& network, ns3::Time period)
{
    for (const auto& routing : network.routing)
    {
        routing->GetBalancer()->OnPeriod();
    }
    ns3::Simulator::Schedule(period, [&network, period] { OnPeriod(network, period); });
}

} // namespace

void
ScheduleBalancing(Network& network)
{
    const auto balancer = network.routing.empty() ? nullptr : network.routing[0]->GetBalancer();
    const auto period = balancer ? balancer->Period() : ns3::Time(0);
    if (period.IsStrictlyPositive())
    {
        ns3::Simulator::Schedule(period, [&network, period] { OnPeriod(network, period); });
    }
}

} // namespace ccperf
