// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_SOURCES_H
#define CCPERF_SOURCES_H

#include "scenario.h"

#include "ns3/application.h"
#include "ns3/event-id.h"
#include "ns3/packet.h"
#include "ns3/ping.h"
#include "ns3/random-variable-stream.h"
#include "ns3/socket.h"

namespace ccperf
{

// The application that sends a flow's data, through a socket of this factory: ns-3's own
// OnOffApplication, or one of ours. Start and stop are set.
ns3::Ptr<ns3::Application> CreateSource(const Flow& flow, ns3::TypeId socketFactory);

// What random numbers are drawn from; its stream is not set.
ns3::Ptr<ns3::RandomVariableStream> CreateVariable(const Distribution& distribution);

// ns-3's own Ping. `end`: of the run.
ns3::Ptr<ns3::Ping> CreatePing(const PingFlow& ping, std::int64_t end);

// Sends packets of one size with exponentially distributed gaps, from the connection on. As with
// ns3::OnOffApplication, a packet that the socket refuses is tried again when the next one would be due,
// which is then not made, and a finite source closes with the packet that reaches its number of bytes.
class PoissonSource : public ns3::Application
{
  public:
    static ns3::TypeId GetTypeId();

    void Configure(const Flow& flow, const PoissonTraffic& traffic, ns3::TypeId socketFactory);

  private:
    void StartApplication() override;
    void StopApplication() override;
    void DoDispose() override;

    void OnConnected(ns3::Ptr<ns3::Socket> socket);
    void ScheduleNext();
    void Send();

    const Flow* m_flow{nullptr};
    PoissonTraffic m_traffic;
    ns3::TypeId m_socketFactory;
    ns3::Ptr<ns3::ExponentialRandomVariable> m_gap;
    ns3::Ptr<ns3::Socket> m_socket;
    ns3::Ptr<ns3::Packet> m_refused;
    ns3::EventId m_next;
    std::uint64_t m_sent{0};
};

} // namespace ccperf

#endif
