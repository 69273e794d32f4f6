// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_SWITCH_ROUTING_H
#define CCPERF_SWITCH_ROUTING_H

#include "network.h"
#include "routes.h"

#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/random-variable-stream.h"

namespace ccperf
{

// Routing of one node by shortest paths, with a choice among those of equal length:
//
// - `static`: the first in the order of links.
// - `ecmp`: by a hash of the flow. With `mix` for SplitMix64's finisher and 64-bit arithmetic that wraps,
//
//     flow   = mix(mix(source << 32 | destination) ^ (protocol << 32 | source port << 16 | destination port))
//     salt   = mix(Seed + 0x9e3779b97f4a7c15 * (node + 1))
//     chosen = (mix(flow ^ salt) >> 32) * ports >> 32
//
//   with addresses as numbers and 0 for the ports of ICMP.
// - `random`: each packet at random, uniformly, from a stream of the node's own; a packet with one way draws
//   nothing.
class SwitchRouting : public ns3::Ipv4RoutingProtocol
{
  public:
    static ns3::TypeId GetTypeId();

    // All must outlive the simulation.
    void Configure(const Algorithm& routing, std::size_t node, Network& network);

    // The port that the last packet was sent to.
    std::size_t LastPort() const;

    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet> packet,
                                         const ns3::Ipv4Header& header,
                                         ns3::Ptr<ns3::NetDevice> device,
                                         ns3::Socket::SocketErrno& error) override;
    bool RouteInput(ns3::Ptr<const ns3::Packet> packet,
                    const ns3::Ipv4Header& header,
                    ns3::Ptr<const ns3::NetDevice> device,
                    const UnicastForwardCallback& forward,
                    const MulticastForwardCallback& forwardToMany,
                    const LocalDeliverCallback& deliver,
                    const ErrorCallback& onError) override;
    // What changes on the node's interfaces does not concern it: Routes knows about links.
    void NotifyInterfaceUp(std::uint32_t interface) override;
    void NotifyInterfaceDown(std::uint32_t interface) override;
    void NotifyAddAddress(std::uint32_t interface, ns3::Ipv4InterfaceAddress address) override;
    void NotifyRemoveAddress(std::uint32_t interface, ns3::Ipv4InterfaceAddress address) override;
    void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override;
    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper> stream,
                           ns3::Time::Unit unit) const override;

  private:
    std::size_t Choose(const std::vector<std::size_t>& ports,
                       const ns3::Ipv4Header& header,
                       ns3::Ptr<const ns3::Packet> packet);
    ns3::Ptr<ns3::Ipv4Route> RouteOver(std::size_t port, ns3::Ipv4Address destination);

    ns3::Ptr<ns3::Ipv4> m_ipv4;
    Network* m_network{nullptr};
    std::size_t m_node{0};
    std::size_t m_lastPort{0};
    bool m_isHashed{false};
    std::uint64_t m_salt{0};
    ns3::Ptr<ns3::UniformRandomVariable> m_uniform; // null unless it is random
};

// Gives every node one.
class SwitchRoutingHelper : public ns3::Ipv4RoutingHelper
{
  public:
    SwitchRoutingHelper(const Algorithm& routing, Network& network);
    SwitchRoutingHelper* Copy() const override;
    ns3::Ptr<ns3::Ipv4RoutingProtocol> Create(ns3::Ptr<ns3::Node> node) const override;

  private:
    const Algorithm& m_routing;
    Network& m_network;
};

} // namespace ccperf

#endif
