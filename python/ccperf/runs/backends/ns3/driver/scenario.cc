// SPDX-License-Identifier: GPL-2.0-only

#include "scenario.h"

#include "json.h"

#include <cctype>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace ccperf
{

namespace
{

constexpr int SCHEMA = 3;
constexpr int OLDEST_SCHEMA = 2; // in which nothing of a link is left out

template <class T>
T
Get(const Json& json, const char* name)
{
    return json[name].As<T>();
}

template <class T, class Read>
std::vector<T>
ReadList(const Json& json, Read read)
{
    std::vector<T> list;
    for (const auto& item : json.items)
    {
        list.push_back(read(item.second));
    }
    return list;
}

template <class T>
std::vector<T>
ReadValues(const Json& json)
{
    return ReadList<T>(json, [](const Json& item) { return item.As<T>(); });
}

template <class T>
std::array<T, 2>
ReadPair(const Json& json)
{
    const auto values = ReadValues<T>(json);
    return {values.at(0), values.at(1)};
}

template <class T>
std::optional<T>
ReadOptional(const Json& json)
{
    return json.IsNull() ? std::nullopt : std::optional<T>(json.As<T>());
}

template <class T>
std::array<std::optional<T>, 2>
ReadOptionalPair(const Json& json)
{
    const auto values = ReadList<std::optional<T>>(json, ReadOptional<T>);
    return {values.at(0), values.at(1)};
}

Attributes
ReadAttributes(const Json& json)
{
    Attributes attributes;
    for (const auto& [name, value] : json.items)
    {
        attributes.emplace_back(name, value.As<std::string>());
    }
    return attributes;
}

Algorithm
ReadAlgorithm(const Json& json)
{
    return {Get<std::string>(json, "type"),
            ReadAttributes(json["attributes"]),
            static_cast<std::int64_t>(Get<std::uint64_t>(json, "stream")),
            ReadList<Algorithm>(json["children"], ReadAlgorithm)};
}

Distribution
ReadDistribution(const Json& json)
{
    const auto capital = [](std::string name) {
        name.at(0) = static_cast<char>(std::toupper(name.at(0)));
        return name;
    };
    const auto& [name, parameters] = json.items.at(0);
    Distribution distribution{capital(name), {}};
    if (parameters.kind == Json::Kind::NUMBER)
    {
        distribution.attributes.emplace_back(distribution.type, parameters.As<double>());
    }
    for (const auto& [parameter, value] : parameters.items)
    {
        distribution.attributes.emplace_back(capital(parameter), value.As<double>());
    }
    return distribution;
}

std::optional<GilbertElliott>
ReadGilbertElliott(const Json& json)
{
    if (json.IsNull())
    {
        return std::nullopt;
    }
    return GilbertElliott{Get<double>(json, "to_bad"),
                          Get<double>(json, "to_good"),
                          Get<double>(json, "loss_in_good"),
                          Get<double>(json, "loss_in_bad")};
}

std::optional<Jitter>
ReadJitter(const Json& json)
{
    if (json.IsNull())
    {
        return std::nullopt;
    }
    return Jitter{ReadDistribution(json["delay_s"]),
                  Get<bool>(json, "keeps_order"),
                  Get<std::int64_t>(json, "stream")};
}

std::optional<Reordering>
ReadReordering(const Json& json)
{
    if (json.IsNull())
    {
        return std::nullopt;
    }
    return Reordering{Get<double>(json, "probability"),
                      ReadDistribution(json["delay_s"]),
                      Get<std::int64_t>(json, "stream")};
}

// What is left out of a direction that has what most have.
const Json&
UsualDirection()
{
    static const Json usual = ParseJson(
        R"({"name": "", "mtu_bytes": 1500,
            "qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "1000p"}, "stream": 0,
                      "children": []},
            "device_queue": {"packets": 100}, "queue_limits_hold_ns": null, "device_queues": 1,
            "device_select": "flow", "loss": 0, "loss_stream": 0, "drops": [],
            "gilbert_elliott": null, "jitter": null, "reordering": null})");
    return usual;
}

// `usualName`: of a direction without one.
Direction
ReadDirection(const Json& json, const std::string& usualName)
{
    const auto field = [&json](const char* name) -> const Json& {
        return json.Get(name, UsualDirection()[name]);
    };
    const auto name = field("name").As<std::string>();
    const Json& qdisc = field("qdisc");
    const auto& [unit, limit] = field("device_queue").items.at(0);
    return {name.empty() ? usualName : name,
            Get<std::uint64_t>(json, "rate_bps"),
            field("mtu_bytes").As<std::uint16_t>(),
            qdisc.IsNull() ? std::nullopt : std::optional(ReadAlgorithm(qdisc)),
            {unit == "bytes", limit.As<std::uint32_t>()},
            field("device_queues").As<std::size_t>(),
            field("device_select").As<std::string>() == "flow" ? DeviceSelect::FLOW
                                                               : DeviceSelect::PRIORITY,
            ReadOptional<std::int64_t>(field("queue_limits_hold_ns")),
            field("loss").As<double>(),
            field("loss_stream").As<std::int64_t>(),
            ReadValues<std::uint64_t>(field("drops")),
            ReadGilbertElliott(field("gilbert_elliott")),
            ReadJitter(field("jitter")),
            ReadReordering(field("reordering"))};
}

Schedule
ReadSchedule(const Json& json)
{
    return {ReadPair<bool>(json["sides"]),
            ReadValues<std::int64_t>(json["times_ns"]),
            ReadValues<std::uint64_t>(json["rates_bps"]),
            ReadValues<std::int64_t>(json["delays_ns"]),
            ReadValues<double>(json["losses"])};
}

Link
ReadLink(const Json& json)
{
    static const Json none{.kind = Json::Kind::ARRAY, .text = {}, .items = {}};
    const auto name = Get<std::string>(json, "name");
    const auto& directions = json["directions"].items;
    return {name,
            ReadPair<std::size_t>(json["ends"]),
            ReadPair<std::string>(json["addresses"]),
            Get<std::int64_t>(json, "delay_ns"),
            {ReadDirection(directions.at(0).second, name + "_forward"),
             ReadDirection(directions.at(1).second, name + "_reverse")},
            ReadList<Schedule>(json.Get("schedules", none), ReadSchedule)};
}

Change
ReadChange(const Json& json)
{
    return {Get<std::int64_t>(json, "time_ns"),
            Get<std::size_t>(json, "link"),
            ReadOptionalPair<std::uint64_t>(json["rate_bps"]),
            ReadOptional<std::int64_t>(json["delay_ns"]),
            ReadOptionalPair<double>(json["loss"])};
}

Failure
ReadFailure(const Json& json)
{
    return {Get<std::int64_t>(json, "time_ns"),
            ReadValues<std::size_t>(json["down"]),
            ReadValues<std::size_t>(json["up"])};
}

std::optional<std::vector<std::size_t>>
ReadNodes(const Json& json)
{
    if (json.IsNull())
    {
        return {};
    }
    return ReadValues<std::size_t>(json);
}

Fault
ReadFault(const Json& json)
{
    return {Get<std::size_t>(json, "node"),
            Get<double>(json, "loss"),
            ReadNodes(json["sources"]),
            ReadNodes(json["destinations"]),
            Get<std::int64_t>(json, "start_ns"),
            Get<std::int64_t>(json, "stop_ns"),
            Get<std::int64_t>(json, "stream")};
}

std::vector<Hop>
ReadPath(const Json& json)
{
    return ReadList<Hop>(json, [](const Json& item) {
        const auto hop = ReadPair<std::size_t>(item);
        return Hop{hop[0], hop[1]};
    });
}

// `{"exponential": {"mean": 1.0, "bound": 0.0}}`, `{"constant": 1.0}`: ns-3's names begin with a capital.
Traffic
ReadTraffic(const Json& json)
{
    const auto type = Get<std::string>(json, "type");
    const auto bytes = Get<std::uint64_t>(json, "bytes");
    const auto writeBytes = Get<std::uint32_t>(json, "write_bytes");
    if (type == "greedy")
    {
        return GreedyTraffic{bytes, writeBytes, Get<bool>(json, "eager")};
    }
    const auto rate = Get<std::uint64_t>(json, "rate_bps");
    const auto stream = Get<std::int64_t>(json, "stream");
    if (type == "on_off")
    {
        return OnOffTraffic{bytes,
                            writeBytes,
                            rate,
                            ReadDistribution(json["on_s"]),
                            ReadDistribution(json["off_s"]),
                            stream};
    }
    if (type == "poisson")
    {
        return PoissonTraffic{bytes, writeBytes, rate, stream};
    }
    throw std::runtime_error("this driver has no application `" + type + "`");
}

Flow
ReadFlow(const Json& json)
{
    const Json& congestionControl = json["congestion_control"];
    return {Get<std::string>(json, "name"),
            Get<std::string>(json, "transport") == "UDP" ? Transport::UDP : Transport::TCP,
            Get<std::size_t>(json, "source"),
            Get<std::size_t>(json, "destination"),
            Get<std::string>(json, "source_address"),
            Get<std::string>(json, "destination_address"),
            Get<std::uint16_t>(json, "source_port"),
            Get<std::uint16_t>(json, "destination_port"),
            ReadPath(json["path"]),
            ReadPath(json["return_path"]),
            Get<std::int64_t>(json, "start_ns"),
            Get<std::int64_t>(json, "stop_ns"),
            Get<std::int64_t>(json, "receiver_stop_ns"),
            Get<bool>(json, "is_heard"),
            ReadTraffic(json["application"]),
            congestionControl.IsNull() ? Algorithm{} : ReadAlgorithm(congestionControl),
            Get<std::string>(json, "recovery"),
            Get<std::uint8_t>(json, "tos"),
            Get<std::uint8_t>(json, "return_tos"),
            Get<std::string>(json, "group"),
            ReadOptional<std::int64_t>(json["ideal_ns"]),
            Get<std::uint8_t>(json, "dscp"),
            Get<std::uint8_t>(json, "return_dscp"),
            ReadValues<std::uint32_t>(json["pias"]),
            Get<std::int64_t>(json, "added_delay_ns"),
            ReadAttributes(json["socket"])};
}

PingFlow
ReadPing(const Json& json)
{
    return {Get<std::string>(json, "name"),
            Get<std::size_t>(json, "source"),
            Get<std::size_t>(json, "destination"),
            Get<std::string>(json, "source_address"),
            Get<std::string>(json, "destination_address"),
            ReadPath(json["path"]),
            ReadPath(json["return_path"]),
            Get<std::int64_t>(json, "start_ns"),
            Get<std::int64_t>(json, "stop_ns"),
            Get<std::int64_t>(json, "interval_ns"),
            Get<std::uint32_t>(json, "size_bytes")};
}

Recording
ReadRecording(const Json& json)
{
    static const Json NO{Json::Kind::BOOLEAN, "false", {}};
    return {Get<std::int64_t>(json, "interval_ns"),
            ReadValues<std::size_t>(json["flows"]),
            ReadValues<std::size_t>(json["ports"]),
            Get<std::int64_t>(json, "queue_interval_ns"),
            ReadValues<std::size_t>(json["queue_ports"]),
            ReadValues<std::size_t>(json["changes"]),
            Get<bool>(json, "completions"),
            json.Get("deliveries", NO).As<bool>(),
            Get<bool>(json, "flow_monitor")};
}

// The transfers of a workload as flows: columns, and what they have in common.
void
AppendTransfers(const Json& json, const Json& scenario, std::vector<Flow>& flows)
{
    const auto name = Get<std::string>(json, "name");
    const Json& stack = scenario["stacks"].items.at(Get<std::size_t>(json, "stack")).second;
    const auto pairs = ReadValues<std::size_t>(json["pair"]);
    const auto sourcePorts = ReadValues<std::uint16_t>(json["source_port"]);
    const auto destinationPorts = ReadValues<std::uint16_t>(json["destination_port"]);
    const auto starts = ReadValues<std::int64_t>(json["start_ns"]);
    const auto bytes = ReadValues<std::uint64_t>(json["bytes"]);
    const auto ideals = ReadValues<std::int64_t>(json["ideal_ns"]);
    const auto added = ReadValues<std::int64_t>(json["added_delay_ns"]); // none, if there are none
    for (std::size_t i = 0; i < starts.size(); ++i)
    {
        const Json& pair = scenario["pairs"].items.at(pairs.at(i)).second;
        flows.push_back({.name = name + "_" + std::to_string(i + 1),
                         .transport = Transport::TCP,
                         .source = Get<std::size_t>(pair, "source"),
                         .destination = Get<std::size_t>(pair, "destination"),
                         .sourceAddress = Get<std::string>(pair, "source_address"),
                         .destinationAddress = Get<std::string>(pair, "destination_address"),
                         .sourcePort = sourcePorts.at(i),
                         .destinationPort = destinationPorts.at(i),
                         .path = ReadPath(pair["path"]),
                         .returnPath = ReadPath(pair["return_path"]),
                         .start = starts[i],
                         .stop = 0,
                         .receiverStop = 0,
                         .isHeard = true,
                         .traffic = GreedyTraffic{bytes.at(i), Get<std::uint32_t>(json, "write_bytes"), false},
                         .congestionControl = ReadAlgorithm(stack["congestion_control"]),
                         .recovery = Get<std::string>(stack, "recovery"),
                         .tos = Get<std::uint8_t>(stack, "tos"),
                         .returnTos = Get<std::uint8_t>(stack, "return_tos"),
                         .group = name,
                         .ideal = ideals.at(i),
                         .dscp = Get<std::uint8_t>(stack, "dscp"),
                         .returnDscp = Get<std::uint8_t>(stack, "return_dscp"),
                         .pias = ReadValues<std::uint32_t>(stack["pias"]),
                         .addedDelay = added.empty() ? 0 : added.at(i),
                         .socket = ReadAttributes(stack["socket"])});
    }
}

std::vector<Flow>
ReadFlows(const Json& scenario)
{
    auto flows = ReadList<Flow>(scenario["flows"], ReadFlow);
    for (const auto& item : scenario["workloads"].items)
    {
        AppendTransfers(item.second, scenario, flows);
    }
    return flows;
}

Workload
ReadWorkload(const Json& json)
{
    const auto bytes = ReadValues<std::uint64_t>(json["bytes"]);
    return {Get<std::string>(json, "name"),
            bytes.size(),
            std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}),
            Get<double>(json, "mean_bytes"),
            ReadOptional<double>(json["load"]),
            ReadOptional<double>(json["realised_load"])};
}

} // namespace

Scenario
ReadScenario(const std::string& path)
{
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    if (!file)
    {
        throw std::runtime_error("cannot read " + path);
    }
    const Json json = ParseJson(text.view());
    if (const int schema = Get<int>(json, "schema"); schema < OLDEST_SCHEMA || schema > SCHEMA)
    {
        throw std::runtime_error("the scenario has schema " + std::to_string(schema) +
                                 ", this driver reads " + std::to_string(OLDEST_SCHEMA) + " to " +
                                 std::to_string(SCHEMA));
    }
    return {Get<std::int64_t>(json, "stop_ns"),
            Get<std::uint64_t>(json, "seed"),
            ReadRecording(json["recording"]),
            ReadValues<std::string>(json["nodes"]),
            ReadList<Link>(json["links"], ReadLink),
            ReadList<Change>(json["changes"], ReadChange),
            ReadAlgorithm(json["routing"]),
            ReadList<Failure>(json["failures"], ReadFailure),
            ReadList<Fault>(json["faults"], ReadFault),
            ReadFlows(json),
            ReadList<Workload>(json["workloads"], ReadWorkload),
            ReadList<PingFlow>(json["pings"], ReadPing)};
}

} // namespace ccperf
