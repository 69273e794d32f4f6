// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_BALANCER_H
#define CCPERF_BALANCER_H

#include "headers.h"
#include "network.h"

#include "ns3/ipv4-header.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/packet.h"
#include "ns3/random-variable-stream.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ccperf
{

// A packet at a node with several paths to go.
struct Arrival
{
    const std::vector<std::size_t>& ports; // to choose from, in the order of links
    const ns3::Ipv4Header& header;
    ns3::Ptr<ns3::Packet> packet; // what is behind the IP header; tags may be written on it

    // The addresses and ports of the packet's flow; ICMP has none of the latter.
    FourTuple Flow() const;
};

// Chooses among paths of equal length for one node.
class Balancer : public ns3::Object
{
  public:
    static ns3::TypeId GetTypeId();

    // The network must outlive the simulation. Random numbers come from stream `stream` + node.
    void Attach(Network& network, std::size_t node, std::int64_t stream);

    // The position of the port to take.
    virtual std::size_t Choose(const Arrival& arrival) = 0;

    // Whether packets with one path come to Choose as well.
    virtual bool SeesEveryHop() const;

    // How often OnPeriod is to be called; never, if 0.
    virtual ns3::Time Period() const;
    virtual void OnPeriod();

    // Links have failed or come back.
    virtual void OnRoutesChanged();

  protected:
    virtual void OnAttached();

    // An integer, bounds included.
    std::size_t Draw(std::size_t least, std::size_t most);

    // IP packets in the discipline and frames in the device's queue.
    std::uint32_t WaitingBytes(std::size_t port) const;

    Network* m_network{nullptr};
    std::size_t m_node{0};

  private:
    ns3::Ptr<ns3::UniformRandomVariable> m_uniform;
};

} // namespace ccperf

#endif
