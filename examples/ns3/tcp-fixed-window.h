// SPDX-License-Identifier: GPL-2.0-only

#ifndef TCP_FIXED_WINDOW_H
#define TCP_FIXED_WINDOW_H

#include "ns3/tcp-congestion-ops.h"

// A congestion control that is not part of ns-3: from the first ACK on, its window is `Segments` segments,
// whatever happens.
class TcpFixedWindow : public ns3::TcpCongestionOps
{
  public:
    static ns3::TypeId GetTypeId();

    std::string GetName() const override;
    void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> tcb, uint32_t segmentsAcked) override;
    uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, uint32_t bytesInFlight) override;
    ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

  private:
    uint32_t m_segments;
};

#endif
