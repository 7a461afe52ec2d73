#include "host/packing/cluster_state.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/packing/parts.hpp"

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

ClusterState::ClusterState() = default;
ClusterState::ClusterState(ClusterState&&) noexcept = default;
ClusterState& ClusterState::operator=(ClusterState&&) noexcept = default;
ClusterState::~ClusterState() = default;

Result<ClusterState> ClusterState::Build(const ClusterStateInput& input, WorkBudget& budget) {
  auto columns = MakeNodeColumns(input.nodes, budget);
  if (!columns) return tl::unexpected<Error>(columns.error());
  return Build(std::make_shared<const NodeColumns>(std::move(*columns)), input, budget);
}

Result<ClusterState> ClusterState::BuildFromColumns(NodeColumns columns,
                                                    const ClusterStateInput& input,
                                                    WorkBudget& budget) {
  if (auto check = CheckNodeColumns(columns); !check) {
    return tl::unexpected<Error>(check.error());
  }
  const auto nodes = std::make_shared<const NodeColumns>(std::move(columns));
  // Nothing is packed by name, so both can be done at once.
  Result<void> distinct;
  Result<ClusterState> state = BadInput("");
  ForEachPart(2, nodes->allocatable.size(), [&](std::size_t part) {
    if (part == 0) {
      state = Build(nodes, input, budget);
    } else {
      distinct = CheckDistinctNames(nodes->names);
    }
  });
  if (!distinct) return tl::unexpected<Error>(distinct.error());
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
  state.AddAdmittedUsage(input.tas_usage, input.share_usage_between_flavors, budget);
  for (const auto& flavor : state.flavors_) {
    if (budget.stopped()) break;
    flavor->ClassifyLeaves();
  }
  if (auto check = budget.Check(); !check) return tl::unexpected<Error>(check.error());
  return state;
}

std::int64_t ClusterState::CloneBytes() const {
  std::int64_t bytes = 0;
  for (const auto& flavor : flavors_) bytes += flavor->Bytes();
  return bytes;
}

ClusterState ClusterState::Clone() const {
  ClusterState copy;
  for (const auto& flavor : flavors_) {
    copy.flavors_.push_back(std::make_unique<FlavorState>(*flavor));
  }
  return copy;
}

ClusterState ClusterState::Branch() const {
  ClusterState copy = Clone();
  for (std::size_t i = 0; i < flavors_.size(); ++i) {
    if (!copy.flavors_[i]->ContinueLogOf(*flavors_[i])) copy.flavors_[i]->ClassifyLeaves();
  }
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

// Calls change(flavor, leaves) for each run of usage in one flavor.
template <class Change>
void ClusterState::ForEachFlavor(const std::vector<FlavorLeafUsage>& usage, const Change& change) {
  std::vector<LeafChange> leaves;
  for (auto first = usage.begin(); first != usage.end();) {
    const auto end = std::find_if(first, usage.end(), [&](const FlavorLeafUsage& entry) {
      return entry.flavor != first->flavor;
    });
    leaves.clear();
    FlavorState* flavor = Find(first->flavor);
    for (; first != end; ++first) {
      const LeafId leaf = flavor == nullptr ? LeafId() : flavor->snapshot().FindLeaf(first->leaf);
      if (leaf.valid()) leaves.push_back({leaf, &first->usage});
    }
    if (!leaves.empty()) change(*flavor, leaves);
  }
}

void ClusterState::AddUsage(const std::vector<FlavorLeafUsage>& usage) {
  ForEachFlavor(
      usage, [](FlavorState& flavor, std::span<const LeafChange> leaves) { flavor.Add(leaves); });
}

void ClusterState::RemoveUsage(const std::vector<FlavorLeafUsage>& usage) {
  ForEachFlavor(usage, [](FlavorState& flavor, std::span<const LeafChange> leaves) {
    flavor.Remove(leaves);
  });
}

void ClusterState::AddAdmittedUsage(const std::vector<FlavorLeafUsage>& usage, bool shared,
                                    WorkBudget& budget) {
  if (!shared) return AddUsage(usage);
  for (const FlavorLeafUsage& entry : usage) {
    if (budget.stopped()) return;
    const FlavorState* owner = Find(entry.flavor);
    if (owner == nullptr) continue;
    for (const auto& flavor : flavors_) {
      const bool sees = owner->snapshot().host_topology() && flavor->snapshot().host_topology();
      if (flavor.get() != owner && !sees) continue;
      const LeafId leaf = flavor->snapshot().FindLeaf(entry.leaf);
      if (leaf.valid()) flavor->Add(leaf, entry.usage);
    }
  }
}

}  // namespace espalier
