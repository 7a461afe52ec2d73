#include "host/live/keyed_usage.hpp"

#include <utility>

namespace espalier {

const Hold* KeyedUsage::FindHold(std::string_view id) const {
  const auto found = holds_.find(id);
  return found == holds_.end() ? nullptr : found->second.get();
}

std::vector<AdmittedUsage> KeyedUsage::SetWorkloads(std::vector<AdmittedUsage> workloads) {
  std::vector<AdmittedUsage> before;
  for (AdmittedUsage& given : workloads) {
    AdmittedUsage workload = InOrder(std::move(given));
    const AdmittedUsage* known = workloads_.Find(workload.key);
    if (known == nullptr ? workload.usage.empty() : *known == workload) continue;
    if (!workload.usage.empty()) {
      tally_.Add(workload);
      by_leaf_.Add(workload.usage, 1);
    }
    before.push_back({workload.key, 0, 0, {}});
    const auto replaced = workloads_.Exchange(std::move(workload));
    if (replaced == nullptr) continue;
    tally_.Remove(*replaced);
    by_leaf_.Add(replaced->usage, -1);
    before.back() = *replaced;
  }
  return before;
}

std::vector<Hold> KeyedUsage::SetHolds(std::vector<Hold> holds) {
  std::vector<Hold> before;
  for (Hold& given : holds) {
    const auto known = holds_.find(given.id);
    if (known == holds_.end() && given.usage.empty()) continue;
    before.emplace_back().id = given.id;
    if (known != holds_.end()) {
      before.back() = *known->second;
      tally_.Remove(*known->second);
      by_leaf_.Add(known->second->usage, -1);
      holds_.erase(known);
    }
    if (given.usage.empty()) continue;
    tally_.Add(given);
    by_leaf_.Add(given.usage, 1);
    std::string id = given.id;
    holds_.emplace(std::move(id), std::make_shared<const Hold>(std::move(given)));
  }
  return before;
}

void KeyedUsage::ExtendHold(const std::string& hold, HoldClock::TimePoint expires) {
  std::shared_ptr<const Hold>& known = holds_.find(hold)->second;
  Hold extended = *known;
  extended.expires = expires;
  known = std::make_shared<const Hold>(std::move(extended));
}

KeyedUsage::Entries KeyedUsage::Exchange(Entries entries) {
  return {SetWorkloads(std::move(entries.workloads)), SetHolds(std::move(entries.holds))};
}

}  // namespace espalier
