// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_MARKING_QUEUE_DISC_H
#define CCPERF_MARKING_QUEUE_DISC_H

#include "single-queue-disc.h"

#include "ns3/nstime.h"

namespace ccperf
{

// What the data centre's marking disciplines have in common: a queue that drops what arrives when it is full,
// and nothing else. Packets that cannot carry a mark pass without one.
class MarkingQueueDisc : public SingleQueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

  protected:
    // The packet is about to enter the queue, or has just left it.
    virtual void OnArrival(ns3::Ptr<ns3::QueueDiscItem> item);
    virtual void OnDeparture(ns3::Ptr<ns3::QueueDiscItem> item);
    // A departure was asked for in vain.
    virtual void OnEmpty();

    // How long the packet has been in the discipline.
    static ns3::Time Sojourn(ns3::Ptr<const ns3::QueueDiscItem> item);

  private:
    bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override;
    ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
};

} // namespace ccperf

#endif
