// Keeps who uses which leaves under a key of its own: admitted workloads, and holds.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/live/admitted_workloads.hpp"
#include "host/live/hold.hpp"
#include "host/live/hold_clock.hpp"
#include "host/live/state_tally.hpp"
#include "host/packing/usage_by_leaf.hpp"

namespace espalier {

class KeyedUsage {
 public:
  struct Entries {
    std::vector<AdmittedUsage> workloads;
    std::vector<Hold> holds;
  };

  bool empty() const { return workloads_.size() == 0 && holds_.empty(); }

  // Returns the workloads as they are now.
  std::shared_ptr<const AdmittedWorkloads> ShareWorkloads() { return workloads_.Share(); }

  const Holds& holds() const { return holds_; }

  // Return the workload of a key and the hold of an id, or null.
  const AdmittedUsage* FindWorkload(const ObjectKey& key) const { return workloads_.Find(key); }
  const Hold* FindHold(std::string_view id) const;

  // Returns what all of them use on a leaf together, or null.
  const Resources* UsedOn(std::string_view flavor, std::string_view leaf) const {
    return by_leaf_.Of(flavor, leaf);
  }

  // Replaces workloads and holds by their keys; those without usage end. Returns the former ones.
  Entries Exchange(Entries entries);

  // Sets when a hold, which is there, expires; nothing else changes.
  void ExtendHold(const std::string& hold, HoldClock::TimePoint expires);

  const StateTally& tally() const { return tally_; }

 private:
  std::vector<AdmittedUsage> SetWorkloads(std::vector<AdmittedUsage> workloads);
  std::vector<Hold> SetHolds(std::vector<Hold> holds);

  AdmittedWorkloads workloads_;
  Holds holds_;
  UsageByLeaf by_leaf_;  // of both
  StateTally tally_;
};

}  // namespace espalier
