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
    "time_ns,link,event,flow,seq,ack,payload_bytes,wire_bytes,flags,ecn,reason";
constexpr std::string_view HEADER_COLUMNS =
    ",protocol,source,destination,service,window,window_shift,sack_permitted,ts_val,ts_ecr,sacks";
constexpr std::string_view HEADERS_SUFFIX = ".headers.csv";
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
AppendDigits(std::vector<char>& buffer, std::int64_t number)
{
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    buffer.insert(buffer.end(), digits, end);
}

void
AppendNumber(std::vector<char>& buffer, std::int64_t number)
{
    AppendDigits(buffer, number);
    buffer.push_back(',');
}

// "10.0.0.1:49152"
void
AppendEnd(std::vector<char>& buffer, std::uint32_t address, std::uint16_t port)
{
    for (int shift = 24; shift >= 0; shift -= 8)
    {
        AppendDigits(buffer, address >> shift & 255);
        buffer.push_back(shift > 0 ? '.' : ':');
    }
    AppendDigits(buffer, port);
}

// " (frag 17:1480@0+)"
void
AppendPlace(std::vector<char>& buffer, const IpFields& ip)
{
    Append(buffer, " (frag ");
    AppendDigits(buffer, ip.identification);
    buffer.push_back(':');
    AppendDigits(buffer, ip.bytes - IP_BYTES);
    buffer.push_back('@');
    AppendDigits(buffer, ip.offset);
    Append(buffer, ip.hasMore ? "+)" : ")");
}

} // namespace

PacketTrace::PacketTrace(const std::string& path,
                         const Scenario& scenario,
                         const Network& network,
                         const Paths& paths)
    : m_file(std::fopen(path.c_str(), "wb")),
      m_hasHeaders(std::string_view(path).ends_with(HEADERS_SUFFIX)),
      m_paths(paths)
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
    if (m_hasHeaders)
    {
        Append(m_buffer, HEADER_COLUMNS);
    }
    m_buffer.push_back('\n');
    for (const Port& port : network.ports)
    {
        m_ports.push_back(port.name);
        ConnectPort(port);
    }
    paths.ConnectStoppedDrops(network, [this](std::size_t port, auto packet) {
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
    return Combine(ReadIp(packet, ipOffset), packet, ipOffset + IP_BYTES);
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
                    header.GetTos(),
                    header.GetProtocol(),
                    header.GetIdentification(),
                    header.GetFragmentOffset(),
                    !header.IsLastFragment()},
                   packet,
                   0);
}

PacketTrace::Fields
PacketTrace::Combine(const IpFields& ip,
                     ns3::Ptr<const ns3::Packet> packet,
                     std::uint32_t transport) const
{
    const auto header = m_paths.Transport(ip, packet, transport);
    const auto ends = TupleOf(ip, header);
    const Path* path = m_paths.Find(ends);
    return {path ? std::string_view(m_senders[path->flow]) : "?",
            header.sequence,
            header.flags & ACK ? header.acknowledgement : 0,
            ip.bytes - IP_BYTES - header.headerBytes,
            ip.bytes + PPP_BYTES,
            header.flags,
            ip,
            ends,
            m_hasHeaders && ip.protocol == TCP && ip.offset == 0 ? ReadTcpDetails(packet, transport)
                                                                 : TcpDetails{}};
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
    Append(m_buffer, ECN[fields.ip.service & 3]);
    m_buffer.push_back(',');
    Append(m_buffer, reason);
    if (m_hasHeaders)
    {
        WriteHeaders(fields);
    }
    m_buffer.push_back('\n');
    if (m_buffer.size() >= BUFFER_BYTES)
    {
        WriteOut();
    }
}

void
PacketTrace::WriteHeaders(const Fields& fields)
{
    // What stands for ports in a FourTuple of ICMP are none.
    const bool hasPorts = fields.ip.protocol != ICMP && fields.ip.offset == 0;
    m_buffer.push_back(',');
    AppendDigits(m_buffer, fields.ip.protocol);
    if (fields.ip.IsFragment())
    {
        AppendPlace(m_buffer, fields.ip);
    }
    m_buffer.push_back(',');
    AppendEnd(m_buffer, fields.ends.source, hasPorts ? fields.ends.sourcePort : 0);
    m_buffer.push_back(',');
    AppendEnd(m_buffer, fields.ends.destination, hasPorts ? fields.ends.destinationPort : 0);
    m_buffer.push_back(',');
    AppendDigits(m_buffer, fields.ip.service & ~3);
    if (fields.ip.protocol != TCP || fields.ip.offset > 0)
    {
        Append(m_buffer, ",,,,,,");
        return;
    }
    const TcpDetails& tcp = fields.tcp;
    m_buffer.push_back(',');
    AppendNumber(m_buffer, tcp.window);
    if (tcp.windowShift)
    {
        AppendDigits(m_buffer, *tcp.windowShift);
    }
    Append(m_buffer, tcp.isSackPermitted ? ",1," : ",,");
    if (tcp.timestamps)
    {
        AppendNumber(m_buffer, tcp.timestamps->value);
        AppendNumber(m_buffer, tcp.timestamps->echo);
    }
    else
    {
        Append(m_buffer, ",,");
    }
    for (std::size_t i = 0; i < tcp.blockCount; ++i)
    {
        Append(m_buffer, i > 0 ? "|" : "");
        AppendDigits(m_buffer, tcp.blocks[i].left);
        m_buffer.push_back('-');
        AppendDigits(m_buffer, tcp.blocks[i].right);
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
