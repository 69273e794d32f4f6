// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_SWITCH_ROUTING_H
#define CCPERF_SWITCH_ROUTING_H

#include "balancer.h"
#include "network.h"
#include "routes.h"

#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"

namespace ccperf
{

// Routing of one node by shortest paths. A balancer chooses among those of equal length; `static`, without one,
// takes the first in the order of links.
class SwitchRouting : public ns3::Ipv4RoutingProtocol
{
  public:
    static ns3::TypeId GetTypeId();

    // All must outlive the simulation.
    void Configure(const Algorithm& routing, std::size_t node, Network& network);

    // Null if it is static.
    ns3::Ptr<Balancer> GetBalancer() const;

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
    ns3::Ptr<ns3::Ipv4Route> RouteOver(std::size_t port, ns3::Ipv4Address destination);

    ns3::Ptr<ns3::Ipv4> m_ipv4;
    Network* m_network{nullptr};
    std::size_t m_node{0};
    std::size_t m_lastPort{0};
    ns3::Ptr<Balancer> m_balancer; // null if it is static
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

// Schedules the first of the balancers' periods, if they have some.
void ScheduleBalancing(Network& network);

} // namespace ccperf

#endif
