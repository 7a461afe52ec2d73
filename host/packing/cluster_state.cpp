#include "host/packing/cluster_state.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/packing/parallel_for.hpp"

namespace espalier {
namespace {

// Names of a kind must not repeat: later objects would silently hide earlier ones.
template <class Objects>
Result<void> CheckUniqueNames(const Objects& objects, std::string_view kind) {
  std::unordered_set<std::string_view> seen;
  seen.reserve(objects.size());
  for (const auto& object : objects) {
    if (!seen.insert(object.name).second) {
      return BadInput(fmt::format("{} \"{}\" is given twice; names must be unique", kind,
                                  Excerpt(object.name)));
    }
  }
  return {};
}

Result<void> CheckTopology(const Topology& topology) {
  if (topology.levels.empty() || topology.levels.size() > kMaxLevels) {
    return BadInput(fmt::format("Topology \"{}\" has {} levels; 1 to {} are allowed",
                                Excerpt(topology.name), topology.levels.size(), kMaxLevels));
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& key : topology.levels) {
    if (!seen.insert(key).second) {
      return BadInput(fmt::format("Topology \"{}\" names level \"{}\" twice; levels must differ",
                                  Excerpt(topology.name), Excerpt(key)));
    }
  }
  return {};
}

}  // namespace

// The arrays of a few states that are gone.
class ClusterState::Spares {
 public:
  struct Spare {
    std::vector<std::unique_ptr<FlavorState>> flavors;
    MemoryHold memory;
  };

  Spares() { spares_.reserve(kMost + 1); }

  void Put(Spare spare) {
    for (const auto& flavor : spare.flavors) flavor->Retire();
    std::optional<Spare> oldest;  // freed after the lock
    const std::lock_guard lock(mutex_);
    spares_.push_back(std::move(spare));
    if (spares_.size() <= kMost) return;
    oldest = std::move(spares_.front());
    spares_.erase(spares_.begin());
  }

  // Returns the one that was put last; nothing when there is none.
  std::optional<Spare> Take() {
    const std::lock_guard lock(mutex_);
    if (spares_.empty()) return std::nullopt;
    Spare spare = std::move(spares_.back());
    spares_.pop_back();
    return spare;
  }

 private:
  // One for the batch that books in order, one for the generation before.
  static constexpr std::size_t kMost = 2;

  std::mutex mutex_;
  std::vector<Spare> spares_;
};

ClusterState::ClusterState() = default;
void ClusterState::StartSpares() { spares_ = std::make_shared<Spares>(); }
ClusterState::ClusterState(ClusterState&&) noexcept = default;
ClusterState& ClusterState::operator=(ClusterState&& other) noexcept {
  std::swap(flavors_, other.flavors_);
  std::swap(spares_, other.spares_);
  std::swap(built_memory_, other.built_memory_);
  std::swap(memory_, other.memory_);
  return *this;
}
ClusterState::~ClusterState() {
  if (spares_ != nullptr) spares_->Put({std::move(flavors_), std::move(memory_)});
}

Result<ClusterState> ClusterState::Build(const ClusterStateInput& input, WorkBudget& budget) {
  const std::int64_t before = budget.charged();
  auto columns = MakeNodeColumns(input.nodes, budget);
  if (!columns) return tl::unexpected<Error>(columns.error());
  auto state = Build(std::make_shared<const NodeColumns>(std::move(*columns)), input, budget);
  if (state) state->TakeOverMemory(budget, before);
  return state;
}

void ClusterState::TakeOverMemory(WorkBudget& budget, std::int64_t charged_before) {
  built_memory_ =
      std::make_shared<const MemoryHold>(budget.HandOver(budget.charged() - charged_before));
}

Result<ClusterState> ClusterState::BuildFromColumns(NodeColumns columns,
                                                    const ClusterStateInput& input,
                                                    WorkBudget& budget) {
  if (auto check = CheckNodeColumns(columns); !check) {
    return tl::unexpected<Error>(check.error());
  }
  const std::int64_t before = budget.charged();
  const auto nodes = std::make_shared<const NodeColumns>(std::move(columns));
  // Nothing is packed by name, so both can be done at once.
  Result<void> distinct;
  Result<ClusterState> state = BadInput("");
  ParallelFor(2, nodes->allocatable.size(), [&](std::size_t part) {
    if (part == 0) {
      state = Build(nodes, input, budget);
    } else {
      distinct = CheckDistinctNames(nodes->names);
    }
  });
  if (!distinct) return tl::unexpected<Error>(distinct.error());
  if (state) state->TakeOverMemory(budget, before);
  return state;
}

Result<ClusterState> ClusterState::Build(std::shared_ptr<const NodeColumns> nodes,
                                         const ClusterStateInput& input, WorkBudget& budget) {
  for (const Result<void>& check : {CheckUniqueNames(input.topologies, "Topology"),
                                    CheckUniqueNames(input.flavors, "ResourceFlavor")}) {
    if (!check) return tl::unexpected<Error>(check.error());
  }
  std::unordered_map<std::string_view, const Topology*> topologies;
  for (const Topology& topology : input.topologies) {
    const Result<void> check = CheckTopology(topology);
    if (!check) return tl::unexpected<Error>(check.error());
    topologies.emplace(topology.name, &topology);
  }
  FlavorSnapshot::UsageByNode non_tas;
  for (const NodeUsage& usage : input.non_tas_usage) {
    if (budget.stopped()) break;
    AddTo(non_tas[usage.node], usage.usage);
  }

  ClusterState state;
  state.StartSpares();
  for (const ResourceFlavor& flavor : input.flavors) {
    if (!flavor.topology_name) continue;
    const auto topology = topologies.find(*flavor.topology_name);
    if (topology == topologies.end()) {
      return BadInput(
          fmt::format("ResourceFlavor \"{}\": spec.topologyName is \"{}\", but there "
                      "is no Topology of that name",
                      Excerpt(flavor.name), Excerpt(*flavor.topology_name)));
    }
    auto snapshot =
        std::make_shared<const FlavorSnapshot>(flavor, *topology->second, nodes, non_tas, budget);
    if (!budget.stopped()) {
      state.flavors_.push_back(std::make_unique<FlavorState>(std::move(snapshot), budget));
    }
    if (auto check = budget.Check(); !check) return tl::unexpected<Error>(check.error());
  }
  std::ranges::sort(state.flavors_, {}, [](const auto& flavor) -> const std::string& {
    return flavor->snapshot().flavor().name;
  });
  state.ChangeNamed(input.tas_usage, 1, budget);
  if (input.share_usage_between_flavors) state.ShareUsage(input.tas_usage, budget);
  state.ClassifyLeaves(budget);
  if (auto check = budget.Check(); !check) return tl::unexpected<Error>(check.error());
  return state;
}

void ClusterState::ClassifyLeaves(const WorkBudget& budget) {
  for (const auto& flavor : flavors_) {
    if (budget.stopped()) break;
    flavor->ClassifyLeaves();
  }
}

std::int64_t ClusterState::CloneBytes() const {
  std::int64_t bytes = 0;
  for (const auto& flavor : flavors_) bytes += flavor->Bytes();
  return bytes;
}

ClusterState ClusterState::Clone() const {
  ClusterState copy;
  copy.StartSpares();
  copy.built_memory_ = built_memory_;
  for (const auto& flavor : flavors_) {
    copy.flavors_.push_back(std::make_unique<FlavorState>(*flavor));
  }
  return copy;
}

Result<ClusterState> ClusterState::Branch(WorkBudget& budget) const {
  ClusterState copy;
  auto spare = spares_->Take();
  if (spare) {
    copy.memory_ = std::move(spare->memory);
  } else {
    const std::int64_t bytes = CloneBytes();
    if (!budget.Charge(bytes)) return tl::unexpected(budget.Check().error());
    copy.memory_ = budget.HandOver(bytes);
    spare.emplace().flavors.resize(flavors_.size());
  }
  copy.built_memory_ = built_memory_;
  for (std::size_t i = 0; i < flavors_.size(); ++i) {
    copy.flavors_.push_back(flavors_[i]->Branch(std::move(spare->flavors[i])));
  }
  copy.spares_ = spares_;  // a copy that is not whole is no spare
  return copy;
}

const FlavorState* ClusterState::Find(std::string_view flavor) const {
  const auto it = std::ranges::lower_bound(flavors_, flavor, {}, [](const auto& f) {
    return std::string_view(f->snapshot().flavor().name);
  });
  return it != flavors_.end() && (*it)->snapshot().flavor().name == flavor ? it->get() : nullptr;
}

FlavorState* ClusterState::Find(std::string_view flavor) {
  return const_cast<FlavorState*>(std::as_const(*this).Find(flavor));
}

std::vector<std::string_view> ClusterState::FlavorNames() const {
  std::vector<std::string_view> names;
  for (const auto& flavor : flavors_) names.push_back(flavor->snapshot().flavor().name);
  return names;
}

std::span<const FlavorLeafUsage> FirstOfOneFlavor(std::span<const FlavorLeafUsage> usage) {
  const auto end = std::ranges::find_if_not(
      usage, [&](const FlavorLeafUsage& entry) { return entry.flavor == usage.front().flavor; });
  return usage.first(static_cast<std::size_t>(end - usage.begin()));
}

std::int64_t PodSlotsOf(std::span<const FlavorLeafUsage> usage) {
  std::int64_t pods = 0;
  for (const FlavorLeafUsage& entry : usage) {
    if (const Amount* slots = entry.usage.Find(kPodsResource)) pods += *slots;
  }
  return pods;
}

void ClusterState::ChangeNamed(std::span<const FlavorLeafUsage> usage, Amount sign,
                               const WorkBudget& budget) {
  constexpr std::size_t kLongest = 4096;
  std::vector<std::string_view> ids;
  std::vector<LeafId> found;
  std::vector<LeafChange> leaves;
  while (!usage.empty() && !budget.stopped()) {
    const auto run = FirstOfOneFlavor(usage.first(std::min(usage.size(), kLongest)));
    usage = usage.subspan(run.size());
    FlavorState* flavor = Find(run.front().flavor);
    if (flavor == nullptr) continue;
    ids.clear();
    for (const FlavorLeafUsage& entry : run) ids.emplace_back(entry.leaf);
    found.assign(ids.size(), LeafId());
    flavor->snapshot().FindLeavesOrVacant(ids, found);
    leaves.clear();
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (found[i].valid()) leaves.push_back({found[i], &run[i].usage});
    }
    if (!leaves.empty()) sign > 0 ? flavor->Add(leaves) : flavor->Remove(leaves);
  }
}

void ClusterState::ShareUsage(const std::vector<FlavorLeafUsage>& usage, const WorkBudget& budget) {
  std::vector<FlavorState*> sharing;
  for (const auto& flavor : flavors_) {
    if (flavor->snapshot().host_topology()) sharing.push_back(flavor.get());
  }
  if (sharing.size() < 2) return;
  for (const FlavorLeafUsage& entry : usage) {
    if (budget.stopped()) return;
    const FlavorState* owner = Find(entry.flavor);
    if (owner == nullptr || !owner->snapshot().host_topology()) continue;
    for (FlavorState* flavor : sharing) {
      if (flavor == owner) continue;
      const LeafId leaf = flavor->snapshot().FindLeafOrVacant(entry.leaf);
      if (leaf.valid()) flavor->Add(leaf, entry.usage);
    }
  }
}

void ClusterState::ChangeUsage(const std::vector<FlavorLeafUsage>& usage, Amount sign,
                               bool shared) {
  ChangeNamed(usage, sign);
  if (!shared || !FlavorsMayShare()) return;
  std::vector<FlavorLeafUsage> others = usage;
  for (FlavorLeafUsage& entry : others) entry.usage = Times(entry.usage, sign);
  ShareUsage(others);
}

bool ClusterState::FlavorsMayShare() const {
  return std::ranges::count_if(
             flavors_, [](const auto& flavor) { return flavor->snapshot().host_topology(); }) > 1;
}

}  // namespace espalier
