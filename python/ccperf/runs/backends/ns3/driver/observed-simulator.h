// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_OBSERVED_SIMULATOR_H
#define CCPERF_OBSERVED_SIMULATOR_H

#include "ns3/default-simulator-impl.h"

#include <cstdint>
#include <functional>

namespace ccperf
{

// ns-3's simulator, which tells an observer the time of each event just before it runs.
//
// Sampling hangs on this: what is read here for a grid point that lies before the event is the state
// after the last event at or before that grid point, and no event of ours disturbs the order of ns-3's.
class ObservedSimulator : public ns3::DefaultSimulatorImpl
{
  public:
    static ns3::TypeId GetTypeId();

    // To be called before anything else uses the simulator.
    static void Install();

    static std::function<void(std::int64_t)> beforeEvent;

  private:
    void PreEventHook(const ns3::EventId& id) override;
};

} // namespace ccperf

#endif
