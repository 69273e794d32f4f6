// SPDX-License-Identifier: GPL-2.0-only

#include "shared-buffer-queue-disc.h"

#include "ns3/double.h"
#include "ns3/fifo-queue-disc.h"
#include "ns3/uinteger.h"

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(SharedBufferQueueDisc);

ns3::TypeId
SharedBufferQueueDisc::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::SharedBufferQueueDisc")
            .SetParent<ns3::QueueDisc>()
            .AddConstructor<SharedBufferQueueDisc>()
            .AddAttribute("PoolBytes",
                          "Size of the switch's buffer.",
                          ns3::UintegerValue(1000000),
                          ns3::MakeUintegerAccessor(&SharedBufferQueueDisc::m_poolBytes),
                          ns3::MakeUintegerChecker<std::uint32_t>())
            .AddAttribute("Alpha",
                          "How many times what is free a queue may have.",
                          ns3::DoubleValue(1),
                          ns3::MakeDoubleAccessor(&SharedBufferQueueDisc::m_alpha),
                          ns3::MakeDoubleChecker<double>(0));
    return tid;
}

SharedBufferQueueDisc::SharedBufferQueueDisc()
    : QueueDisc(ns3::QueueDiscSizePolicy::NO_LIMITS)
{
}

void
SharedBufferQueueDisc::Join(const Ports& ports)
{
    m_ports = ports;
    m_ports->push_back(this);
}

std::uint64_t
SharedBufferQueueDisc::Free() const
{
    std::uint64_t used = 0;
    for (const ns3::QueueDisc* port : *m_ports)
    {
        used += port->GetNBytes();
    }
    return used < m_poolBytes ? m_poolBytes - used : 0;
}

bool
SharedBufferQueueDisc::DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item)
{
    const std::uint64_t free = Free();
    const bool isBelow =
        static_cast<double>(GetNBytes()) < m_alpha * static_cast<double>(free);
    if (!isBelow || item->GetSize() > free)
    {
        DropBeforeEnqueue(item, "Shared buffer");
        return false;
    }
    return GetQueueDiscClass(0)->GetQueueDisc()->Enqueue(item);
}

ns3::Ptr<ns3::QueueDiscItem>
SharedBufferQueueDisc::DoDequeue()
{
    return GetQueueDiscClass(0)->GetQueueDisc()->Dequeue();
}

ns3::Ptr<const ns3::QueueDiscItem>
SharedBufferQueueDisc::DoPeek()
{
    return GetQueueDiscClass(0)->GetQueueDisc()->Peek();
}

bool
SharedBufferQueueDisc::CheckConfig()
{
    if (GetNQueueDiscClasses() == 0)
    {
        const auto fifo = ns3::CreateObject<ns3::FifoQueueDisc>();
        fifo->SetAttribute("MaxSize", ns3::QueueSizeValue(ns3::QueueSize("1000p")));
        const auto queueClass = ns3::CreateObject<ns3::QueueDiscClass>();
        queueClass->SetQueueDisc(fifo);
        AddQueueDiscClass(queueClass);
    }
    if (!m_ports)
    {
        Join(std::make_shared<std::vector<const ns3::QueueDisc*>>()); // with nobody
    }
    return GetNQueueDiscClasses() == 1;
}

void
SharedBufferQueueDisc::InitializeParams()
{
}

} // namespace ccperf
