// SPDX-License-Identifier: GPL-2.0-only

#include "dctcp-reno.h"

#include "ns3/tcp-socket-state.h"

#include <algorithm>

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(TcpDctcpReno);

ns3::TypeId
TcpDctcpReno::GetTypeId()
{
    static ns3::TypeId tid = ns3::TypeId("ccperf::TcpDctcpReno")
                                 .SetParent<ns3::TcpDctcp>()
                                 .AddConstructor<TcpDctcpReno>();
    return tid;
}

std::string
TcpDctcpReno::GetName() const
{
    return "TcpDctcpReno";
}

std::uint32_t
TcpDctcpReno::GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, std::uint32_t bytesInFlight)
{
    if (tcb->m_congState == ns3::TcpSocketState::CA_RECOVERY)
    {
        return m_reno->GetSsThresh(tcb, bytesInFlight);
    }
    return std::max(ns3::TcpDctcp::GetSsThresh(tcb, bytesInFlight), bytesInFlight / 2);
}

void
TcpDctcpReno::IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> tcb, std::uint32_t segmentsAcked)
{
    m_reno->IncreaseWindow(tcb, segmentsAcked);
}

ns3::Ptr<ns3::TcpCongestionOps>
TcpDctcpReno::Fork()
{
    return ns3::CopyObject<TcpDctcpReno>(this);
}

} // namespace ccperf
