// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_SOCKETS_H
#define CCPERF_SOCKETS_H

#include "flow-socket.h"
#include "scenario.h"

#include "ns3/node.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-socket-state.h"

namespace ccperf
{

// A socket of the flow's own congestion control, recovery and attributes, not yet bound: one for the
// receiver, and one for the sender.
ns3::Ptr<ns3::TcpSocketBase> CreateSocket(ns3::Ptr<ns3::Node> node, const Flow& flow);
ns3::Ptr<FlowSocket> CreateSender(ns3::Ptr<ns3::Node> node, const Flow& flow);

// Binds to one address and port for exactly one peer. Unlike TcpSocketBase::Bind this lets several flows
// use the same address and port of a host, towards different peers.
void BindSender(ns3::Ptr<ns3::TcpSocketBase> socket, const Flow& flow);
void BindListener(ns3::Ptr<ns3::TcpSocketBase> socket, const Flow& flow);

// A listener's peer is asking for the connection: from now on the listener, of any local address, stands
// back behind the connection's own socket, which fits better. It still takes nothing but its peer's packets:
// what comes when the connection is gone would fit all listeners at its port, which ends ns-3.
void YieldToConnection(ns3::Ptr<ns3::TcpSocketBase> listener);

ns3::Ptr<const ns3::TcpSocketState> StateOf(ns3::Ptr<const ns3::TcpSocketBase> socket);
ns3::Time RtoOf(ns3::Ptr<const ns3::TcpSocketBase> socket);

} // namespace ccperf

#endif
