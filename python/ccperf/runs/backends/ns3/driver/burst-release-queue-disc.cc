// SPDX-License-Identifier: GPL-2.0-only

#include "burst-release-queue-disc.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(BurstReleaseQueueDisc);

ns3::TypeId
BurstReleaseQueueDisc::GetTypeId()
{
    static ns3::TypeId tid = WithMaxSize(
        ns3::TypeId("ccperf::BurstReleaseQueueDisc")
            .SetParent<SingleQueueDisc>()
            .AddConstructor<BurstReleaseQueueDisc>()
            .AddAttribute("Interval",
                          "Time between two releases.",
                          ns3::TimeValue(ns3::MilliSeconds(5)),
                          ns3::MakeTimeAccessor(&BurstReleaseQueueDisc::m_interval),
                          ns3::MakeTimeChecker(ns3::NanoSeconds(1))),
        "1000000p");
    return tid;
}

ns3::Ptr<ns3::QueueDiscItem>
BurstReleaseQueueDisc::DoDequeue()
{
    if (m_left == 0 || m_slot != ns3::Simulator::Now())
    {
        return nullptr;
    }
    const auto item = SingleQueueDisc::DoDequeue();
    m_left -= item ? 1 : 0;
    return item;
}

void
BurstReleaseQueueDisc::InitializeParams()
{
    ns3::Simulator::ScheduleNow(&BurstReleaseQueueDisc::Tick, this);
}

void
BurstReleaseQueueDisc::Tick()
{
    ns3::Simulator::Schedule(m_interval, &BurstReleaseQueueDisc::Tick, this);
    m_left = GetQuota();
    m_slot = ns3::Simulator::Now();
    Run();
}

} // namespace ccperf
