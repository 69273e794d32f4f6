// SPDX-License-Identifier: GPL-2.0-only

#include "loss-model.h"

#include <algorithm>

namespace ccperf
{

namespace
{

constexpr const char* LINK_LOSS = "Link loss";

} // namespace

NS_OBJECT_ENSURE_REGISTERED(LossModel);

ns3::TypeId
LossModel::GetTypeId()
{
    static ns3::TypeId tid =
        ns3::TypeId("ccperf::LossModel").SetParent<ns3::ErrorModel>().AddConstructor<LossModel>();
    return tid;
}

void
LossModel::Configure(std::vector<std::uint64_t> drops,
                     const std::optional<GilbertElliott>& bursts,
                     double rate,
                     ns3::Ptr<ns3::UniformRandomVariable> uniform)
{
    m_drops = std::move(drops);
    std::sort(m_drops.begin(), m_drops.end());
    m_drops.erase(std::unique(m_drops.begin(), m_drops.end()), m_drops.end());
    m_bursts = bursts;
    m_rate = rate;
    m_uniform = uniform;
}

void
LossModel::SetRate(double rate)
{
    m_rate = rate;
}

void
LossModel::AddFault(Judge judge)
{
    m_faults.push_back(std::move(judge));
}

bool
LossModel::DoCorrupt(ns3::Ptr<ns3::Packet> packet)
{
    m_lastReason = ReasonToLose(packet);
    return m_lastReason != nullptr;
}

const char*
LossModel::ReasonToLose(ns3::Ptr<const ns3::Packet> packet)
{
    TakeFrom(m_onItsWay, packet->GetUid());
    if (TakeFrom(m_doomed, packet->GetUid()))
    {
        return LINK_DOWN;
    }
    const std::uint64_t number = m_arrivals++;
    if (m_nextDrop < m_drops.size() && m_drops[m_nextDrop] == number)
    {
        ++m_nextDrop;
        return LINK_LOSS;
    }
    if (m_bursts && IsLostInBurst())
    {
        return LINK_LOSS;
    }
    if (m_rate > 0 && m_uniform->GetValue() < m_rate)
    {
        return LINK_LOSS;
    }
    for (const Judge& judge : m_faults)
    {
        if (const char* reason = judge(packet))
        {
            return reason;
        }
    }
    return nullptr;
}

bool
LossModel::IsLostInBurst()
{
    if (m_uniform->GetValue() < (m_isBad ? m_bursts->toGood : m_bursts->toBad))
    {
        m_isBad = !m_isBad;
    }
    return m_uniform->GetValue() < (m_isBad ? m_bursts->lossInBad : m_bursts->lossInGood);
}

bool
LossModel::TakeFrom(Packets& packets, std::uint64_t uid)
{
    const auto found = packets.find(uid);
    if (found == packets.end())
    {
        return false;
    }
    if (--found->second == 0)
    {
        packets.erase(found);
    }
    return true;
}

void
LossModel::OnSent(ns3::Ptr<const ns3::Packet> packet)
{
    ++m_onItsWay[packet->GetUid()];
}

void
LossModel::LoseWhatIsOnItsWay()
{
    m_doomed = m_onItsWay; // with those that were doomed before
}

const char*
LossModel::LastReason() const
{
    return m_lastReason;
}

bool
LossModel::IsLastLostByFailure() const
{
    return m_lastReason == LINK_DOWN;
}

void
LossModel::DoReset()
{
    m_arrivals = 0;
    m_nextDrop = 0;
    m_isBad = false;
}

} // namespace ccperf
