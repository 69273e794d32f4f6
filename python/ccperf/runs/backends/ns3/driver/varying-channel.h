// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_VARYING_CHANNEL_H
#define CCPERF_VARYING_CHANNEL_H

#include "scenario.h"

#include "ns3/net-device-container.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/random-variable-stream.h"

#include <array>
#include <optional>

namespace ccperf
{

// A point-to-point channel on which packets do not all take the same time.
//
// When a device starts to send a packet, the jitter of that direction draws a delay on top of the channel's.
// If it keeps order, the packet arrives no earlier than the one before it, late ones not counted. Then
// the direction's reordering draws a uniform number in (0, 1): below the probability the packet is late, by
// another delay that is drawn then, on top of all that.
class VaryingChannel : public ns3::PointToPointChannel
{
  public:
    static ns3::TypeId GetTypeId();

    // Whether a link asks for one.
    static bool IsNeeded(const ccperf::Link& link);
    // Puts it in the place of the channel between these devices.
    static void Install(const ccperf::Link& link, const ns3::NetDeviceContainer& devices);

    // Takes the place of another one, which is used no more.
    void VaryAs(const VaryingChannel& other);

    bool TransmitStart(ns3::Ptr<const ns3::Packet> packet,
                       ns3::Ptr<ns3::PointToPointNetDevice> source,
                       ns3::Time txTime) override;

  private:
    struct Impairments
    {
        ns3::Ptr<ns3::RandomVariableStream> jitter; // null: none
        bool keepsOrder{false};
        ns3::Time lastArrival;
        double probability{0};
        ns3::Ptr<ns3::UniformRandomVariable> choice; // null: no reordering
        ns3::Ptr<ns3::RandomVariableStream> lateness;
    };

    static Impairments ImpairmentsOf(const Direction& direction);

    // From now until the packet arrives; `plain`: what it would be without all this.
    static ns3::Time Flight(Impairments& impairments, ns3::Time plain);

    std::array<Impairments, 2> m_impairments;
};

} // namespace ccperf

#endif
