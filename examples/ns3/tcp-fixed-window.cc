// SPDX-License-Identifier: GPL-2.0-only

#include "tcp-fixed-window.h"

#include "ns3/tcp-socket-state.h"
#include "ns3/uinteger.h"

NS_OBJECT_ENSURE_REGISTERED(TcpFixedWindow);

ns3::TypeId
TcpFixedWindow::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("TcpFixedWindow")
            .SetParent<ns3::TcpCongestionOps>()
            .AddConstructor<TcpFixedWindow>()
            .AddAttribute("Segments",
                          "The window.",
                          ns3::UintegerValue(20),
                          ns3::MakeUintegerAccessor(&TcpFixedWindow::m_segments),
                          ns3::MakeUintegerChecker<uint32_t>(1));
    return tid;
}

std::string
TcpFixedWindow::GetName() const
{
    return "TcpFixedWindow";
}

void
TcpFixedWindow::IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> tcb, uint32_t)
{
    tcb->m_cWnd = m_segments * tcb->m_segmentSize;
    tcb->m_cWndInfl = tcb->m_cWnd;
}

uint32_t
TcpFixedWindow::GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, uint32_t)
{
    return m_segments * tcb->m_segmentSize;
}

ns3::Ptr<ns3::TcpCongestionOps>
TcpFixedWindow::Fork()
{
    return ns3::CopyObject<TcpFixedWindow>(this);
}
