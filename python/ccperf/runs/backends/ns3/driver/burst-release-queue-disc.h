// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_BURST_RELEASE_QUEUE_DISC_H
#define CCPERF_BURST_RELEASE_QUEUE_DISC_H

#include "single-queue-disc.h"

#include "ns3/nstime.h"

#include <cstdint>

namespace ccperf
{

// The ACK-compressing link's queue: packets leave only in slots, at t = 0, Interval, 2 Interval, ..., at
// most Quota of them in a slot, in order of arrival.
//
// The rule in full:
//  - A slot lasts for the one nanosecond. Its tick, an event, makes Quota packets free to leave and runs the
//    queue: they go to the device until none is free, the queue is empty or the device's own queue is full.
//  - Whatever else runs the queue in that nanosecond, an arrival or the device that has room again, may
//    use what is left of the slot. In any other nanosecond nothing leaves; what a slot did not use is lost.
//  - The tick at t = 0 is scheduled when the discipline is initialised, every further one by the tick before
//    it, before that one runs the queue.
//  - Quota is the attribute that every ns-3 discipline has, how many packets one run may send: 64 if it
//    is not given.
//  - At MaxSize arriving packets are dropped, as by ns3::FifoQueueDisc.
class BurstReleaseQueueDisc : public SingleQueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

  private:
    ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
    void InitializeParams() override;

    void Tick();

    ns3::Time m_interval;
    ns3::Time m_slot{ns3::Time::Min()}; // the last one
    std::uint32_t m_left{0};            // packets that may still leave in it
};

} // namespace ccperf

#endif
