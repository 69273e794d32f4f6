// SPDX-License-Identifier: GPL-2.0-only

#include "burst-release-queue-disc.h"

#include "ns3/drop-tail-queue.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(BurstReleaseQueueDisc);

ns3::TypeId
BurstReleaseQueueDisc::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::BurstReleaseQueueDisc")
            .SetParent<ns3::QueueDisc>()
            .AddConstructor<BurstReleaseQueueDisc>()
            .AddAttribute("Interval",
                          "Time between two releases.",
                          ns3::TimeValue(ns3::MilliSeconds(5)),
                          ns3::MakeTimeAccessor(&BurstReleaseQueueDisc::m_interval),
                          ns3::MakeTimeChecker(ns3::NanoSeconds(1)))
            .AddAttribute("MaxSize",
                          "The most packets or bytes in the queue.",
                          ns3::QueueSizeValue(ns3::QueueSize("1000000p")),
                          ns3::MakeQueueSizeAccessor(&ns3::QueueDisc::SetMaxSize,
                                                     &ns3::QueueDisc::GetMaxSize),
                          ns3::MakeQueueSizeChecker());
    return tid;
}

BurstReleaseQueueDisc::BurstReleaseQueueDisc()
    : ns3::QueueDisc(ns3::QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE)
{
}

bool
BurstReleaseQueueDisc::DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item)
{
    if (GetCurrentSize() + item > GetMaxSize())
    {
        DropBeforeEnqueue(item, LIMIT_EXCEEDED_DROP);
        return false;
    }
    return GetInternalQueue(0)->Enqueue(item);
}

ns3::Ptr<ns3::QueueDiscItem>
BurstReleaseQueueDisc::DoDequeue()
{
    if (m_left == 0 || m_slot != ns3::Simulator::Now())
    {
        return nullptr;
    }
    const auto item = GetInternalQueue(0)->Dequeue();
    m_left -= item ? 1 : 0;
    return item;
}

bool
BurstReleaseQueueDisc::CheckConfig()
{
    if (GetNInternalQueues() == 0)
    {
        AddInternalQueue(
            ns3::CreateObjectWithAttributes<ns3::DropTailQueue<ns3::QueueDiscItem>>(
                "MaxSize",
                ns3::QueueSizeValue(GetMaxSize())));
    }
    return GetNInternalQueues() == 1 && GetNQueueDiscClasses() == 0 && GetNPacketFilters() == 0;
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
