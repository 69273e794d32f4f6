// SPDX-License-Identifier: GPL-2.0-only

#include "host-marking.h"

#include "ns3/ipv4-route.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/socket.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

namespace ccperf
{

namespace
{

// Source, destination and their ports.
using Direction4 = std::tuple<ns3::Ipv4Address, ns3::Ipv4Address, std::uint16_t, std::uint16_t>;

// What a host writes: a code point, one higher after each of these numbers of bytes.
struct Marking
{
    std::uint8_t dscp;
    std::vector<std::uint32_t> pias;

    std::uint8_t Of(const ns3::TcpHeader& header) const
    {
        const std::uint32_t sequence = header.GetSequenceNumber().GetValue(); // the SYN has 0
        const std::uint32_t before = sequence > 0 ? sequence - 1 : 0;
        const auto reached = std::count_if(pias.begin(), pias.end(), [before](std::uint32_t bytes) {
            return bytes <= before;
        });
        return static_cast<std::uint8_t>(dscp + reached);
    }
};

using CodePoints = std::map<Direction4, Marking>;

void
Write(std::uint8_t dscp, ns3::Ptr<ns3::Packet> packet)
{
    ns3::SocketIpTosTag service; // TCP's: the ECN bits, if any
    if (!packet->RemovePacketTag(service))
    {
        service.SetTos(0);
    }
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
                Write(found->second.Of(header), packet);
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
        if (flow.dscp > 0 || !flow.pias.empty())
        {
            hosts[flow.source][{source, destination, flow.sourcePort, flow.destinationPort}] = {
                flow.dscp,
                flow.pias};
        }
        if (flow.returnDscp > 0)
        {
            hosts[flow.destination]
                 [{destination, source, flow.destinationPort, flow.sourcePort}] = {flow.returnDscp, {}};
        }
    }
    for (auto& [node, codePoints] : hosts)
    {
        InstallOn(nodes.Get(static_cast<std::uint32_t>(node)), std::move(codePoints));
    }
}

} // namespace ccperf
