// SPDX-License-Identifier: GPL-2.0-only

#include "headers.h"

#include "datagrams.h"

#include "ns3/ipv4-address.h"

#include <algorithm>
#include <array>

namespace ccperf
{

namespace
{

constexpr std::uint32_t TCP_BYTES = 20; // without options
constexpr std::uint32_t MOST_TCP_BYTES = 60;
constexpr std::uint32_t ICMP_BYTES = 8;
constexpr std::uint32_t UDP_BYTES = 8;
constexpr std::uint8_t ICMP_ECHO = 8; // the type of a request
constexpr std::uint8_t ICMP_UNREACHABLE = 3;
constexpr std::uint8_t ICMP_TIME_EXCEEDED = 11;
constexpr std::uint16_t MORE_FRAGMENTS = 1 << 13;
constexpr std::uint16_t FRAGMENT_OFFSET = MORE_FRAGMENTS - 1; // in units of eight bytes
constexpr std::uint32_t MOST_BYTES = PPP_BYTES + IP_BYTES + ICMP_BYTES + IP_BYTES + UDP_BYTES;

template <class T>
T
BigEndian(const std::uint8_t* bytes)
{
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
    {
        value = static_cast<T>(value << 8 | bytes[i]);
    }
    return value;
}

} // namespace

FourTuple
FourTuple::Of(const Flow& flow)
{
    return {ns3::Ipv4Address(flow.sourceAddress.c_str()).Get(),
            ns3::Ipv4Address(flow.destinationAddress.c_str()).Get(),
            flow.sourcePort,
            flow.destinationPort,
            flow.transport == Transport::UDP ? UDP : TCP};
}

FourTuple
FourTuple::Of(const PingFlow& ping)
{
    return {ns3::Ipv4Address(ping.sourceAddress.c_str()).Get(),
            ns3::Ipv4Address(ping.destinationAddress.c_str()).Get(),
            0,
            1,
            ICMP};
}

FourTuple
FourTuple::Reversed() const
{
    return {destination, source, destinationPort, sourcePort, protocol};
}

std::size_t
FourTuple::Hash::operator()(const FourTuple& tuple) const
{
    const std::uint64_t addresses = std::uint64_t{tuple.source} << 32 | tuple.destination;
    const std::uint64_t ports = std::uint64_t{tuple.protocol} << 32 |
                                std::uint64_t{tuple.sourcePort} << 16 | tuple.destinationPort;
    return (addresses ^ ports << 24) * 0x9e3779b97f4a7c15ULL;
}

IpFields
ReadIp(ns3::Ptr<const ns3::Packet> packet, std::uint32_t offset)
{
    std::array<std::uint8_t, MOST_BYTES> bytes{};
    packet->CopyData(bytes.data(), offset + IP_BYTES);
    const std::uint8_t* ip = bytes.data() + offset;
    const auto place = BigEndian<std::uint16_t>(ip + 6);
    return {BigEndian<std::uint32_t>(ip + 12),
            BigEndian<std::uint32_t>(ip + 16),
            packet->GetSize() - offset,
            ip[1],
            ip[9],
            BigEndian<std::uint16_t>(ip + 4),
            static_cast<std::uint16_t>((place & FRAGMENT_OFFSET) * 8),
            (place & MORE_FRAGMENTS) != 0};
}

TransportFields
ReadTransport(ns3::Ptr<const ns3::Packet> packet, std::uint32_t offset, std::uint8_t protocol)
{
    std::array<std::uint8_t, MOST_BYTES> bytes{};
    packet->CopyData(bytes.data(), bytes.size());
    const std::uint8_t* tcp = bytes.data() + offset;
    if (protocol == ICMP && (tcp[0] == ICMP_UNREACHABLE || tcp[0] == ICMP_TIME_EXCEEDED))
    {
        const std::uint8_t* quoted = tcp + ICMP_BYTES;
        const std::uint8_t* ports = quoted + IP_BYTES;
        return {BigEndian<std::uint16_t>(ports + 2),
                BigEndian<std::uint16_t>(ports),
                0,
                0,
                ICMP_BYTES,
                0,
                quoted[9]};
    }
    if (protocol == ICMP)
    {
        const bool isRequest = tcp[0] == ICMP_ECHO;
        const std::uint16_t ends[2] = {static_cast<std::uint16_t>(!isRequest), isRequest};
        return {ends[0], ends[1], BigEndian<std::uint16_t>(tcp + 6), 0, ICMP_BYTES, 0, ICMP};
    }
    if (protocol == UDP)
    {
        DatagramTag tag;
        packet->PeekPacketTag(tag);
        return {BigEndian<std::uint16_t>(tcp),
                BigEndian<std::uint16_t>(tcp + 2),
                tag.number,
                0,
                UDP_BYTES,
                0,
                UDP};
    }
    return {BigEndian<std::uint16_t>(tcp),
            BigEndian<std::uint16_t>(tcp + 2),
            BigEndian<std::uint32_t>(tcp + 4),
            BigEndian<std::uint32_t>(tcp + 8),
            4U * (tcp[12] >> 4),
            tcp[13],
            TCP};
}

TcpDetails
ReadTcpDetails(ns3::Ptr<const ns3::Packet> packet, std::uint32_t offset)
{
    // RFC 9293 section 3.2, RFC 7323, RFC 2018.
    constexpr std::uint8_t END = 0;
    constexpr std::uint8_t NO_OPERATION = 1;
    constexpr std::uint8_t WINDOW_SCALE = 3;
    constexpr std::uint8_t SACK_PERMITTED = 4;
    constexpr std::uint8_t SACK = 5;
    constexpr std::uint8_t TIMESTAMPS = 8;

    std::array<std::uint8_t, MOST_TCP_BYTES + PPP_BYTES + IP_BYTES> bytes{};
    const std::uint32_t copied = packet->CopyData(bytes.data(), offset + MOST_TCP_BYTES);
    const std::uint8_t* tcp = bytes.data() + offset;
    TcpDetails details;
    details.window = BigEndian<std::uint16_t>(tcp + 14);
    const std::uint32_t end = std::min(4U * (tcp[12] >> 4), copied - offset);
    std::uint32_t at = TCP_BYTES;
    while (at < end && tcp[at] != END)
    {
        if (tcp[at] == NO_OPERATION)
        {
            ++at;
            continue;
        }
        const std::uint32_t length = tcp[at + 1];
        if (length < 2 || at + length > end)
        {
            break;
        }
        const std::uint8_t* body = tcp + at + 2;
        switch (tcp[at])
        {
        case WINDOW_SCALE:
            details.windowShift = *body;
            break;
        case SACK_PERMITTED:
            details.isSackPermitted = true;
            break;
        case TIMESTAMPS:
            details.timestamps = {BigEndian<std::uint32_t>(body), BigEndian<std::uint32_t>(body + 4)};
            break;
        case SACK:
            details.blockCount = std::min<std::size_t>((length - 2) / 8, details.blocks.size());
            for (std::size_t i = 0; i < details.blockCount; ++i)
            {
                details.blocks[i] = {BigEndian<std::uint32_t>(body + 8 * i),
                                     BigEndian<std::uint32_t>(body + 8 * i + 4)};
            }
            break;
        default:
            break;
        }
        at += length;
    }
    return details;
}

FourTuple
TupleOf(const IpFields& ip, const TransportFields& transport)
{
    return {ip.source,
            ip.destination,
            transport.sourcePort,
            transport.destinationPort,
            transport.protocol};
}

} // namespace ccperf
