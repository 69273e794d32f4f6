// SPDX-License-Identifier: GPL-2.0-only

#include "flow-balancers.h"

#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ccperf
{

namespace
{

NS_OBJECT_ENSURE_REGISTERED(EcmpBalancer);
NS_OBJECT_ENSURE_REGISTERED(LetFlowBalancer);

std::uint64_t
MixBits(std::uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

} // namespace

ns3::TypeId
EcmpBalancer::GetTypeId()
{
    static const auto id = ns3::TypeId("ccperf::ecmp")
                               .SetParent<Balancer>()
                               .AddConstructor<EcmpBalancer>()
                               .AddAttribute("Seed",
                                             "Of the hash.",
                                             ns3::UintegerValue(0),
                                             ns3::MakeUintegerAccessor(&EcmpBalancer::m_seed),
                                             ns3::MakeUintegerChecker<std::uint64_t>());
    return id;
}

std::uint64_t
EcmpBalancer::Salt(std::uint64_t seed, std::size_t node)
{
    return MixBits(seed + 0x9e3779b97f4a7c15ULL * (std::uint64_t{node} + 1));
}

std::size_t
EcmpBalancer::Position(const Arrival& arrival, std::uint64_t salt)
{
    const auto flow = arrival.Flow();
    const std::uint64_t addresses = std::uint64_t{flow.source} << 32 | flow.destination;
    const std::uint64_t rest = std::uint64_t{arrival.header.GetProtocol()} << 32 |
                               std::uint64_t{flow.sourcePort} << 16 | flow.destinationPort;
    const std::uint64_t high = MixBits(MixBits(MixBits(addresses) ^ rest) ^ salt) >> 32;
    return high * arrival.ports.size() >> 32;
}

std::size_t
EcmpBalancer::Choose(const Arrival& arrival)
{
    return Position(arrival, Salt(m_seed, m_node));
}

ns3::TypeId
LetFlowBalancer::GetTypeId()
{
    static const auto id =
        ns3::TypeId("ccperf::letflow")
            .SetParent<Balancer>()
            .AddConstructor<LetFlowBalancer>()
            .AddAttribute("FlowletTimeout",
                          "A packet that comes later than this begins a new flowlet.",
                          ns3::TimeValue(ns3::MicroSeconds(500)),
                          ns3::MakeTimeAccessor(&LetFlowBalancer::m_timeout),
                          ns3::MakeTimeChecker());
    return id;
}

std::size_t
LetFlowBalancer::Choose(const Arrival& arrival)
{
    const auto now = ns3::Simulator::Now();
    const auto& ports = arrival.ports;
    const auto flow = arrival.Flow();
    const auto known = m_flowlets.find(flow);
    if (known != m_flowlets.end())
    {
        Flowlet& flowlet = known->second;
        const bool isNew = now - flowlet.last > m_timeout;
        flowlet.last = now;
        const auto same = std::find(ports.begin(), ports.end(), flowlet.port);
        if (!isNew && same != ports.end())
        {
            return static_cast<std::size_t>(same - ports.begin());
        }
    }
    const std::size_t chosen = Draw(0, ports.size() - 1);
    m_flowlets[flow] = {ports[chosen], now};
    return chosen;
}

} // namespace ccperf
