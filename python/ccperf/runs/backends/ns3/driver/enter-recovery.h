// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_ENTER_RECOVERY_H
#define CCPERF_ENTER_RECOVERY_H

#include "ns3/tcp-recovery-ops.h"

#include <cstdint>

namespace ccperf
{

// TcpRecoveryOps::EnterRecovery tells how many bytes are SACKed from the release after 3.48 on. A class of
// ours derives from EnterRecoveryOf, which overrides the one that this ns-3 has and calls Enter.
template <typename Parent, typename Method>
class EnterRecoveryFor;

template <typename Parent, typename... More>
class EnterRecoveryFor<Parent,
                       void (ns3::TcpRecoveryOps::*)(ns3::Ptr<ns3::TcpSocketState>,
                                                     std::uint32_t,
                                                     std::uint32_t,
                                                     std::uint32_t,
                                                     More...)> : public Parent
{
  public:
    using Parent::Parent;

    void EnterRecovery(ns3::Ptr<ns3::TcpSocketState> tcb,
                       std::uint32_t,
                       std::uint32_t unAckDataCount,
                       std::uint32_t deliveredBytes,
                       More...) override
    {
        Enter(tcb, unAckDataCount, deliveredBytes);
    }

  protected:
    virtual void Enter(ns3::Ptr<ns3::TcpSocketState> tcb,
                       std::uint32_t unAckDataCount,
                       std::uint32_t deliveredBytes) = 0;
};

template <typename Parent>
using EnterRecoveryOf = EnterRecoveryFor<Parent, decltype(&ns3::TcpRecoveryOps::EnterRecovery)>;

} // namespace ccperf

#endif
