// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_DCTCP_RENO_H
#define CCPERF_DCTCP_RENO_H

#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-dctcp.h"

namespace ccperf
{

// DCTCP's marks with NewReno's answer to losses and its growth (RFC 8257 section 3.5), as the simulator of
// ECN# has it. Unlike 3.44's TcpDctcp,
//  - a loss told by duplicate ACKs leaves half of what is in flight, at least two segments,
//  - ECE and timeouts never leave less than half of what is in flight,
//  - the window grows as TcpNewReno's.
class TcpDctcpReno : public ns3::TcpDctcp
{
  public:
    static ns3::TypeId GetTypeId();

    std::string GetName() const override;
    std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb,
                              std::uint32_t bytesInFlight) override;
    void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> tcb, std::uint32_t segmentsAcked) override;
    ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

  private:
    ns3::Ptr<ns3::TcpNewReno> m_reno = ns3::CreateObject<ns3::TcpNewReno>();
};

} // namespace ccperf

#endif
