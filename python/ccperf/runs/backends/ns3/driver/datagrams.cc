// SPDX-License-Identifier: GPL-2.0-only

#include "datagrams.h"

#include "ns3/inet-socket-address.h"
#include "ns3/packet-sink.h"
#include "ns3/simulator.h"
#include "ns3/udp-socket-factory.h"

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(DatagramTag);
NS_OBJECT_ENSURE_REGISTERED(DatagramSocket);

namespace
{

ns3::InetSocketAddress
SocketAddress(const std::string& address, std::uint16_t port)
{
    return {ns3::Ipv4Address(address.c_str()), port};
}

} // namespace

ns3::TypeId
DatagramTag::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::DatagramTag").SetParent<ns3::Tag>().AddConstructor<DatagramTag>();
    return tid;
}

ns3::TypeId
DatagramTag::GetInstanceTypeId() const
{
    return GetTypeId();
}

std::uint32_t
DatagramTag::GetSerializedSize() const
{
    return sizeof(std::uint32_t) + sizeof(std::uint64_t);
}

void
DatagramTag::Serialize(ns3::TagBuffer buffer) const
{
    buffer.WriteU32(number);
    buffer.WriteU64(static_cast<std::uint64_t>(created.GetNanoSeconds()));
}

void
DatagramTag::Deserialize(ns3::TagBuffer buffer)
{
    number = buffer.ReadU32();
    created = ns3::NanoSeconds(static_cast<std::int64_t>(buffer.ReadU64()));
}

void
DatagramTag::Print(std::ostream& stream) const
{
    stream << number;
}

ns3::TypeId
DatagramSocket::GetTypeId()
{
    static ns3::TypeId tid = ns3::TypeId("ccperf::DatagramSocket")
                                 .SetParent<ns3::Socket>()
                                 .AddConstructor<DatagramSocket>();
    return tid;
}

void
DatagramSocket::Configure(ns3::Ptr<ns3::Node> node,
                          const Flow& flow,
                          Transfer& transfer,
                          std::function<void(std::uint32_t)> onSent)
{
    m_socket = ns3::Socket::CreateSocket(node, ns3::UdpSocketFactory::GetTypeId());
    m_flow = &flow;
    m_transfer = &transfer;
    m_onSent = std::move(onSent);
}

int
DatagramSocket::Bind()
{
    return m_socket->Bind(SocketAddress(m_flow->sourceAddress, m_flow->sourcePort));
}

int
DatagramSocket::Bind(const ns3::Address&)
{
    return Bind();
}

int
DatagramSocket::Connect(const ns3::Address& address)
{
    m_socket->SetIpTos(m_flow->tos);
    const int result = m_socket->Connect(address);
    NotifyConnectionSucceeded();
    return result;
}

int
DatagramSocket::Send(ns3::Ptr<ns3::Packet> packet, std::uint32_t flags)
{
    DatagramTag tag;
    tag.number = m_sent++;
    tag.created = ns3::Simulator::Now();
    packet->AddPacketTag(tag);
    m_transfer->written += packet->GetSize();
    m_onSent(packet->GetSize());
    return m_socket->Send(packet, flags);
}

ns3::Socket::SocketErrno
DatagramSocket::GetErrno() const
{
    return m_socket->GetErrno();
}

ns3::Socket::SocketType
DatagramSocket::GetSocketType() const
{
    return m_socket->GetSocketType();
}

ns3::Ptr<ns3::Node>
DatagramSocket::GetNode() const
{
    return m_socket->GetNode();
}

int
DatagramSocket::Bind6()
{
    return m_socket->Bind6();
}

int
DatagramSocket::Close()
{
    return m_socket->Close();
}

int
DatagramSocket::ShutdownSend()
{
    return m_socket->ShutdownSend();
}

int
DatagramSocket::ShutdownRecv()
{
    return m_socket->ShutdownRecv();
}

int
DatagramSocket::Listen()
{
    return m_socket->Listen();
}

std::uint32_t
DatagramSocket::GetTxAvailable() const
{
    return m_socket->GetTxAvailable();
}

int
DatagramSocket::SendTo(ns3::Ptr<ns3::Packet> packet,
                       std::uint32_t flags,
                       const ns3::Address& address)
{
    return m_socket->SendTo(packet, flags, address);
}

std::uint32_t
DatagramSocket::GetRxAvailable() const
{
    return m_socket->GetRxAvailable();
}

ns3::Ptr<ns3::Packet>
DatagramSocket::Recv(std::uint32_t maxSize, std::uint32_t flags)
{
    return m_socket->Recv(maxSize, flags);
}

ns3::Ptr<ns3::Packet>
DatagramSocket::RecvFrom(std::uint32_t maxSize, std::uint32_t flags, ns3::Address& from)
{
    return m_socket->RecvFrom(maxSize, flags, from);
}

int
DatagramSocket::GetSockName(ns3::Address& address) const
{
    return m_socket->GetSockName(address);
}

int
DatagramSocket::GetPeerName(ns3::Address& address) const
{
    return m_socket->GetPeerName(address);
}

bool
DatagramSocket::SetAllowBroadcast(bool allow)
{
    return m_socket->SetAllowBroadcast(allow);
}

bool
DatagramSocket::GetAllowBroadcast() const
{
    return m_socket->GetAllowBroadcast();
}

ns3::Ptr<ns3::Application>
DatagramSinks::Create(const Flow& flow, Transfer& transfer)
{
    if (!flow.isHeard)
    {
        return nullptr;
    }
    const auto local = SocketAddress(flow.destinationAddress, flow.destinationPort);
    const auto peer = SocketAddress(flow.sourceAddress, flow.sourcePort);
    const auto end = [](const ns3::InetSocketAddress& of) {
        return End{of.GetIpv4().Get(), of.GetPort()};
    };
    auto& readers = m_readers[end(local)];
    readers[end(peer)] = &transfer;
    if (readers.size() > 1)
    {
        return nullptr;
    }
    const auto sink = ns3::CreateObject<ns3::PacketSink>();
    sink->SetAttribute("Protocol", ns3::TypeIdValue(ns3::UdpSocketFactory::GetTypeId()));
    sink->SetAttribute("Local", ns3::AddressValue(local));
    sink->SetStopTime(ns3::NanoSeconds(flow.receiverStop));
    sink->TraceConnectWithoutContext(
        "Rx",
        ns3::Callback<void, ns3::Ptr<const ns3::Packet>, const ns3::Address&>(
            [&readers, end](auto packet, const auto& from) {
                Transfer& read = *readers.at(end(ns3::InetSocketAddress::ConvertFrom(from)));
                DatagramTag tag;
                packet->PeekPacketTag(tag);
                read.read += packet->GetSize();
                read.oneWayDelay = ns3::Simulator::Now() - tag.created;
            }));
    return sink;
}

} // namespace ccperf
