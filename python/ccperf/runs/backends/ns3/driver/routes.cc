// SPDX-License-Identifier: GPL-2.0-only

#include "routes.h"

#include "ns3/ipv4-address.h"

#include <deque>
#include <limits>

namespace ccperf
{

Routes::Routes(const Scenario& scenario)
    : m_neighbours(scenario.nodes.size()),
      m_isUp(scenario.links.size(), true)
{
    for (std::size_t i = 0; i < scenario.links.size(); ++i)
    {
        const Link& link = scenario.links[i];
        for (std::size_t side = 0; side < 2; ++side)
        {
            m_neighbours[link.ends[side]].push_back({2 * i + side, link.ends[1 - side]});
            m_nodeOf[ns3::Ipv4Address(link.addresses[side].c_str()).Get()] = link.ends[side];
        }
    }
}

std::vector<std::vector<std::size_t>>
Routes::Towards(std::size_t destination) const
{
    constexpr auto FAR = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> distance(m_neighbours.size(), FAR);
    distance[destination] = 0;
    std::deque<std::size_t> reached{destination};
    for (; !reached.empty(); reached.pop_front())
    {
        for (const Neighbour& next : m_neighbours[reached.front()])
        {
            if (m_isUp[next.port / 2] && distance[next.node] == FAR)
            {
                distance[next.node] = distance[reached.front()] + 1;
                reached.push_back(next.node);
            }
        }
    }
    std::vector<std::vector<std::size_t>> ports(m_neighbours.size());
    for (std::size_t node = 0; node < m_neighbours.size(); ++node)
    {
        for (const Neighbour& next : m_neighbours[node])
        {
            if (m_isUp[next.port / 2] && distance[next.node] < distance[node])
            {
                ports[node].push_back(next.port);
            }
        }
    }
    return ports;
}

const std::vector<std::size_t>&
Routes::Ports(std::size_t node, std::uint32_t address)
{
    const std::size_t destination = m_nodeOf.at(address);
    const auto [known, isNew] = m_known.try_emplace(destination);
    if (isNew)
    {
        known->second = Towards(destination);
    }
    return known->second[node];
}

std::size_t
Routes::FirstPort(std::size_t node) const
{
    return m_neighbours[node].at(0).port;
}

std::size_t
Routes::LeafOf(std::uint32_t address) const
{
    const std::size_t node = m_nodeOf.at(address);
    return m_neighbours[node].size() == 1 ? m_neighbours[node][0].node : node;
}

void
Routes::SetUp(std::size_t link, bool isUp)
{
    m_isUp[link] = isUp;
    m_known.clear();
}

} // namespace ccperf
