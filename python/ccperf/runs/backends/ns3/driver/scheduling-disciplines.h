// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_SCHEDULING_DISCIPLINES_H
#define CCPERF_SCHEDULING_DISCIPLINES_H

#include "ns3/queue-disc.h"

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace ccperf
{

// What the data centre's schedulers have in common: classes, each a discipline of its own, which have to be
// there. A packet belongs to the class whose number is its DSCP, or to the last one if there is none.
// Lists of numbers are texts, with spaces between.
class SchedulingQueueDisc : public ns3::QueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

    SchedulingQueueDisc();

  protected:
    std::size_t ClassOf(ns3::Ptr<const ns3::QueueDiscItem> item) const;
    ns3::Ptr<ns3::QueueDisc> Child(std::size_t index) const;

    // As many numbers as there are classes, of as many or of one for all.
    std::vector<std::uint32_t> Numbers(const std::string& text) const;

  private:
    bool CheckConfig() override;
};

// Deficit weighted round robin. Each priority has a round: the classes with packets, in the order in which
// they got their first. The round of the largest priority with one is served. The class whose turn it is
// sends its packet if that is not larger than its credit, which pays for it; with nothing left it leaves the
// round. If the packet is larger, the class gets its quantum as credit, and the turn passes on. It
// enters a round with a credit of one quantum.
class DwrrQueueDisc : public SchedulingQueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

  private:
    bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override;
    ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
    ns3::Ptr<const ns3::QueueDiscItem> DoPeek() override;
    void InitializeParams() override;

    struct Share
    {
        std::uint32_t quantum;
        std::uint32_t priority;
        std::uint64_t credit;
        bool isInRound;
    };

    // Passes the turn on until the packet of the class that has it may go; that packet, or none.
    ns3::Ptr<const ns3::QueueDiscItem> FindNext(std::size_t& index);
    void LeaveRound(std::size_t index);

    std::string m_quanta;
    std::string m_priorities;
    std::vector<Share> m_shares;
    std::map<std::uint32_t, std::list<std::size_t>> m_rounds; // by priority
};

// Self-clocked fair queueing. The clock of a priority shows the finish time of the packet that left it last.
// The packet at the head of a class will finish its size / weight after the finish time of the class's last
// one or after the clock, whichever is later; sizes in units of 2^-16 byte, quotients rounded
// down. The one that finishes first leaves, of the largest priority that has packets; of equal ones
// that of the first class.
class WfqQueueDisc : public SchedulingQueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

  private:
    bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override;
    ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
    ns3::Ptr<const ns3::QueueDiscItem> DoPeek() override;
    void InitializeParams() override;

    struct Share
    {
        std::uint32_t weight;
        std::uint32_t priority;
        std::uint64_t finish;
        bool hasPackets;
    };

    Share* First();
    void OnNewHead(Share& share, std::uint32_t bytes);

    std::string m_weights;
    std::string m_priorities;
    std::vector<Share> m_shares;
    std::map<std::uint32_t, std::uint64_t> m_clocks; // by priority
};

// Strict priority: the class with the largest priority that has packets sends; of equal ones the first.
class StrictPriorityQueueDisc : public SchedulingQueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

  private:
    bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override;
    ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
    ns3::Ptr<const ns3::QueueDiscItem> DoPeek() override;
    void InitializeParams() override;

    std::string m_priorities;
    std::multimap<std::uint32_t, std::size_t, std::greater<>> m_order; // classes by priority
};

} // namespace ccperf

#endif
