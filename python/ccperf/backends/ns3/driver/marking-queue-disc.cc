// SPDX-License-Identifier: GPL-2.0-only

#include "marking-queue-disc.h"

#include "ns3/drop-tail-queue.h"
#include "ns3/simulator.h"

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(MarkingQueueDisc);

ns3::TypeId
MarkingQueueDisc::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::MarkingQueueDisc")
            .SetParent<ns3::QueueDisc>()
            .AddAttribute("MaxSize",
                          "The most packets or bytes in the queue.",
                          ns3::QueueSizeValue(ns3::QueueSize("100p")),
                          ns3::MakeQueueSizeAccessor(&ns3::QueueDisc::SetMaxSize,
                                                     &ns3::QueueDisc::GetMaxSize),
                          ns3::MakeQueueSizeChecker());
    return tid;
}

MarkingQueueDisc::MarkingQueueDisc()
    : ns3::QueueDisc(ns3::QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE)
{
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

void
MarkingQueueDisc::InitializeParams()
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
    if (GetCurrentSize() + item > GetMaxSize())
    {
        DropBeforeEnqueue(item, LIMIT_EXCEEDED_DROP);
        return false;
    }
    OnArrival(item);
    return GetInternalQueue(0)->Enqueue(item);
}

ns3::Ptr<ns3::QueueDiscItem>
MarkingQueueDisc::DoDequeue()
{
    const auto item = GetInternalQueue(0)->Dequeue();
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

ns3::Ptr<const ns3::QueueDiscItem>
MarkingQueueDisc::DoPeek()
{
    return GetInternalQueue(0)->Peek();
}

bool
MarkingQueueDisc::CheckConfig()
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

} // namespace ccperf
