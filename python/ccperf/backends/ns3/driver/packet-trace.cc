// SPDX-License-Identifier: GPL-2.0-only

#include "packet-trace.h"

#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/simulator.h"

#include <charconv>
#include <stdexcept>
#include <string_view>

namespace ccperf
{

namespace
{

constexpr std::string_view HEADER =
    "time_ns,link,event,flow,seq,ack,payload_bytes,wire_bytes,flags,ecn,reason\n";
constexpr std::array<std::string_view, 8> FLAGS = {"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"};
constexpr std::array<std::string_view, 4> ECN = {"NotECT", "ECT1", "ECT0", "CE"};
constexpr std::uint8_t ACK = 1 << 4;

constexpr std::size_t BUFFER_BYTES = 1 << 20;

void
Append(std::vector<char>& buffer, std::string_view text)
{
    buffer.insert(buffer.end(), text.begin(), text.end());
}

void
AppendNumber(std::vector<char>& buffer, std::int64_t number)
{
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    buffer.insert(buffer.end(), digits, end);
    buffer.push_back(',');
}

} // namespace

PacketTrace::PacketTrace(const std::string& path,
                         const Scenario& scenario,
                         const Network& network,
                         const Ways& ways)
    : m_file(std::fopen(path.c_str(), "wb")),
      m_ways(ways)
{
    if (!m_file)
    {
        throw std::runtime_error("cannot write " + path);
    }
    for (const Flow& flow : scenario.flows)
    {
        m_senders.push_back(flow.name);
    }
    for (const PingFlow& ping : scenario.pings)
    {
        m_senders.push_back(ping.name);
    }
    m_buffer.reserve(BUFFER_BYTES + 4096);
    Append(m_buffer, HEADER);
    for (const Port& port : network.ports)
    {
        m_ports.push_back(port.name);
        ConnectPort(port);
    }
    ways.ConnectStoppedDrops(network, [this](std::size_t port, auto packet) {
        Write(port, "drop", Parse(packet, 0), "Device stopped");
    });
}

PacketTrace::~PacketTrace()
{
    std::fclose(m_file);
}

void
PacketTrace::ConnectPort(const Port& port)
{
    using PacketCallback = ns3::Callback<void, ns3::Ptr<const ns3::Packet>>;
    using ItemCallback = ns3::Callback<void, ns3::Ptr<const ns3::QueueDiscItem>>;
    using VerdictCallback = ns3::Callback<void, ns3::Ptr<const ns3::QueueDiscItem>, const char*>;
    const std::size_t index = port.index;

    const auto onPacket = [this, index](const char* event, const char* reason) {
        return PacketCallback([this, index, event, reason](auto packet) {
            Write(index, event, Parse(packet, PPP_BYTES), reason);
        });
    };
    port.device->TraceConnectWithoutContext("PhyTxBegin", onPacket("tx", ""));
    port.device->TraceConnectWithoutContext("MacTxDrop", onPacket("drop", "Device queue full"));
    port.peer->TraceConnectWithoutContext("PhyRxEnd", onPacket("rx", ""));
    port.peer->TraceConnectWithoutContext(
        "PhyRxDrop",
        PacketCallback([this, index, loss = ns3::PeekPointer(port.loss)](auto packet) {
            Write(index, "drop", Parse(packet, PPP_BYTES), loss->LastReason());
        }));

    if (port.qdisc)
    {
        const auto onVerdict = [this, index](const char* event) {
            return VerdictCallback([this, index, event](auto item, const char* reason) {
                Write(index, event, Parse(item), reason);
            });
        };
        port.qdisc->TraceConnectWithoutContext("Enqueue", ItemCallback([this, index](auto item) {
                                                   Write(index, "enqueue", Parse(item), "");
                                               }));
        port.qdisc->TraceConnectWithoutContext("DropBeforeEnqueue", onVerdict("drop"));
        port.qdisc->TraceConnectWithoutContext("DropAfterDequeue", onVerdict("drop"));
        port.qdisc->TraceConnectWithoutContext("Mark", onVerdict("mark"));
    }
}

void
PacketTrace::OnLostItem(std::size_t port, ns3::Ptr<const ns3::QueueDiscItem> item)
{
    Write(port, "drop", Parse(item), LINK_DOWN);
}

void
PacketTrace::OnLostPacket(std::size_t port, ns3::Ptr<const ns3::Packet> packet)
{
    Write(port, "drop", Parse(packet, PPP_BYTES), LINK_DOWN);
}

void
PacketTrace::OnNoRoute(std::size_t port,
                       const ns3::Ipv4Header& header,
                       ns3::Ptr<const ns3::Packet> packet)
{
    Write(port, "drop", Parse(header, packet), "No route");
}

PacketTrace::Fields
PacketTrace::Parse(ns3::Ptr<const ns3::Packet> packet, std::uint32_t ipOffset) const
{
    const auto ip = ReadIp(packet, ipOffset);
    return Combine(ip, ReadTransport(packet, ipOffset + IP_BYTES, ip.protocol));
}

PacketTrace::Fields
PacketTrace::Parse(ns3::Ptr<const ns3::QueueDiscItem> item) const
{
    const auto packet = item->GetPacket();
    if (packet->GetSize() == item->GetSize())
    {
        return Parse(packet, 0);
    }
    // Until it leaves the discipline a packet's IP header travels beside it.
    return Parse(ns3::StaticCast<const ns3::Ipv4QueueDiscItem>(item)->GetHeader(), packet);
}

PacketTrace::Fields
PacketTrace::Parse(const ns3::Ipv4Header& header, ns3::Ptr<const ns3::Packet> packet) const
{
    return Combine({header.GetSource().Get(),
                    header.GetDestination().Get(),
                    packet->GetSize() + IP_BYTES,
                    static_cast<std::uint8_t>(header.GetEcn()),
                    header.GetProtocol()},
                   ReadTransport(packet, 0, header.GetProtocol()));
}

PacketTrace::Fields
PacketTrace::Combine(const IpFields& ip, const TransportFields& tcp) const
{
    const Way* way = m_ways.Find(TupleOf(ip, tcp));
    return {way ? std::string_view(m_senders[way->flow]) : "?",
            tcp.sequence,
            tcp.flags & ACK ? tcp.acknowledgement : 0,
            ip.bytes - IP_BYTES - tcp.headerBytes,
            ip.bytes + PPP_BYTES,
            tcp.flags,
            ip.ecn};
}

void
PacketTrace::Write(std::size_t port, const char* event, const Fields& fields, const char* reason)
{
    AppendNumber(m_buffer, ns3::Simulator::Now().GetNanoSeconds());
    Append(m_buffer, m_ports[port]);
    m_buffer.push_back(',');
    Append(m_buffer, event);
    m_buffer.push_back(',');
    Append(m_buffer, fields.flow);
    m_buffer.push_back(',');
    AppendNumber(m_buffer, fields.sequence);
    AppendNumber(m_buffer, fields.acknowledgement);
    AppendNumber(m_buffer, fields.payload);
    AppendNumber(m_buffer, fields.wireBytes);
    const char* separator = "";
    for (std::size_t bit = 0; bit < FLAGS.size(); ++bit)
    {
        if (fields.flags >> bit & 1)
        {
            Append(m_buffer, separator);
            Append(m_buffer, FLAGS[bit]);
            separator = "|";
        }
    }
    m_buffer.push_back(',');
    Append(m_buffer, ECN[fields.ecn]);
    m_buffer.push_back(',');
    Append(m_buffer, reason);
    m_buffer.push_back('\n');
    if (m_buffer.size() >= BUFFER_BYTES)
    {
        WriteOut();
    }
}

void
PacketTrace::WriteOut()
{
    const std::size_t written = std::fwrite(m_buffer.data(), 1, m_buffer.size(), m_file);
    m_failed = m_failed || written != m_buffer.size();
    m_buffer.clear();
}

void
PacketTrace::Flush()
{
    WriteOut();
    if (std::fflush(m_file) != 0 || m_failed)
    {
        throw std::runtime_error("cannot write all of the packet trace");
    }
}

} // namespace ccperf
