// SPDX-License-Identifier: GPL-2.0-only

#include "flow-socket.h"

#include "datagrams.h"
#include "sockets.h"

#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(FlowSocket);

ns3::TypeId
FlowSocket::GetTypeId()
{
    static ns3::TypeId tid = ns3::TypeId("ccperf::FlowSocket")
                                 .SetParent<ns3::TcpSocketBase>()
                                 .AddConstructor<FlowSocket>();
    return tid;
}

void
FlowSocket::Configure(const Flow& flow, Transfer& transfer, std::function<void()> onClosed)
{
    m_flow = &flow;
    m_transfer = &transfer;
    m_onClosed = std::move(onClosed);
}

int
FlowSocket::Bind()
{
    BindSender(this, *m_flow);
    return 0;
}

int
FlowSocket::Bind(const ns3::Address&)
{
    return Bind();
}

int
FlowSocket::Send(ns3::Ptr<ns3::Packet> packet, std::uint32_t flags)
{
    const bool isRepeated = m_refused && m_refused->uid == packet->GetUid();
    const auto created = isRepeated ? m_refused->created : ns3::Simulator::Now();
    const int sent = ns3::TcpSocketBase::Send(packet, flags);
    m_refused.reset();
    if (sent < 0)
    {
        m_refused = {packet->GetUid(), created};
        return sent;
    }
    m_transfer->written += static_cast<std::uint64_t>(sent);
    m_transfer->unread.push_back({m_transfer->written, created});
    return sent;
}

int
FlowSocket::Close()
{
    const int result = ns3::TcpSocketBase::Close();
    m_onClosed();
    return result;
}

ns3::TypeId
FlowSocketFactory::Install(ns3::Ptr<ns3::Node> node,
                           const Flow& flow,
                           Transfer& transfer,
                           SocketObserver observer)
{
    auto type = ns3::TypeId("ccperf::FlowSocketFactory/" + flow.name)
                    .SetParent<ns3::SocketFactory>()
                    .AddConstructor<FlowSocketFactory>();
    ns3::ObjectFactory maker;
    maker.SetTypeId(type);
    const auto factory = maker.Create<FlowSocketFactory>();
    factory->m_node = node;
    factory->m_flow = &flow;
    factory->m_transfer = &transfer;
    factory->m_observer = std::move(observer);
    node->AggregateObject(factory);
    return type;
}

ns3::Ptr<ns3::Socket>
FlowSocketFactory::CreateSocket()
{
    if (m_flow->transport == Transport::UDP)
    {
        const auto socket = ns3::CreateObject<DatagramSocket>();
        socket->Configure(m_node, *m_flow, *m_transfer, m_observer.onDatagram);
        return socket;
    }
    const auto socket = CreateSender(m_node, *m_flow);
    socket->Configure(*m_flow, *m_transfer, m_observer.onClosed);
    m_observer.onSocket(socket);
    return socket;
}

} // namespace ccperf
