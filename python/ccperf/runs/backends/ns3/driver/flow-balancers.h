// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_FLOW_BALANCERS_H
#define CCPERF_FLOW_BALANCERS_H

#include "balancer.h"

#include <unordered_map>

namespace ccperf
{

// Balancers that keep a flow, or a flowlet of it, on its path.

// `ecmp`: by a hash of the flow. With `mix` for SplitMix64's finisher and 64-bit arithmetic that wraps,
//
//   flow   = mix(mix(source << 32 | destination) ^ (protocol << 32 | source port << 16 | destination port))
//   salt   = mix(Seed + 0x9e3779b97f4a7c15 * (node + 1))
//   chosen = (mix(flow ^ salt) >> 32) * ports >> 32
//
// with addresses as numbers and 0 for the ports of ICMP.
class EcmpBalancer : public Balancer
{
  public:
    static ns3::TypeId GetTypeId();
    std::size_t Choose(const Arrival& arrival) override;

    static std::uint64_t Salt(std::uint64_t seed, std::size_t node);
    static std::size_t Position(const Arrival& arrival, std::uint64_t salt);

  private:
    std::uint64_t m_seed;
};

// `letflow`: a packet that comes more than FlowletTimeout after the one before it of its flow, in its direction,
// or whose port is no longer there, and the first one of a flow take a path at random, uniformly; others the path of
// the one before.
class LetFlowBalancer : public Balancer
{
  public:
    static ns3::TypeId GetTypeId();
    std::size_t Choose(const Arrival& arrival) override;

  private:
    struct Flowlet
    {
        std::size_t port;
        ns3::Time last;
    };

    ns3::Time m_timeout;
    std::unordered_map<FourTuple, Flowlet, FourTuple::Hash> m_flowlets;
};

} // namespace ccperf

#endif
