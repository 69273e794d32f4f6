// SPDX-License-Identifier: GPL-2.0-only

#include "packet-balancers.h"

#include "ns3/uinteger.h"

#include <algorithm>
#include <numeric>

namespace ccperf
{

namespace
{

NS_OBJECT_ENSURE_REGISTERED(RandomBalancer);
NS_OBJECT_ENSURE_REGISTERED(DrbBalancer);
NS_OBJECT_ENSURE_REGISTERED(DrillBalancer);
NS_OBJECT_ENSURE_REGISTERED(AdaptiveBalancer);

} // namespace

ns3::TypeId
RandomBalancer::GetTypeId()
{
    static const auto id =
        ns3::TypeId("ccperf::random").SetParent<Balancer>().AddConstructor<RandomBalancer>();
    return id;
}

std::size_t
RandomBalancer::Choose(const Arrival& arrival)
{
    return Draw(0, arrival.ports.size() - 1);
}

ns3::TypeId
DrbBalancer::GetTypeId()
{
    static const auto id =
        ns3::TypeId("ccperf::drb").SetParent<Balancer>().AddConstructor<DrbBalancer>();
    return id;
}

std::size_t
DrbBalancer::Choose(const Arrival& arrival)
{
    const std::size_t count = arrival.ports.size();
    const auto [entry, isNew] = m_next.try_emplace(
        {arrival.header.GetSource().Get(), arrival.header.GetDestination().Get()});
    std::size_t& next = entry->second;
    if (isNew)
    {
        next = Draw(0, count - 1);
    }
    const std::size_t chosen = next >= count ? 0 : next;
    next = (chosen + 1) % count;
    return chosen;
}

ns3::TypeId
DrillBalancer::GetTypeId()
{
    static const auto id = ns3::TypeId("ccperf::drill")
                               .SetParent<Balancer>()
                               .AddConstructor<DrillBalancer>()
                               .AddAttribute("Samples",
                                             "Ports that are drawn for each packet.",
                                             ns3::UintegerValue(2),
                                             ns3::MakeUintegerAccessor(&DrillBalancer::m_samples),
                                             ns3::MakeUintegerChecker<std::uint32_t>(1))
                               .AddAttribute("Memory",
                                             "Ports that are remembered as the best ones.",
                                             ns3::UintegerValue(1),
                                             ns3::MakeUintegerAccessor(&DrillBalancer::m_memory),
                                             ns3::MakeUintegerChecker<std::uint32_t>());
    return id;
}

std::size_t
DrillBalancer::Choose(const Arrival& arrival)
{
    const std::size_t count = arrival.ports.size();
    std::vector<std::size_t> list(count);
    std::iota(list.begin(), list.end(), 0);
    const std::size_t samples = std::min<std::size_t>(m_samples, count);
    for (std::size_t i = 0; i < samples; ++i)
    {
        std::swap(list[i], list[Draw(i, count - 1)]);
    }
    std::vector<std::size_t> candidates(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(samples));
    auto& best = m_best[arrival.ports];
    std::copy_if(best.begin(), best.end(), std::back_inserter(candidates), [&](std::size_t position) {
        return std::find(candidates.begin(), candidates.end(), position) == candidates.end();
    });
    std::stable_sort(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
        return WaitingBytes(arrival.ports[a]) < WaitingBytes(arrival.ports[b]);
    });
    const std::size_t kept = std::min<std::size_t>(m_memory, candidates.size());
    best.assign(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(kept));
    return candidates.front();
}

void
DrillBalancer::OnRoutesChanged()
{
    m_best.clear();
}

ns3::TypeId
AdaptiveBalancer::GetTypeId()
{
    static const auto id =
        ns3::TypeId("ccperf::adaptive").SetParent<Balancer>().AddConstructor<AdaptiveBalancer>();
    return id;
}

std::size_t
AdaptiveBalancer::Choose(const Arrival& arrival)
{
    std::vector<std::size_t> equals;
    std::uint32_t least = 0;
    for (std::size_t position = 0; position < arrival.ports.size(); ++position)
    {
        const std::uint32_t waiting = WaitingBytes(arrival.ports[position]);
        if (equals.empty() || waiting < least)
        {
            least = waiting;
            equals.clear();
        }
        if (waiting == least)
        {
            equals.push_back(position);
        }
    }
    return equals.size() == 1 ? equals[0] : equals[Draw(0, equals.size() - 1)];
}

} // namespace ccperf
