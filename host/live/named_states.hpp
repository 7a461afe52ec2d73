// Keeps the states that a server holds: one without a name, and those of other clusters by name.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/live/state_store.hpp"

namespace espalier {

// A thread-safe map of states. A state that was unloaded lives until its last reader is done, but
// nobody can change it any more (StateStore::Close).
class NamedStates {
 public:
  // Holds at most `most` states besides the one without a name.
  explicit NamedStates(std::size_t most);

  std::size_t most() const { return most_; }

  // Returns what became of the holds of all states, of those that were unloaded too.
  const HoldCounts& hold_counts() const { return *hold_counts_; }

  // Returns the state of that name; the one without a name always exists. Errors: kNotFound, which
  // lists those that exist.
  Result<std::shared_ptr<StateStore>> Find(const std::string& name) const;

  // Checks that a state of that name may be loaded. Errors: kBadInput for a name that no cluster
  // can have, kExhausted when there are too many states.
  Result<void> CheckLoad(const std::string& name) const;

  // Loads the state of that name, or replaces the one that has it. Errors are those of CheckLoad
  // and StateStore::Load; then nothing changes.
  Result<StatePosition> Load(const std::string& name, ClusterStateInput input,
                             WorkBudget& budget = WorkBudget::Unlimited(),
                             std::vector<AdmittedUsage> workloads = {},
                             SharedConfiguration configuration = nullptr,
                             std::vector<LostHold>* dropped = nullptr);

  // Loads the state of that name that a server before this one had. There must be none of the name.
  // Errors are those of CheckLoad and StateStore::Restore.
  Result<StatePosition> Restore(const std::string& name, const StateStore::Restored& restored,
                                ClusterStateInput input, WorkBudget& budget,
                                std::vector<AdmittedUsage> workloads,
                                SharedConfiguration configuration);

  // Removes the state of that name. Errors: kBadInput for an empty name, kNotFound as in Find.
  Result<void> Unload(const std::string& name);

  struct Named {
    std::string name;
    std::shared_ptr<StateStore> store;
  };
  // Returns the states that have a name, by name.
  std::vector<Named> All() const;
  // Returns the state without a name, then those.
  std::vector<Named> WithUnnamed() const;

  // Returns whether any state is loaded, named or not.
  bool AnyLoaded() const;

 private:
  std::shared_ptr<StateStore> FindOrNull(const std::string& name) const;

  const std::size_t most_;
  const std::shared_ptr<HoldCounts> hold_counts_ = std::make_shared<HoldCounts>();
  const std::shared_ptr<StateStore> unnamed_ = std::make_shared<StateStore>(hold_counts_);
  mutable std::mutex mutex_;  // guards named_; held for lookups only
  std::map<std::string, std::shared_ptr<StateStore>> named_;
};

}  // namespace espalier
