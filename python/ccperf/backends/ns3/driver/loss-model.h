// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_LOSS_MODEL_H
#define CCPERF_LOSS_MODEL_H

#include "ns3/error-model.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>
#include <vector>

namespace ccperf
{

// Losses at a receiving device: first by a list of arrival numbers (as ns3::ReceiveListErrorModel, which
// counts from 0), then at random (as ns3::RateErrorModel per packet).
//
// A listed packet draws nothing. Any other packet draws one uniform number in (0, 1) if the loss rate is
// above 0, and is lost if the number is below the rate.
class LossModel : public ns3::ErrorModel
{
  public:
    static ns3::TypeId GetTypeId();

    // `drops`: numbers of the arrivals to lose, in any order.
    void Configure(std::vector<std::uint64_t> drops,
                   double rate,
                   ns3::Ptr<ns3::UniformRandomVariable> uniform);
    void SetRate(double rate);

  private:
    bool DoCorrupt(ns3::Ptr<ns3::Packet> packet) override;
    void DoReset() override;

    std::vector<std::uint64_t> m_drops; // sorted
    std::size_t m_nextDrop{0};
    std::uint64_t m_arrivals{0};
    double m_rate{0};
    ns3::Ptr<ns3::UniformRandomVariable> m_uniform;
};

} // namespace ccperf

#endif
