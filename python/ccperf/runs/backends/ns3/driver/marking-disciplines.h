// SPDX-License-Identifier: GPL-2.0-only

#ifndef CCPERF_MARKING_DISCIPLINES_H
#define CCPERF_MARKING_DISCIPLINES_H

#include "marking-queue-disc.h"

#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ccperf
{

// ECN#: a packet that leaves is marked if it was queued for longer than InstantaneousMarkingThreshold, or if
// the queue has persisted and a mark is due.
//
// The queue persists while every packet that leaves was queued for PersistentMarkingTarget or longer, from
// the moment when more than PersistentMarkingInterval has passed since the first of them. The first packet
// then is due, and the next mark an interval later. From then on, with n the number of due marks including
// this one, the following is due interval / sqrt(n), in whole nanoseconds rounded down, after
//   Law readme: this one, if it comes at the time that was due or later;
//   Law paper: the time that was due, if it comes later than that.
class ECNSharpQueueDisc : public MarkingQueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

    static constexpr const char* INSTANTANEOUS_MARK = "Instantaneous marking threshold exceeded";
    static constexpr const char* PERSISTENT_MARK = "Persistent queue";

  private:
    void OnDeparture(ns3::Ptr<ns3::QueueDiscItem> item) override;

    bool Persists(ns3::Time sojourn);
    bool IsDue(ns3::Time sojourn);

    ns3::Time m_threshold;
    ns3::Time m_target;
    ns3::Time m_interval;
    std::string m_law;

    std::optional<ns3::Time> m_since; // the first packet above the target in a row
    std::uint32_t m_marks{0};         // in this time of persistence; 0: none yet
    ns3::Time m_due;                  // the next one
};

// TCN: a packet that leaves is marked if it was queued for longer than Threshold.
class TcnQueueDisc : public MarkingQueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

    static constexpr const char* THRESHOLD_MARK = "Sojourn time above threshold";

  private:
    void OnDeparture(ns3::Ptr<ns3::QueueDiscItem> item) override;

    ns3::Time m_threshold;
};

// RED with both thresholds at K and no average: a packet that arrives is marked if K or more are queued, in
// the unit of MarkingThreshold, and more than one.
class StepRedQueueDisc : public MarkingQueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

    static constexpr const char* THRESHOLD_MARK = "Queue at marking threshold";

  private:
    void OnArrival(ns3::Ptr<ns3::QueueDiscItem> item) override;

    ns3::QueueSize m_threshold;
};

// CoDel that marks in place of dropping.
//
// The clock ticks every 1024 ns and wraps in 32 bits. A queue stands at a departure if the packet was queued
// for Target or longer, MinBytes or more are left behind it, and that was so for more than an Interval of
// departures. When it begins to stand a mark is made and the next one is due interval / sqrt(count) from
// now: count is the number of marks of the last time (those after the count it began with), if there were
// two or more and its next one was due less than 16 intervals ago; else 1. While it stands, a departure at
// or after the due time is marked, count grows by one, and the next is due interval / sqrt(count) after this
// one was. A packet that cannot be marked changes none of this.
//
// 1 / sqrt(count) is a 16-bit fraction, of which each new count makes one step of Newton's method.
class MarkingCoDelQueueDisc : public MarkingQueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

    static constexpr const char* TARGET_EXCEEDED_MARK = "Target exceeded mark";

  private:
    void OnDeparture(ns3::Ptr<ns3::QueueDiscItem> item) override;
    void OnEmpty() override;

    bool Stands(ns3::Ptr<const ns3::QueueDiscItem> item);
    void SetCount(std::uint32_t count);
    std::uint32_t Gap() const;

    ns3::Time m_target;
    ns3::Time m_interval;
    std::uint32_t m_minBytes;

    bool m_marking{false};
    std::uint32_t m_count{0};
    std::uint32_t m_firstCount{0}; // with which this time of marking began
    std::uint16_t m_root{0xffff};  // 1 / sqrt(count)
    std::uint32_t m_stands{0};     // from when on; 0: it does not
    std::uint32_t m_due{0};
};

// PIE that marks in place of dropping, by the time for which the packet at the head has been queued.
//
// Each Tupdate, from time 0 on, with delay that time in seconds (0 without a packet):
//   p += (A (delay - reference) + B (delay - old delay)) / scale, scale 8 below p = 0.01, 2 below 0.1, else 1;
//   if both delays are 0: p *= 0.98; else if the delay is above 0.2: p += 0.02; p = max(p, 0).
// An arrival is marked if a uniform random number is at most p. None is drawn if the old delay is below half
// the reference while p < 0.2, or if two packets or less are queued.
class MarkingPieQueueDisc : public MarkingQueueDisc
{
  public:
    static ns3::TypeId GetTypeId();

    static constexpr const char* UNFORCED_MARK = "Unforced mark";

    MarkingPieQueueDisc();

    std::int64_t AssignStreams(std::int64_t stream);

  private:
    void OnArrival(ns3::Ptr<ns3::QueueDiscItem> item) override;
    void InitializeParams() override;

    void Update();

    double m_a;
    double m_b;
    ns3::Time m_period;
    ns3::Time m_reference;
    ns3::Ptr<ns3::UniformRandomVariable> m_random;

    double m_probability{0};
    double m_oldDelay{0};
};

} // namespace ccperf

#endif
