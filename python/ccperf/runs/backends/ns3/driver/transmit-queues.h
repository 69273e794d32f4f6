// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_TRANSMIT_QUEUES_H
#define CCPERF_TRANSMIT_QUEUES_H

#include "scenario.h"

#include "ns3/drop-tail-queue.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/queue-item.h"
#include "ns3/queue-size.h"
#include "ns3/queue.h"

#include <cstddef>
#include <vector>

namespace ccperf
{

ns3::QueueSize SizeOf(const DeviceQueue& queue);

// Several transmit queues in the place of the one that ns3::PointToPointNetDevice has: the device asks this
// object for the next packet as it would ask its queue. Each queue is a drop-tail queue with an
// ns3::NetDeviceQueue of its own, which stops and wakes the discipline above.
//
// The rule in full:
//  - A packet enters the queue that the traffic control layer asked for with it. FLOW: the hash
//    of addresses and ports (QueueDiscItem::Hash, no perturbation) modulo the number of queues.
//    PRIORITY: by the socket priority, queue 0 for interactive (6, 7), 1 for interactive bulk
//    (4, 5), 2 for best effort (0, 1), 3 for bulk (2, 3); with fewer queues the last takes the rest.
//  - With FLOW the queues take turns, a packet each: the turn after a packet is that of the queue behind its
//    own. With PRIORITY the first queue that is not empty sends.
class TransmitQueues : public ns3::Queue<ns3::Packet>
{
  public:
    static ns3::TypeId GetTypeId();

    // Gives `device` the queues that `direction` asks for, with flow control.
    static void Install(ns3::Ptr<ns3::PointToPointNetDevice> device, const Direction& direction);

    bool Enqueue(ns3::Ptr<ns3::Packet> packet) override;
    ns3::Ptr<ns3::Packet> Dequeue() override;
    ns3::Ptr<ns3::Packet> Remove() override;
    ns3::Ptr<const ns3::Packet> Peek() const override;

  private:
    // Which queue this is for; notes it in the packet, which comes to Enqueue without its headers parsed.
    std::size_t Select(ns3::Ptr<ns3::QueueItem> item) const;
    // The queue that sends next; their number if all are empty.
    std::size_t Next() const;

    std::vector<ns3::Ptr<ns3::DropTailQueue<ns3::Packet>>> m_queues;
    DeviceSelect m_select{DeviceSelect::FLOW};
    std::size_t m_turn{0};
};

} // namespace ccperf

#endif
