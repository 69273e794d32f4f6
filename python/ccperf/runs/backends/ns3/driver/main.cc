// SPDX-License-Identifier: GPL-2.0-only
//
// Runs a lowered scenario on ns-3:
//
//   driver SCENARIO.json TABLES [--packets FILE.csv] [--progress FD] [--timing FILE]
//
// writes the recording's tables to TABLES (format: table.h) and, if asked for, the packet trace to a CSV
// file and the part of the run that is done (0 to 1, a line each time) to a file descriptor.
// With --timing nothing is observed or recorded: the wall time of ns-3's event loop alone, in seconds, is
// written to a file, and no tables.
//
//   driver --classes PARENT
//
// prints the classes derived from one of ns-3's, a user's own included, one a line.
//
// Exit status 0: done; 2: the scenario cannot be run, one line on stderr says why. If ns-3 aborts, its
// message is on stderr; the packet trace and the tables whose rows have a time hold what happened until
// then. The same if it crashes or its processor time is used up (RLIMIT_CPU). The last line of stderr says then
// where it stood: `ended in LIBRARY: FUNCTION`.

#include "added-delay.h"
#include "attributes.h"
#include "culprit.h"
#include "datagrams.h"
#include "flow-socket.h"
#include "greedy.h"
#include "host-marking.h"
#include "memory.h"
#include "network.h"
#include "observed-simulator.h"
#include "packet-trace.h"
#include "recorder.h"
#include "scenario.h"
#include "sources.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

namespace ccperf
{

namespace
{

constexpr std::int64_t PROGRESS_STEPS = 200;

struct Arguments
{
    std::string scenario;
    std::string tables;
    std::string packets;
    std::string timing;
    int progress{-1};
};

Arguments
ParseArguments(int count, char** values)
{
    Arguments arguments;
    if (count < 3 || count % 2 == 0)
    {
        throw std::runtime_error("usage: driver SCENARIO TABLES [--packets FILE] [--progress FD] "
                                 "[--timing FILE]");
    }
    arguments.scenario = values[1];
    arguments.tables = values[2];
    for (int i = 3; i + 1 < count; i += 2)
    {
        if (std::strcmp(values[i], "--packets") == 0)
        {
            arguments.packets = values[i + 1];
        }
        else if (std::strcmp(values[i], "--progress") == 0)
        {
            arguments.progress = std::stoi(values[i + 1]);
        }
        else if (std::strcmp(values[i], "--timing") == 0)
        {
            arguments.timing = values[i + 1];
        }
        else
        {
            throw std::runtime_error(std::string("unknown option ") + values[i]);
        }
    }
    return arguments;
}

void
PrintClasses(const std::string& parent)
{
    const ns3::TypeId base = FindType(parent);
    for (std::uint16_t i = 0; i < ns3::TypeId::GetRegisteredN(); ++i)
    {
        const ns3::TypeId type = ns3::TypeId::GetRegistered(i);
        if (type.IsChildOf(base))
        {
            std::cout << type.GetName() << "\n";
        }
    }
    std::cout.flush();
}

// The run that goes on; ns-3 ends the process without unwinding when an assertion fails.
struct Unfinished
{
    PacketTrace* trace{nullptr};
    const Recorder* recorder{nullptr};
    std::string tables;
};

Unfinished g_unfinished;
// ns-3 is at work: what ends now is ended by it, or by what it calls.
bool g_isSimulating{false};

// Once: what fails on the way here would come back.
void
WriteUnfinished()
{
    const Unfinished run = std::exchange(g_unfinished, {});
    try
    {
        if (run.trace)
        {
            run.trace->Flush();
        }
        if (run.recorder)
        {
            run.recorder->WriteUnfinished(run.tables);
        }
    }
    catch (const std::exception&)
    {
    }
}

void
PrintException()
{
    try
    {
        if (const auto error = std::current_exception())
        {
            std::rethrow_exception(error);
        }
    }
    catch (const std::exception& error)
    {
        std::cerr << error.what() << std::endl;
    }
}

// No exception is caught on the way: the stack still has who has thrown it.
[[noreturn]] void
OnTerminate()
{
    const std::string culprit = Culprit();
    PrintException();
    if (!g_isSimulating && std::current_exception())
    {
        std::_Exit(2);
    }
    std::cerr << "ended in " << culprit << std::endl;
    WriteUnfinished();
    std::abort();
}

// ns-3 has crashed or hangs. More than a signal handler may do by the book, but it is all that is left to do;
// if what was interrupted holds a lock that is needed here, the alarm ends the process.
void
OnSignal(int signal)
{
    constexpr unsigned SECONDS = 5;
    std::signal(signal, SIG_DFL);
    alarm(SECONDS);
    std::cerr << "ended in " << Culprit() << std::endl;
    WriteUnfinished();
    std::raise(signal);
}

class Progress
{
  public:
    Progress(int fd, std::int64_t stop)
        : m_fd(fd),
          m_stop(stop)
    {
    }

    void Advance(std::int64_t time)
    {
        if (m_fd >= 0 && time >= m_next)
        {
            const std::string line =
                std::to_string(static_cast<double>(time) / static_cast<double>(m_stop)) + "\n";
            if (write(m_fd, line.data(), line.size()) < 0)
            {
                m_fd = -1; // nobody reads it
            }
            m_next = time + m_stop / PROGRESS_STEPS;
        }
    }

  private:
    int m_fd;
    std::int64_t m_stop;
    std::int64_t m_next{0};
};

// ns-3 as it is, for the benchmark.
void
RunUnobserved(const std::string& timing)
{
    const auto start = std::chrono::steady_clock::now();
    ns3::Simulator::Run();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    std::ofstream(timing) << elapsed.count() << "\n";
}

ns3::Ptr<ns3::Application>
CreateSink(const Flow& flow, Transfer& transfer, DatagramSinks& datagramSinks)
{
    if (flow.transport == Transport::UDP)
    {
        return datagramSinks.Create(flow, transfer);
    }
    const auto sink = ns3::CreateObject<Sink>();
    sink->Configure(flow, transfer);
    return sink;
}

void
Run(const Arguments& arguments)
{
    const Scenario scenario = ReadScenario(arguments.scenario);
    const bool isObserved = arguments.timing.empty();
    if (isObserved)
    {
        ObservedSimulator::Install();
    }
    else
    {
        UsePlainMemory();
    }
    ns3::RngSeedManager::SetSeed(1);
    ns3::RngSeedManager::SetRun(scenario.seed);

    Network network;
    BuildNetwork(scenario, network);
    InstallHostMarking(scenario, network.nodes);
    InstallAddedDelays(scenario, network);
    const Paths paths(scenario);
    Recorder recorder(scenario, network, paths, isObserved);
    recorder.MonitorFlows();
    std::unique_ptr<PacketTrace> trace;
    if (!arguments.packets.empty())
    {
        trace = std::make_unique<PacketTrace>(arguments.packets, scenario, network, paths);
        g_unfinished.trace = trace.get();
        network.observers.push_back(trace.get());
    }
    if (isObserved)
    {
        g_unfinished.recorder = &recorder;
        g_unfinished.tables = arguments.tables;
    }
    network.observers.push_back(&recorder);
    DatagramSinks datagramSinks;
    for (std::size_t i = 0; i < scenario.flows.size(); ++i)
    {
        const Flow& flow = scenario.flows[i];
        if (const auto sink = CreateSink(flow, recorder.TransferOf(i), datagramSinks))
        {
            network.nodes.Get(flow.destination)->AddApplication(sink);
        }
        const auto node = network.nodes.Get(flow.source);
        const SocketObserver observer{[&recorder, i](auto socket) { recorder.OnSender(i, socket); },
                                      [&recorder, i] { recorder.OnClosed(i); },
                                      [&recorder, i](auto bytes) { recorder.OnDatagram(i, bytes); }};
        const auto factory =
            FlowSocketFactory::Install(node, flow, recorder.TransferOf(i), observer);
        node->AddApplication(CreateSource(flow, factory));
    }
    for (std::size_t i = 0; i < scenario.pings.size(); ++i)
    {
        const auto ping = CreatePing(scenario.pings[i], scenario.stop);
        recorder.OnPing(i, ping);
        network.nodes.Get(scenario.pings[i].source)->AddApplication(ping);
    }

    ns3::Simulator::Stop(ns3::NanoSeconds(scenario.stop));
    g_isSimulating = true;
    if (!isObserved)
    {
        RunUnobserved(arguments.timing);
        return;
    }
    Progress progress(arguments.progress, scenario.stop);
    ObservedSimulator::beforeEvent = [&](std::int64_t time) {
        recorder.BeforeEvent(time);
        progress.Advance(time);
    };
    ns3::Simulator::Run();
    g_isSimulating = false;
    g_unfinished = {};
    recorder.Finish(arguments.tables);
    if (trace)
    {
        trace->Flush();
    }
}

} // namespace

} // namespace ccperf

int
main(int count, char** values)
{
    std::set_terminate(ccperf::OnTerminate);
    for (const int signal : {SIGSEGV, SIGFPE, SIGXCPU})
    {
        std::signal(signal, ccperf::OnSignal);
    }
    // Nobody would read the result of an orphan.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (count == 3 && std::strcmp(values[1], "--classes") == 0)
    {
        ccperf::PrintClasses(values[2]);
    }
    else
    {
        ccperf::Run(ccperf::ParseArguments(count, values));
    }
    // ns-3's objects hold each other; taking them apart one by one would be for nothing.
    std::_Exit(0);
}
