// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_CONGA_BALANCER_H
#define CCPERF_CONGA_BALANCER_H

#include "balancer.h"

#include <map>
#include <optional>
#include <unordered_map>

namespace ccperf
{

// What CONGA writes on packets between leaves.
class CongaTag : public ns3::Tag
{
  public:
    struct Value
    {
        std::uint16_t uplink;
        std::uint8_t level;
    };

    static ns3::TypeId GetTypeId();
    ns3::TypeId GetInstanceTypeId() const override;
    std::uint32_t GetSerializedSize() const override;
    void Serialize(ns3::TagBuffer buffer) const override;
    void Deserialize(ns3::TagBuffer buffer) override;
    void Print(std::ostream& out) const override;

    Value forward{}; // the path that the packet takes
    std::optional<Value> back; // a path in the other direction
};

// `conga`. A node's uplinks are known by their place among all its ports in the order of links.
//
// Load. The bytes of a transmission, PPP header included, are added to the port's load when it begins; every
// DreInterval all loads are multiplied by 1 - DreFactor. The level of a port is load * 2^QuantizationBits /
// (rate * (DreInterval / DreFactor) / 8), times in seconds, rounded down, at most 2^QuantizationBits - 1.
//
// At the switch that the sender is behind, a packet for a host behind another one gets a tag: the uplink with level 0,
// and one of the levels that have come from that other switch: the next one in cyclic order of uplinks that has changed
// since it was sent, or if none has, the next one, minus one for each AgingTime since it came. Other switches raise the level to that of the port which they take; the
// last one notes the level for the sender's switch and uplink, and what came back for its own uplink, and
// removes the tag.
//
// Uplinks. The first packet of a flow and direction, one that comes more than FlowletTimeout after the one before,
// and one whose uplink is no longer there take the uplink with the smallest larger one of its level and the level that came
// back for the other switch, minus one for each AgingTime since then. Of several such the one that the flow had before, if it is
// one of them; otherwise a random one.
//
// Packets with several paths elsewhere go as with `ecmp`.
class CongaBalancer : public Balancer
{
  public:
    static ns3::TypeId GetTypeId();

    std::size_t Choose(const Arrival& arrival) override;
    bool SeesEveryHop() const override;
    ns3::Time Period() const override;
    void OnPeriod() override;

  private:
    struct Heard
    {
        std::uint8_t level;
        bool isNew;
        ns3::Time since;
    };

    struct Table
    {
        std::map<std::uint16_t, Heard> levels;
        std::uint16_t next{0};
    };

    struct Remote
    {
        std::uint8_t level;
        ns3::Time since;
    };

    struct Burst
    {
        std::size_t port;
        ns3::Time last;
    };

    struct Load
    {
        double before{0};       // at the end of the last period
        std::uint64_t since{0}; // bytes

        double Sum() const;
    };

    std::uint16_t UplinkOf(std::size_t port);
    Load& LoadOf(std::size_t port);
    std::uint8_t LevelOf(std::size_t port);
    std::uint8_t Aged(std::uint8_t level, ns3::Time since) const;
    std::uint8_t CongestionOf(std::size_t port, std::size_t leaf);
    std::size_t ChooseUplink(const Arrival& arrival, std::size_t leaf);
    std::optional<CongaTag::Value> Feedback(std::size_t leaf);

    ns3::Time m_timeout;
    ns3::Time m_interval;
    double m_factor;
    ns3::DataRate m_rate;
    std::uint32_t m_bits;
    ns3::Time m_aging;
    std::uint64_t m_seed;

    std::map<std::size_t, std::uint16_t> m_uplinks; // by port
    std::map<std::size_t, Load> m_loads;            // by port
    std::unordered_map<FourTuple, Burst, FourTuple::Hash> m_bursts;
    std::map<std::pair<std::size_t, std::uint16_t>, Remote> m_remote; // by switch and uplink
    std::map<std::size_t, Table> m_heard;                             // by switch
};

} // namespace ccperf

#endif
