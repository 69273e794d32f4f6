// SPDX-License-Identifier: GPL-2.0-only

#include "host-marking.h"

#include "ns3/ipv4-route.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/socket.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"

#include <map>
#include <memory>
#include <tuple>

namespace ccperf
{

namespace
{

// Source, destination and their ports.
using Direction4 = std::tuple<ns3::Ipv4Address, ns3::Ipv4Address, std::uint16_t, std::uint16_t>;
using CodePoints = std::map<Direction4, std::uint8_t>;

void
Write(std::uint8_t dscp, ns3::Ptr<ns3::Packet> packet)
{
    ns3::SocketIpTosTag service; // TCP's: the ECN bits, if any
    packet->RemovePacketTag(service);
    service.SetTos(static_cast<std::uint8_t>(dscp << 2 | (service.GetTos() & 3)));
    packet->AddPacketTag(service);
    const auto priority = ns3::Socket::IpTos2Priority(static_cast<std::uint8_t>(dscp << 2));
    if (priority > 0)
    {
        ns3::SocketPriorityTag tag;
        tag.SetPriority(priority);
        packet->ReplacePacketTag(tag);
    }
}

void
InstallOn(ns3::Ptr<ns3::Node> node, CodePoints codePoints)
{
    const auto tcp = node->GetObject<ns3::TcpL4Protocol>();
    const auto down = tcp->GetDownTarget();
    const auto known = std::make_shared<CodePoints>(std::move(codePoints));
    tcp->SetDownTarget(ns3::IpL4Protocol::DownTargetCallback(
        [known, down](ns3::Ptr<ns3::Packet> packet,
                      ns3::Ipv4Address source,
                      ns3::Ipv4Address destination,
                      std::uint8_t protocol,
                      ns3::Ptr<ns3::Ipv4Route> route) {
            ns3::TcpHeader header;
            packet->PeekHeader(header);
            const auto found = known->find(
                {source, destination, header.GetSourcePort(), header.GetDestinationPort()});
            if (found != known->end())
            {
                Write(found->second, packet);
            }
            down(packet, source, destination, protocol, route);
        }));
}

} // namespace

void
InstallHostMarking(const Scenario& scenario, const ns3::NodeContainer& nodes)
{
    std::map<std::size_t, CodePoints> hosts;
    for (const Flow& flow : scenario.flows)
    {
        const ns3::Ipv4Address source(flow.sourceAddress.c_str());
        const ns3::Ipv4Address destination(flow.destinationAddress.c_str());
        if (flow.dscp > 0)
        {
            hosts[flow.source][{source, destination, flow.sourcePort, flow.destinationPort}] =
                flow.dscp;
        }
        if (flow.returnDscp > 0)
        {
            hosts[flow.destination]
                 [{destination, source, flow.destinationPort, flow.sourcePort}] = flow.returnDscp;
        }
    }
    for (auto& [node, codePoints] : hosts)
    {
        InstallOn(nodes.Get(static_cast<std::uint32_t>(node)), std::move(codePoints));
    }
}

} // namespace ccperf
