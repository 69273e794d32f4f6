// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_NETWORK_H
#define CCPERF_NETWORK_H

#include "loss-model.h"
#include "routes.h"
#include "scenario.h"
#include "shared-buffer-queue-disc.h"

#include "ns3/ipv4-header.h"
#include "ns3/node-container.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-disc.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ccperf
{

// One direction of a link.
struct Port
{
    std::string name;
    std::size_t index; // 2 * link + direction
    ns3::Ptr<ns3::PointToPointNetDevice> device; // sends
    ns3::Ptr<ns3::PointToPointNetDevice> peer;   // receives
    ns3::Ptr<ns3::PointToPointChannel> channel;
    ns3::Ptr<ns3::QueueDisc> qdisc; // null: packets go straight to the device
    ns3::Ptr<LossModel> loss;
    std::uint64_t rate; // configured at present
};

class SwitchRouting;

// Who wants to know what is lost because of failures, and at which port.
class FailureObserver
{
  public:
    virtual ~FailureObserver() = default;
    virtual void OnLostItem(std::size_t port, ns3::Ptr<const ns3::QueueDiscItem> item) = 0;
    // Begins with its PPP header.
    virtual void OnLostPacket(std::size_t port, ns3::Ptr<const ns3::Packet> packet) = 0;
    // `packet` begins behind the IP header.
    virtual void OnNoRoute(std::size_t port,
                           const ns3::Ipv4Header& header,
                           ns3::Ptr<const ns3::Packet> packet) = 0;
};

// The nodes and links of a scenario, ready for applications.
struct Network
{
    ns3::NodeContainer nodes;
    std::vector<Port> ports;
    std::map<std::int64_t, ns3::Ptr<ns3::UniformRandomVariable>> lossStreams; // by number
    std::map<std::uint32_t, SharedBufferQueueDisc::Ports> buffers; // by node
    // Empty if routing is static and nothing fails: ns-3's own static routes are enough then.
    std::optional<Routes> routes;
    std::vector<ns3::Ptr<SwitchRouting>> routing; // by node
    std::vector<FailureObserver*> observers;
};

// Creates nodes, the balancers' first event, links, routes, the events of the changes and those of the links' schedules, in this order. The network must
// outlive the simulation.
void BuildNetwork(const Scenario& scenario, Network& network);

} // namespace ccperf

#endif
