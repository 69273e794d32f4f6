// SPDX-License-Identifier: GPL-2.0-only
//
// What the recorder and the packet trace read from packets, straight from the bytes: ns-3's own header
// classes parse all TCP options, which would cost more than the rest of the recording.

#ifndef CCPERF_HEADERS_H
#define CCPERF_HEADERS_H

#include "scenario.h"

#include "ns3/packet.h"

#include <cstdint>

namespace ccperf
{

constexpr std::uint32_t PPP_BYTES = 2;
constexpr std::uint32_t IP_BYTES = 20; // ns-3 sends no IP options

// Of one way of a connection.
struct FourTuple
{
    std::uint32_t source;
    std::uint32_t destination;
    std::uint16_t sourcePort;
    std::uint16_t destinationPort;

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
    std::uint8_t ecn;
    std::uint8_t protocol;
};

// The header of TCP; of UDP, with the number of the datagram; or of ICMP echo, with ports as in FourTuple
// and its own sequence number. Neither has flags.
struct TransportFields
{
    std::uint16_t sourcePort;
    std::uint16_t destinationPort;
    std::uint32_t sequence;
    std::uint32_t acknowledgement;
    std::uint32_t headerBytes;
    std::uint8_t flags;
};

// `offset`: bytes of the packet before the header.
IpFields ReadIp(ns3::Ptr<const ns3::Packet> packet, std::uint32_t offset);
TransportFields ReadTransport(ns3::Ptr<const ns3::Packet> packet,
                              std::uint32_t offset,
                              std::uint8_t protocol);

FourTuple TupleOf(const IpFields& ip, const TransportFields& transport);

} // namespace ccperf

#endif
