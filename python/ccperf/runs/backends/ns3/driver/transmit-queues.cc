// SPDX-License-Identifier: GPL-2.0-only

#include "transmit-queues.h"

#include "ns3/net-device-queue-interface.h"
#include "ns3/object-factory.h"
#include "ns3/queue-disc.h"
#include "ns3/socket.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>

namespace ccperf
{

namespace
{

// The queue of each priority, if there are four.
constexpr std::array<std::size_t, 8> CLASSES = {2, 2, 3, 3, 1, 1, 0, 0};

// From the traffic control layer to the device; not on the wire.
class QueueTag : public ns3::Tag
{
  public:
    static ns3::TypeId GetTypeId()
    {
        static ns3::TypeId tid =
            ns3::TypeId("ccperf::QueueTag").SetParent<ns3::Tag>().AddConstructor<QueueTag>();
        return tid;
    }

    ns3::TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    std::uint32_t GetSerializedSize() const override
    {
        return sizeof(queue);
    }

    void Serialize(ns3::TagBuffer buffer) const override
    {
        buffer.WriteU16(queue);
    }

    void Deserialize(ns3::TagBuffer buffer) override
    {
        queue = buffer.ReadU16();
    }

    void Print(std::ostream& stream) const override
    {
        stream << queue;
    }

    std::uint16_t queue{0};
};

} // namespace

NS_OBJECT_ENSURE_REGISTERED(TransmitQueues);

ns3::QueueSize
SizeOf(const DeviceQueue& queue)
{
    return {queue.inBytes ? ns3::QueueSizeUnit::BYTES : ns3::QueueSizeUnit::PACKETS, queue.limit};
}

ns3::TypeId
TransmitQueues::GetTypeId()
{
    static ns3::TypeId tid = ns3::TypeId("ccperf::TransmitQueues")
                                 .SetParent<ns3::Queue<ns3::Packet>>()
                                 .AddConstructor<TransmitQueues>();
    return tid;
}

void
TransmitQueues::Install(ns3::Ptr<ns3::PointToPointNetDevice> device, const Direction& direction)
{
    const auto queues = ns3::CreateObject<TransmitQueues>();
    queues->m_select = direction.deviceSelect;
    const auto interface = ns3::CreateObjectWithAttributes<ns3::NetDeviceQueueInterface>(
        "NTxQueues",
        ns3::UintegerValue(direction.deviceQueues));
    for (std::size_t i = 0; i < direction.deviceQueues; ++i)
    {
        const auto queue = ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>();
        queue->SetMaxSize(SizeOf(direction.deviceQueue));
        queues->m_queues.push_back(queue);
        interface->GetTxQueue(i)->ConnectQueueTraces(queue);
    }
    interface->SetSelectQueueCallback(
        [queues](ns3::Ptr<ns3::QueueItem> item) { return queues->Select(item); });
    device->SetQueue(queues);
    device->AggregateObject(interface);
}

std::size_t
TransmitQueues::Select(ns3::Ptr<ns3::QueueItem> item) const
{
    QueueTag tag;
    if (m_select == DeviceSelect::FLOW)
    {
        const auto hash = ns3::StaticCast<ns3::QueueDiscItem>(item)->Hash(0);
        tag.queue = static_cast<std::uint16_t>(hash % m_queues.size());
    }
    else
    {
        ns3::SocketPriorityTag priority;
        item->GetPacket()->PeekPacketTag(priority); // without one it is 0
        tag.queue = static_cast<std::uint16_t>(
            std::min(CLASSES[priority.GetPriority() & 7], m_queues.size() - 1));
    }
    item->GetPacket()->ReplacePacketTag(tag);
    return tag.queue;
}

bool
TransmitQueues::Enqueue(ns3::Ptr<ns3::Packet> packet)
{
    QueueTag tag;
    packet->RemovePacketTag(tag);
    return m_queues[tag.queue]->Enqueue(packet);
}

ns3::Ptr<ns3::Packet>
TransmitQueues::Dequeue()
{
    const std::size_t next = Next();
    if (next == m_queues.size())
    {
        return nullptr;
    }
    if (m_select == DeviceSelect::FLOW)
    {
        m_turn = (next + 1) % m_queues.size();
    }
    return m_queues[next]->Dequeue();
}

ns3::Ptr<ns3::Packet>
TransmitQueues::Remove()
{
    const std::size_t next = Next();
    return next == m_queues.size() ? nullptr : m_queues[next]->Remove();
}

ns3::Ptr<const ns3::Packet>
TransmitQueues::Peek() const
{
    const std::size_t next = Next();
    return next == m_queues.size() ? nullptr : m_queues[next]->Peek();
}

std::size_t
TransmitQueues::Next() const
{
    for (std::size_t i = 0; i < m_queues.size(); ++i)
    {
        const std::size_t candidate = (m_turn + i) % m_queues.size();
        if (!m_queues[candidate]->IsEmpty())
        {
            return candidate;
        }
    }
    return m_queues.size();
}

} // namespace ccperf
