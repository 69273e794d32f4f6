// SPDX-License-Identifier: GPL-2.0-only

#include "recorder.h"

#include "sockets.h"

#include "ns3/ipv4-l3-protocol.h"
#include "ns3/simulator.h"
#include "ns3/tcp-header.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>

namespace ccperf
{

namespace
{

// Weight of the new gap between two departures.
constexpr double GAP_WEIGHT = 0.05;

// What the table `changes` follows; FlowProbe::lastChanges has the values in this order.
constexpr std::array<const char*, 8> FOLLOWED = {"cwnd",
                                                 "ssthresh",
                                                 "in_flight",
                                                 "srtt_ns",
                                                 "cong_state",
                                                 "ecn_state",
                                                 "rto_ns",
                                                 "pacing_rate_bps"};

constexpr std::int64_t NEVER = std::numeric_limits<std::int64_t>::max();

std::int64_t
Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

// As with the other states, 0 before the connection.
std::uint64_t
PacingRateOf(const ns3::TcpSocketState& tcb)
{
    return tcb.m_pacing && tcb.m_cWnd > 0 ? tcb.m_pacingRate.Get().GetBitRate() : 0;
}

} // namespace

Recorder::Recorder(const Scenario& scenario,
                   const Network& network,
                   const Paths& paths,
                   bool isObserving)
    : m_isObserving(isObserving),
      m_scenario(scenario),
      m_network(network),
      m_paths(paths),
      m_flows(scenario.flows.size()),
      m_pings(scenario.pings.size()),
      m_ports(network.ports.size()),
      m_samples{scenario.recording.interval,
                scenario.recording.flows.empty() && scenario.recording.ports.empty() ? NEVER : 0},
      m_queues{scenario.recording.queueInterval, scenario.recording.queuePorts.empty() ? NEVER : 0}
{
    if (!isObserving)
    {
        return;
    }
    for (const Port& port : network.ports)
    {
        m_ports[port.index].rate = port.rate;
        ConnectPort(port);
    }
    paths.ConnectStoppedDrops(network,
                             [this](std::size_t port, auto) { ++m_ports[port].deviceDropped; });
    std::set<std::size_t> destinations;
    for (const Flow& flow : scenario.flows)
    {
        if (destinations.insert(flow.destination).second)
        {
            network.nodes.Get(flow.destination)
                ->GetObject<ns3::Ipv4L3Protocol>()
                ->TraceConnectWithoutContext("LocalDeliver",
                                             ns3::MakeCallback(&Recorder::OnDeliver, this));
        }
    }
}

Transfer&
Recorder::TransferOf(std::size_t index)
{
    return m_flows[index].transfer;
}

void
Recorder::ConnectPort(const Port& port)
{
    PortProbe& probe = m_ports[port.index];
    const auto count = [&probe](std::uint64_t PortProbe::*counter) {
        return ns3::Callback<void, ns3::Ptr<const ns3::Packet>>(
            [&probe, counter](auto) { ++(probe.*counter); });
    };
    port.device->TraceConnectWithoutContext(
        "PhyTxBegin",
        ns3::Callback<void, ns3::Ptr<const ns3::Packet>>([&probe](auto packet) {
            ++probe.txPackets;
            probe.txBytes += packet->GetSize();
        }));
    port.device->TraceConnectWithoutContext("MacTxDrop", count(&PortProbe::deviceDropped));
    port.peer->TraceConnectWithoutContext(
        "PhyRxDrop",
        ns3::Callback<void, ns3::Ptr<const ns3::Packet>>(
            [&probe, loss = ns3::PeekPointer(port.loss)](auto) {
                ++(loss->IsLastLostByFailure() ? probe.failureDropped : probe.lossDropped);
            }));
    if (!port.qdisc)
    {
        return;
    }
    using ItemCallback = ns3::Callback<void, ns3::Ptr<const ns3::QueueDiscItem>>;
    using VerdictCallback = ns3::Callback<void, ns3::Ptr<const ns3::QueueDiscItem>, const char*>;
    const auto onVerdict = [this, index = port.index](const char* verdict) {
        return VerdictCallback([this, index, verdict](auto item, const char* reason) {
            CountVerdict(index, verdict, item->GetSize(), reason);
        });
    };
    port.qdisc->TraceConnectWithoutContext("Enqueue",
                                           ItemCallback([&probe](auto) { ++probe.enqueued; }));
    port.qdisc->TraceConnectWithoutContext("DropBeforeEnqueue", onVerdict("drop_before_enqueue"));
    port.qdisc->TraceConnectWithoutContext("DropAfterDequeue", onVerdict("drop_after_dequeue"));
    port.qdisc->TraceConnectWithoutContext("Mark", onVerdict("mark"));
    port.qdisc->TraceConnectWithoutContext(
        "SojournTime",
        ns3::Callback<void, ns3::Time>([&probe](ns3::Time sojourn) { probe.sojourn = sojourn; }));
}

void
Recorder::CountVerdict(std::size_t port,
                       const char* verdict,
                       std::uint32_t bytes,
                       const char* reason)
{
    PortProbe& probe = m_ports[port];
    const bool isMark = std::string_view(verdict) == "mark";
    ++(isMark ? probe.marked : probe.dropped);
    auto& counts = probe.counts;
    auto found = std::find_if(counts.begin(), counts.end(), [&](const PortProbe::Count& count) {
        return std::string_view(count.verdict) == verdict && count.reason == reason;
    });
    if (found == counts.end())
    {
        found = counts.insert(found, {verdict, reason, 0, 0});
    }
    ++found->packets;
    found->bytes += bytes;
}

void
Recorder::OnLostItem(std::size_t port, ns3::Ptr<const ns3::QueueDiscItem>)
{
    ++m_ports[port].failureDropped;
}

void
Recorder::OnLostPacket(std::size_t port, ns3::Ptr<const ns3::Packet>)
{
    ++m_ports[port].failureDropped;
}

void
Recorder::OnNoRoute(std::size_t port, const ns3::Ipv4Header&, ns3::Ptr<const ns3::Packet>)
{
    ++m_ports[port].failureDropped;
}

void
Recorder::OnSender(std::size_t index, ns3::Ptr<ns3::TcpSocketBase> socket)
{
    if (!m_isObserving)
    {
        return;
    }
    m_flows[index].sender = socket;
    socket->TraceConnectWithoutContext("Tx",
                                       ns3::MakeCallback(&Recorder::OnTx, this, index));
    socket->TraceConnectWithoutContext("HighestRxAck",
                                       ns3::MakeCallback(&Recorder::OnAck, this, index));
    socket->TraceConnectWithoutContext(
        "CongState",
        ns3::MakeCallback(&Recorder::OnCongestionState, this, index));
    const auto& followed = m_scenario.recording.changes;
    if (std::binary_search(followed.begin(), followed.end(), index))
    {
        FollowChanges(index, socket);
    }
}

void
Recorder::OnTx(std::size_t index,
               ns3::Ptr<const ns3::Packet> packet,
               const ns3::TcpHeader& header,
               ns3::Ptr<const ns3::TcpSocketBase>)
{
    const std::uint32_t payload = packet->GetSize();
    if (payload == 0)
    {
        return;
    }
    FlowProbe& probe = m_flows[index];
    CountDeparture(probe, payload);
    const auto sequence = header.GetSequenceNumber();
    if (probe.highestSent && sequence < *probe.highestSent)
    {
        ++probe.retransmissions;
    }
    const auto end = sequence + payload;
    probe.highestSent = probe.highestSent ? std::max(*probe.highestSent, end) : end;
}

void
Recorder::OnDatagram(std::size_t index, std::uint32_t bytes)
{
    CountDeparture(m_flows[index], bytes);
}

void
Recorder::CountDeparture(FlowProbe& probe, std::uint32_t payload)
{
    ++probe.segmentsSent;
    probe.sentBytes += payload;
    const auto now = ns3::Simulator::Now();
    if (probe.lastDeparture)
    {
        const auto gap = static_cast<double>((now - *probe.lastDeparture).GetNanoSeconds());
        probe.departureGap = std::isnan(probe.departureGap)
                                 ? gap
                                 : probe.departureGap + GAP_WEIGHT * (gap - probe.departureGap);
    }
    probe.lastDeparture = now;
}

void
Recorder::OnDeliver(const ns3::Ipv4Header& ip, ns3::Ptr<const ns3::Packet> packet, std::uint32_t)
{
    const auto tcp = ReadTransport(packet, 0, ip.GetProtocol());
    const Path* path = m_paths.Find(
        {ip.GetSource().Get(), ip.GetDestination().Get(), tcp.sourcePort, tcp.destinationPort, tcp.protocol});
    if (path && !path->isReturn && path->flow < m_flows.size())
    {
        FlowProbe& probe = m_flows[path->flow];
        const auto payload = packet->GetSize() - tcp.headerBytes;
        probe.receivedBytes += payload;
        if (payload > 0 || (tcp.protocol == TCP && (tcp.flags & ns3::TcpHeader::FIN)))
        {
            probe.lastDelivery = ns3::Simulator::Now();
        }
    }
}

void
Recorder::OnPing(std::size_t index, ns3::Ptr<ns3::Ping> ping)
{
    if (!m_isObserving)
    {
        return;
    }
    ping->TraceConnectWithoutContext(
        "Tx",
        ns3::Callback<void, std::uint16_t, ns3::Ptr<ns3::Packet>>([this, index](std::uint16_t, auto) {
            NoteRequests(index, ns3::Simulator::Now().GetNanoSeconds());
        }));
    ping->TraceConnectWithoutContext("Rtt",
                                     ns3::Callback<void, std::uint16_t, ns3::Time>(
                                         [this, index](std::uint16_t number, ns3::Time rtt) {
                                             m_pings[index].at(number).rtt = rtt;
                                         }));
}

// A request that finds no route is not sent, and nothing tells of it but the number of the next one.
void
Recorder::NoteRequests(std::size_t index, std::int64_t until)
{
    const PingFlow& ping = m_scenario.pings[index];
    auto& echoes = m_pings[index];
    auto due = ping.start + static_cast<std::int64_t>(echoes.size()) * ping.interval;
    for (; due <= until; due += ping.interval)
    {
        echoes.push_back({ns3::NanoSeconds(due), {}});
    }
}

void
Recorder::OnAck(std::size_t index, ns3::SequenceNumber32 before, ns3::SequenceNumber32 now)
{
    // The SYN takes number 0, so an acknowledgement of no data is 1; that of a FIN is behind the data.
    FlowProbe& probe = m_flows[index];
    if (before == ns3::SequenceNumber32(0) && probe.ackedBytes == 0)
    {
        before = ns3::SequenceNumber32(1);
    }
    if (now > before)
    {
        probe.ackedBytes += static_cast<std::uint64_t>(now - before);
    }
    probe.ackedBytes = std::min(probe.ackedBytes, probe.transfer.written);
    CheckCompletion(index);
}

void
Recorder::OnClosed(std::size_t index)
{
    m_flows[index].isClosed = true;
    CheckCompletion(index);
}

void
Recorder::CheckCompletion(std::size_t index)
{
    FlowProbe& probe = m_flows[index];
    const std::uint64_t written = probe.transfer.written;
    if (probe.isClosed && written > 0 && probe.ackedBytes == written && !probe.completed)
    {
        probe.completed = ns3::Simulator::Now();
    }
}

void
Recorder::OnCongestionState(std::size_t index,
                            ns3::TcpSocketState::TcpCongState_t,
                            ns3::TcpSocketState::TcpCongState_t now)
{
    FlowProbe& probe = m_flows[index];
    if (now == ns3::TcpSocketState::CA_LOSS)
    {
        ++probe.rtos;
    }
    else if (now == ns3::TcpSocketState::CA_RECOVERY)
    {
        if (!probe.recoveryStart)
        {
            probe.recoveryStart = ns3::Simulator::Now();
        }
    }
    else if (probe.recoveryStart)
    {
        ++probe.episodes;
        probe.recoveryTime += ns3::Simulator::Now() - *probe.recoveryStart;
        probe.recoveryStart.reset();
    }
}

void
Recorder::FollowChanges(std::size_t index, ns3::Ptr<ns3::TcpSocketBase> socket)
{
    const auto note = [this, index] { m_changed = index; };
    const auto follow = [&]<class T>(const char* source, T) {
        socket->TraceConnectWithoutContext(source,
                                           ns3::Callback<void, T, T>([note](T, T) { note(); }));
    };
    follow("CongestionWindow", std::uint32_t{});
    follow("SlowStartThreshold", std::uint32_t{});
    follow("BytesInFlight", std::uint32_t{});
    follow("RTT", ns3::Time{});
    follow("CongState", ns3::TcpSocketState::TcpCongState_t{});
    follow("EcnState", ns3::TcpSocketState::EcnState_t{});
    follow("RTO", ns3::Time{});
    follow("PacingRate", ns3::DataRate{});
}

// Values after an event, in the order of FOLLOWED: what a variable passes through within one event
// depends on how the code is written, what it is afterwards does not.
void
Recorder::RecordChanges()
{
    const std::size_t index = *m_changed;
    m_changed.reset();
    FlowProbe& probe = m_flows[index];
    const auto tcb = StateOf(probe.sender);
    const std::array<double, FOLLOWED.size()> values = {
        static_cast<double>(tcb->m_cWnd),
        static_cast<double>(tcb->m_ssThresh),
        static_cast<double>(tcb->m_bytesInFlight),
        static_cast<double>(tcb->m_srtt.Get().GetNanoSeconds()),
        static_cast<double>(tcb->m_congState.Get()),
        static_cast<double>(tcb->m_ecnState.Get()),
        static_cast<double>(RtoOf(probe.sender).GetNanoSeconds()),
        static_cast<double>(PacingRateOf(*tcb)),
    };
    for (std::size_t i = 0; i < FOLLOWED.size(); ++i)
    {
        if (values[i] != probe.lastChanges[i])
        {
            m_changes.Append(
                {.time_ns = Now(), .flow = index, .name = FOLLOWED[i], .value = values[i]});
        }
    }
    probe.lastChanges = values;
}

void
Recorder::BeforeEvent(std::int64_t time)
{
    if (m_changed)
    {
        RecordChanges();
    }
    const std::int64_t end = std::min(time, m_scenario.stop);
    for (; m_samples.next < end; m_samples.next += m_samples.interval)
    {
        for (const std::size_t flow : m_scenario.recording.flows)
        {
            SampleFlow(flow, m_samples.next);
        }
        for (const std::size_t port : m_scenario.recording.ports)
        {
            SamplePort(port, m_samples.next);
        }
    }
    for (; m_queues.next < end; m_queues.next += m_queues.interval)
    {
        for (const std::size_t port : m_scenario.recording.queuePorts)
        {
            SampleQueue(port, m_queues.next);
        }
    }
}

void
Recorder::SampleFlow(std::size_t index, std::int64_t time)
{
    const FlowProbe& probe = m_flows[index];
    std::uint32_t cwnd = 0;
    std::uint32_t ssthresh = 0;
    std::uint32_t inFlight = 0;
    double srtt = NAN;
    std::uint64_t pacingRate = 0;
    if (probe.sender)
    {
        const auto tcb = StateOf(probe.sender);
        cwnd = tcb->m_cWnd;
        ssthresh = tcb->m_ssThresh;
        inFlight = tcb->m_bytesInFlight;
        if (!tcb->m_srtt.Get().IsZero())
        {
            srtt = static_cast<double>(tcb->m_srtt.Get().GetNanoSeconds());
        }
        pacingRate = PacingRateOf(*tcb);
    }
    m_flowSamples.Append({
        .time_ns = time,
        .flow = index,
        .cwnd_bytes = cwnd,
        .ssthresh_bytes = ssthresh,
        .in_flight_bytes = inFlight,
        .srtt_ns = srtt,
        .sent_bytes = probe.sentBytes,
        .received_bytes = probe.receivedBytes,
        .acked_bytes = probe.ackedBytes,
        .written_bytes = probe.transfer.written,
        .read_bytes = probe.transfer.read,
        .idt_ewma_ns = probe.departureGap,
        .one_way_delay_ns = NanosecondsOf(probe.transfer.oneWayDelay),
        .retransmissions = probe.retransmissions,
        .rtos = probe.rtos,
        .pacing_rate_bps = pacingRate,
    });
}

void
Recorder::SamplePort(std::size_t index, std::int64_t time)
{
    PortProbe& probe = m_ports[index];
    const Port& port = m_network.ports[index];
    m_linkSamples.Append({
        .time_ns = time,
        .link = index,
        .tx_bytes = probe.txBytes,
        .qdisc_packets = port.qdisc ? port.qdisc->GetNPackets() : 0,
        .qdisc_bytes = port.qdisc ? port.qdisc->GetNBytes() : 0,
        .sojourn_ns = NanosecondsOf(probe.sojourn),
        .qdisc_dropped = probe.dropped,
        .qdisc_marked = probe.marked,
        .rate_bps = probe.rate,
    });
    // The next row's: the rate of the interval that ends at its grid point.
    probe.rate = port.rate;
}

void
Recorder::SampleQueue(std::size_t index, std::int64_t time)
{
    const Port& port = m_network.ports[index];
    m_queueSamples.Append({
        .time_ns = time,
        .link = index,
        .qdisc_packets = port.qdisc ? port.qdisc->GetNPackets() : 0,
        .qdisc_bytes = port.qdisc ? port.qdisc->GetNBytes() : 0,
        .sojourn_ns = NanosecondsOf(m_ports[index].sojourn),
    });
}

void
Recorder::MonitorFlows()
{
    if (m_isObserving && m_scenario.recording.flowMonitor)
    {
        m_flowMonitoring.Install(m_network.nodes);
    }
}

void
Recorder::WriteUnfinished(const std::string& path) const
{
    WriteTables(path, {&m_flowSamples, &m_linkSamples, &m_queueSamples, &m_changes});
}

void
Recorder::Finish(const std::string& path)
{
    BeforeEvent(m_scenario.stop);
    const auto flows = Flows();
    const auto links = Links();
    const auto drops = Drops();
    std::vector<const Table*> tables = {&flows, &links, &drops, &m_flowSamples, &m_linkSamples};
    for (std::size_t i = 0; i < m_pings.size(); ++i)
    {
        const std::int64_t stop = m_scenario.pings[i].stop;
        NoteRequests(i, std::min(stop > 0 ? stop : m_scenario.stop, m_scenario.stop) - 1);
    }
    const auto pings = Pings();
    if (!m_pings.empty())
    {
        tables.push_back(&pings);
    }
    const auto workloads = Workloads();
    if (!m_scenario.workloads.empty())
    {
        tables.push_back(&workloads);
    }
    const auto completions = Completions();
    if (m_scenario.recording.completions)
    {
        tables.push_back(&completions);
    }
    if (!m_scenario.recording.queuePorts.empty())
    {
        tables.push_back(&m_queueSamples);
    }
    const auto deliveries = Deliveries();
    if (m_scenario.recording.deliveries)
    {
        tables.push_back(&deliveries);
    }
    std::optional<FlowMonitoring::Both> monitored;
    if (m_scenario.recording.flowMonitor)
    {
        monitored = m_flowMonitoring.Tables(m_paths);
        tables.push_back(&monitored->first);
        tables.push_back(&monitored->second);
    }
    if (!m_scenario.recording.changes.empty())
    {
        tables.push_back(&m_changes);
    }
    WriteTables(path, tables);
}

} // namespace ccperf
