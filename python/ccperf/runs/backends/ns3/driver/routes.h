// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_ROUTES_H
#define CCPERF_ROUTES_H

#include "scenario.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace ccperf
{

// The shortest paths by hops between all nodes, over the links that are up. They are right at every
// instant: a link that fails or comes back changes the routes of all nodes at once.
class Routes
{
  public:
    explicit Routes(const Scenario& scenario);

    // The ports (2 * link + direction) by which packets for an address leave a node, each coming one hop
    // nearer, in the order of links; none if there is no path.
    const std::vector<std::size_t>& Ports(std::size_t node, std::uint32_t address);

    // The first port out of a node.
    std::size_t FirstPort(std::size_t node) const;

    // The node that an address is behind, if it is that of a node with one link; else the node itself.
    std::size_t LeafOf(std::uint32_t address) const;

    void SetUp(std::size_t link, bool isUp);

  private:
    struct Neighbour
    {
        std::size_t port;
        std::size_t node;
    };

    std::vector<std::vector<std::size_t>> Towards(std::size_t destination) const;

    std::vector<std::vector<Neighbour>> m_neighbours; // of each node, in the order of links
    std::vector<bool> m_isUp;                         // by link
    std::unordered_map<std::uint32_t, std::size_t> m_nodeOf;
    // By destination, as far as they have been asked for since the last change: the ports of each node.
    std::map<std::size_t, std::vector<std::vector<std::size_t>>> m_known;
};

} // namespace ccperf

#endif
