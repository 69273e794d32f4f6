// SPDX-License-Identifier: GPL-2.0-only

#include "conga-balancer.h"

#include "flow-balancers.h"

#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ccperf
{

namespace
{

NS_OBJECT_ENSURE_REGISTERED(CongaTag);
NS_OBJECT_ENSURE_REGISTERED(CongaBalancer);

} // namespace

ns3::TypeId
CongaTag::GetTypeId()
{
    static const auto id =
        ns3::TypeId("ccperf::CongaTag").SetParent<ns3::Tag>().AddConstructor<CongaTag>();
    return id;
}

ns3::TypeId
CongaTag::GetInstanceTypeId() const
{
    return GetTypeId();
}

std::uint32_t
CongaTag::GetSerializedSize() const
{
    return 7;
}

void
CongaTag::Serialize(ns3::TagBuffer buffer) const
{
    buffer.WriteU16(forward.uplink);
    buffer.WriteU8(forward.level);
    buffer.WriteU8(back ? 1 : 0);
    buffer.WriteU16(back ? back->uplink : 0);
    buffer.WriteU8(back ? back->level : 0);
}

void
CongaTag::Deserialize(ns3::TagBuffer buffer)
{
    forward.uplink = buffer.ReadU16();
    forward.level = buffer.ReadU8();
    const bool hasBack = buffer.ReadU8() == 1;
    const std::uint16_t uplink = buffer.ReadU16();
    const std::uint8_t level = buffer.ReadU8();
    back.reset();
    if (hasBack)
    {
        back = Value{uplink, level};
    }
}

void
CongaTag::Print(std::ostream& out) const
{
    out << "uplink " << forward.uplink << " level " << unsigned{forward.level};
}

ns3::TypeId
CongaBalancer::GetTypeId()
{
    static const auto id =
        ns3::TypeId("ccperf::conga")
            .SetParent<Balancer>()
            .AddConstructor<CongaBalancer>()
            .AddAttribute("FlowletTimeout",
                          "A packet that comes later than this begins a new burst.",
                          ns3::TimeValue(ns3::MicroSeconds(500)),
                          ns3::MakeTimeAccessor(&CongaBalancer::m_timeout),
                          ns3::MakeTimeChecker())
            .AddAttribute("DreInterval",
                          "How often loads shrink.",
                          ns3::TimeValue(ns3::MicroSeconds(32)),
                          ns3::MakeTimeAccessor(&CongaBalancer::m_interval),
                          ns3::MakeTimeChecker())
            .AddAttribute("DreFactor",
                          "By which part.",
                          ns3::DoubleValue(0.2),
                          ns3::MakeDoubleAccessor(&CongaBalancer::m_factor),
                          ns3::MakeDoubleChecker<double>(0, 1))
            .AddAttribute("QuantizationBits",
                          "Bits of a level.",
                          ns3::UintegerValue(3),
                          ns3::MakeUintegerAccessor(&CongaBalancer::m_bits),
                          ns3::MakeUintegerChecker<std::uint32_t>(1, 8))
            .AddAttribute("LinkRate",
                          "What levels are relative to; 0: the rate of each port.",
                          ns3::DataRateValue(ns3::DataRate(0)),
                          ns3::MakeDataRateAccessor(&CongaBalancer::m_rate),
                          ns3::MakeDataRateChecker())
            .AddAttribute("AgingTime",
                          "A level that has not come back for so long is one less.",
                          ns3::TimeValue(ns3::MilliSeconds(10)),
                          ns3::MakeTimeAccessor(&CongaBalancer::m_aging),
                          ns3::MakeTimeChecker())
            .AddAttribute("Seed",
                          "Of the hash where paths are not uplinks.",
                          ns3::UintegerValue(0),
                          ns3::MakeUintegerAccessor(&CongaBalancer::m_seed),
                          ns3::MakeUintegerChecker<std::uint64_t>());
    return id;
}

std::uint16_t
CongaBalancer::UplinkOf(std::size_t port)
{
    if (m_uplinks.empty())
    {
        for (const Port& other : m_network->ports)
        {
            if (other.device->GetNode()->GetId() == m_node)
            {
                m_uplinks.emplace(other.index, static_cast<std::uint16_t>(m_uplinks.size()));
            }
        }
    }
    return m_uplinks.at(port);
}

double
CongaBalancer::Load::Sum() const
{
    return before + static_cast<double>(since);
}

// A port is measured from the first packet that is for it on.
CongaBalancer::Load&
CongaBalancer::LoadOf(std::size_t port)
{
    const auto [entry, isNew] = m_loads.try_emplace(port);
    if (isNew)
    {
        m_network->ports[port].device->TraceConnectWithoutContext(
            "PhyTxBegin",
            ns3::Callback<void, ns3::Ptr<const ns3::Packet>>(
                [this, port](ns3::Ptr<const ns3::Packet> packet) {
                    m_loads.at(port).since += packet->GetSize();
                }));
    }
    return entry->second;
}

std::uint8_t
CongaBalancer::LevelOf(std::size_t port)
{
    const auto nanoseconds = static_cast<double>(m_interval.GetNanoSeconds());
    const auto common = m_rate.GetBitRate();
    const auto rate = static_cast<double>(common > 0 ? common : m_network->ports[port].rate);
    const double full = rate * (nanoseconds / m_factor) / 8e9;
    const double levels = std::pow(2, m_bits);
    const double level = LoadOf(port).Sum() * levels / full;
    return static_cast<std::uint8_t>(std::floor(std::min(level, levels - 1)));
}

std::uint8_t
CongaBalancer::Aged(std::uint8_t level, ns3::Time since) const
{
    const auto age = ns3::Simulator::Now() - since;
    const auto passed = age.GetNanoSeconds() / m_aging.GetNanoSeconds();
    return static_cast<std::uint8_t>(std::max<std::int64_t>(level - passed, 0));
}

std::uint8_t
CongaBalancer::CongestionOf(std::size_t port, std::size_t leaf)
{
    std::uint8_t beyond = 0;
    if (const auto found = m_remote.find({leaf, UplinkOf(port)}); found != m_remote.end())
    {
        beyond = Aged(found->second.level, found->second.since);
    }
    return std::max(LevelOf(port), beyond);
}

std::size_t
CongaBalancer::ChooseUplink(const Arrival& arrival, std::size_t leaf)
{
    const auto now = ns3::Simulator::Now();
    const auto& ports = arrival.ports;
    const auto [known, isFirst] = m_bursts.try_emplace(arrival.Flow(), Burst{0, now});
    Burst& burst = known->second;
    const bool goesOn = !isFirst && now - burst.last <= m_timeout;
    burst.last = now;
    const auto before = isFirst ? ports.end() : std::find(ports.begin(), ports.end(), burst.port);
    if (goesOn && before != ports.end())
    {
        return static_cast<std::size_t>(before - ports.begin());
    }
    std::map<std::uint8_t, std::vector<std::size_t>> byCongestion;
    for (std::size_t position = 0; position < ports.size(); ++position)
    {
        byCongestion[CongestionOf(ports[position], leaf)].push_back(position);
    }
    const auto& best = byCongestion.begin()->second;
    std::size_t chosen = best[0];
    const auto same = std::find_if(best.begin(), best.end(), [&](std::size_t position) {
        return before != ports.end() && ports[position] == *before;
    });
    if (same != best.end())
    {
        chosen = *same;
    }
    else if (best.size() > 1)
    {
        chosen = best[Draw(0, best.size() - 1)];
    }
    burst.port = ports[chosen];
    return chosen;
}

std::optional<CongaTag::Value>
CongaBalancer::Feedback(std::size_t leaf)
{
    Table& table = m_heard[leaf];
    if (table.levels.empty())
    {
        return std::nullopt;
    }
    // From the next one to the last, then from the first to the one before.
    std::vector<std::uint16_t> turn;
    for (const auto& [uplink, heard] : table.levels)
    {
        turn.push_back(uplink);
    }
    const auto next = std::lower_bound(turn.begin(), turn.end(), table.next);
    std::rotate(turn.begin(), next, turn.end());
    const auto isNew = [&](std::uint16_t uplink) { return table.levels.at(uplink).isNew; };
    const auto found = std::find_if(turn.begin(), turn.end(), isNew);
    const std::uint16_t uplink = found == turn.end() ? turn[0] : *found;
    table.next = static_cast<std::uint16_t>(uplink + 1);
    Heard& heard = table.levels.at(uplink);
    heard.isNew = false;
    return CongaTag::Value{uplink, Aged(heard.level, heard.since)};
}

std::size_t
CongaBalancer::Choose(const Arrival& arrival)
{
    const std::size_t leafOfSource = m_network->routes->LeafOf(arrival.header.GetSource().Get());
    const std::size_t leaf = m_network->routes->LeafOf(arrival.header.GetDestination().Get());
    CongaTag tag;
    const bool isTagged = arrival.packet->RemovePacketTag(tag);
    if (!isTagged && leafOfSource == m_node && leaf != m_node)
    {
        const std::size_t chosen = ChooseUplink(arrival, leaf);
        tag.forward = {UplinkOf(arrival.ports[chosen]), 0};
        tag.back = Feedback(leaf);
        arrival.packet->AddPacketTag(tag);
        return chosen;
    }
    const std::size_t chosen =
        EcmpBalancer::Position(arrival, EcmpBalancer::Salt(m_seed, m_node));
    if (isTagged && leaf == m_node)
    {
        const auto [uplink, level] = tag.forward;
        const auto now = ns3::Simulator::Now();
        const auto [entry, isFirst] =
            m_heard[leafOfSource].levels.try_emplace(uplink, Heard{level, true, now});
        Heard& heard = entry->second;
        heard = {level, heard.isNew || heard.level != level, now};
        if (tag.back)
        {
            m_remote[{leafOfSource, tag.back->uplink}] = {tag.back->level, now};
        }
    }
    else if (isTagged)
    {
        tag.forward.level = std::max(tag.forward.level, LevelOf(arrival.ports[chosen]));
        arrival.packet->AddPacketTag(tag);
    }
    return chosen;
}

bool
CongaBalancer::SeesEveryHop() const
{
    return true;
}

ns3::Time
CongaBalancer::Period() const
{
    return m_interval;
}

void
CongaBalancer::OnPeriod()
{
    for (auto& [port, load] : m_loads)
    {
        load = {load.Sum() * (1.0 - m_factor), 0};
    }
}

} // namespace ccperf
