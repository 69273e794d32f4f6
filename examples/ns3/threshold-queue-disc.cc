// SPDX-License-Identifier: GPL-2.0-only

#include "threshold-queue-disc.h"

#include "ns3/drop-tail-queue.h"
#include "ns3/object-factory.h"
#include "ns3/uinteger.h"

NS_OBJECT_ENSURE_REGISTERED(ThresholdQueueDisc);

ns3::TypeId
ThresholdQueueDisc::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ThresholdQueueDisc")
            .SetParent<ns3::QueueDisc>()
            .AddConstructor<ThresholdQueueDisc>()
            .AddAttribute("MaxSize",
                          "How much the queue holds.",
                          ns3::QueueSizeValue(ns3::QueueSize("100p")),
                          ns3::MakeQueueSizeAccessor(&ns3::QueueDisc::SetMaxSize,
                                                     &ns3::QueueDisc::GetMaxSize),
                          ns3::MakeQueueSizeChecker())
            .AddAttribute("Threshold",
                          "Packets from which on arrivals are marked.",
                          ns3::UintegerValue(5),
                          ns3::MakeUintegerAccessor(&ThresholdQueueDisc::m_threshold),
                          ns3::MakeUintegerChecker<uint32_t>(1));
    return tid;
}

ThresholdQueueDisc::ThresholdQueueDisc()
    : ns3::QueueDisc(ns3::QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE)
{
}

bool
ThresholdQueueDisc::DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item)
{
    if (GetNPackets() >= m_threshold)
    {
        Mark(item, "Above threshold");
    }
    return GetInternalQueue(0)->Enqueue(item);
}

ns3::Ptr<ns3::QueueDiscItem>
ThresholdQueueDisc::DoDequeue()
{
    return GetInternalQueue(0)->Dequeue();
}

bool
ThresholdQueueDisc::CheckConfig()
{
    AddInternalQueue(ns3::CreateObjectWithAttributes<ns3::DropTailQueue<ns3::QueueDiscItem>>(
        "MaxSize",
        ns3::QueueSizeValue(GetMaxSize())));
    return GetNQueueDiscClasses() == 0 && GetNPacketFilters() == 0;
}

void
ThresholdQueueDisc::InitializeParams()
{
}
