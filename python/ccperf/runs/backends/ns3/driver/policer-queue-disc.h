// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_POLICER_QUEUE_DISC_H
#define CCPERF_POLICER_QUEUE_DISC_H

#include "single-queue-disc.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>

namespace ccperf
{

// A queue, first in, first out, behind a meter that drops what exceeds a rate.
//
// The meter is a bucket of Burst bytes, full at first, that fills at Rate. A packet that arrives and is not
// larger than what is in the bucket takes its bytes out of it and goes into the queue, if that has room;
// another is dropped and takes nothing. Contents are counted in 10^-9 bit, so that they are exact.
class PolicerQueueDisc : public SingleQueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

    static constexpr const char* NOT_CONFORMING_DROP = "Not conforming";

  private:
    bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override;
    void InitializeParams() override;

    // What has flowed in since the last arrival goes into the bucket.
    void Fill();

    ns3::DataRate m_rate;
    std::uint32_t m_burst; // bytes
    // What the bucket lacks of being full, 10^-9 bit.
    std::uint64_t m_missing{0};
    ns3::Time m_filled; // when last
};

} // namespace ccperf

#endif
