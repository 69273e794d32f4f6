// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_WAYS_H
#define CCPERF_WAYS_H

#include "headers.h"
#include "network.h"
#include "scenario.h"

#include <functional>
#include <unordered_map>

namespace ccperf
{

// One way of a connection: from source to destination, or back.
struct Way
{
    std::size_t flow; // pings count on behind the flows
    bool isReturn;
    // The index of the port that it takes out of a node.
    std::unordered_map<std::size_t, std::size_t> portOutOf;
};

// To whom packets belong.
class Ways
{
  public:
    explicit Ways(const Scenario& scenario);

    // Null for packets of no flow.
    const Way* Find(const FourTuple& tuple) const;

    // Calls `onDrop` with the port and the packet, which begins with its IP header, when a packet that goes
    // straight to the device finds it stopped. ns-3 says only on which node; routing, or the way, says at
    // which port.
    // Must outlive the simulation.
    void ConnectStoppedDrops(
        const Network& network,
        std::function<void(std::size_t, ns3::Ptr<const ns3::Packet>)> onDrop) const;

  private:
    std::unordered_map<FourTuple, Way, FourTuple::Hash> m_ways;
};

} // namespace ccperf

#endif
