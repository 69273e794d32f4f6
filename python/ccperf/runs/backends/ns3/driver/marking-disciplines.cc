// SPDX-License-Identifier: GPL-2.0-only

#include "marking-disciplines.h"

#include "ns3/double.h"
#include "ns3/queue.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(ECNSharpQueueDisc);
NS_OBJECT_ENSURE_REGISTERED(TcnQueueDisc);
NS_OBJECT_ENSURE_REGISTERED(StepRedQueueDisc);
NS_OBJECT_ENSURE_REGISTERED(MarkingCoDelQueueDisc);
NS_OBJECT_ENSURE_REGISTERED(MarkingPieQueueDisc);

ns3::TypeId
ECNSharpQueueDisc::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::ECNSharpQueueDisc")
            .SetParent<MarkingQueueDisc>()
            .AddConstructor<ECNSharpQueueDisc>()
            .AddAttribute("InstantaneousMarkingThreshold",
                          "Sojourn time above which every packet is marked.",
                          ns3::TimeValue(ns3::MicroSeconds(20)),
                          ns3::MakeTimeAccessor(&ECNSharpQueueDisc::m_threshold),
                          ns3::MakeTimeChecker())
            .AddAttribute("PersistentMarkingTarget",
                          "Sojourn time from which on the queue may persist.",
                          ns3::TimeValue(ns3::MicroSeconds(10)),
                          ns3::MakeTimeAccessor(&ECNSharpQueueDisc::m_target),
                          ns3::MakeTimeChecker())
            .AddAttribute("PersistentMarkingInterval",
                          "How long it takes to persist, and the first gap between marks.",
                          ns3::TimeValue(ns3::MicroSeconds(100)),
                          ns3::MakeTimeAccessor(&ECNSharpQueueDisc::m_interval),
                          ns3::MakeTimeChecker())
            .AddAttribute("Law",
                          "readme or paper.",
                          ns3::StringValue("readme"),
                          ns3::MakeStringAccessor(&ECNSharpQueueDisc::m_law),
                          ns3::MakeStringChecker());
    return tid;
}

bool
ECNSharpQueueDisc::Persists(ns3::Time sojourn)
{
    if (sojourn < m_target)
    {
        m_since.reset();
        return false;
    }
    const auto now = ns3::Simulator::Now();
    m_since = m_since.value_or(now);
    return now - *m_since > m_interval;
}

bool
ECNSharpQueueDisc::IsDue(ns3::Time sojourn)
{
    const auto now = ns3::Simulator::Now();
    if (!Persists(sojourn))
    {
        m_marks = 0;
        return false;
    }
    if (m_marks == 0)
    {
        m_marks = 1;
        m_due = now + m_interval;
        return true;
    }
    const bool byPaper = m_law == "paper";
    if (byPaper ? now <= m_due : now < m_due)
    {
        return false;
    }
    ++m_marks;
    const double gap = static_cast<double>(m_interval.GetNanoSeconds()) / std::sqrt(m_marks);
    m_due = (byPaper ? m_due : now) + ns3::NanoSeconds(static_cast<std::int64_t>(gap));
    return true;
}

void
ECNSharpQueueDisc::OnDeparture(ns3::Ptr<ns3::QueueDiscItem> item)
{
    const auto sojourn = Sojourn(item);
    const bool isDue = IsDue(sojourn);
    if (sojourn > m_threshold)
    {
        Mark(item, INSTANTANEOUS_MARK);
    }
    else if (isDue)
    {
        Mark(item, PERSISTENT_MARK);
    }
}

ns3::TypeId
TcnQueueDisc::GetTypeId()
{
    static ns3::TypeId tid = ns3::TypeId("ccperf::TcnQueueDisc")
                                 .SetParent<MarkingQueueDisc>()
                                 .AddConstructor<TcnQueueDisc>()
                                 .AddAttribute("Threshold",
                                               "Sojourn time above which packets are marked.",
                                               ns3::TimeValue(ns3::MicroSeconds(10)),
                                               ns3::MakeTimeAccessor(&TcnQueueDisc::m_threshold),
                                               ns3::MakeTimeChecker());
    return tid;
}

void
TcnQueueDisc::OnDeparture(ns3::Ptr<ns3::QueueDiscItem> item)
{
    if (Sojourn(item) > m_threshold)
    {
        Mark(item, THRESHOLD_MARK);
    }
}

ns3::TypeId
StepRedQueueDisc::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::StepRedQueueDisc")
            .SetParent<MarkingQueueDisc>()
            .AddConstructor<StepRedQueueDisc>()
            .AddAttribute("MarkingThreshold",
                          "K.",
                          ns3::QueueSizeValue(ns3::QueueSize("65p")),
                          ns3::MakeQueueSizeAccessor(&StepRedQueueDisc::m_threshold),
                          ns3::MakeQueueSizeChecker());
    return tid;
}

void
StepRedQueueDisc::OnArrival(ns3::Ptr<ns3::QueueDiscItem> item)
{
    const auto queue = GetInternalQueue(0);
    const bool inPackets = m_threshold.GetUnit() == ns3::QueueSizeUnit::PACKETS;
    const std::uint32_t queued = inPackets ? queue->GetNPackets() : queue->GetNBytes();
    if (queued > 1 && queued >= m_threshold.GetValue())
    {
        Mark(item, THRESHOLD_MARK);
    }
}

namespace
{

std::uint32_t
Ticks(ns3::Time time)
{
    return static_cast<std::uint32_t>(time.GetNanoSeconds() / 1024);
}

} // namespace

ns3::TypeId
MarkingCoDelQueueDisc::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::MarkingCoDelQueueDisc")
            .SetParent<MarkingQueueDisc>()
            .AddConstructor<MarkingCoDelQueueDisc>()
            .AddAttribute("MinBytes",
                          "No marks while less is queued.",
                          ns3::UintegerValue(1500),
                          ns3::MakeUintegerAccessor(&MarkingCoDelQueueDisc::m_minBytes),
                          ns3::MakeUintegerChecker<std::uint32_t>())
            .AddAttribute("Interval",
                          "How long the queue must stand, and the first gap between marks.",
                          ns3::TimeValue(ns3::MilliSeconds(100)),
                          ns3::MakeTimeAccessor(&MarkingCoDelQueueDisc::m_interval),
                          ns3::MakeTimeChecker())
            .AddAttribute("Target",
                          "Sojourn time from which on the queue may stand.",
                          ns3::TimeValue(ns3::MilliSeconds(5)),
                          ns3::MakeTimeAccessor(&MarkingCoDelQueueDisc::m_target),
                          ns3::MakeTimeChecker());
    return tid;
}

bool
MarkingCoDelQueueDisc::Stands(ns3::Ptr<const ns3::QueueDiscItem> item)
{
    const auto now = Ticks(ns3::Simulator::Now());
    const bool isLong = Ticks(Sojourn(item)) >= Ticks(m_target);
    if (!isLong || GetInternalQueue(0)->GetNBytes() < m_minBytes)
    {
        m_stands = 0;
        return false;
    }
    if (m_stands == 0)
    {
        m_stands = now + Ticks(m_interval);
        return false;
    }
    return now > m_stands;
}

// x' = x (3 - count x^2) / 2, in fixed point of 32 bits, of which the upper 16 are kept.
void
MarkingCoDelQueueDisc::SetCount(std::uint32_t count)
{
    m_count = count;
    const std::uint64_t x = static_cast<std::uint64_t>(m_root) << 16;
    const std::uint64_t square = x * x >> 32;
    const std::uint64_t rest = (std::uint64_t{3} << 32) - count * square;
    m_root = static_cast<std::uint16_t>((rest / 4 * x >> 31) >> 16);
}

std::uint32_t
MarkingCoDelQueueDisc::Gap() const
{
    const std::uint64_t root = static_cast<std::uint64_t>(m_root) << 16;
    return static_cast<std::uint32_t>(Ticks(m_interval) * root >> 32);
}

void
MarkingCoDelQueueDisc::OnDeparture(ns3::Ptr<ns3::QueueDiscItem> item)
{
    if (!Stands(item))
    {
        m_marking = false;
        return;
    }
    const auto now = Ticks(ns3::Simulator::Now());
    if ((m_marking && now < m_due) || !Mark(item, TARGET_EXCEEDED_MARK))
    {
        return;
    }
    if (m_marking)
    {
        SetCount(m_count + 1);
        m_due += Gap();
        return;
    }
    m_marking = true;
    const auto last = static_cast<std::int32_t>(m_count - m_firstCount);
    if (last > 1 && now - m_due < 16 * Ticks(m_interval))
    {
        SetCount(static_cast<std::uint32_t>(last));
    }
    else
    {
        m_count = 1;
        m_root = 0xffff;
    }
    m_firstCount = m_count;
    m_due = now + Gap();
}

void
MarkingCoDelQueueDisc::OnEmpty()
{
    m_marking = false;
}

ns3::TypeId
MarkingPieQueueDisc::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::MarkingPieQueueDisc")
            .SetParent<MarkingQueueDisc>()
            .AddConstructor<MarkingPieQueueDisc>()
            .AddAttribute("A",
                          "Weight of the delay's deviation from the reference, in 1/s.",
                          ns3::DoubleValue(0.125),
                          ns3::MakeDoubleAccessor(&MarkingPieQueueDisc::m_a),
                          ns3::MakeDoubleChecker<double>())
            .AddAttribute("B",
                          "Weight of the delay's change, in 1/s.",
                          ns3::DoubleValue(1.25),
                          ns3::MakeDoubleAccessor(&MarkingPieQueueDisc::m_b),
                          ns3::MakeDoubleChecker<double>())
            .AddAttribute("Tupdate",
                          "Time between two updates of the probability.",
                          ns3::TimeValue(ns3::MilliSeconds(30)),
                          ns3::MakeTimeAccessor(&MarkingPieQueueDisc::m_period),
                          ns3::MakeTimeChecker(ns3::NanoSeconds(1)))
            .AddAttribute("QueueDelayReference",
                          "The delay to aim at.",
                          ns3::TimeValue(ns3::MilliSeconds(20)),
                          ns3::MakeTimeAccessor(&MarkingPieQueueDisc::m_reference),
                          ns3::MakeTimeChecker());
    return tid;
}

MarkingPieQueueDisc::MarkingPieQueueDisc()
    : m_random(ns3::CreateObject<ns3::UniformRandomVariable>())
{
}

std::int64_t
MarkingPieQueueDisc::AssignStreams(std::int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
}

void
MarkingPieQueueDisc::OnArrival(ns3::Ptr<ns3::QueueDiscItem> item)
{
    const bool isLight = m_oldDelay < 0.5 * m_reference.GetSeconds() && m_probability < 0.2;
    if (isLight || GetInternalQueue(0)->GetNPackets() <= 2)
    {
        return;
    }
    if (m_random->GetValue() <= m_probability)
    {
        Mark(item, UNFORCED_MARK);
    }
}

void
MarkingPieQueueDisc::InitializeParams()
{
    ns3::Simulator::ScheduleNow(&MarkingPieQueueDisc::Update, this);
}

void
MarkingPieQueueDisc::Update()
{
    const auto head = GetInternalQueue(0)->Peek();
    const double delay = head ? Sojourn(head).GetSeconds() : 0;
    const double scale = m_probability < 0.01 ? 8 : m_probability < 0.1 ? 2 : 1;
    m_probability +=
        (m_a * (delay - m_reference.GetSeconds()) + m_b * (delay - m_oldDelay)) / scale;
    if (delay == 0 && m_oldDelay == 0)
    {
        m_probability *= 0.98;
    }
    else if (delay > 0.2)
    {
        m_probability += 0.02;
    }
    m_probability = std::max(m_probability, 0.0);
    m_oldDelay = delay;
    ns3::Simulator::Schedule(m_period, &MarkingPieQueueDisc::Update, this);
}

} // namespace ccperf
