// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_GREEDY_H
#define CCPERF_GREEDY_H

#include "flow-socket.h"
#include "scenario.h"

#include "ns3/application.h"
#include "ns3/tcp-socket-base.h"

namespace ccperf
{

// Always has data, as ns3::BulkSendApplication: writes of a fixed size, each stamped when it is created;
// one that does not fit into the send buffer keeps its stamp and waits. Connects at its start. A finite
// transfer closes after its last byte, which may be in a shorter write; an endless one closes when it is
// stopped. Either way what is in the send buffer is still sent.
class GreedySource : public ns3::Application
{
  public:
    static ns3::TypeId GetTypeId();

    void Configure(const Flow& flow, const GreedyTraffic& traffic, ns3::TypeId socketFactory);

  private:
    void StartApplication() override;
    void StopApplication() override;
    void DoDispose() override;

    void OnConnected(ns3::Ptr<ns3::Socket> socket);
    void OnSpace(ns3::Ptr<ns3::Socket> socket, std::uint32_t available);
    void Write();
    void Close();

    const Flow* m_flow{nullptr};
    GreedyTraffic m_traffic;
    ns3::TypeId m_socketFactory;
    ns3::Ptr<ns3::Socket> m_socket;
    bool m_isOpen{false};
    ns3::Ptr<ns3::Packet> m_waiting;
    std::uint64_t m_written{0};
};

// Reads all there is as soon as it is there, as ns3::PacketSink; listens from t = 0.
class Sink : public ns3::Application
{
  public:
    static ns3::TypeId GetTypeId();

    void Configure(const Flow& flow, Transfer& transfer);

  private:
    void StartApplication() override;
    void StopApplication() override;
    void DoDispose() override;

    bool OnRequest(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
    void OnAccept(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
    void OnData(ns3::Ptr<ns3::Socket> socket);
    bool CompletesPacket(std::uint64_t end) const;
    void OnRead(std::uint32_t bytes);

    const Flow* m_flow{nullptr};
    Transfer* m_transfer{nullptr};
    ns3::Ptr<ns3::TcpSocketBase> m_listener;
    ns3::Ptr<ns3::Socket> m_connection;
};

} // namespace ccperf

#endif
