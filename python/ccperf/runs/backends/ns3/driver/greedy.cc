// SPDX-License-Identifier: GPL-2.0-only

#include "greedy.h"

#include "sockets.h"

#include "ns3/inet-socket-address.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(GreedySource);
NS_OBJECT_ENSURE_REGISTERED(Sink);

ns3::TypeId
GreedySource::GetTypeId()
{
    static ns3::TypeId tid = ns3::TypeId("ccperf::GreedySource")
                                 .SetParent<ns3::Application>()
                                 .AddConstructor<GreedySource>();
    return tid;
}

void
GreedySource::Configure(const Flow& flow, const GreedyTraffic& traffic, ns3::TypeId socketFactory)
{
    m_flow = &flow;
    m_traffic = traffic;
    m_socketFactory = socketFactory;
}

void
GreedySource::StartApplication()
{
    m_socket = ns3::Socket::CreateSocket(GetNode(), m_socketFactory);
    m_socket->Bind();
    m_socket->Connect(ns3::InetSocketAddress(ns3::Ipv4Address(m_flow->destinationAddress.c_str()),
                                             m_flow->destinationPort));
    m_socket->ShutdownRecv();
    m_socket->SetConnectCallback(ns3::MakeCallback(&GreedySource::OnConnected, this),
                                 ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
    m_socket->SetSendCallback(ns3::MakeCallback(&GreedySource::OnSpace, this));
    if (m_traffic.isEager)
    {
        m_isOpen = true;
        Write();
    }
}

void
GreedySource::StopApplication()
{
    if (m_socket)
    {
        Close();
    }
}

void
GreedySource::DoDispose()
{
    m_socket = nullptr;
    m_waiting = nullptr;
    ns3::Application::DoDispose();
}

void
GreedySource::OnConnected(ns3::Ptr<ns3::Socket>)
{
    if (!m_traffic.isEager) // which is told of room
    {
        m_isOpen = true;
        Write();
    }
}

void
GreedySource::OnSpace(ns3::Ptr<ns3::Socket>, std::uint32_t)
{
    if (m_isOpen)
    {
        Write();
    }
}

void
GreedySource::Write()
{
    const auto isDone = [this] { return m_traffic.bytes > 0 && m_written == m_traffic.bytes; };
    while (!isDone())
    {
        if (!m_waiting)
        {
            std::uint64_t size = m_traffic.writeBytes;
            if (m_traffic.bytes > 0)
            {
                size = std::min(size, m_traffic.bytes - m_written);
            }
            if (m_traffic.isEager)
            {
                size = std::min<std::uint64_t>({size,
                                                m_traffic.writeBytes - m_written % m_traffic.writeBytes,
                                                m_socket->GetTxAvailable()});
            }
            if (size == 0)
            {
                return;
            }
            m_waiting = ns3::Create<ns3::Packet>(static_cast<std::uint32_t>(size));
        }
        if (m_socket->Send(m_waiting, 0) < 0)
        {
            return;
        }
        m_written += m_waiting->GetSize();
        m_waiting = nullptr;
    }
    if (m_isOpen)
    {
        Close();
    }
}

void
GreedySource::Close()
{
    m_isOpen = false;
    m_socket->Close();
}

ns3::TypeId
Sink::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::Sink").SetParent<ns3::Application>().AddConstructor<Sink>();
    return tid;
}

void
Sink::Configure(const Flow& flow, Transfer& transfer)
{
    m_flow = &flow;
    m_transfer = &transfer;
    SetStartTime(ns3::Seconds(0));
    SetStopTime(ns3::NanoSeconds(flow.receiverStop));
}

void
Sink::StartApplication()
{
    m_listener = CreateSocket(GetNode(), *m_flow);
    BindListener(m_listener, *m_flow);
    m_listener->Listen();
    m_listener->ShutdownSend();
    m_listener->SetAcceptCallback(ns3::MakeCallback(&Sink::OnRequest, this),
                                  ns3::MakeCallback(&Sink::OnAccept, this));
}

void
Sink::StopApplication()
{
    if (m_connection)
    {
        m_connection->Close();
    }
    m_listener->Close();
}

void
Sink::DoDispose()
{
    m_listener = nullptr;
    m_connection = nullptr;
    ns3::Application::DoDispose();
}

bool
Sink::OnRequest(ns3::Ptr<ns3::Socket>, const ns3::Address&)
{
    YieldToConnection(m_listener);
    return true;
}

void
Sink::OnAccept(ns3::Ptr<ns3::Socket> socket, const ns3::Address&)
{
    m_connection = socket;
    socket->SetRecvCallback(ns3::MakeCallback(&Sink::OnData, this));
}

void
Sink::OnData(ns3::Ptr<ns3::Socket> socket)
{
    for (auto packet = socket->Recv(); packet && packet->GetSize() > 0; packet = socket->Recv())
    {
        OnRead(packet->GetSize());
    }
}

// An eager source writes packets in parts: the stamp is that of the last one.
bool
Sink::CompletesPacket(std::uint64_t end) const
{
    const auto* eager = std::get_if<GreedyTraffic>(&m_flow->traffic);
    return !eager || !eager->isEager || end % eager->writeBytes == 0 || end == eager->bytes;
}

void
Sink::OnRead(std::uint32_t bytes)
{
    m_transfer->read += bytes;
    auto& unread = m_transfer->unread;
    while (!unread.empty() && unread.front().end <= m_transfer->read)
    {
        if (CompletesPacket(unread.front().end))
        {
            m_transfer->oneWayDelay = ns3::Simulator::Now() - unread.front().created;
        }
        unread.pop_front();
    }
}

} // namespace ccperf
