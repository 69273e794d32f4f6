// SPDX-License-Identifier: GPL-2.0-only

#include "policer-queue-disc.h"

#include "ns3/simulator.h"
#include "ns3/uinteger.h"

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(PolicerQueueDisc);

namespace
{

std::uint64_t
NanoBits(std::uint64_t bytes)
{
    return bytes * 8'000'000'000;
}

} // namespace

ns3::TypeId
PolicerQueueDisc::GetTypeId()
{
    static ns3::TypeId tid = WithMaxSize(
        ns3::TypeId("ccperf::PolicerQueueDisc")
            .SetParent<SingleQueueDisc>()
            .AddConstructor<PolicerQueueDisc>()
            .AddAttribute("Rate",
                          "Rate at which the bucket fills.",
                          ns3::DataRateValue(ns3::DataRate("1Mbps")),
                          ns3::MakeDataRateAccessor(&PolicerQueueDisc::m_rate),
                          ns3::MakeDataRateChecker())
            .AddAttribute("Burst",
                          "Size of the bucket in bytes.",
                          ns3::UintegerValue(125000),
                          ns3::MakeUintegerAccessor(&PolicerQueueDisc::m_burst),
                          ns3::MakeUintegerChecker<std::uint32_t>(1, 1U << 30)),
        "100p");
    return tid;
}

void
PolicerQueueDisc::InitializeParams()
{
    m_missing = 0;
}

void
PolicerQueueDisc::Fill()
{
    const ns3::Time now = ns3::Simulator::Now();
    const auto elapsed = static_cast<std::uint64_t>((now - m_filled).GetNanoSeconds());
    m_filled = now;
    // The product could be too large where the bucket is full long before.
    const std::uint64_t rate = m_rate.GetBitRate();
    m_missing = elapsed > m_missing / rate ? 0 : m_missing - elapsed * rate;
}

bool
PolicerQueueDisc::DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item)
{
    Fill();
    const std::uint64_t asked = NanoBits(item->GetSize());
    if (m_missing + asked > NanoBits(m_burst))
    {
        DropBeforeEnqueue(item, NOT_CONFORMING_DROP);
        return false;
    }
    m_missing += asked;
    return SingleQueueDisc::DoEnqueue(item);
}

} // namespace ccperf
