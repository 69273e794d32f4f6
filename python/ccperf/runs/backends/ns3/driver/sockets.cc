// SPDX-License-Identifier: GPL-2.0-only

#include "sockets.h"

#include "attributes.h"

#include "ns3/ipv4-end-point.h"
#include "ns3/object-factory.h"
#include "ns3/rtt-estimator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-recovery-ops.h"

#include <stdexcept>

namespace ccperf
{

namespace
{

// Names what TcpSocketBase keeps from the public but not from derived classes.
struct Protected : ns3::TcpSocketBase
{
    static constexpr auto ENDPOINT = &Protected::m_endPoint;
    static constexpr auto STATE = &Protected::m_tcb;
    static constexpr auto RTO = &Protected::m_rto;
    static constexpr auto TCP = &Protected::m_tcp;
    static constexpr auto SETUP_CALLBACK = &Protected::SetupCallback;
};

void
Bind(ns3::TcpSocketBase& socket,
     const std::string& address,
     std::uint16_t port,
     const std::string& peerAddress,
     std::uint16_t peerPort)
{
    const auto tcp = socket.*Protected::TCP;
    auto* endpoint = tcp->Allocate(nullptr,
                                   ns3::Ipv4Address(address.c_str()),
                                   port,
                                   ns3::Ipv4Address(peerAddress.c_str()),
                                   peerPort);
    if (!endpoint)
    {
        throw std::runtime_error("two flows connect " + address + ":" + std::to_string(port) +
                                 " and " + peerAddress + ":" + std::to_string(peerPort));
    }
    socket.*Protected::ENDPOINT = endpoint;
    tcp->AddSocket(&socket);
    (socket.*Protected::SETUP_CALLBACK)();
}

template <class T>
ns3::Ptr<T>
Create(ns3::TypeId type)
{
    ns3::ObjectFactory factory;
    factory.SetTypeId(type);
    return factory.Create<T>();
}

// What TcpL4Protocol::CreateSocket does, for any type of socket.
template <class T>
ns3::Ptr<T>
CreateSocketOfType(ns3::Ptr<ns3::Node> node, const Flow& flow)
{
    const auto congestionControl = FindType(flow.congestionControl.type);
    const std::vector<ns3::TypeId> socketTypes = {ns3::TcpSocketBase::GetTypeId(),
                                                  ns3::TcpSocketState::GetTypeId()};
    ScopedDefaults defaults;
    for (const auto& [name, value] : flow.socket)
    {
        defaults.Set(socketTypes, name, value);
    }
    for (const auto& [name, value] : flow.congestionControl.attributes)
    {
        defaults.Set({congestionControl}, name, value);
    }
    const auto socket = ns3::CreateObject<T>();
    socket->SetNode(node);
    socket->SetTcp(node->GetObject<ns3::TcpL4Protocol>());
    socket->SetRtt(ns3::CreateObject<ns3::RttMeanDeviation>());
    socket->SetCongestionControlAlgorithm(Create<ns3::TcpCongestionOps>(congestionControl));
    socket->SetRecoveryAlgorithm(Create<ns3::TcpRecoveryOps>(FindType(flow.recovery)));
    return socket;
}

} // namespace

ns3::Ptr<ns3::TcpSocketBase>
CreateSocket(ns3::Ptr<ns3::Node> node, const Flow& flow)
{
    return CreateSocketOfType<ns3::TcpSocketBase>(node, flow);
}

ns3::Ptr<FlowSocket>
CreateSender(ns3::Ptr<ns3::Node> node, const Flow& flow)
{
    return CreateSocketOfType<FlowSocket>(node, flow);
}

void
BindSender(ns3::Ptr<ns3::TcpSocketBase> socket, const Flow& flow)
{
    Bind(*socket,
         flow.sourceAddress,
         flow.sourcePort,
         flow.destinationAddress,
         flow.destinationPort);
    socket->SetIpTos(flow.tos);
}

void
BindListener(ns3::Ptr<ns3::TcpSocketBase> socket, const Flow& flow)
{
    Bind(*socket,
         flow.destinationAddress,
         flow.destinationPort,
         flow.sourceAddress,
         flow.sourcePort);
    socket->SetIpTos(flow.returnTos);
}

void
YieldToConnection(ns3::Ptr<ns3::TcpSocketBase> listener)
{
    ((*listener).*Protected::ENDPOINT)->SetLocalAddress(ns3::Ipv4Address::GetAny());
}

ns3::Ptr<const ns3::TcpSocketState>
StateOf(ns3::Ptr<const ns3::TcpSocketBase> socket)
{
    return (*socket).*Protected::STATE;
}

ns3::Time
RtoOf(ns3::Ptr<const ns3::TcpSocketBase> socket)
{
    return ((*socket).*Protected::RTO).Get();
}

} // namespace ccperf
