// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_LOSS_MODEL_H
#define CCPERF_LOSS_MODEL_H

#include "scenario.h"

#include "ns3/error-model.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ccperf
{

// Why what was queued or on the wire when a link failed is lost.
inline constexpr const char* LINK_DOWN = "Link down";

// Losses at a receiving device: first by a list of arrival numbers (as ns3::ReceiveListErrorModel, which
// counts from 0), then in bursts, then at random
// (as ns3::RateErrorModel per packet).
//
// A listed packet draws nothing. With bursts any other packet draws two uniform numbers in (0, 1): below
// the first one's probability the channel changes its state, good at first; below the second one's, that of the
// state then, the packet is lost. What that leaves draws a number if the loss rate is above 0, and is lost
// if it is below the rate. What was on its way when the link failed is lost
// without having arrived: it is neither counted nor drawn for.
class LossModel : public ns3::ErrorModel
{
  public:
    static ns3::TypeId GetTypeId();

    // `drops`: numbers of the arrivals to lose, in any order.
    void Configure(std::vector<std::uint64_t> drops,
                   const std::optional<GilbertElliott>& bursts,
                   double rate,
                   ns3::Ptr<ns3::UniformRandomVariable> uniform);
    void SetRate(double rate);

    // Why a packet that the link has not lost is lost by the node that it has come to; null: it is not.
    using Judge = std::function<const char*(ns3::Ptr<const ns3::Packet>)>;
    void AddFault(Judge judge);

    // The link fails: what has been sent and has not arrived is lost.
    void LoseWhatIsOnItsWay();
    // To be told of every packet, if the link may fail.
    void OnSent(ns3::Ptr<const ns3::Packet> packet);
    // Why the last packet was lost, and whether that was a failure.
    const char* LastReason() const;
    bool IsLastLostByFailure() const;

  private:
    // Packets by their uid, which segments of the same data may share.
    using Packets = std::unordered_map<std::uint64_t, std::uint32_t>;

    static bool TakeFrom(Packets& packets, std::uint64_t uid);

    bool IsLostInBurst();
    const char* ReasonToLose(ns3::Ptr<const ns3::Packet> packet);
    bool DoCorrupt(ns3::Ptr<ns3::Packet> packet) override;
    void DoReset() override;

    std::vector<std::uint64_t> m_drops; // sorted
    std::size_t m_nextDrop{0};
    std::uint64_t m_arrivals{0};
    std::optional<GilbertElliott> m_bursts;
    bool m_isBad{false};
    double m_rate{0};
    ns3::Ptr<ns3::UniformRandomVariable> m_uniform;
    Packets m_onItsWay;
    Packets m_doomed; // of these, those that do not arrive
    std::vector<Judge> m_faults;
    const char* m_lastReason{nullptr};
};

} // namespace ccperf

#endif
