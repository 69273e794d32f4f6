// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_SINGLE_QUEUE_DISC_H
#define CCPERF_SINGLE_QUEUE_DISC_H

#include "ns3/queue-disc.h"

namespace ccperf
{

// What disciplines with one queue have in common: first in, first out, at most MaxSize, which drops what
// arrives when it is full.
class SingleQueueDisc : public ns3::QueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

    static constexpr const char* LIMIT_EXCEEDED_DROP = "Queue disc limit exceeded";

    SingleQueueDisc();

  protected:
    // The type with the attribute MaxSize, of which each discipline has its own default.
    static ns3::TypeId WithMaxSize(ns3::TypeId type, const char* limit);

    // Whether there is room; the packet is dropped if not.
    bool Fits(ns3::Ptr<ns3::QueueDiscItem> item);

    bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override;
    ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
    ns3::Ptr<const ns3::QueueDiscItem> DoPeek() override;
    void InitializeParams() override;

  private:
    bool CheckConfig() override;
};

} // namespace ccperf

#endif
