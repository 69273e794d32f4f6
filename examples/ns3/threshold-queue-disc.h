// SPDX-License-Identifier: GPL-2.0-only

#ifndef THRESHOLD_QUEUE_DISC_H
#define THRESHOLD_QUEUE_DISC_H

#include "ns3/queue-disc.h"

// A queue discipline that is not part of ns-3: first in, first out, and a CE mark for what arrives while
// `Threshold` or more packets wait.
class ThresholdQueueDisc : public ns3::QueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

    ThresholdQueueDisc();

  private:
    bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override;
    ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
    bool CheckConfig() override;
    void InitializeParams() override;

    uint32_t m_threshold;
};

#endif
