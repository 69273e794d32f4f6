// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_PACKET_BALANCERS_H
#define CCPERF_PACKET_BALANCERS_H

#include "balancer.h"

#include <map>
#include <utility>

namespace ccperf
{

// Balancers that choose for each packet anew.

// `random`: uniformly.
class RandomBalancer : public Balancer
{
  public:
    static ns3::TypeId GetTypeId();
    std::size_t Choose(const Arrival& arrival) override;
};

// `drb`: the packets from one host to another take the ports in turn. The first one takes a random port; where
// the next port would be is the first one, if there are fewer now.
class DrbBalancer : public Balancer
{
  public:
    static ns3::TypeId GetTypeId();
    std::size_t Choose(const Arrival& arrival) override;

  private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> m_next; // by addresses
};

// `drill`: the port with the fewest waiting bytes among `Samples` different ones, drawn at random, and behind
// them those of the `Memory` that were the best for the packet before which are not among them. The first of equals
// is the best. What was the best is remembered for each set of ports, until links fail or come back.
//
// Sample i is drawn from the positions i to the last of a list, and changes places with the one at i; the list
// is 0, 1, 2, ... for each packet.
class DrillBalancer : public Balancer
{
  public:
    static ns3::TypeId GetTypeId();
    std::size_t Choose(const Arrival& arrival) override;
    void OnRoutesChanged() override;

  private:
    std::uint32_t m_samples;
    std::uint32_t m_memory;
    std::map<std::vector<std::size_t>, std::vector<std::size_t>> m_best; // positions, by ports
};

// `adaptive`: the port with the fewest waiting bytes, a random one of equals; if there is one, none is drawn.
class AdaptiveBalancer : public Balancer
{
  public:
    static ns3::TypeId GetTypeId();
    std::size_t Choose(const Arrival& arrival) override;
};

} // namespace ccperf

#endif
