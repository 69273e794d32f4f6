// SPDX-License-Identifier: GPL-2.0-only

#include "single-queue-disc.h"

#include "ns3/drop-tail-queue.h"

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(SingleQueueDisc);

ns3::TypeId
SingleQueueDisc::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::SingleQueueDisc").SetParent<ns3::QueueDisc>();
    return tid;
}

SingleQueueDisc::SingleQueueDisc()
    : ns3::QueueDisc(ns3::QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE)
{
}

ns3::TypeId
SingleQueueDisc::WithMaxSize(ns3::TypeId type, const char* limit)
{
    return type.AddAttribute("MaxSize",
                             "The most packets or bytes in the queue.",
                             ns3::QueueSizeValue(ns3::QueueSize(limit)),
                             ns3::MakeQueueSizeAccessor(&ns3::QueueDisc::SetMaxSize,
                                                        &ns3::QueueDisc::GetMaxSize),
                             ns3::MakeQueueSizeChecker());
}

bool
SingleQueueDisc::Fits(ns3::Ptr<ns3::QueueDiscItem> item)
{
    if (GetCurrentSize() + item > GetMaxSize())
    {
        DropBeforeEnqueue(item, LIMIT_EXCEEDED_DROP);
        return false;
    }
    return true;
}

bool
SingleQueueDisc::DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item)
{
    return Fits(item) && GetInternalQueue(0)->Enqueue(item);
}

ns3::Ptr<ns3::QueueDiscItem>
SingleQueueDisc::DoDequeue()
{
    return GetInternalQueue(0)->Dequeue();
}

ns3::Ptr<const ns3::QueueDiscItem>
SingleQueueDisc::DoPeek()
{
    return GetInternalQueue(0)->Peek();
}

void
SingleQueueDisc::InitializeParams()
{
}

bool
SingleQueueDisc::CheckConfig()
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
