// SPDX-License-Identifier: GPL-2.0-only

#include "sources.h"

#include "greedy.h"

#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/inet-socket-address.h"
#include "ns3/onoff-application.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <stdexcept>

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(PoissonSource);

namespace
{

ns3::InetSocketAddress
DestinationOf(const Flow& flow)
{
    return {ns3::Ipv4Address(flow.destinationAddress.c_str()), flow.destinationPort};
}

ns3::Ptr<ns3::Application>
CreateOnOff(const Flow& flow, const OnOffTraffic& traffic, ns3::TypeId socketFactory)
{
    const auto source = ns3::CreateObject<ns3::OnOffApplication>();
    source->SetAttribute("Protocol", ns3::TypeIdValue(socketFactory));
    source->SetAttribute("Remote", ns3::AddressValue(DestinationOf(flow)));
    source->SetAttribute("Tos", ns3::UintegerValue(flow.tos)); // it sets the socket's
    source->SetAttribute("DataRate", ns3::DataRateValue(ns3::DataRate(traffic.rate)));
    source->SetAttribute("PacketSize", ns3::UintegerValue(traffic.writeBytes));
    source->SetAttribute("MaxBytes", ns3::UintegerValue(traffic.bytes));
    source->SetAttribute("OnTime", ns3::PointerValue(CreateVariable(traffic.on)));
    source->SetAttribute("OffTime", ns3::PointerValue(CreateVariable(traffic.off)));
    source->AssignStreams(traffic.stream);
    return source;
}

struct Creator
{
    const Flow& flow;
    ns3::TypeId socketFactory;

    ns3::Ptr<ns3::Application> operator()(const GreedyTraffic& traffic) const
    {
        const auto source = ns3::CreateObject<GreedySource>();
        source->Configure(flow, traffic, socketFactory);
        return source;
    }

    ns3::Ptr<ns3::Application> operator()(const OnOffTraffic& traffic) const
    {
        return CreateOnOff(flow, traffic, socketFactory);
    }

    ns3::Ptr<ns3::Application> operator()(const PoissonTraffic& traffic) const
    {
        const auto source = ns3::CreateObject<PoissonSource>();
        source->Configure(flow, traffic, socketFactory);
        return source;
    }
};

} // namespace

ns3::Ptr<ns3::RandomVariableStream>
CreateVariable(const Distribution& distribution)
{
    const auto variable = ns3::ObjectFactory("ns3::" + distribution.type + "RandomVariable")
                              .Create<ns3::RandomVariableStream>();
    for (const auto& [name, value] : distribution.attributes)
    {
        variable->SetAttribute(name, ns3::DoubleValue(value));
    }
    return variable;
}

ns3::Ptr<ns3::Application>
CreateSource(const Flow& flow, ns3::TypeId socketFactory)
{
    const auto source = std::visit(Creator{flow, socketFactory}, flow.traffic);
    source->SetStartTime(ns3::NanoSeconds(flow.start));
    source->SetStopTime(ns3::NanoSeconds(flow.stop));
    return source;
}

ns3::Ptr<ns3::Ping>
CreatePing(const PingFlow& ping, std::int64_t end)
{
    const auto application = ns3::CreateObject<ns3::Ping>();
    application->SetAttribute(
        "Destination",
        ns3::AddressValue(ns3::Ipv4Address(ping.destinationAddress.c_str())));
    application->SetAttribute("Interval", ns3::TimeValue(ns3::NanoSeconds(ping.interval)));
    application->SetAttribute("Size", ns3::UintegerValue(ping.bytes));
    application->SetAttribute("VerboseMode", ns3::EnumValue(ns3::Ping::SILENT));
    application->SetStartTime(ns3::NanoSeconds(ping.start));
    // Without a stop time ns-3's class makes room for a negative number of requests.
    application->SetStopTime(ns3::NanoSeconds(ping.stop > 0 ? ping.stop : end + 1));
    return application;
}

ns3::TypeId
PoissonSource::GetTypeId()
{
    static ns3::TypeId tid = ns3::TypeId("ccperf::PoissonSource")
                                 .SetParent<ns3::Application>()
                                 .AddConstructor<PoissonSource>();
    return tid;
}

void
PoissonSource::Configure(const Flow& flow,
                         const PoissonTraffic& traffic,
                         ns3::TypeId socketFactory)
{
    m_flow = &flow;
    m_traffic = traffic;
    m_socketFactory = socketFactory;
    m_gap = ns3::CreateObject<ns3::ExponentialRandomVariable>();
    m_gap->SetStream(traffic.stream);
    m_gap->SetAttribute("Mean",
                        ns3::DoubleValue(traffic.writeBytes * 8.0 /
                                         static_cast<double>(traffic.rate)));
}

void
PoissonSource::StartApplication()
{
    m_socket = ns3::Socket::CreateSocket(GetNode(), m_socketFactory);
    m_socket->Bind();
    m_socket->SetConnectCallback(ns3::MakeCallback(&PoissonSource::OnConnected, this),
                                 ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
    m_socket->Connect(DestinationOf(*m_flow));
    m_socket->ShutdownRecv();
}

void
PoissonSource::StopApplication()
{
    m_next.Cancel();
    m_refused = nullptr;
    if (m_socket)
    {
        m_socket->Close();
    }
}

void
PoissonSource::DoDispose()
{
    m_next.Cancel();
    m_socket = nullptr;
    m_refused = nullptr;
    ns3::Application::DoDispose();
}

void
PoissonSource::OnConnected(ns3::Ptr<ns3::Socket>)
{
    ScheduleNext();
}

void
PoissonSource::ScheduleNext()
{
    m_next = ns3::Simulator::Schedule(ns3::Seconds(m_gap->GetValue()), &PoissonSource::Send, this);
}

void
PoissonSource::Send()
{
    const auto packet = m_refused ? m_refused : ns3::Create<ns3::Packet>(m_traffic.writeBytes);
    m_refused = nullptr;
    if (m_socket->Send(packet) < 0)
    {
        m_refused = packet;
    }
    else
    {
        m_sent += m_traffic.writeBytes;
    }
    if (m_traffic.bytes > 0 && m_sent >= m_traffic.bytes)
    {
        StopApplication();
    }
    else
    {
        ScheduleNext();
    }
}

} // namespace ccperf
