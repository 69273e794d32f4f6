// SPDX-License-Identifier: GPL-2.0-only
//
// The lowered scenario (crates/schema/src/lowered.rs), field by field.

#ifndef CCPERF_SCENARIO_H
#define CCPERF_SCENARIO_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ccperf
{

using Attributes = std::vector<std::pair<std::string, std::string>>;

struct Algorithm
{
    std::string type;
    Attributes attributes;
    std::int64_t stream; // below 0: the one that ns-3 assigns by itself, counted from the lowest number
    std::vector<Algorithm> children; // inside a queue discipline
};

struct DeviceQueue
{
    bool inBytes;
    std::uint32_t limit;
};

// How a device with several transmit queues chooses one for a packet, and serves them.
enum class DeviceSelect
{
    FLOW,
    PRIORITY
};

// What a random number is drawn from: ns-3's `type`RandomVariable with these attributes.
struct Distribution
{
    std::string type;
    std::vector<std::pair<std::string, double>> attributes;
};

// Losses in bursts: probabilities of the channel's two states.
struct GilbertElliott
{
    double toBad;
    double toGood;
    double lossInGood;
    double lossInBad;
};

// A delay for each packet, in seconds.
struct Jitter
{
    Distribution delay;
    bool keepsOrder;
    std::int64_t stream;
};

// A delay for some packets, in seconds.
struct Reordering
{
    double probability;
    Distribution delay;
    std::int64_t stream; // of the choice; the delay's is the next one
};

struct Direction
{
    std::string name;
    std::uint64_t rate;
    std::uint16_t mtu;
    std::optional<Algorithm> qdisc;
    DeviceQueue deviceQueue; // each
    std::size_t deviceQueues;
    DeviceSelect deviceSelect;
    std::optional<std::int64_t> queueLimitsHold;
    double loss;
    std::int64_t lossStream;
    std::vector<std::uint64_t> drops;
    std::optional<GilbertElliott> gilbertElliott;
    std::optional<Jitter> jitter;
    std::optional<Reordering> reordering;
};

// New values of a link from given times on, in columns; empty ones change nothing.
struct Schedule
{
    std::array<bool, 2> sides; // of rates and losses
    std::vector<std::int64_t> times;
    std::vector<std::uint64_t> rates;
    std::vector<std::int64_t> delays;
    std::vector<double> losses;
};

struct Link
{
    std::string name;
    std::array<std::size_t, 2> ends;
    std::array<std::string, 2> addresses;
    std::int64_t delay;
    std::array<Direction, 2> directions;
    std::vector<Schedule> schedules;
};

struct Change
{
    std::int64_t time;
    std::size_t link;
    std::array<std::optional<std::uint64_t>, 2> rate;
    std::optional<std::int64_t> delay;
    std::array<std::optional<double>, 2> loss;
};

// Links that fail or come back at one time.
struct Failure
{
    std::int64_t time;
    std::vector<std::size_t> down;
    std::vector<std::size_t> up;
};

// A switch that loses packets that come to it: those between some nodes, or all.
struct Fault
{
    std::size_t node;
    double loss;
    std::optional<std::vector<std::size_t>> sources;
    std::optional<std::vector<std::size_t>> destinations;
    std::int64_t start;
    std::int64_t stop; // 0: never
    std::int64_t stream;
};

// Link and direction: 0 forward, 1 reverse.
struct Hop
{
    std::size_t link;
    std::size_t direction;
};

struct GreedyTraffic
{
    std::uint64_t bytes; // of the transfer; 0: endless
    std::uint32_t writeBytes;
    bool isEager; // writes before the connection is there, too, and parts of writes
};

struct OnOffTraffic
{
    std::uint64_t bytes;
    std::uint32_t writeBytes;
    std::uint64_t rate;
    Distribution on; // s
    Distribution off;
    std::int64_t stream;
};

struct PoissonTraffic
{
    std::uint64_t bytes;
    std::uint32_t writeBytes;
    std::uint64_t rate;
    std::int64_t stream;
};

using Traffic = std::variant<GreedyTraffic, OnOffTraffic, PoissonTraffic>;

enum class Transport
{
    TCP,
    UDP
};

struct Flow
{
    std::string name;
    Transport transport;
    std::size_t source;
    std::size_t destination;
    std::string sourceAddress;
    std::string destinationAddress;
    std::uint16_t sourcePort;
    std::uint16_t destinationPort;
    std::vector<Hop> path;
    std::vector<Hop> returnPath;
    std::int64_t start;
    std::int64_t stop; // 0: never stopped
    std::int64_t receiverStop;
    bool isHeard; // false: nobody ever listens at the destination
    Traffic traffic;
    Algorithm congestionControl; // and what else is TCP's: empty over UDP
    std::string recovery;
    std::uint8_t tos;       // of the source's packets
    std::uint8_t returnTos; // of the destination's
    std::string group;
    std::optional<std::int64_t> ideal; // ns
    std::uint8_t dscp;      // which the hosts write into all packets; 0: none
    std::uint8_t returnDscp;
    std::vector<std::uint32_t> pias; // bytes after each of which the source's DSCP is one higher
    std::int64_t addedDelay; // propagation of its packets beyond their first link's
    Attributes socket;
};

// ICMP echo requests.
struct PingFlow
{
    std::string name;
    std::size_t source;
    std::size_t destination;
    std::string sourceAddress;
    std::string destinationAddress;
    std::vector<Hop> path;
    std::vector<Hop> returnPath;
    std::int64_t start;
    std::int64_t stop; // 0: never stopped
    std::int64_t interval;
    std::uint32_t bytes;
};

// What is recorded besides the counters; flows and ports by their positions, ascending.
struct Recording
{
    std::int64_t interval;
    std::vector<std::size_t> flows;
    std::vector<std::size_t> ports;
    std::int64_t queueInterval;
    std::vector<std::size_t> queuePorts;
    std::vector<std::size_t> changes;
    bool completions;
    bool deliveries;
    bool flowMonitor;
};

// What was asked of a workload, whose transfers are among the flows, and what came of it.
struct Workload
{
    std::string name;
    std::size_t transfers;
    std::uint64_t bytes;
    double meanBytes;
    std::optional<double> load;
    std::optional<double> realisedLoad;
};

struct Scenario
{
    std::int64_t stop;
    std::uint64_t seed;
    Recording recording;
    std::vector<std::string> nodes;
    std::vector<Link> links;
    std::vector<Change> changes;
    Algorithm routing; // how nodes choose among paths of equal length
    std::vector<Failure> failures;
    std::vector<Fault> faults;
    std::vector<Flow> flows;
    std::vector<Workload> workloads;
    std::vector<PingFlow> pings;
};

// Throws std::runtime_error with the reason.
Scenario ReadScenario(const std::string& path);

} // namespace ccperf

#endif
