// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_FLOW_SOCKET_H
#define CCPERF_FLOW_SOCKET_H

#include "scenario.h"

#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/socket-factory.h"
#include "ns3/tcp-socket-base.h"

#include <deque>
#include <functional>
#include <optional>

namespace ccperf
{

// What both ends of a flow know of its data.
struct Transfer
{
    std::uint64_t written{0}; // bytes the socket accepted
    std::uint64_t read{0};    // bytes the receiving application got
    // Of the last read that completed an application packet: its time minus the creation stamp of the last
    // packet that it completed.
    std::optional<ns3::Time> oneWayDelay;

    struct Write
    {
        std::uint64_t end; // offset behind its last byte
        ns3::Time created;
    };

    std::deque<Write> unread;
};

// Who wants to know what a sending socket does.
struct SocketObserver
{
    // Called with the socket before it does anything, and once it was closed.
    std::function<void(ns3::Ptr<ns3::TcpSocketBase>)> onSocket;
    std::function<void()> onClosed;
    // Over UDP: called with the bytes of each datagram.
    std::function<void(std::uint32_t)> onDatagram;
};

// The sending socket of a flow: binds to the flow's own addresses and ports whatever it is told, and notes
// what is written into it, so that ns-3's applications can be used as they are. A packet that is refused
// and offered again keeps the time of the first attempt as that of its creation.
class FlowSocket : public ns3::TcpSocketBase
{
  public:
    static ns3::TypeId GetTypeId();

    void Configure(const Flow& flow, Transfer& transfer, std::function<void()> onClosed);

    int Bind() override;
    int Bind(const ns3::Address& address) override;
    int Send(ns3::Ptr<ns3::Packet> packet, std::uint32_t flags) override;
    int Close() override;

  private:
    struct Refused
    {
        std::uint64_t uid;
        ns3::Time created;
    };

    const Flow* m_flow{nullptr};
    Transfer* m_transfer{nullptr};
    std::function<void()> m_onClosed;
    std::optional<Refused> m_refused;
};

// Makes the socket of one flow. An application of ns-3 names its factory by type, so there is a type a flow.
class FlowSocketFactory : public ns3::SocketFactory
{
  public:
    // Adds a factory to the source node of a flow; returns its type.
    static ns3::TypeId Install(ns3::Ptr<ns3::Node> node,
                               const Flow& flow,
                               Transfer& transfer,
                               SocketObserver observer);

    ns3::Ptr<ns3::Socket> CreateSocket() override;

  private:
    ns3::Ptr<ns3::Node> m_node;
    const Flow* m_flow{nullptr};
    Transfer* m_transfer{nullptr};
    SocketObserver m_observer;
};

} // namespace ccperf

#endif
