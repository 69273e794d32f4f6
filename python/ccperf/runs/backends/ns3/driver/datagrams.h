// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_DATAGRAMS_H
#define CCPERF_DATAGRAMS_H

#include "flow-socket.h"
#include "scenario.h"

#include "ns3/application.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/socket.h"
#include "ns3/tag.h"

#include <functional>
#include <map>
#include <utility>

namespace ccperf
{

// What is known of a datagram besides what is on the wire.
class DatagramTag : public ns3::Tag
{
  public:
    static ns3::TypeId GetTypeId();
    ns3::TypeId GetInstanceTypeId() const override;
    std::uint32_t GetSerializedSize() const override;
    void Serialize(ns3::TagBuffer buffer) const override;
    void Deserialize(ns3::TagBuffer buffer) override;
    void Print(std::ostream& stream) const override;

    std::uint32_t number{0}; // of its flow, from 0
    ns3::Time created;
};

// The sending socket of a flow over UDP: ns-3's own, bound to the flow's addresses and ports whatever it is
// told, which tags what is sent through it.
class DatagramSocket : public ns3::Socket
{
  public:
    static ns3::TypeId GetTypeId();

    // `onSent`: called with the bytes of each datagram.
    void Configure(ns3::Ptr<ns3::Node> node,
                   const Flow& flow,
                   Transfer& transfer,
                   std::function<void(std::uint32_t)> onSent);

    int Bind() override;
    int Bind(const ns3::Address& address) override;
    int Connect(const ns3::Address& address) override;
    int Send(ns3::Ptr<ns3::Packet> packet, std::uint32_t flags) override;

    // Handed on as they are.
    SocketErrno GetErrno() const override;
    SocketType GetSocketType() const override;
    ns3::Ptr<ns3::Node> GetNode() const override;
    int Bind6() override;
    int Close() override;
    int ShutdownSend() override;
    int ShutdownRecv() override;
    int Listen() override;
    std::uint32_t GetTxAvailable() const override;
    int SendTo(ns3::Ptr<ns3::Packet> packet,
               std::uint32_t flags,
               const ns3::Address& address) override;
    std::uint32_t GetRxAvailable() const override;
    ns3::Ptr<ns3::Packet> Recv(std::uint32_t maxSize, std::uint32_t flags) override;
    ns3::Ptr<ns3::Packet> RecvFrom(std::uint32_t maxSize,
                                   std::uint32_t flags,
                                   ns3::Address& from) override;
    int GetSockName(ns3::Address& address) const override;
    int GetPeerName(ns3::Address& address) const override;
    bool SetAllowBroadcast(bool allow) override;
    bool GetAllowBroadcast() const override;

  private:
    ns3::Ptr<ns3::Socket> m_socket;
    const Flow* m_flow{nullptr};
    Transfer* m_transfer{nullptr};
    std::function<void(std::uint32_t)> m_onSent;
    std::uint32_t m_sent{0};
};

// ns-3's own PacketSink, one for all flows that lead to one port.
class DatagramSinks
{
  public:
    // What reads the flow's datagrams, if it is new; nothing else reads those of a flow that nobody listens to.
    ns3::Ptr<ns3::Application> Create(const Flow& flow, Transfer& transfer);

  private:
    using End = std::pair<std::uint32_t, std::uint16_t>; // address and port

    std::map<End, std::map<End, Transfer*>> m_readers; // by destination, then by source
};

} // namespace ccperf

#endif
