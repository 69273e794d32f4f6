// SPDX-License-Identifier: GPL-2.0-only

#include "observed-simulator.h"

#include "ns3/global-value.h"
#include "ns3/string.h"

namespace ccperf
{

NS_OBJECT_ENSURE_REGISTERED(ObservedSimulator);

std::function<void(std::int64_t)> ObservedSimulator::beforeEvent;

ns3::TypeId
ObservedSimulator::GetTypeId()
{
    static ns3::TypeId tid = ns3::TypeId("ccperf::ObservedSimulator")
                                 .SetParent<ns3::DefaultSimulatorImpl>()
                                 .AddConstructor<ObservedSimulator>();
    return tid;
}

void
ObservedSimulator::Install()
{
    ns3::GlobalValue::Bind("SimulatorImplementationType",
                           ns3::StringValue(GetTypeId().GetName()));
}

void
ObservedSimulator::PreEventHook(const ns3::EventId& id)
{
    beforeEvent(static_cast<std::int64_t>(id.GetTs()));
}

} // namespace ccperf
