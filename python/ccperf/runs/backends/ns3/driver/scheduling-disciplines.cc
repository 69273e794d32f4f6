// SPDX-License-Identifier: GPL-2.0-only

#include "scheduling-disciplines.h"

#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/string.h"

#include <algorithm>
#include <sstream>

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(SchedulingQueueDisc);
NS_OBJECT_ENSURE_REGISTERED(DwrrQueueDisc);
NS_OBJECT_ENSURE_REGISTERED(WfqQueueDisc);
NS_OBJECT_ENSURE_REGISTERED(StrictPriorityQueueDisc);

ns3::TypeId
SchedulingQueueDisc::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::SchedulingQueueDisc").SetParent<ns3::QueueDisc>();
    return tid;
}

SchedulingQueueDisc::SchedulingQueueDisc()
    : ns3::QueueDisc(ns3::QueueDiscSizePolicy::MULTIPLE_QUEUES)
{
}

std::size_t
SchedulingQueueDisc::ClassOf(ns3::Ptr<const ns3::QueueDiscItem> item) const
{
    const auto ipv4 = ns3::DynamicCast<const ns3::Ipv4QueueDiscItem>(item);
    const std::size_t dscp = ipv4 ? ipv4->GetHeader().GetTos() >> 2 : 0;
    return std::min(dscp, GetNQueueDiscClasses() - 1);
}

ns3::Ptr<ns3::QueueDisc>
SchedulingQueueDisc::Child(std::size_t index) const
{
    return GetQueueDiscClass(index)->GetQueueDisc();
}

std::vector<std::uint32_t>
SchedulingQueueDisc::Numbers(const std::string& text) const
{
    std::istringstream words(text);
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t number; words >> number;)
    {
        numbers.push_back(number);
    }
    numbers.resize(GetNQueueDiscClasses(), numbers.back());
    return numbers;
}

bool
SchedulingQueueDisc::CheckConfig()
{
    return GetNInternalQueues() == 0 && GetNQueueDiscClasses() > 0 && GetNPacketFilters() == 0;
}

ns3::TypeId
DwrrQueueDisc::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::DwrrQueueDisc")
            .SetParent<SchedulingQueueDisc>()
            .AddConstructor<DwrrQueueDisc>()
            .AddAttribute("Quanta",
                          "Bytes of each class in a round.",
                          ns3::StringValue("1500 1500"),
                          ns3::MakeStringAccessor(&DwrrQueueDisc::m_quanta),
                          ns3::MakeStringChecker())
            .AddAttribute("Priorities",
                          "Of each class, or of all.",
                          ns3::StringValue("0"),
                          ns3::MakeStringAccessor(&DwrrQueueDisc::m_priorities),
                          ns3::MakeStringChecker());
    return tid;
}

void
DwrrQueueDisc::InitializeParams()
{
    const auto quanta = Numbers(m_quanta);
    const auto priorities = Numbers(m_priorities);
    for (std::size_t i = 0; i < GetNQueueDiscClasses(); ++i)
    {
        m_shares.push_back({quanta[i], priorities[i], 0, false});
    }
}

bool
DwrrQueueDisc::DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item)
{
    const auto index = ClassOf(item);
    if (!Child(index)->Enqueue(item))
    {
        return false;
    }
    Share& share = m_shares[index];
    if (!share.isInRound)
    {
        share.isInRound = true;
        share.credit = share.quantum;
        m_rounds[share.priority].push_back(index);
    }
    return true;
}

void
DwrrQueueDisc::LeaveRound(std::size_t index)
{
    Share& share = m_shares[index];
    auto& round = m_rounds[share.priority];
    round.remove(index);
    if (round.empty())
    {
        m_rounds.erase(share.priority);
    }
    share.isInRound = false;
}

ns3::Ptr<const ns3::QueueDiscItem>
DwrrQueueDisc::FindNext(std::size_t& index)
{
    while (!m_rounds.empty())
    {
        auto& round = std::prev(m_rounds.end())->second;
        index = round.front();
        const auto item = Child(index)->Peek();
        if (!item) // what was left has been dropped
        {
            LeaveRound(index);
            continue;
        }
        Share& share = m_shares[index];
        if (item->GetSize() <= share.credit)
        {
            return item;
        }
        share.credit += share.quantum;
        round.splice(round.end(), round, round.begin());
    }
    return nullptr;
}

ns3::Ptr<ns3::QueueDiscItem>
DwrrQueueDisc::DoDequeue()
{
    std::size_t index;
    while (FindNext(index))
    {
        const auto item = Child(index)->Dequeue();
        if (item)
        {
            m_shares[index].credit -= std::min<std::uint64_t>(m_shares[index].credit, item->GetSize());
        }
        if (Child(index)->GetNPackets() == 0)
        {
            LeaveRound(index);
        }
        if (item)
        {
            return item;
        }
    }
    return nullptr;
}

ns3::Ptr<const ns3::QueueDiscItem>
DwrrQueueDisc::DoPeek()
{
    std::size_t index;
    return FindNext(index);
}

ns3::TypeId
WfqQueueDisc::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::WfqQueueDisc")
            .SetParent<SchedulingQueueDisc>()
            .AddConstructor<WfqQueueDisc>()
            .AddAttribute("Weights",
                          "Of each class.",
                          ns3::StringValue("1 1"),
                          ns3::MakeStringAccessor(&WfqQueueDisc::m_weights),
                          ns3::MakeStringChecker())
            .AddAttribute("Priorities",
                          "Of each class, or of all.",
                          ns3::StringValue("0"),
                          ns3::MakeStringAccessor(&WfqQueueDisc::m_priorities),
                          ns3::MakeStringChecker());
    return tid;
}

void
WfqQueueDisc::InitializeParams()
{
    const auto weights = Numbers(m_weights);
    const auto priorities = Numbers(m_priorities);
    for (std::size_t i = 0; i < GetNQueueDiscClasses(); ++i)
    {
        m_shares.push_back({weights[i], priorities[i], 0, false});
    }
}

void
WfqQueueDisc::OnNewHead(Share& share, std::uint32_t bytes)
{
    const auto duration = static_cast<std::uint64_t>(bytes) * 65536 / share.weight;
    share.finish = std::max(share.finish, m_clocks[share.priority]) + duration;
    share.hasPackets = true;
}

bool
WfqQueueDisc::DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item)
{
    const auto index = ClassOf(item);
    const auto bytes = item->GetSize();
    if (!Child(index)->Enqueue(item))
    {
        return false;
    }
    if (!m_shares[index].hasPackets)
    {
        OnNewHead(m_shares[index], bytes);
    }
    return true;
}

WfqQueueDisc::Share*
WfqQueueDisc::First()
{
    Share* first = nullptr;
    for (Share& share : m_shares)
    {
        const bool isBefore = !first || share.priority > first->priority ||
                              (share.priority == first->priority && share.finish < first->finish);
        if (share.hasPackets && isBefore)
        {
            first = &share;
        }
    }
    return first;
}

ns3::Ptr<ns3::QueueDiscItem>
WfqQueueDisc::DoDequeue()
{
    while (Share* share = First())
    {
        const auto child = Child(static_cast<std::size_t>(share - m_shares.data()));
        const auto item = child->Dequeue();
        share->hasPackets = false;
        if (item)
        {
            m_clocks[share->priority] = share->finish;
        }
        if (const auto next = child->Peek())
        {
            OnNewHead(*share, next->GetSize());
        }
        if (item)
        {
            return item;
        }
    }
    return nullptr;
}

ns3::Ptr<const ns3::QueueDiscItem>
WfqQueueDisc::DoPeek()
{
    Share* share = First();
    return share ? Child(static_cast<std::size_t>(share - m_shares.data()))->Peek() : nullptr;
}

ns3::TypeId
StrictPriorityQueueDisc::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::StrictPriorityQueueDisc")
            .SetParent<SchedulingQueueDisc>()
            .AddConstructor<StrictPriorityQueueDisc>()
            .AddAttribute("Priorities",
                          "Of each class.",
                          ns3::StringValue("1 0"),
                          ns3::MakeStringAccessor(&StrictPriorityQueueDisc::m_priorities),
                          ns3::MakeStringChecker());
    return tid;
}

void
StrictPriorityQueueDisc::InitializeParams()
{
    const auto priorities = Numbers(m_priorities);
    for (std::size_t i = 0; i < priorities.size(); ++i)
    {
        m_order.emplace(priorities[i], i); // behind those that are equal
    }
}

bool
StrictPriorityQueueDisc::DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item)
{
    return Child(ClassOf(item))->Enqueue(item);
}

ns3::Ptr<ns3::QueueDiscItem>
StrictPriorityQueueDisc::DoDequeue()
{
    for (const auto& [priority, index] : m_order)
    {
        if (const auto item = Child(index)->Dequeue())
        {
            return item;
        }
    }
    return nullptr;
}

ns3::Ptr<const ns3::QueueDiscItem>
StrictPriorityQueueDisc::DoPeek()
{
    for (const auto& [priority, index] : m_order)
    {
        if (const auto item = Child(index)->Peek())
        {
            return item;
        }
    }
    return nullptr;
}

} // namespace ccperf
