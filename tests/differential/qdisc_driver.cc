// SPDX-License-Identifier: GPL-2.0-only
//
// Replays a script of arrivals and departures on a queue discipline of ns-3, and prints what
// happens to each packet. `crates/engine/examples/replay_qdisc.rs` does the same on ours and
// describes the script; the two outputs must be equal.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using namespace ns3;

namespace
{

struct Flow
{
    Ipv4Address source;
    Ipv4Address destination;
    uint16_t sourcePort;
    uint16_t destinationPort;
    uint8_t protocol;
    uint8_t priority;
};

std::vector<Flow> flows;
std::map<uint64_t, uint32_t> numbers;          // packet uid -> place in the script
std::map<uint64_t, uint32_t> flowOf;           // packet uid -> flow
Ptr<QueueDisc> qdisc;
int64_t stream = 0;
std::size_t childrenWithStream = 0;
Time lastSojourn = Time::Min();
const char* const ECN[] = {"NotECT", "ECT1", "ECT0", "CE"};

int64_t
Now()
{
    return Simulator::Now().GetNanoSeconds();
}

uint32_t
Number(Ptr<const QueueDiscItem> item)
{
    return numbers.at(item->GetPacket()->GetUid());
}

Ipv4Header::EcnType
EcnOf(Ptr<const QueueDiscItem> item)
{
    return DynamicCast<const Ipv4QueueDiscItem>(item)->GetHeader().GetEcn();
}

void
Row(const char* event, Ptr<const QueueDiscItem> item, const char* reason)
{
    std::printf("%ld,port,%s,flow_%u,%u,0,0,%u,,%s,%s\n",
                Now(),
                event,
                flowOf.at(item->GetPacket()->GetUid()),
                Number(item),
                item->GetSize() + 2,
                ECN[EcnOf(item)],
                reason);
}

template <class T>
bool
AssignTo(Ptr<QueueDisc> q, int64_t number)
{
    auto typed = DynamicCast<T>(q);
    if (typed)
    {
        typed->AssignStreams(number);
    }
    return bool(typed);
}

void
AssignStreams(Ptr<QueueDisc> q, int64_t number)
{
    AssignTo<RedQueueDisc>(q, number) || AssignTo<PieQueueDisc>(q, number) ||
        AssignTo<CobaltQueueDisc>(q, number);
}

void
OnEnqueue(Ptr<const QueueDiscItem> item)
{
    // Children of flow queueing come into being as packets arrive.
    for (; childrenWithStream < qdisc->GetNQueueDiscClasses(); childrenWithStream++)
    {
        auto child = qdisc->GetQueueDiscClass(childrenWithStream)->GetQueueDisc();
        AssignStreams(child, stream + childrenWithStream);
    }
    Row("enqueue", item, "");
}

void
OnDrop(Ptr<const QueueDiscItem> item, const char* reason)
{
    Row("drop", item, reason);
}

void
OnMark(Ptr<const QueueDiscItem> item, const char* reason)
{
    Row("mark", item, reason);
}

void
OnSojourn(Time sojourn)
{
    lastSojourn = sojourn;
}

void
PrintState(const std::string& what)
{
    std::printf("%ld %s: %u packets %u bytes sojourn ",
                Now(),
                what.c_str(),
                qdisc->GetNPackets(),
                qdisc->GetNBytes());
    if (lastSojourn == Time::Min())
    {
        std::printf("none\n");
    }
    else
    {
        std::printf("%ld\n", lastSojourn.GetNanoSeconds());
    }
}

void
Enqueue(uint32_t number, uint32_t flowIndex, uint32_t backward, uint32_t bytes, uint32_t ecn)
{
    const auto& flow = flows[flowIndex];
    auto packet = Create<Packet>(bytes - 40);
    TcpHeader tcp;
    tcp.SetSourcePort(backward ? flow.destinationPort : flow.sourcePort);
    tcp.SetDestinationPort(backward ? flow.sourcePort : flow.destinationPort);
    packet->AddHeader(tcp);
    if (flow.priority)
    {
        SocketPriorityTag tag;
        tag.SetPriority(flow.priority);
        packet->AddPacketTag(tag);
    }
    Ipv4Header ip;
    ip.SetSource(backward ? flow.destination : flow.source);
    ip.SetDestination(backward ? flow.source : flow.destination);
    ip.SetProtocol(flow.protocol);
    ip.SetPayloadSize(packet->GetSize());
    ip.SetEcn(static_cast<Ipv4Header::EcnType>(ecn));
    numbers[packet->GetUid()] = number;
    flowOf[packet->GetUid()] = flowIndex;
    qdisc->Enqueue(Create<Ipv4QueueDiscItem>(packet, Address(), 0x0800, ip));
    PrintState("enqueue");
}

void
Dequeue()
{
    auto item = qdisc->Dequeue();
    if (item)
    {
        PrintState("dequeue " + std::to_string(Number(item)) + " " + ECN[EcnOf(item)]);
    }
    else
    {
        PrintState("dequeue none");
    }
}

void
RunQdisc()
{
    qdisc->Run();
    PrintState("run");
}

void
Send(Ptr<QueueDiscItem> item)
{
    std::printf("%ld send %u\n", Now(), Number(item));
}

void
PrintCounts(const char* verdict,
            const std::map<std::string, uint32_t, std::less<>>& packets,
            const std::map<std::string, uint64_t, std::less<>>& bytes)
{
    for (const auto& [reason, count] : packets)
    {
        std::printf("count %s \"%s\" %u %lu\n",
                    verdict,
                    reason.c_str(),
                    count,
                    (unsigned long)bytes.at(reason));
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    std::ifstream script(argv[1]);
    std::string line;
    ObjectFactory factory;
    auto device = CreateObject<PointToPointNetDevice>();
    auto queues = CreateObject<NetDeviceQueueInterface>();
    device->AggregateObject(queues);

    auto build = [&]() {
        if (qdisc)
        {
            return;
        }
        qdisc = factory.Create<QueueDisc>();
        qdisc->SetNetDeviceQueueInterface(queues);
        qdisc->SetSendCallback(MakeCallback(&Send));
        AssignStreams(qdisc, stream);
        qdisc->TraceConnectWithoutContext("Enqueue", MakeCallback(&OnEnqueue));
        qdisc->TraceConnectWithoutContext("DropBeforeEnqueue", MakeCallback(&OnDrop));
        qdisc->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&OnDrop));
        qdisc->TraceConnectWithoutContext("Mark", MakeCallback(&OnMark));
        qdisc->TraceConnectWithoutContext("SojournTime", MakeCallback(&OnSojourn));
        qdisc->Initialize();
    };

    uint32_t packets = 0;
    int64_t last = 0;
    while (std::getline(script, line))
    {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "qdisc")
        {
            words >> word;
            factory.SetTypeId("ns3::" + word);
        }
        else if (word == "attribute")
        {
            std::string name;
            std::string value;
            words >> name >> std::ws;
            std::getline(words, value);
            factory.Set(name, StringValue(value));
        }
        else if (word == "mtu")
        {
            uint16_t mtu;
            words >> mtu;
            device->SetMtu(mtu);
        }
        else if (word == "stream")
        {
            words >> stream;
        }
        else if (word == "run")
        {
            uint64_t run;
            words >> run;
            RngSeedManager::SetRun(run);
        }
        else if (word == "flow")
        {
            std::string source;
            std::string destination;
            uint32_t sourcePort;
            uint32_t destinationPort;
            uint32_t protocol;
            uint32_t priority;
            words >> source >> destination >> sourcePort >> destinationPort >> protocol >> priority;
            flows.push_back({Ipv4Address(source.c_str()),
                             Ipv4Address(destination.c_str()),
                             uint16_t(sourcePort),
                             uint16_t(destinationPort),
                             uint8_t(protocol),
                             uint8_t(priority)});
        }
        else if (word == "at")
        {
            build();
            words >> last >> word;
            Time at = NanoSeconds(last);
            if (word == "enqueue")
            {
                uint32_t flow;
                uint32_t backward;
                uint32_t bytes;
                uint32_t ecn;
                words >> flow >> backward >> bytes >> ecn;
                Simulator::Schedule(at, &Enqueue, packets++, flow, backward, bytes, ecn);
            }
            else if (word == "dequeue")
            {
                Simulator::Schedule(at, &Dequeue);
            }
            else
            {
                Simulator::Schedule(at, &RunQdisc);
            }
        }
    }
    Simulator::Stop(NanoSeconds(last));
    Simulator::Run();

    const auto& stats = qdisc->GetStats();
    std::printf("total enqueued %u dequeued %u dropped %u marked %u\n",
                stats.nTotalEnqueuedPackets,
                stats.nTotalDequeuedPackets,
                stats.nTotalDroppedPackets,
                stats.nTotalMarkedPackets);
    PrintCounts("drop_after_dequeue",
                stats.nDroppedPacketsAfterDequeue,
                stats.nDroppedBytesAfterDequeue);
    PrintCounts("drop_before_enqueue",
                stats.nDroppedPacketsBeforeEnqueue,
                stats.nDroppedBytesBeforeEnqueue);
    PrintCounts("mark", stats.nMarkedPackets, stats.nMarkedBytes);
    qdisc->Dispose();
    Simulator::Destroy();
    return 0;
}
