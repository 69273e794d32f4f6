// SPDX-License-Identifier: GPL-2.0-only

#include "faults.h"

#include "headers.h"

#include "ns3/simulator.h"

#include <limits>
#include <memory>
#include <set>

namespace ccperf
{

namespace
{

using Addresses = std::optional<std::set<std::uint32_t>>;

// All addresses of these nodes.
Addresses
AddressesOf(const Scenario& scenario, const std::optional<std::vector<std::size_t>>& nodes)
{
    if (!nodes)
    {
        return {};
    }
    const std::set<std::size_t> chosen(nodes->begin(), nodes->end());
    std::set<std::uint32_t> addresses;
    for (const Link& link : scenario.links)
    {
        for (std::size_t end = 0; end < 2; ++end)
        {
            if (chosen.count(link.ends[end]) > 0)
            {
                addresses.insert(ns3::Ipv4Address(link.addresses[end].c_str()).Get());
            }
        }
    }
    return addresses;
}

bool
IsIn(const Addresses& addresses, std::uint32_t address)
{
    return !addresses || addresses->count(address) > 0;
}

LossModel::Judge
JudgeOf(const Scenario& scenario, const Fault& fault)
{
    const auto uniform = ns3::CreateObject<ns3::UniformRandomVariable>();
    uniform->SetStream(fault.stream);
    const auto start = ns3::NanoSeconds(fault.start);
    const auto stop = fault.stop > 0 ? ns3::NanoSeconds(fault.stop) : ns3::Time::Max();
    return [uniform,
            start,
            stop,
            loss = fault.loss,
            sources = AddressesOf(scenario, fault.sources),
            destinations = AddressesOf(scenario, fault.destinations)](
               ns3::Ptr<const ns3::Packet> packet) -> const char* {
        const auto now = ns3::Simulator::Now();
        const auto ip = ReadIp(packet, PPP_BYTES);
        if (now < start || now >= stop || !IsIn(sources, ip.source) ||
            !IsIn(destinations, ip.destination))
        {
            return nullptr;
        }
        if (loss >= 1)
        {
            return "Black hole";
        }
        return uniform->GetValue() < loss ? "Random drop" : nullptr;
    };
}

} // namespace

void
InstallFaults(const Scenario& scenario, Network& network)
{
    for (const Fault& fault : scenario.faults)
    {
        const auto judge = JudgeOf(scenario, fault);
        for (Port& port : network.ports)
        {
            if (port.peer->GetNode()->GetId() == fault.node)
            {
                port.loss->AddFault(judge);
            }
        }
    }
}

} // namespace ccperf
