// SPDX-License-Identifier: GPL-2.0-only

#include "network.h"

#include "attributes.h"
#include "failures.h"
#include "faults.h"
#include "marking-disciplines.h"
#include "switch-routing.h"
#include "transmit-queues.h"
#include "varying-channel.h"

#include "ns3/cobalt-queue-disc.h"
#include "ns3/dynamic-queue-limits.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/pie-queue-disc.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/red-queue-disc.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/traffic-control-layer.h"

#include <limits>
#include <set>

namespace ccperf
{

namespace
{

// Brings ns-3's own numbering to a stream, so that the next one it assigns is this.
void
ContinueFrom(std::uint64_t number)
{
    ns3::RngSeedManager::ResetNextStreamIndex();
    for (std::uint64_t i = 0; i < number; ++i)
    {
        ns3::RngSeedManager::GetNextStreamIndex();
    }
}

template <class T>
void
AssignStream(ns3::Ptr<ns3::QueueDisc> qdisc, std::int64_t stream)
{
    const auto drawing = ns3::DynamicCast<T>(qdisc);
    if (drawing && stream < 0)
    {
        ContinueFrom(static_cast<std::uint64_t>(stream - std::numeric_limits<std::int64_t>::min()));
        drawing->AssignStreams(-1);
    }
    else if (drawing)
    {
        drawing->AssignStreams(stream);
    }
}

void
AssignStreams(ns3::Ptr<ns3::QueueDisc> qdisc, std::int64_t stream)
{
    AssignStream<ns3::RedQueueDisc>(qdisc, stream);
    AssignStream<ns3::PieQueueDisc>(qdisc, stream);
    AssignStream<ns3::CobaltQueueDisc>(qdisc, stream);
    AssignStream<MarkingPieQueueDisc>(qdisc, stream);
}

// A flow-queueing discipline makes a child when a flow's first packet comes. The children draw from streams
// of their own: `stream` and up, in the order in which they were made. (None draws for its first packet
// before that packet is in the queue.)
void
AssignStreamsOfChildren(ns3::Ptr<ns3::QueueDisc> qdisc, std::int64_t stream)
{
    qdisc->TraceConnectWithoutContext(
        "Enqueue",
        ns3::Callback<void, ns3::Ptr<const ns3::QueueDiscItem>>(
            [qdisc = ns3::PeekPointer(qdisc), stream, assigned = std::size_t{0}](auto) mutable {
                for (; assigned < qdisc->GetNQueueDiscClasses(); ++assigned)
                {
                    AssignStreams(qdisc->GetQueueDiscClass(assigned)->GetQueueDisc(),
                                  stream + static_cast<std::int64_t>(assigned));
                }
            }));
}

// ns-3 tells only the root, and the children of an MqQueueDisc, which device they are for; flow queueing
// wants to know, because its quantum is the MTU.
void
TellChildren(ns3::Ptr<ns3::QueueDisc> qdisc, ns3::Ptr<ns3::NetDeviceQueueInterface> device)
{
    for (std::size_t i = 0; i < qdisc->GetNQueueDiscClasses(); ++i)
    {
        const auto child = qdisc->GetQueueDiscClass(i)->GetQueueDisc();
        child->SetNetDeviceQueueInterface(device);
        TellChildren(child, device);
    }
}

ns3::Ptr<ns3::QueueDisc>
CreateQdisc(const Algorithm& algorithm)
{
    const auto qdisc = CreateWithAttributes<ns3::QueueDisc>(algorithm);
    if (!algorithm.children.empty()) // each with streams of its own
    {
        for (const Algorithm& child : algorithm.children)
        {
            const auto queueClass = ns3::CreateObject<ns3::QueueDiscClass>();
            queueClass->SetQueueDisc(CreateQdisc(child));
            qdisc->AddQueueDiscClass(queueClass);
        }
        return qdisc;
    }
    AssignStreams(qdisc, algorithm.stream);
    AssignStreamsOfChildren(qdisc, algorithm.stream);
    return qdisc;
}

// The ports of a switch share its buffer.
void
JoinBuffer(ns3::Ptr<ns3::QueueDisc> qdisc, SharedBufferQueueDisc::Ports& ports)
{
    if (const auto sharing = ns3::DynamicCast<SharedBufferQueueDisc>(qdisc))
    {
        if (!ports)
        {
            ports = std::make_shared<std::vector<const ns3::QueueDisc*>>();
        }
        sharing->Join(ports);
    }
}

// Directions that name the same stream draw from it in turn.
ns3::Ptr<ns3::UniformRandomVariable>
LossStream(Network& network, std::int64_t number)
{
    auto& stream = network.lossStreams[number];
    if (!stream)
    {
        stream = ns3::CreateObject<ns3::UniformRandomVariable>();
        stream->SetStream(number);
    }
    return stream;
}

Port
CreatePort(const Direction& direction,
           std::size_t index,
           ns3::Ptr<ns3::PointToPointNetDevice> device,
           ns3::Ptr<ns3::PointToPointNetDevice> peer,
           Network& network)
{
    Port port{direction.name,
              index,
              device,
              peer,
              ns3::DynamicCast<ns3::PointToPointChannel>(device->GetChannel()),
              nullptr,
              ns3::CreateObject<LossModel>(),
              direction.rate};
    device->SetDataRate(ns3::DataRate(direction.rate));
    device->SetMtu(direction.mtu);
    if (direction.deviceQueues > 1)
    {
        TransmitQueues::Install(device, direction);
    }
    else
    {
        device->GetQueue()->SetMaxSize(SizeOf(direction.deviceQueue));
    }
    if (direction.queueLimitsHold)
    {
        const auto limits = ns3::CreateObject<ns3::DynamicQueueLimits>();
        limits->SetAttribute("HoldTime",
                             ns3::TimeValue(ns3::NanoSeconds(*direction.queueLimitsHold)));
        device->GetObject<ns3::NetDeviceQueueInterface>()->GetTxQueue(0)->SetQueueLimits(limits);
    }
    port.loss->Configure(direction.drops,
                         direction.gilbertElliott,
                         direction.loss,
                         LossStream(network, direction.lossStream));
    peer->SetReceiveErrorModel(port.loss);
    if (direction.qdisc)
    {
        port.qdisc = CreateQdisc(*direction.qdisc);
        TellChildren(port.qdisc, device->GetObject<ns3::NetDeviceQueueInterface>());
        JoinBuffer(port.qdisc, network.buffers[device->GetNode()->GetId()]);
        device->GetNode()->GetObject<ns3::TrafficControlLayer>()->SetRootQueueDiscOnDevice(
            device,
            port.qdisc);
    }
    return port;
}

// By hand, not with ns-3's Ipv4AddressHelper: that one would install FqCoDel where there is no discipline.
void
SetAddress(ns3::Ptr<ns3::NetDevice> device, const std::string& address)
{
    const auto ipv4 = device->GetNode()->GetObject<ns3::Ipv4>();
    const auto interface = ipv4->AddInterface(device);
    ipv4->AddAddress(
        interface,
        ns3::Ipv4InterfaceAddress(ns3::Ipv4Address(address.c_str()), ns3::Ipv4Mask("/30")));
    ipv4->SetMetric(interface, 1);
    ipv4->SetUp(interface);
}

// As ns-3's PointToPointHelper does it.
void
AddFlowControl(ns3::Ptr<ns3::PointToPointNetDevice> device)
{
    const auto interface = ns3::CreateObject<ns3::NetDeviceQueueInterface>();
    interface->GetTxQueue(0)->ConnectQueueTraces(device->GetQueue());
    device->AggregateObject(interface);
}

void
CreateLink(const Link& link, Network& network)
{
    ns3::PointToPointHelper helper;
    const bool hasSeveral =
        link.directions[0].deviceQueues > 1 || link.directions[1].deviceQueues > 1;
    if (hasSeveral)
    {
        helper.DisableFlowControl(); // it would be that of a single queue
    }
    helper.SetChannelAttribute("Delay", ns3::TimeValue(ns3::NanoSeconds(link.delay)));
    const auto devices =
        helper.Install(network.nodes.Get(link.ends[0]), network.nodes.Get(link.ends[1]));
    if (VaryingChannel::IsNeeded(link))
    {
        VaryingChannel::Install(link, devices);
    }
    for (std::uint32_t side = 0; side < 2; ++side)
    {
        const auto device = [&](std::uint32_t i) {
            return ns3::DynamicCast<ns3::PointToPointNetDevice>(devices.Get(i));
        };
        if (hasSeveral && link.directions[side].deviceQueues == 1)
        {
            AddFlowControl(device(side));
        }
        SetAddress(device(side), link.addresses[side]);
        network.ports.push_back(CreatePort(link.directions[side],
                                           network.ports.size(),
                                           device(side),
                                           device(1 - side),
                                           network));
    }
}

// Host routes along one path.
void
AddRoutes(const std::string& destination,
          const std::vector<Hop>& path,
          const Network& network,
          std::set<std::pair<std::string, std::size_t>>& known)
{
    ns3::Ipv4StaticRoutingHelper helper;
    for (const Hop& hop : path)
    {
        const std::size_t port = 2 * hop.link + hop.direction;
        if (known.emplace(destination, port).second)
        {
            const auto device = network.ports[port].device;
            const auto ipv4 = device->GetNode()->GetObject<ns3::Ipv4>();
            helper.GetStaticRouting(ipv4)->AddHostRouteTo(
                ns3::Ipv4Address(destination.c_str()),
                static_cast<std::uint32_t>(ipv4->GetInterfaceForDevice(device)));
        }
    }
}

void
AddStaticRoutes(const Scenario& scenario, const Network& network)
{
    std::set<std::pair<std::string, std::size_t>> known;
    for (const Flow& flow : scenario.flows)
    {
        AddRoutes(flow.destinationAddress, flow.path, network, known);
        AddRoutes(flow.sourceAddress, flow.returnPath, network, known);
    }
    for (const PingFlow& ping : scenario.pings)
    {
        AddRoutes(ping.destinationAddress, ping.path, network, known);
        AddRoutes(ping.sourceAddress, ping.returnPath, network, known);
    }
}

void
Apply(const Change& change, Network& network)
{
    for (std::size_t side = 0; side < 2; ++side)
    {
        Port& port = network.ports[2 * change.link + side];
        if (change.rate[side])
        {
            port.rate = *change.rate[side];
            port.device->SetDataRate(ns3::DataRate(port.rate));
        }
        if (change.loss[side])
        {
            port.loss->SetRate(*change.loss[side]);
        }
        if (change.delay)
        {
            port.channel->SetAttribute("Delay", ns3::TimeValue(ns3::NanoSeconds(*change.delay)));
        }
    }
}

Change
RowOf(const Schedule& schedule, std::size_t link, std::size_t row)
{
    Change change{.time = schedule.times[row], .link = link, .rate = {}, .delay = {}, .loss = {}};
    for (std::size_t side = 0; side < 2; ++side)
    {
        if (schedule.sides[side] && !schedule.rates.empty())
        {
            change.rate[side] = schedule.rates[row];
        }
        if (schedule.sides[side] && !schedule.losses.empty())
        {
            change.loss[side] = schedule.losses[row];
        }
    }
    if (!schedule.delays.empty())
    {
        change.delay = schedule.delays[row];
    }
    return change;
}

} // namespace

void
BuildNetwork(const Scenario& scenario, Network& network)
{
    network.nodes.Create(static_cast<std::uint32_t>(scenario.nodes.size()));
    ns3::InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    if (scenario.routing.type == "static" && scenario.failures.empty())
    {
        stack.SetRoutingHelper(ns3::Ipv4StaticRoutingHelper());
    }
    else
    {
        network.routes.emplace(scenario);
        stack.SetRoutingHelper(SwitchRoutingHelper(scenario.routing, network));
    }
    stack.Install(network.nodes);
    ScheduleBalancing(network);
    for (const Link& link : scenario.links)
    {
        CreateLink(link, network);
    }
    if (network.routes)
    {
        ObserveRoutes(network);
    }
    else
    {
        AddStaticRoutes(scenario, network);
    }
    for (const Change& change : scenario.changes)
    {
        ns3::Simulator::Schedule(ns3::NanoSeconds(change.time),
                                 [&change, &network] { Apply(change, network); });
    }
    for (std::size_t link = 0; link < scenario.links.size(); ++link)
    {
        for (const Schedule& schedule : scenario.links[link].schedules)
        {
            for (std::size_t row = 0; row < schedule.times.size(); ++row)
            {
                ns3::Simulator::Schedule(ns3::NanoSeconds(schedule.times[row]),
                                         [&schedule, &network, link, row] {
                                             Apply(RowOf(schedule, link, row), network);
                                         });
            }
        }
    }
    ScheduleFailures(scenario, network);
    InstallFaults(scenario, network);
}

} // namespace ccperf
