#include "host/live/named_states.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/excerpt.hpp"
#include "host/model/label_key.hpp"

namespace espalier {

NamedStates::NamedStates(std::size_t most) : most_(most) {}

std::shared_ptr<StateStore> NamedStates::FindOrNull(const std::string& name) const {
  if (name.empty()) return unnamed_;
  const std::lock_guard lock(mutex_);
  const auto found = named_.find(name);
  return found == named_.end() ? nullptr : found->second;
}

Result<std::shared_ptr<StateStore>> NamedStates::Find(const std::string& name) const {
  if (auto store = FindOrNull(name)) return store;
  std::vector<std::string> names;
  for (const Named& named : All()) names.push_back(named.name);
  return tl::unexpected(
      Error{ErrorClass::kNotFound,
            fmt::format("state_name: no state \"{}\" is loaded; {}", Excerpt(name),
                        names.empty()
                            ? "there is none that has a name"
                            : "there are " + Excerpt(fmt::format("{}", fmt::join(names, ", "))))});
}

Result<void> NamedStates::CheckLoad(const std::string& name) const {
  if (FindOrNull(name) != nullptr) return {};
  if (!IsDnsSubdomain(name)) {
    return BadInput(
        fmt::format("state_name: is \"{}\"; the name of a cluster expected, of lower-case letters, "
                    "digits, '-' and '.', at most 253 bytes",
                    Excerpt(name)));
  }
  const std::lock_guard lock(mutex_);
  if (named_.size() < most_) return {};
  return tl::unexpected(
      Error{ErrorClass::kExhausted,
            fmt::format("state_name: \"{}\" would be one named state too many; the server holds {} "
                        "of at most {} (--max-states); unload one",
                        Excerpt(name), named_.size(), most_)});
}

Result<StatePosition> NamedStates::Load(const std::string& name, ClusterStateInput input,
                                        WorkBudget& budget, std::vector<AdmittedUsage> workloads,
                                        SharedConfiguration configuration,
                                        std::vector<LostHold>* dropped) {
  if (const auto store = FindOrNull(name)) {
    return store->Load(std::move(input), budget, std::move(workloads), std::move(configuration),
                       dropped);
  }
  if (const auto checked = CheckLoad(name); !checked) return tl::unexpected(checked.error());
  const auto store = std::make_shared<StateStore>(hold_counts_);
  auto loaded =
      store->Load(std::move(input), budget, std::move(workloads), std::move(configuration));
  if (!loaded) return loaded;
  if (const auto checked = CheckLoad(name); !checked) return tl::unexpected(checked.error());
  std::shared_ptr<StateStore> replaced = store;
  {
    const std::lock_guard lock(mutex_);
    named_[name].swap(replaced);  // of two loads at once the last one stands
  }
  if (replaced != nullptr) replaced->Close();
  return loaded;
}

Result<StatePosition> NamedStates::Restore(const std::string& name,
                                           const StateStore::Restored& restored,
                                           ClusterStateInput input, WorkBudget& budget,
                                           std::vector<AdmittedUsage> workloads,
                                           SharedConfiguration configuration) {
  if (const auto checked = CheckLoad(name); !checked) return tl::unexpected(checked.error());
  const auto store = name.empty() ? unnamed_ : std::make_shared<StateStore>(hold_counts_);
  auto position = store->Restore(restored, std::move(input), budget, std::move(workloads),
                                 std::move(configuration));
  if (!position || name.empty()) return position;
  const std::lock_guard lock(mutex_);
  named_[name] = store;
  return position;
}

Result<void> NamedStates::Unload(const std::string& name) {
  if (name.empty()) {
    return BadInput(
        "state_name: is empty; the name of a state expected, as the one without a name "
        "stays");
  }
  if (const auto found = Find(name); !found) return tl::unexpected(found.error());
  std::shared_ptr<StateStore> unloaded;
  {
    const std::lock_guard lock(mutex_);
    const auto found = named_.find(name);
    if (found == named_.end()) return {};
    unloaded = std::move(found->second);
    named_.erase(found);
  }
  unloaded->Close();  // or calls that still hold it would change what nobody finds any more
  return {};
}

std::vector<NamedStates::Named> NamedStates::All() const {
  std::vector<Named> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, store] : named_) all.push_back({name, store});
  return all;
}

std::vector<NamedStates::Named> NamedStates::WithUnnamed() const {
  std::vector<Named> all = All();
  all.insert(all.begin(), {"", unnamed_});
  return all;
}

bool NamedStates::AnyLoaded() const {
  if (unnamed_->Current()->position.generation > 0) return true;
  const std::lock_guard lock(mutex_);
  return !named_.empty();
}

}  // namespace espalier
