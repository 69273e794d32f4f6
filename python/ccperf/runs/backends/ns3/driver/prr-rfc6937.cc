// SPDX-License-Identifier: GPL-2.0-only

#include "prr-rfc6937.h"

#include "ns3/tcp-socket-state.h"

#include <algorithm>
#include <cmath>

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(PrrRfc6937);

ns3::TypeId
PrrRfc6937::GetTypeId()
{
    static ns3::TypeId tid = ns3::TypeId("ccperf::PrrRfc6937")
                                 .SetParent<ns3::TcpClassicRecovery>()
                                 .AddConstructor<PrrRfc6937>();
    return tid;
}

std::string
PrrRfc6937::GetName() const
{
    return "PrrRfc6937";
}

void
PrrRfc6937::Enter(ns3::Ptr<ns3::TcpSocketState> tcb,
                  std::uint32_t unAckDataCount,
                  std::uint32_t deliveredBytes)
{
    m_out = 0;
    m_delivered = 0;
    m_flightSize = unAckDataCount;
    DoRecovery(tcb, deliveredBytes, true);
}

void
PrrRfc6937::DoRecovery(ns3::Ptr<ns3::TcpSocketState> tcb, std::uint32_t deliveredBytes, bool)
{
    m_delivered += deliveredBytes;

    const std::uint32_t pipe = tcb->m_bytesInFlight;
    const std::uint32_t ssthresh = tcb->m_ssThresh;
    const std::uint32_t segment = tcb->m_segmentSize;
    int toSend;
    if (pipe > ssthresh)
    {
        const std::uint32_t product = m_delivered * ssthresh;
        toSend = static_cast<int>(std::ceil(product * 1.0 / m_flightSize) - m_out);
    }
    else
    {
        std::uint32_t limit = deliveredBytes;
        if (tcb->m_isRetransDataAcked)
        {
            limit = std::max(m_delivered - m_out, deliveredBytes) + segment;
        }
        toSend = std::min(static_cast<int>(limit), static_cast<int>(ssthresh - pipe));
    }
    // The first step always allows the fast retransmission.
    toSend = std::max(toSend, m_out > 0 ? 0 : static_cast<int>(segment));
    tcb->m_cWnd = pipe + static_cast<std::uint32_t>(toSend);
    tcb->m_cWndInfl = tcb->m_cWnd;
}

void
PrrRfc6937::ExitRecovery(ns3::Ptr<ns3::TcpSocketState> tcb)
{
    tcb->m_cWndInfl = tcb->m_cWnd;
}

void
PrrRfc6937::UpdateBytesSent(std::uint32_t bytesSent)
{
    m_out += bytesSent;
}

ns3::Ptr<ns3::TcpRecoveryOps>
PrrRfc6937::Fork()
{
    return ns3::CopyObject(ns3::Ptr<PrrRfc6937>(this));
}

} // namespace ccperf
