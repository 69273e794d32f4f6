// SPDX-License-Identifier: GPL-2.0-only
//
// What the recorder and the packet trace read from packets, straight from the bytes: ns-3's own header
// classes parse all TCP options, which would cost more than the rest of the recording.

#ifndef CCPERF_HEADERS_H
#define CCPERF_HEADERS_H

#include "scenario.h"

#include "ns3/packet.h"

#include <array>
#include <cstdint>
#include <optional>

namespace ccperf
{

constexpr std::uint32_t PPP_BYTES = 2;
constexpr std::uint32_t IP_BYTES = 20; // ns-3 sends no IP options
constexpr std::uint8_t ICMP = 1;
constexpr std::uint8_t TCP = 6;
constexpr std::uint8_t UDP = 17;

// Of one direction of a connection.
struct FourTuple
{
    std::uint32_t source;
    std::uint32_t destination;
    std::uint16_t sourcePort;
    std::uint16_t destinationPort;
    std::uint8_t protocol{0}; // that of the packet, of a message about one

    // From the source to the destination. ICMP has no ports: here the requester has 0, the other end 1.
    static FourTuple Of(const Flow& flow);
    static FourTuple Of(const PingFlow& ping);
    FourTuple Reversed() const;
    bool operator==(const FourTuple&) const = default;

    struct Hash
    {
        std::size_t operator()(const FourTuple& tuple) const;
    };
};

struct IpFields
{
    std::uint32_t source;
    std::uint32_t destination;
    std::uint32_t bytes; // of the packet, this header included
    std::uint8_t service; // with the two ECN bits
    std::uint8_t protocol;
    std::uint16_t identification;
    std::uint16_t offset; // bytes in front of a fragment
    bool hasMore;         // fragments

    bool IsFragment() const
    {
        return offset > 0 || hasMore;
    }
};

// The header of TCP; of UDP, with the number of the datagram; of ICMP echo, with ports as in FourTuple and
// its own sequence number; or of an ICMP message about a packet, with the packet's ports on its path
// back. Only TCP's has flags.
struct TransportFields
{
    std::uint16_t sourcePort;
    std::uint16_t destinationPort;
    std::uint32_t sequence;
    std::uint32_t acknowledgement;
    std::uint32_t headerBytes;
    std::uint8_t flags;
    std::uint8_t protocol; // as in FourTuple
};

// The rest of a TCP header: what the trace with headers has besides.
struct TcpDetails
{
    struct Timestamps
    {
        std::uint32_t value;
        std::uint32_t echo;
    };

    struct Block
    {
        std::uint32_t left;
        std::uint32_t right;
    };

    std::uint16_t window{0};
    std::optional<std::uint8_t> windowShift;
    bool isSackPermitted{false};
    std::optional<Timestamps> timestamps;
    std::array<Block, 4> blocks{};
    std::size_t blockCount{0};
};

// `offset`: bytes of the packet before the header.
IpFields ReadIp(ns3::Ptr<const ns3::Packet> packet, std::uint32_t offset);
TransportFields ReadTransport(ns3::Ptr<const ns3::Packet> packet,
                              std::uint32_t offset,
                              std::uint8_t protocol);

TcpDetails ReadTcpDetails(ns3::Ptr<const ns3::Packet> packet, std::uint32_t offset);

FourTuple TupleOf(const IpFields& ip, const TransportFields& transport);

} // namespace ccperf

#endif
