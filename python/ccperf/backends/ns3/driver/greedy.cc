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
GreedySource::Configure(const Flow& flow,
                        Transfer& transfer,
                        std::function<void(ns3::Ptr<ns3::TcpSocketBase>)> onSocket,
                        std::function<void()> onClosed)
{
    m_flow = &flow;
    m_transfer = &transfer;
    m_onSocket = std::move(onSocket);
    m_onClosed = std::move(onClosed);
    SetStartTime(ns3::NanoSeconds(flow.start));
    SetStopTime(ns3::NanoSeconds(flow.stop));
}

void
GreedySource::StartApplication()
{
    m_socket = CreateSocket(GetNode(), *m_flow);
    m_onSocket(m_socket);
    BindSender(m_socket, *m_flow);
    m_socket->Connect(ns3::InetSocketAddress(ns3::Ipv4Address(m_flow->destinationAddress.c_str()),
                                             m_flow->destinationPort));
    m_socket->ShutdownRecv();
    m_socket->SetConnectCallback(ns3::MakeCallback(&GreedySource::OnConnected, this),
                                 ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
    m_socket->SetSendCallback(ns3::MakeCallback(&GreedySource::OnSpace, this));
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
    m_waiting.reset();
    m_onSocket = nullptr;
    m_onClosed = nullptr;
    ns3::Application::DoDispose();
}

void
GreedySource::OnConnected(ns3::Ptr<ns3::Socket>)
{
    m_isOpen = true;
    Write();
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
    const auto isDone = [this] {
        return m_flow->bytes > 0 && m_transfer->written == m_flow->bytes;
    };
    while (!isDone())
    {
        if (!m_waiting)
        {
            std::uint64_t size = m_flow->writeBytes;
            if (m_flow->bytes > 0)
            {
                size = std::min(size, m_flow->bytes - m_transfer->written);
            }
            m_waiting = {ns3::Create<ns3::Packet>(static_cast<std::uint32_t>(size)),
                         ns3::Simulator::Now()};
        }
        if (m_socket->Send(m_waiting->packet, 0) < 0)
        {
            return;
        }
        m_transfer->written += m_waiting->packet->GetSize();
        m_transfer->unread.push_back({m_transfer->written, m_waiting->created});
        m_waiting.reset();
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
    m_onClosed();
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
Sink::DoDispose()
{
    m_listener = nullptr;
    m_connection = nullptr;
    ns3::Application::DoDispose();
}

bool
Sink::OnRequest(ns3::Ptr<ns3::Socket>, const ns3::Address&)
{
    ReleasePeer(m_listener);
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

void
Sink::OnRead(std::uint32_t bytes)
{
    m_transfer->read += bytes;
    auto& unread = m_transfer->unread;
    while (!unread.empty() && unread.front().end <= m_transfer->read)
    {
        m_transfer->oneWayDelay = ns3::Simulator::Now() - unread.front().created;
        unread.pop_front();
    }
}

} // namespace ccperf
