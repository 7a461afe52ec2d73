#include "host/live/hold.hpp"

#include <fmt/format.h>

namespace espalier {
namespace {

bool HasNoName(const ObjectKey& workload) {
  return workload.namespace_.empty() && workload.name.empty();
}

}  // namespace

std::string HoldId(const ObjectKey& workload, std::size_t position, std::uint64_t generation) {
  if (HasNoName(workload)) return fmt::format("{}@{}", position, generation);
  return fmt::format("{}@{}", workload.ToString(), generation);
}

const Hold* FindHoldOf(const Holds& holds, const ObjectKey& workload) {
  if (HasNoName(workload)) return nullptr;
  const std::string prefix = workload.ToString() + "@";
  for (auto hold = holds.lower_bound(prefix);
       hold != holds.end() && hold->first.starts_with(prefix); ++hold) {
    if (hold->second->workload == workload) return hold->second.get();
  }
  return nullptr;
}

}  // namespace espalier
