// SPDX-License-Identifier: GPL-2.0-only

#include "marking-queue-disc.h"

#include "ns3/simulator.h"

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(MarkingQueueDisc);

ns3::TypeId
MarkingQueueDisc::GetTypeId()
{
    static ns3::TypeId tid = WithMaxSize(
        ns3::TypeId("ccperf::MarkingQueueDisc").SetParent<SingleQueueDisc>(),
        "100p");
    return tid;
}

void
MarkingQueueDisc::OnArrival(ns3::Ptr<ns3::QueueDiscItem>)
{
}

void
MarkingQueueDisc::OnDeparture(ns3::Ptr<ns3::QueueDiscItem>)
{
}

void
MarkingQueueDisc::OnEmpty()
{
}

ns3::Time
MarkingQueueDisc::Sojourn(ns3::Ptr<const ns3::QueueDiscItem> item)
{
    return ns3::Simulator::Now() - item->GetTimeStamp();
}

bool
MarkingQueueDisc::DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item)
{
    if (!Fits(item))
    {
        return false;
    }
    OnArrival(item);
    return GetInternalQueue(0)->Enqueue(item);
}

ns3::Ptr<ns3::QueueDiscItem>
MarkingQueueDisc::DoDequeue()
{
    const auto item = SingleQueueDisc::DoDequeue();
    if (item)
    {
        OnDeparture(item);
    }
    else
    {
        OnEmpty();
    }
    return item;
}

} // namespace ccperf
