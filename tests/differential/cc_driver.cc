// SPDX-License-Identifier: GPL-2.0-only
//
// Replays a script of calls into one of ns-3's congestion control classes and prints what each
// call leaves behind.  The script's language is described in test_cc.py; the engine's counterpart
// is crates/engine/examples/cc_replay.rs.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <cinttypes>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>

using namespace ns3;

namespace
{

struct Call
{
    int64_t time;
    std::string name;
    std::vector<std::string> arguments;
};

Ptr<TcpSocketState> g_tcb;
Ptr<TcpCongestionOps> g_cc;
TcpRateOps::TcpRateConnection g_connection;
std::vector<Call> g_calls;
size_t g_next = 0;
int64_t g_last_result = 0;
std::string g_early_ack;

/// The value of a token; `old` is what a relative one builds on.
int64_t
Value(const std::string& token, int64_t old)
{
    const auto rest = [&] { return std::stoll(token.substr(1)); };
    const int64_t cwnd = g_tcb->m_cWnd.Get();
    switch (token[0])
    {
    case '+':
        return old + rest();
    case '%':
        return cwnd * rest() / 1000;
    case '@':
        return static_cast<uint32_t>(g_tcb->m_lastAckedSeq.GetValue() + cwnd * rest() / 1000);
    case '$':
        return g_last_result;
    default:
        return static_cast<int64_t>(std::stoull(token));
    }
}

std::pair<std::string, std::string>
Split(const std::string& text)
{
    const auto at = text.find('=');
    return {text.substr(0, at), text.substr(at + 1)};
}

void
SetField(const std::string& argument)
{
    const auto [name, token] = Split(argument);
    const auto& tcb = g_tcb;
    if (name == "cwnd")
    {
        tcb->m_cWnd = Value(token, tcb->m_cWnd);
    }
    else if (name == "ssthresh")
    {
        tcb->m_ssThresh = Value(token, tcb->m_ssThresh);
    }
    else if (name == "initial_cwnd")
    {
        tcb->m_initialCWnd = Value(token, 0);
    }
    else if (name == "initial_ssthresh")
    {
        tcb->m_initialSsThresh = Value(token, 0);
    }
    else if (name == "segment_size")
    {
        tcb->m_segmentSize = Value(token, 0);
    }
    else if (name == "bytes_in_flight")
    {
        tcb->m_bytesInFlight = Value(token, tcb->m_bytesInFlight);
    }
    else if (name == "last_acked_sacked")
    {
        tcb->m_lastAckedSackedBytes = Value(token, 0);
    }
    else if (name == "last_acked_seq")
    {
        tcb->m_lastAckedSeq = SequenceNumber32(Value(token, tcb->m_lastAckedSeq.GetValue()));
    }
    else if (name == "next_tx_seq")
    {
        tcb->m_nextTxSequence =
            SequenceNumber32(Value(token, tcb->m_nextTxSequence.Get().GetValue()));
    }
    else if (name == "high_tx_mark")
    {
        tcb->m_highTxMark = SequenceNumber32(Value(token, tcb->m_highTxMark.Get().GetValue()));
    }
    else if (name == "next_rx_seq")
    {
        const auto old = tcb->m_rxBuffer->NextRxSequence().GetValue();
        tcb->m_rxBuffer->SetNextRxSequence(SequenceNumber32(Value(token, old)));
    }
    else if (name == "cong_state")
    {
        tcb->m_congState = static_cast<TcpSocketState::TcpCongState_t>(Value(token, 0));
    }
    else if (name == "ecn_state")
    {
        tcb->m_ecnState = static_cast<TcpSocketState::EcnState_t>(Value(token, 0));
    }
    else if (name == "is_cwnd_limited")
    {
        tcb->m_isCwndLimited = Value(token, 0) != 0;
    }
    else if (name == "last_rtt")
    {
        tcb->m_lastRtt = NanoSeconds(Value(token, 0));
    }
    else if (name == "srtt")
    {
        tcb->m_srtt = NanoSeconds(Value(token, 0));
    }
    else if (name == "min_rtt")
    {
        tcb->m_minRtt = NanoSeconds(Value(token, 0));
    }
    else if (name == "rcv_timestamp")
    {
        tcb->m_rcvTimestampValue = Value(token, tcb->m_rcvTimestampValue);
    }
    else if (name == "rcv_timestamp_echo")
    {
        tcb->m_rcvTimestampEchoReply = Value(token, tcb->m_rcvTimestampEchoReply);
    }
    else if (name == "max_pacing_rate")
    {
        tcb->m_maxPacingRate = DataRate(static_cast<uint64_t>(Value(token, 0)));
    }
    else if (name == "pacing_rate")
    {
        tcb->m_pacingRate = DataRate(static_cast<uint64_t>(Value(token, 0)));
    }
    else
    {
        NS_FATAL_ERROR("unknown field " << name);
    }
}

void
Control(const std::vector<std::string>& arguments)
{
    TcpRateOps::TcpRateSample sample;
    for (const auto& argument : arguments)
    {
        const auto [name, token] = Split(argument);
        if (name == "delivered")
        {
            g_connection.m_delivered = Value(token, g_connection.m_delivered);
        }
        else if (name == "rate")
        {
            sample.m_deliveryRate = DataRate(static_cast<uint64_t>(Value(token, 0)));
        }
        else if (name == "interval")
        {
            sample.m_interval = NanoSeconds(Value(token, 0));
        }
        else if (name == "sample_delivered")
        {
            sample.m_delivered = Value(token, 0);
        }
        else if (name == "prior_delivered")
        {
            sample.m_priorDelivered = Value(token, 0);
        }
        else if (name == "prior_in_flight")
        {
            sample.m_priorInFlight = Value(token, 0);
        }
        else if (name == "bytes_loss")
        {
            sample.m_bytesLoss = Value(token, 0);
        }
        else if (name == "acked_sacked")
        {
            sample.m_ackedSacked = Value(token, 0);
        }
        else if (name == "is_app_limited")
        {
            sample.m_isAppLimited = Value(token, 0) != 0;
        }
        else
        {
            NS_FATAL_ERROR("unknown field " << name);
        }
    }
    g_cc->CongControl(g_tcb, g_connection, sample);
}

std::string
Execute(const Call& call)
{
    const auto argument = [&](size_t i) { return Value(call.arguments.at(i), 0); };
    if (call.name == "tcb")
    {
        for (const auto& field : call.arguments)
        {
            SetField(field);
        }
    }
    else if (call.name == "init")
    {
        g_cc->Init(g_tcb);
    }
    else if (call.name == "ssthresh")
    {
        g_last_result = g_cc->GetSsThresh(g_tcb, argument(0));
        return std::to_string(g_last_result);
    }
    else if (call.name == "cong_avoid")
    {
        g_cc->IncreaseWindow(g_tcb, argument(0));
    }
    else if (call.name == "pkts_acked")
    {
        g_cc->PktsAcked(g_tcb, argument(0), NanoSeconds(argument(1)));
    }
    else if (call.name == "set_state")
    {
        const auto state = static_cast<TcpSocketState::TcpCongState_t>(argument(0));
        g_cc->CongestionStateSet(g_tcb, state);
        g_tcb->m_congState = state;
    }
    else if (call.name == "cwnd_event")
    {
        g_early_ack = "-";
        g_cc->CwndEvent(g_tcb, static_cast<TcpSocketState::TcpCAEvent_t>(argument(0)));
        return g_early_ack;
    }
    else if (call.name == "cong_control")
    {
        Control(call.arguments);
    }
    else
    {
        NS_FATAL_ERROR("unknown call " << call.name);
    }
    return "-";
}

void
SendEmptyPacket(uint8_t flags)
{
    const bool ece = flags & TcpHeader::ECE;
    g_early_ack = std::to_string(g_tcb->m_rxBuffer->NextRxSequence().GetValue()) +
                  (ece ? ":ece" : ":ack");
}

/// Each call schedules the next, as an arrival is scheduled after what the one before has caused.
void
Step()
{
    const auto& call = g_calls[g_next++];
    const auto result = Execute(call);
    std::printf("%" PRId64 " %s %u %u %d %" PRIu64 " %d %d %d %d %s\n",
                Simulator::Now().GetNanoSeconds(),
                call.name.c_str(),
                g_tcb->m_cWnd.Get(),
                g_tcb->m_ssThresh.Get(),
                g_tcb->m_pacing ? 1 : 0,
                g_tcb->m_pacingRate.Get().GetBitRate(),
                static_cast<int>(g_tcb->m_useEcn),
                static_cast<int>(g_tcb->m_ecnMode),
                static_cast<int>(g_tcb->m_ecnState.Get()),
                static_cast<int>(g_tcb->m_ectCodePoint),
                result.c_str());
    if (g_next < g_calls.size())
    {
        Simulator::Schedule(NanoSeconds(g_calls[g_next].time) - Simulator::Now(), &Step);
    }
    else
    {
        Simulator::Stop();
    }
}

} // namespace

int
main()
{
    ObjectFactory factory;
    std::string line;
    while (std::getline(std::cin, line))
    {
        std::istringstream words(line);
        std::string word;
        words >> word;
        if (word == "algorithm")
        {
            words >> word;
            factory.SetTypeId("ns3::" + word);
        }
        else if (word == "attribute")
        {
            std::string value;
            words >> word >> value;
            factory.Set(word, StringValue(value));
        }
        else if (word == "seed")
        {
            uint64_t run = 0;
            words >> run;
            RngSeedManager::SetRun(run);
        }
        else
        {
            Call call;
            call.time = std::stoll(word);
            words >> call.name;
            while (words >> word)
            {
                call.arguments.push_back(word);
            }
            g_calls.push_back(call);
        }
    }
    g_tcb = CreateObject<TcpSocketState>();
    g_tcb->m_rxBuffer = CreateObject<TcpRxBuffer>();
    g_tcb->m_sendEmptyPacketCallback = MakeCallback(&SendEmptyPacket);
    g_cc = factory.Create<TcpCongestionOps>();
    Simulator::Schedule(NanoSeconds(g_calls.at(0).time), &Step);
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
