// SPDX-License-Identifier: GPL-2.0-only

#include "switch-routing.h"

#include "headers.h"

#include "ns3/ipv4-route.h"
#include "ns3/object-factory.h"

#include <stdexcept>

namespace ccperf
{

namespace
{

NS_OBJECT_ENSURE_REGISTERED(SwitchRouting);

constexpr std::uint8_t PROTOCOL_ICMP = 1;

std::uint64_t
MixBits(std::uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

std::uint64_t
HashOfFlow(const ns3::Ipv4Header& header, ns3::Ptr<const ns3::Packet> packet)
{
    const std::uint8_t protocol = header.GetProtocol();
    const std::uint64_t addresses =
        std::uint64_t{header.GetSource().Get()} << 32 | header.GetDestination().Get();
    std::uint64_t rest = std::uint64_t{protocol} << 32;
    if (protocol != PROTOCOL_ICMP)
    {
        const auto transport = ReadTransport(packet, 0, protocol);
        rest |= std::uint64_t{transport.sourcePort} << 16 | transport.destinationPort;
    }
    return MixBits(MixBits(addresses) ^ rest);
}

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
    if (routing.type == "ecmp")
    {
        m_isHashed = true;
        const std::uint64_t seed = std::stoull(routing.attributes.at(0).second); // its only one
        m_salt = MixBits(seed + 0x9e3779b97f4a7c15ULL * (std::uint64_t{node} + 1));
    }
    else if (routing.type == "random")
    {
        m_uniform = ns3::CreateObject<ns3::UniformRandomVariable>();
        m_uniform->SetStream(routing.stream + static_cast<std::int64_t>(node));
    }
    else if (routing.type != "static")
    {
        throw std::runtime_error("this driver has no routing `" + routing.type + "`");
    }
}

std::size_t
SwitchRouting::LastPort() const
{
    return m_lastPort;
}

std::size_t
SwitchRouting::Choose(const std::vector<std::size_t>& ports,
                      const ns3::Ipv4Header& header,
                      ns3::Ptr<const ns3::Packet> packet)
{
    std::size_t chosen = 0;
    if (ports.size() > 1 && m_isHashed)
    {
        const std::uint64_t high = MixBits(HashOfFlow(header, packet) ^ m_salt) >> 32;
        chosen = high * ports.size() >> 32;
    }
    else if (ports.size() > 1 && m_uniform)
    {
        chosen = m_uniform->GetInteger(0, static_cast<std::uint32_t>(ports.size() - 1));
    }
    m_lastPort = ports[chosen];
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
        // A socket that connects asks for its own address, not for a way.
        const auto port = ports.empty() ? m_network->routes->FirstPort(m_node) : ports[0];
        return RouteOver(port, header.GetDestination());
    }
    if (ports.empty())
    {
        error = ns3::Socket::ERROR_NOROUTETOHOST;
        return nullptr;
    }
    return RouteOver(Choose(ports, header, packet), header.GetDestination());
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
    forward(RouteOver(Choose(ports, header, packet), header.GetDestination()), packet, header);
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

} // namespace ccperf
