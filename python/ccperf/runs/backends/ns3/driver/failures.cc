// SPDX-License-Identifier: GPL-2.0-only

#include "failures.h"

#include "switch-routing.h"

#include "ns3/ipv4-l3-protocol.h"
#include "ns3/queue.h"
#include "ns3/simulator.h"

namespace ccperf
{

namespace
{

void
EmptyPort(Port& port, Network& network)
{
    if (port.qdisc)
    {
        while (const auto item = port.qdisc->Dequeue())
        {
            for (FailureObserver* observer : network.observers)
            {
                observer->OnLostItem(port.index, item);
            }
        }
    }
    const auto queue = port.device->GetQueue();
    while (const auto packet = queue->Dequeue())
    {
        for (FailureObserver* observer : network.observers)
        {
            observer->OnLostPacket(port.index, packet);
        }
    }
    port.loss->LoseWhatIsOnItsWay();
}

void
TakeEffect(const Failure& failure, Network& network)
{
    for (const std::size_t link : failure.down)
    {
        EmptyPort(network.ports[2 * link], network);
        EmptyPort(network.ports[2 * link + 1], network);
        network.routes->SetUp(link, false);
    }
    for (const std::size_t link : failure.up)
    {
        network.routes->SetUp(link, true);
    }
    for (const auto& routing : network.routing)
    {
        if (const auto balancer = routing->GetBalancer())
        {
            balancer->OnRoutesChanged();
        }
    }
}

} // namespace

void
ScheduleFailures(const Scenario& scenario, Network& network)
{
    if (scenario.failures.empty())
    {
        return;
    }
    for (Port& port : network.ports)
    {
        port.device->TraceConnectWithoutContext(
            "PhyTxBegin",
            ns3::Callback<void, ns3::Ptr<const ns3::Packet>>(
                [loss = ns3::PeekPointer(port.loss)](auto packet) { loss->OnSent(packet); }));
    }
    for (const Failure& failure : scenario.failures)
    {
        ns3::Simulator::Schedule(ns3::NanoSeconds(failure.time),
                                 [&failure, &network] { TakeEffect(failure, network); });
    }
}

void
ObserveRoutes(Network& network)
{
    using Ip = ns3::Ipv4L3Protocol;
    using DropCallback = ns3::Callback<void,
                                       const ns3::Ipv4Header&,
                                       ns3::Ptr<const ns3::Packet>,
                                       Ip::DropReason,
                                       ns3::Ptr<ns3::Ipv4>,
                                       std::uint32_t>;
    for (std::uint32_t node = 0; node < network.nodes.GetN(); ++node)
    {
        // The ports that lead to the node, by the interface that they end at.
        std::map<std::uint32_t, std::size_t> portInto;
        const auto ipv4 = network.nodes.Get(node)->GetObject<ns3::Ipv4>();
        for (const Port& port : network.ports)
        {
            if (port.peer->GetNode()->GetId() == node)
            {
                portInto[static_cast<std::uint32_t>(ipv4->GetInterfaceForDevice(port.peer))] =
                    port.index;
            }
        }
        const auto onDrop = [&network, node, portInto](const ns3::Ipv4Header& header,
                                                       ns3::Ptr<const ns3::Packet> packet,
                                                       Ip::DropReason reason,
                                                       ns3::Ptr<ns3::Ipv4>,
                                                       std::uint32_t interface) {
            if (reason != Ip::DROP_NO_ROUTE)
            {
                return;
            }
            // What the node sends itself comes from no interface.
            const auto found = portInto.find(interface);
            const auto port =
                found == portInto.end() ? network.routes->FirstPort(node) : found->second;
            for (FailureObserver* observer : network.observers)
            {
                observer->OnNoRoute(port, header, packet);
            }
        };
        network.nodes.Get(node)->GetObject<Ip>()->TraceConnectWithoutContext("Drop",
                                                                             DropCallback(onDrop));
    }
}

} // namespace ccperf
