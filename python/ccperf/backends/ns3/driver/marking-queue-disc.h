// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_MARKING_QUEUE_DISC_H
#define CCPERF_MARKING_QUEUE_DISC_H

#include "ns3/queue-disc.h"

namespace ccperf
{

// What the data centre's marking disciplines have in common: a FIFO of at most MaxSize, which drops what
// arrives when it is full, and nothing else. Packets that cannot carry a mark pass without one.
class MarkingQueueDisc : public ns3::QueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

    static constexpr const char* LIMIT_EXCEEDED_DROP = "Queue disc limit exceeded";

    MarkingQueueDisc();

  protected:
    // The packet is about to enter the queue, or has just left it.
    virtual void OnArrival(ns3::Ptr<ns3::QueueDiscItem> item);
    virtual void OnDeparture(ns3::Ptr<ns3::QueueDiscItem> item);
    // A departure was asked for in vain.
    virtual void OnEmpty();

    void InitializeParams() override;

    // How long the packet has been in the discipline.
    static ns3::Time Sojourn(ns3::Ptr<const ns3::QueueDiscItem> item);

  private:
    bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override;
    ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
    ns3::Ptr<const ns3::QueueDiscItem> DoPeek() override;
    bool CheckConfig() override;
};

} // namespace ccperf

#endif
