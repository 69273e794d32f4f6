// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_PRR_RFC6937_H
#define CCPERF_PRR_RFC6937_H

#include "enter-recovery.h"

#include <cstdint>

namespace ccperf
{

// Proportional rate reduction after RFC 6937, as ns-3 had it from 3.33 until September 2024; the
// published ccperf tables were made with it. Unlike 3.44's TcpPrrRecovery,
//  - RecoverFS is all that is unacknowledged on entry, not the pipe,
//  - only bytes that an ACK delivers count as delivered (no segment is credited to a duplicate ACK),
//  - below ssthresh an ACK may release what it delivered, and an allowance for what was delivered
//    before only if it acknowledges retransmitted data.
// Quantities are 32 bits wide and wrap, which large windows do see.
class PrrRfc6937 : public EnterRecoveryOf<ns3::TcpClassicRecovery>
{
  public:
    static ns3::TypeId GetTypeId();

    std::string GetName() const override;
    void DoRecovery(ns3::Ptr<ns3::TcpSocketState> tcb,
                    std::uint32_t deliveredBytes,
                    bool isDupAck) override;
    void ExitRecovery(ns3::Ptr<ns3::TcpSocketState> tcb) override;
    void UpdateBytesSent(std::uint32_t bytesSent) override;
    ns3::Ptr<ns3::TcpRecoveryOps> Fork() override;

  protected:
    void Enter(ns3::Ptr<ns3::TcpSocketState> tcb,
               std::uint32_t unAckDataCount,
               std::uint32_t deliveredBytes) override;

  private:
    std::uint32_t m_delivered{0};  // prr_delivered
    std::uint32_t m_out{0};        // prr_out
    std::uint32_t m_flightSize{0}; // RecoverFS
};

} // namespace ccperf

#endif
