// Reads the status of a workload from its conditions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "host/model/workload.hpp"

namespace espalier {

inline constexpr std::string_view kQuotaReserved = "QuotaReserved";
inline constexpr std::string_view kAdmitted = "Admitted";
inline constexpr std::string_view kEvicted = "Evicted";
inline constexpr std::string_view kPreempted = "Preempted";
inline constexpr std::string_view kFinished = "Finished";

// Returns whether the workload holds quota and capacity. An evicted workload does so until its
// reservation is withdrawn; a finished one does not although it keeps status.admission.
inline bool HasReservation(const Workload& workload) {
  return workload.admission.has_value() && HasCondition(workload, kQuotaReserved) &&
         !HasCondition(workload, kFinished);
}

// Returns whether the workload has neither finished nor quota reserved.
inline bool LacksQuota(const Workload& workload) {
  return !HasCondition(workload, kFinished) && !HasCondition(workload, kQuotaReserved);
}

// Returns whether the workload waits in its queue.
inline bool IsPending(const Workload& workload) { return workload.active && LacksQuota(workload); }

// Returns since when the workload has a condition of this type with status True, in Unix seconds;
// nullopt when it has none, or that has no time.
inline std::optional<std::int64_t> SinceWhen(const Workload& workload, std::string_view type) {
  const Condition* condition = FindCondition(workload, type);
  return condition == nullptr ? std::nullopt : condition->since_seconds;
}

// Sets the condition of this type, adding it when it is absent.
inline void SetCondition(Workload& workload, Condition condition) {
  for (Condition& present : workload.conditions) {
    if (present.type != condition.type) continue;
    present = std::move(condition);
    return;
  }
  workload.conditions.push_back(std::move(condition));
}

}  // namespace espalier
