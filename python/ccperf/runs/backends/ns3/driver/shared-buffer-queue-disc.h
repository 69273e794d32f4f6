// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_SHARED_BUFFER_QUEUE_DISC_H
#define CCPERF_SHARED_BUFFER_QUEUE_DISC_H

#include "ns3/queue-disc.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ccperf
{

// The buffer of a switch, shared by its ports with dynamic thresholds (Choudhury and Hahne, 1998), in front
// of any discipline, the only class: a packet is dropped if the port's own queue is not below Alpha times
// what is free, or if it does not fit into that.
class SharedBufferQueueDisc : public ns3::QueueDisc
{
  public:
    // The disciplines of one switch that share its buffer.
    using Ports = std::shared_ptr<std::vector<const ns3::QueueDisc*>>;

    static ns3::TypeId GetTypeId();

    SharedBufferQueueDisc();

    void Join(const Ports& ports);

  private:
    bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override;
    ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
    ns3::Ptr<const ns3::QueueDiscItem> DoPeek() override;
    bool CheckConfig() override;
    void InitializeParams() override;

    std::uint64_t Free() const;

    std::uint32_t m_poolBytes;
    double m_alpha;
    Ports m_ports;
};

} // namespace ccperf

#endif
