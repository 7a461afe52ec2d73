#include "host/live/indexed_input.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <map>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "host/live/state_checksum.hpp"
#include "host/model/excerpt.hpp"
#include "host/packing/parallel_for.hpp"

namespace espalier {
namespace {

// The key of a value, which no other value of its list has.
struct Key {
  std::string_view name;
  std::string_view leaf = {};
  bool operator==(const Key&) const = default;
};

Key KeyOf(const Node& node) { return {node.name}; }
Key KeyOf(const NodeUsage& usage) { return {usage.node}; }
Key KeyOf(const FlavorLeafUsage& usage) { return {usage.flavor, usage.leaf}; }
Key KeyOf(const Topology& topology) { return {topology.name}; }
Key KeyOf(const ResourceFlavor& flavor) { return {flavor.name}; }

std::uint32_t HashOf(const Key& key) {
  const std::uint32_t hash = NameIndex::Hash(key.name);
  return key.leaf.empty() ? hash : NameIndex::Hash(key.leaf) ^ std::rotl(hash, 7);
}

// Returns the position of the value of a key, or -1.
template <class Value>
std::int32_t PositionOf(const std::vector<Value>& values, const NameIndex& index, const Key& key,
                        std::uint32_t hash) {
  return index.FindIf(hash, [&](std::int32_t position) {
    return KeyOf(values[static_cast<std::size_t>(position)]) == key;
  });
}

// Returns the value of a key, or null.
template <class Value>
const Value* FindIn(const std::vector<Value>& values, const NameIndex& index, const Key& key) {
  const std::int32_t position = PositionOf(values, index, key, HashOf(key));
  return position < 0 ? nullptr : &values[static_cast<std::size_t>(position)];
}

// Adds to `undo` the change that takes back a value whose key had none before.
void Forget(StateDelta& undo, const Node& node) { undo.remove_nodes.push_back(node.name); }
void Forget(StateDelta& undo, const NodeUsage& usage) {
  undo.set_non_tas_usage.push_back({usage.node, {}});
}
void Forget(StateDelta& undo, const FlavorLeafUsage& usage) {
  undo.set_tas_usage.push_back({usage.flavor, usage.leaf, {}});
}
void Forget(StateDelta& undo, const Topology& topology) {
  undo.remove_topologies.push_back(topology.name);
}
void Forget(StateDelta& undo, const ResourceFlavor& flavor) {
  undo.remove_flavors.push_back(flavor.name);
}
// Adds to `undo` the value that a key had.
void Restore(StateDelta& undo, Node node) { undo.upsert_nodes.push_back(std::move(node)); }
void Restore(StateDelta& undo, NodeUsage usage) {
  undo.set_non_tas_usage.push_back(std::move(usage));
}
void Restore(StateDelta& undo, FlavorLeafUsage usage) {
  undo.set_tas_usage.push_back(std::move(usage));
}
void Restore(StateDelta& undo, Topology topology) {
  undo.upsert_topologies.push_back(std::move(topology));
}
void Restore(StateDelta& undo, ResourceFlavor flavor) {
  undo.upsert_flavors.push_back(std::move(flavor));
}

// Drops all values of each key but the last.
template <class Value>
void KeepLastOfEach(std::vector<Value>& values) {
  NameIndex seen(values.size());
  std::vector<bool> repeated(values.size());
  bool any = false;
  for (std::size_t i = values.size(); i-- > 0;) {
    const Key key = KeyOf(values[i]);
    const std::uint32_t hash = HashOf(key);
    repeated[i] = PositionOf(values, seen, key, hash) >= 0;
    any |= repeated[i];
    if (!repeated[i]) seen.AddNew(static_cast<std::int32_t>(i), hash);
  }
  if (!any) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!repeated[i]) std::swap(values[kept++], values[i]);
  }
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(kept), values.end());
}

// Returns the name of an amount that has met the limits of int64, or null.
const std::string* SaturatedIn(const Resources& usage) {
  for (const auto& [name, amount] : usage) {
    if (amount == std::numeric_limits<Amount>::max() ||
        amount == std::numeric_limits<Amount>::min()) {
      return &name;
    }
  }
  return nullptr;
}

Result<void> CheckRemoved(const std::vector<std::string>& names, std::string_view field,
                          std::string_view kind, const auto& is_there) {
  std::unordered_set<std::string_view> removed;
  for (const std::string& name : names) {
    if (is_there(name) && removed.insert(name).second) continue;
    return BadInput(
        fmt::format("update.{}: there is no {} \"{}\" to remove; name what is loaded, once each",
                    field, kind, Excerpt(name)));
  }
  return {};
}

}  // namespace

// A list whose values are found by their keys. What takes each change back is noted in a delta,
// which is right where no key is changed twice.
template <class Value>
class IndexedInput::List {
 public:
  List(std::vector<Value>& values, NameIndex& index, IndexedInput& input, StateDelta& undo)
      : values_(values), index_(index), input_(input), undo_(undo) {}

  // Makes all changes to the list: what is erased, then what is set.
  void Change(const std::vector<std::string>& erased, std::vector<Value> set) {
    for (const std::string& name : erased) Erase({name}, HashOf({name}));
    KeepLastOfEach(set);
    std::array<std::uint32_t, kTogether> hashes;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (i % kTogether == 0) Hash(std::span(set).subspan(i), hashes);
      Set(std::move(set[i]), hashes[i % kTogether]);
    }
  }

 private:
  static constexpr std::size_t kTogether = 16;

  // Writes the hashes of the first kTogether values. The memory that setting them needs is asked
  // for before any of it is waited for.
  void Hash(std::span<const Value> set, std::array<std::uint32_t, kTogether>& hashes) const {
    set = set.first(std::min(set.size(), kTogether));
    std::array<const Value*, kTogether> likely;
    for (std::size_t i = 0; i < set.size(); ++i) {
      hashes[i] = HashOf(KeyOf(set[i]));
      index_.Prefetch(hashes[i]);
    }
    for (std::size_t i = 0; i < set.size(); ++i) {
      const std::int32_t position = index_.FindIf(hashes[i], [](std::int32_t) { return true; });
      likely[i] = position < 0 ? nullptr : &values_[static_cast<std::size_t>(position)];
      if (likely[i] != nullptr) __builtin_prefetch(likely[i]);
    }
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (likely[i] == nullptr) continue;
      const Key key = KeyOf(*likely[i]);
      __builtin_prefetch(key.leaf.empty() ? key.name.data() : key.leaf.data());
      if constexpr (requires { likely[i]->usage; }) {
        __builtin_prefetch(likely[i]->usage.values().data());
      }
    }
  }

  // Adds the value or puts it in the place of the one with its key.
  void Put(Value value, std::uint32_t hash) {
    const std::int32_t position = PositionOf(values_, index_, KeyOf(value), hash);
    input_.tally_.Add(value);
    if (position < 0) {
      index_.AddNew(static_cast<std::int32_t>(values_.size()), hash);
      values_.push_back(std::move(value));
      Forget(undo_, values_.back());
    } else {
      Value& before = values_[static_cast<std::size_t>(position)];
      input_.Keep(values_, static_cast<std::size_t>(position));
      input_.tally_.Remove(before);
      Restore(undo_, std::exchange(before, std::move(value)));
    }
  }

  // The last value takes the place of the erased one. Unknown keys are left alone.
  void Erase(const Key& key, std::uint32_t hash) {
    const std::int32_t position = PositionOf(values_, index_, key, hash);
    if (position < 0) return;
    index_.Erase(hash, position);
    Value& erased = values_[static_cast<std::size_t>(position)];
    input_.tally_.Remove(erased);
    const auto last = static_cast<std::int32_t>(values_.size()) - 1;
    input_.Keep(values_, static_cast<std::size_t>(position));
    input_.Keep(values_, static_cast<std::size_t>(last));
    if (position != last) {
      index_.Move(HashOf(KeyOf(values_.back())), last, position);
      std::swap(erased, values_.back());
    }
    Restore(undo_, std::move(values_.back()));
    values_.pop_back();
  }

  // Empty usage is forgotten.
  void Set(Value value, std::uint32_t hash) {
    if constexpr (requires { value.usage; }) {
      if (value.usage.empty()) return Erase(KeyOf(value), hash);
    }
    Put(std::move(value), hash);
  }

  std::vector<Value>& values_;
  NameIndex& index_;
  IndexedInput& input_;
  StateDelta& undo_;
};

template <class Usage>
void IndexedInput::Add(std::vector<Usage>& usages, NameIndex& index, Usage usage) {
  const Key key = KeyOf(usage);
  const std::uint32_t hash = HashOf(key);
  const std::int32_t position = PositionOf(usages, index, key, hash);
  if (position < 0) {
    tally_.Add(usage);
    index.AddNew(static_cast<std::int32_t>(usages.size()), hash);
    usages.push_back(std::move(usage));
  } else {
    Usage& sum = usages[static_cast<std::size_t>(position)];
    Keep(usages, static_cast<std::size_t>(position));
    if constexpr (requires { sum.lasting; }) {
      tally_.Remove(sum);
      AddTo(sum.lasting, usage.lasting);
      tally_.Add(sum);
    }
    AddUsage(sum, usage.usage);
  }
}

template <class Usage>
void IndexedInput::AddUsage(Usage& sum, const Resources& usage) {
  tally_.Remove(sum);
  AddTo(sum.usage, usage);
  tally_.Add(sum);
}

template <class Value>
void IndexedInput::IndexAll(std::vector<Value>& values, NameIndex& index) {
  constexpr std::size_t kValues = 4096;  // of a part
  constexpr std::size_t kEntries = 16;   // of a value, about
  std::vector<std::uint32_t> hashes(values.size());
  std::atomic<std::int64_t> bytes = 0;
  std::atomic<std::uint64_t> checksum = 0;
  ParallelFor((values.size() + kValues - 1) / kValues, values.size() * kEntries,
              [&](std::size_t part) {
                StateTally of_part;
                const std::size_t end = std::min((part + 1) * kValues, values.size());
                for (std::size_t i = part * kValues; i < end; ++i) {
                  hashes[i] = HashOf(KeyOf(values[i]));
                  of_part.Add(values[i]);
                }
                bytes += of_part.bytes;
                checksum += of_part.checksum;
              });
  tally_.bytes += bytes;
  tally_.checksum += checksum;
  index = NameIndex(values.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (requires { values[i].usage; }) {
      const std::int32_t position = PositionOf(values, index, KeyOf(values[i]), hashes[i]);
      if (position >= 0) {
        tally_.Remove(values[i]);
        AddUsage(values[static_cast<std::size_t>(position)], values[i].usage);
        continue;
      }
    }
    index.AddNew(static_cast<std::int32_t>(kept), hashes[i]);
    if (kept != i) std::swap(values[kept], values[i]);
    ++kept;
  }
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(kept), values.end());
}

IndexedInput::IndexedInput(ClusterStateInput input)
    : input_(std::move(input)),
      tally_{.checksum = ChecksumOfSharing(input_.share_usage_between_flavors)} {
  IndexAll(input_.nodes, nodes_);
  IndexAll(input_.topologies, topologies_);
  IndexAll(input_.flavors, flavors_);
  IndexAll(input_.non_tas_usage, non_tas_usage_);
  IndexAll(input_.tas_usage, tas_usage_);
}

const Node* IndexedInput::FindNode(const std::string& name) const {
  return FindIn(input_.nodes, nodes_, {name});
}

const NodeUsage* IndexedInput::FindNonTasUsage(const std::string& node) const {
  return FindIn(input_.non_tas_usage, non_tas_usage_, {node});
}

Result<KeyedUsage::Entries> IndexedInput::TakeKeyed(StateDelta& delta) {
  const bool changes = !delta.set_workloads.empty() || !delta.set_holds.empty();
  if (keyed_.empty() && !changes) return KeyedUsage::Entries();
  if (auto once = CheckNamedOnce(delta.set_workloads); !once) return tl::unexpected(once.error());
  std::map<std::pair<std::string, std::string>, Resources> others;  // that are no workload's
  for (FlavorLeafUsage& set : delta.set_tas_usage) {
    others[{set.flavor, set.leaf}] = std::move(set.usage);
  }
  const auto keep_others = [&](const std::vector<FlavorLeafUsage>& usage) {
    for (const FlavorLeafUsage& entry : usage) {
      const auto [it, fresh] = others.try_emplace({entry.flavor, entry.leaf});
      const FlavorLeafUsage* all =
          fresh ? FindIn(input_.tas_usage, tas_usage_, KeyOf(entry)) : nullptr;
      if (all == nullptr) continue;
      it->second = all->usage;
      const Resources* theirs = keyed_.UsedOn(entry.flavor, entry.leaf);
      if (theirs != nullptr) AddTo(it->second, Times(*theirs, -1));
    }
  };
  for (const AdmittedUsage& workload : delta.set_workloads) {
    keep_others(workload.usage);
    if (const AdmittedUsage* known = keyed_.FindWorkload(workload.key)) keep_others(known->usage);
  }
  for (const Hold& hold : delta.set_holds) {
    keep_others(hold.usage);
    if (const Hold* known = keyed_.FindHold(hold.id)) keep_others(known->usage);
  }
  for (const auto& [key, usage] : others) {
    const Key of_leaf = {key.first, key.second};
    const std::int32_t position =
        PositionOf(input_.tas_usage, tas_usage_, of_leaf, HashOf(of_leaf));
    if (position >= 0) Keep(input_.tas_usage, static_cast<std::size_t>(position));
  }
  KeyedUsage::Entries before =
      keyed_.Exchange({std::exchange(delta.set_workloads, {}), std::exchange(delta.set_holds, {})});
  delta.set_tas_usage.clear();
  for (auto& [key, usage] : others) {
    const Resources* theirs = keyed_.UsedOn(key.first, key.second);
    if (theirs != nullptr) AddTo(usage, *theirs);
    if (const std::string* most = theirs == nullptr ? nullptr : SaturatedIn(usage)) {
      keyed_.Exchange(std::move(before));
      return BadInput(
          fmt::format("the usage of leaf {} in flavor {}, with that of its workloads and holds, is "
                      "more {} than an int64 "
                      "holds; send what is in use",
                      Excerpt(key.second), Excerpt(key.first), Excerpt(*most)));
    }
    delta.set_tas_usage.push_back({key.first, key.second, WithoutZeros(usage)});
  }
  return before;
}

Result<StateDelta> IndexedInput::Apply(StateDelta delta) {
  for (const Result<void>& check :
       {CheckRemoved(delta.remove_nodes, "remove_nodes", "node",
                     [&](const auto& name) { return FindIn(input_.nodes, nodes_, {name}); }),
        CheckRemoved(
            delta.remove_topologies, "remove_topologies", "topology",
            [&](const auto& name) { return FindIn(input_.topologies, topologies_, {name}); }),
        CheckRemoved(delta.remove_flavors, "remove_flavors", "flavor",
                     [&](const auto& name) { return FindIn(input_.flavors, flavors_, {name}); })}) {
    if (!check) return tl::unexpected<Error>(check.error());
  }
  Result<KeyedUsage::Entries> keyed = TakeKeyed(delta);
  if (!keyed) return tl::unexpected<Error>(keyed.error());
  StateDelta undo = Change(std::move(delta));
  undo.set_workloads = std::move(keyed->workloads);
  undo.set_holds = std::move(keyed->holds);
  return undo;
}

void IndexedInput::TakeBack(StateDelta undo) {
  keyed_.Exchange({std::exchange(undo.set_workloads, {}), std::exchange(undo.set_holds, {})});
  Change(std::move(undo));
}

StateDelta IndexedInput::Change(StateDelta delta) {
  StateDelta undo;
  List(input_.nodes, nodes_, *this, undo).Change(delta.remove_nodes, std::move(delta.upsert_nodes));
  List(input_.non_tas_usage, non_tas_usage_, *this, undo)
      .Change({}, std::move(delta.set_non_tas_usage));
  List(input_.tas_usage, tas_usage_, *this, undo).Change({}, std::move(delta.set_tas_usage));
  List(input_.topologies, topologies_, *this, undo)
      .Change(delta.remove_topologies, std::move(delta.upsert_topologies));
  List(input_.flavors, flavors_, *this, undo)
      .Change(delta.remove_flavors, std::move(delta.upsert_flavors));
  return undo;
}

StateChange IndexedInput::ChangeFrom(const StateDelta& undo) const {
  StateChange change;
  std::unordered_map<std::string_view, std::size_t> place_of;  // in change.nodes
  const auto of_node = [&](const std::string& name) -> StateChange::OfNode& {
    const auto [it, fresh] = place_of.try_emplace(name, change.nodes.size());
    if (!fresh) return change.nodes[it->second];
    StateChange::OfNode& node = change.nodes.emplace_back();
    node.before = node.after = FindIn(input_.nodes, nodes_, {name});
    const NodeUsage* used = FindIn(input_.non_tas_usage, non_tas_usage_, {name});
    node.used_before = node.used_after = used == nullptr ? nullptr : &used->usage;
    return node;
  };
  for (const Node& before : undo.upsert_nodes) of_node(before.name).before = &before;
  for (const std::string& name : undo.remove_nodes) {
    // A node that was removed and added again in one change is among the others.
    StateChange::OfNode& node = of_node(name);
    if (node.before == node.after) node.before = nullptr;
  }
  for (const NodeUsage& before : undo.set_non_tas_usage) {
    of_node(before.node).used_before = before.usage.empty() ? nullptr : &before.usage;
  }
  for (const FlavorLeafUsage& before : undo.set_tas_usage) {
    const FlavorLeafUsage* now = FindIn(input_.tas_usage, tas_usage_, KeyOf(before));
    change.usage.push_back(
        {before.flavor, before.leaf, &before.usage, now == nullptr ? nullptr : &now->usage});
  }
  change.usage_on = [this](std::string_view flavor, std::string_view leaf) -> const Resources* {
    const FlavorLeafUsage* usage = FindIn(input_.tas_usage, tas_usage_, {flavor, leaf});
    return usage == nullptr ? nullptr : &usage->usage;
  };
  return change;
}

template <class Value>
Value IndexedInput::AsRead(const Value& value) const {
  if constexpr (std::is_same_v<Value, FlavorLeafUsage>) {
    const Resources* theirs = keyed_.UsedOn(value.flavor, value.leaf);
    if (theirs == nullptr) return value;
    Resources others = value.usage;
    AddTo(others, Times(*theirs, -1));
    return {value.flavor, value.leaf, WithoutZeros(others)};
  } else {
    return value;
  }
}

template <class Value>
void IndexedInput::Keep(const std::vector<Value>& values, std::size_t position) {
  if (reading_ == nullptr || !reading_->Wants<Value>(position)) return;
  reading_->Of<Value>().before.emplace(position, AsRead(values[position]));
}

std::shared_ptr<InputAsOf> IndexedInput::BeginReading() {
  reading_ = std::make_shared<InputAsOf>(input_);
  return reading_;
}

std::optional<bool> IndexedInput::ReadOn(InputAsOf& reading, std::size_t most,
                                         ClusterStateInput& part) {
  if (reading_.get() != &reading) return std::nullopt;
  part.share_usage_between_flavors = input_.share_usage_between_flavors;
  const auto read = [&]<class Value>(const std::vector<Value>& from, std::vector<Value>& to) {
    InputAsOf::List<Value>& list = reading.Of<Value>();
    for (; list.next < list.end && most > 0; ++list.next, --most) {
      const auto before = list.before.find(list.next);
      if (before == list.before.end()) {
        to.push_back(AsRead(from[list.next]));
      } else {
        to.push_back(std::move(before->second));
        list.before.erase(before);
      }
      if constexpr (std::is_same_v<Value, FlavorLeafUsage>) {
        if (to.back().usage.empty()) to.pop_back();  // all of it was of workloads and holds
      }
    }
    return list.next == list.end;
  };
  const bool all = read(input_.topologies, part.topologies) && read(input_.flavors, part.flavors) &&
                   read(input_.nodes, part.nodes) &&
                   read(input_.non_tas_usage, part.non_tas_usage) &&
                   read(input_.tas_usage, part.tas_usage);
  if (all) reading_ = nullptr;
  return !all;
}

void IndexedInput::AddTasUsage(const std::vector<FlavorLeafUsage>& usage) {
  for (const FlavorLeafUsage& leaf : usage) Add(input_.tas_usage, tas_usage_, leaf);
}

}  // namespace espalier
