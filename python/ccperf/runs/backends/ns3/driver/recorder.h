// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_RECORDER_H
#define CCPERF_RECORDER_H

#include "flow-socket.h"
#include "flow-monitor.h"
#include "network.h"
#include "rows.h"
#include "scenario.h"
#include "paths.h"

#include "ns3/ipv4-header.h"
#include "ns3/ping.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-socket-base.h"

#include <array>
#include <cmath>
#include <optional>

namespace ccperf
{

// Counters of one flow.
struct FlowProbe
{
    Transfer transfer;
    ns3::Ptr<ns3::TcpSocketBase> sender; // null before the start
    std::uint64_t segmentsSent{0};
    std::uint64_t retransmissions{0};
    std::uint64_t sentBytes{0};
    std::uint64_t receivedBytes{0};
    std::optional<ns3::Time> lastDelivery;
    std::uint64_t ackedBytes{0};
    std::uint64_t rtos{0};
    std::uint64_t episodes{0}; // of recovery, finished
    ns3::Time recoveryTime;
    std::optional<ns3::Time> recoveryStart;
    std::optional<ns3::Time> lastDeparture;
    double departureGap{NAN}; // EWMA, ns
    bool isClosed{false};
    std::optional<ns3::Time> completed; // closed, and all that was written acknowledged
    std::optional<ns3::SequenceNumber32> highestSent; // behind the last byte
    std::array<double, 8> lastChanges{};
};

// One request of a ping.
struct Echo
{
    ns3::Time sent;
    std::optional<ns3::Time> rtt;
};

// Counters of one direction of a link.
struct PortProbe
{
    std::uint64_t txPackets{0};
    std::uint64_t txBytes{0};
    std::uint64_t enqueued{0};
    std::uint64_t dropped{0};
    std::uint64_t marked{0};
    std::uint64_t deviceDropped{0};
    std::uint64_t lossDropped{0};
    std::uint64_t failureDropped{0};
    std::optional<ns3::Time> sojourn;
    std::uint64_t rate{0}; // at the last grid point

    struct Count
    {
        const char* verdict;
        std::string reason;
        std::uint64_t packets;
        std::uint64_t bytes;
    };

    std::vector<Count> counts; // in order of first occurrence
};

// NaN if there is none.
inline double
NanosecondsOf(const std::optional<ns3::Time>& time)
{
    return time ? static_cast<double>(time->GetNanoSeconds()) : NAN;
}

// The points in time at which something is sampled.
struct Grid
{
    std::int64_t interval;
    std::int64_t next; // the largest number if there is none
};

// Keeps counters while the simulation runs, samples them on the grid, and makes the tables of
// docs/design/contract.md.
class Recorder : public FailureObserver
{
  public:
    // They must outlive the recorder and the simulation.
    // Unless `isObserving`, connects to nothing and records nothing.
    Recorder(const Scenario& scenario, const Network& network, const Paths& paths, bool isObserving);

    // Flow `index` sends with this socket; to be called before the socket does anything.
    void OnSender(std::size_t index, ns3::Ptr<ns3::TcpSocketBase> socket);
    // It has sent a datagram of so many bytes.
    void OnDatagram(std::size_t index, std::uint32_t bytes);
    // Its application has closed the socket.
    void OnClosed(std::size_t index);
    void OnPing(std::size_t index, ns3::Ptr<ns3::Ping> ping);
    Transfer& TransferOf(std::size_t index);

    void OnLostItem(std::size_t port, ns3::Ptr<const ns3::QueueDiscItem> item) override;
    void OnLostPacket(std::size_t port, ns3::Ptr<const ns3::Packet> packet) override;
    void OnNoRoute(std::size_t port,
                   const ns3::Ipv4Header& header,
                   ns3::Ptr<const ns3::Packet> packet) override;

    // Before anything runs.
    void MonitorFlows();

    // The next event runs at `time` (ns): takes the samples that lie before it.
    void BeforeEvent(std::int64_t time);

    // ns-3 gives up: writes the tables whose rows have a time, as far as they have come.
    void WriteUnfinished(const std::string& path) const;

    // The run is over: takes the remaining samples and writes all tables.
    void Finish(const std::string& path);

  private:
    void ConnectPort(const Port& port);
    void CountVerdict(std::size_t port, const char* verdict, std::uint32_t bytes, const char* reason);

    void OnTx(std::size_t index,
              ns3::Ptr<const ns3::Packet> packet,
              const ns3::TcpHeader& header,
              ns3::Ptr<const ns3::TcpSocketBase> socket);
    // A packet with this payload leaves its sender.
    static void CountDeparture(FlowProbe& probe, std::uint32_t payload);
    // A packet has come to the IP layer of the host that it is for.
    void OnDeliver(const ns3::Ipv4Header& ip,
                   ns3::Ptr<const ns3::Packet> packet,
                   std::uint32_t interface);
    void OnAck(std::size_t index, ns3::SequenceNumber32 before, ns3::SequenceNumber32 now);
    void CheckCompletion(std::size_t index);
    void OnCongestionState(std::size_t index,
                           ns3::TcpSocketState::TcpCongState_t before,
                           ns3::TcpSocketState::TcpCongState_t now);
    void FollowChanges(std::size_t index, ns3::Ptr<ns3::TcpSocketBase> socket);
    void RecordChanges();

    void SampleFlow(std::size_t index, std::int64_t time);
    void SamplePort(std::size_t index, std::int64_t time);
    void SampleQueue(std::size_t index, std::int64_t time);
    TableOf<rows::Flows> Flows() const;
    TableOf<rows::Links> Links() const;
    TableOf<rows::Drops> Drops() const;
    void NoteRequests(std::size_t index, std::int64_t until);
    TableOf<rows::Pings> Pings() const;
    TableOf<rows::Completions> Completions() const;
    TableOf<rows::Deliveries> Deliveries() const;
    TableOf<rows::Workloads> Workloads() const;

    bool m_isObserving;
    const Scenario& m_scenario;
    const Network& m_network;
    const Paths& m_paths;
    std::vector<FlowProbe> m_flows;
    std::vector<std::vector<Echo>> m_pings;
    std::vector<PortProbe> m_ports;
    Grid m_samples;
    Grid m_queues;
    // The flow whose sender's state may have changed in the present event.
    std::optional<std::size_t> m_changed;

    TableOf<rows::FlowSamples> m_flowSamples;
    TableOf<rows::LinkSamples> m_linkSamples;
    TableOf<rows::QueueSamples> m_queueSamples;
    TableOf<rows::Changes> m_changes;
    FlowMonitoring m_flowMonitoring;
};

} // namespace ccperf

#endif
