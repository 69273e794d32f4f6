// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_PACKET_TRACE_H
#define CCPERF_PACKET_TRACE_H

#include "network.h"
#include "scenario.h"
#include "paths.h"

#include "ns3/packet.h"
#include "ns3/queue-item.h"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace ccperf
{

// The packet trace as crates/engine/src/packet/trace.rs writes it: one CSV row for each thing that happens to a
// packet at a link, in the order of execution; with the headers' columns if the file is called so.
class PacketTrace : public FailureObserver
{
  public:
    // Connects to everything in `network` that concerns packets; what it is given must outlive it. Throws std::runtime_error if the file
    // cannot be written.
    PacketTrace(const std::string& path,
                const Scenario& scenario,
                const Network& network,
                const Paths& paths);
    ~PacketTrace() override;
    PacketTrace(const PacketTrace&) = delete;
    PacketTrace& operator=(const PacketTrace&) = delete;

    void OnLostItem(std::size_t port, ns3::Ptr<const ns3::QueueDiscItem> item) override;
    void OnLostPacket(std::size_t port, ns3::Ptr<const ns3::Packet> packet) override;
    void OnNoRoute(std::size_t port,
                   const ns3::Ipv4Header& header,
                   ns3::Ptr<const ns3::Packet> packet) override;

    // Writes out what is buffered; throws std::runtime_error if anything could not be written.
    void Flush();

  private:
    // What is printed of a packet.
    struct Fields
    {
        std::string_view flow;
        std::uint32_t sequence;
        std::uint32_t acknowledgement;
        std::uint32_t payload;
        std::uint32_t wireBytes;
        std::uint8_t flags;
        IpFields ip;
        FourTuple ends;
        TcpDetails tcp; // of a trace with headers
    };

    void ConnectPort(const Port& port);

    // `ipOffset`: bytes before the IP header.
    Fields Parse(ns3::Ptr<const ns3::Packet> packet, std::uint32_t ipOffset) const;
    Fields Parse(ns3::Ptr<const ns3::QueueDiscItem> item) const;
    Fields Parse(const ns3::Ipv4Header& header, ns3::Ptr<const ns3::Packet> packet) const;
    // `transport`: bytes of the packet before the transport's header.
    Fields Combine(const IpFields& ip,
                   ns3::Ptr<const ns3::Packet> packet,
                   std::uint32_t transport) const;
    void WriteHeaders(const Fields& fields);

    void Write(std::size_t port, const char* event, const Fields& fields, const char* reason);
    void WriteOut();

    std::FILE* m_file;
    const bool m_hasHeaders;
    std::vector<char> m_buffer;
    bool m_failed{false};
    std::vector<std::string> m_ports;
    std::vector<std::string> m_senders; // flows, then pings
    const Paths& m_paths;
};

} // namespace ccperf

#endif
