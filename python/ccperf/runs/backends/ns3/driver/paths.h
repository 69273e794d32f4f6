// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_PATHS_H
#define CCPERF_PATHS_H

#include "headers.h"
#include "network.h"
#include "scenario.h"

#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

namespace ccperf
{

// One direction of a connection: from source to destination, or back.
struct Path
{
    std::size_t flow; // pings count on behind the flows
    bool isReturn;
    // The index of the port that it takes out of a node.
    std::unordered_map<std::size_t, std::size_t> portOutOf;
};

// To whom packets belong.
class Paths
{
  public:
    explicit Paths(const Scenario& scenario);

    // The header of the transport, `offset` bytes into the packet; of a fragment the one that its packet has.
    TransportFields Transport(const IpFields& ip,
                              ns3::Ptr<const ns3::Packet> packet,
                              std::uint32_t offset) const;

    // Null for packets of no flow.
    const Path* Find(const FourTuple& tuple) const;

    // Calls `onDrop` with the port and the packet, which begins with its IP header, when a packet that goes
    // straight to the device finds it stopped. ns-3 says only on which node; routing, or the path, says at
    // which port.
    // Must outlive the simulation.
    void ConnectStoppedDrops(
        const Network& network,
        std::function<void(std::size_t, ns3::Ptr<const ns3::Packet>)> onDrop) const;

  private:
    std::unordered_map<FourTuple, Path, FourTuple::Hash> m_paths;
    // Of packets that were cut: addresses, and protocol with identification. (ns-3 gives all fragments of what an
    // application wrote one number of its own.)
    mutable std::map<std::pair<std::uint64_t, std::uint32_t>, TransportFields> m_cut;
};

} // namespace ccperf

#endif
