// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_GREEDY_H
#define CCPERF_GREEDY_H

#include "scenario.h"

#include "ns3/application.h"
#include "ns3/nstime.h"
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

// Always has data, as ns3::BulkSendApplication: writes of a fixed size, each stamped when it is created;
// one that does not fit into the send buffer keeps its stamp and waits. Connects at its start. A finite
// transfer closes after its last byte, which may be in a shorter write; an endless one closes when it is
// stopped. Either way what is in the send buffer is still sent.
class GreedySource : public ns3::Application
{
  public:
    static ns3::TypeId GetTypeId();

    // `onSocket` is called with the sending socket before it does anything, `onClosed` once it was closed.
    void Configure(const Flow& flow,
                   Transfer& transfer,
                   std::function<void(ns3::Ptr<ns3::TcpSocketBase>)> onSocket,
                   std::function<void()> onClosed);

  private:
    void StartApplication() override;
    void StopApplication() override;
    void DoDispose() override;

    void OnConnected(ns3::Ptr<ns3::Socket> socket);
    void OnSpace(ns3::Ptr<ns3::Socket> socket, std::uint32_t available);
    void Write();
    void Close();

    struct WaitingWrite
    {
        ns3::Ptr<ns3::Packet> packet;
        ns3::Time created;
    };

    const Flow* m_flow{nullptr};
    Transfer* m_transfer{nullptr};
    std::function<void(ns3::Ptr<ns3::TcpSocketBase>)> m_onSocket;
    std::function<void()> m_onClosed;
    ns3::Ptr<ns3::TcpSocketBase> m_socket;
    bool m_isOpen{false};
    std::optional<WaitingWrite> m_waiting;
};

// Reads all there is as soon as it is there, as ns3::PacketSink; listens from t = 0.
class Sink : public ns3::Application
{
  public:
    static ns3::TypeId GetTypeId();

    void Configure(const Flow& flow, Transfer& transfer);

  private:
    void StartApplication() override;
    void DoDispose() override;

    bool OnRequest(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
    void OnAccept(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
    void OnData(ns3::Ptr<ns3::Socket> socket);
    void OnRead(std::uint32_t bytes);

    const Flow* m_flow{nullptr};
    Transfer* m_transfer{nullptr};
    ns3::Ptr<ns3::TcpSocketBase> m_listener;
    ns3::Ptr<ns3::Socket> m_connection;
};

} // namespace ccperf

#endif
