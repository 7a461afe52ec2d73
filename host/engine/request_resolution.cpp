#include "host/engine/request_resolution.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "host/packing/node_match.hpp"

namespace espalier {
namespace {

using Failure = tl::unexpected<std::string>;

// A map that others are united with, one after the other; there may be thousands.
class United {
 public:
  United(StringMap& into, std::string_view what) : into_(into), what_(what) {}

  // Unites it with one more; a key with different values on both sides is an error (R6.10). The
  // smallest offending key is reported (section 24).
  tl::expected<void, std::string> With(const StringMap& update) {
    for (const auto& [key, value] : update) {
      const std::string* present = into_.Find(key);
      if (present == nullptr) {
        const auto added = added_.find(key);
        if (added != added_.end()) present = &added->second;
      }
      if (present != nullptr && *present != value) {
        return Failure(fmt::format("conflict for {}: conflict for key={}, value1={}, value2={}",
                                   what_, key, *present, value));
      }
    }
    for (const auto& [key, value] : update) added_.insert_or_assign(key, value);
    return {};
  }

  // Gives the map what it was united with.
  void Finish() {
    if (added_.empty()) return;
    std::vector<StringMap::Entry> entries(added_.begin(), added_.end());
    into_.Merge(StringMap(std::move(entries)),
                [](std::string& value, const std::string& merged) { value = merged; });
  }

 private:
  StringMap& into_;
  std::string_view what_;
  std::map<std::string, std::string> added_;
};

// The words that tolerations are compared by: an empty operator reads as Equal.
using TolerationWords =
    std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
TolerationWords WordsOf(const Toleration& toleration) {
  std::string_view operation = toleration.operation;
  if (operation.empty()) operation = "Equal";
  return {toleration.key, operation, toleration.value, toleration.effect};
}

tl::expected<PodTemplate, std::string> ApplyUpdates(const PodSetRequest& pod_set) {
  PodTemplate merged = pod_set.pod_template;
  if (pod_set.updates.empty()) return merged;
  std::set<TolerationWords> present;
  for (const Toleration& toleration : pod_set.pod_template.tolerations) {
    present.insert(WordsOf(toleration));
  }
  United annotations(merged.annotations, "annotations");
  United labels(merged.labels, "labels");
  United node_selector(merged.node_selector, "nodeSelector");
  for (const PodSetUpdate& update : pod_set.updates) {
    const std::pair<United*, const StringMap*> maps[] = {{&annotations, &update.annotations},
                                                         {&labels, &update.labels},
                                                         {&node_selector, &update.node_selector}};
    for (const auto& [united, more] : maps) {
      const auto result = united->With(*more);
      if (!result) {
        return Failure(
            fmt::format("invalid podSetUpdate for PodSet {}, error: invalid admission check "
                        "PodSetUpdate: {}",
                        pod_set.name, result.error()));
      }
    }
    for (const Toleration& toleration : update.tolerations) {
      if (present.insert(WordsOf(toleration)).second) merged.tolerations.push_back(toleration);
    }
  }
  annotations.Finish();
  labels.Finish();
  node_selector.Finish();
  return merged;
}

// Returns whether neither required nor preferred is set, and at least one slice constraint is
// (R6.3).
bool IsSliceOnly(const std::optional<TopologyRequest>& request) {
  return request && !request->required && !request->preferred && !SliceConstraints(request).empty();
}

// R6.7.
tl::expected<void, std::string> ResolveInnerLayers(const std::vector<SliceConstraint>& constraints,
                                                   const FlavorSnapshot& snapshot,
                                                   SliceRule& slice) {
  Count parent_size = slice.size;
  std::int32_t parent_level = slice.level;
  for (std::size_t i = 1; i < constraints.size(); ++i) {
    const auto& [topology, size] = constraints[i];
    const std::int32_t level = snapshot.FindLevel(topology);
    if (level < 0) {
      return Failure(
          fmt::format("no requested topology level for additional slice layer: {}", topology));
    }
    if (level <= parent_level) {
      return Failure(
          fmt::format("additional slice layer topology {} must be at a lower level than {}",
                      topology, snapshot.levels()[static_cast<std::size_t>(parent_level)]));
    }
    if (size <= 0) {  // upstream divides by zero (R24.1)
      return Failure(fmt::format(
          "undefined upstream: additional slice layer {} has size {}, which must be at least 1",
          topology, size));
    }
    if (parent_size % size != 0) {
      return Failure(
          fmt::format("additional slice layer size {} must evenly divide parent layer size {}",
                      size, parent_size));
    }
    for (std::int32_t l = parent_level + 1; l <= level; ++l) slice.inner_size[l] = size;
    parent_size = size;
    parent_level = level;
  }
  for (std::size_t i = 0; i < constraints.size() && i < kMaxSliceLayers; ++i) {
    slice.layer_level[i] = snapshot.FindLevel(constraints[i].topology);
    slice.layer_size[i] = constraints[i].size;
    slice.layer_count = static_cast<std::int32_t>(i) + 1;
  }
  return {};
}

tl::expected<NodeConstraints, std::string> ResolveConstraints(PodTemplate pod_template,
                                                              const FlavorSnapshot& snapshot,
                                                              const FeatureGates& gates) {
  NodeConstraints constraints;
  constraints.node_selector = std::move(pod_template.node_selector);
  constraints.tolerations = std::move(pod_template.tolerations);
  const auto& flavor_tolerations = snapshot.flavor().tolerations;
  constraints.tolerations.insert(constraints.tolerations.end(), flavor_tolerations.begin(),
                                 flavor_tolerations.end());
  if (pod_template.affinity.required) {
    for (const NodeSelectorTerm& term : *pod_template.affinity.required) {
      if (const auto problem = MalformedTerm(term)) {
        return Failure(fmt::format("invalid affinity node selectors: {}", *problem));
      }
    }
    constraints.required_affinity = std::move(pod_template.affinity.required);
  }
  if (gates.respect_node_affinity_preferred) {
    for (const PreferredSchedulingTerm& term : pod_template.affinity.preferred) {
      if (term.weight == 0) continue;  // skipped before it is parsed (R7.8)
      if (const auto problem = MalformedTerm(term.preference)) {
        return Failure(fmt::format("invalid preferred node affinity terms: {}", *problem));
      }
    }
    constraints.preferred_affinity = std::move(pod_template.affinity.preferred);
  }
  return constraints;
}

}  // namespace

std::vector<SliceConstraint> SliceConstraints(const std::optional<TopologyRequest>& request) {
  if (!request) return {};
  if (!request->slice_constraints.empty()) return request->slice_constraints;
  if (!request->slice_topology) return {};
  return {{*request->slice_topology, request->slice_size.value_or(0)}};
}

tl::expected<Count, std::string> SliceSize(const std::vector<SliceConstraint>& constraints) {
  if (constraints.empty()) return 1;
  if (constraints.front().size <= 0) {
    return Failure("slice topology requested, but slice size not provided");
  }
  return constraints.front().size;
}

std::optional<std::string> RequestedLevelKey(const PodSetRequest& pod_set,
                                             const FlavorSnapshot& snapshot) {
  const std::optional<TopologyRequest>& request = pod_set.topology_request;
  if (request) {
    if (request->required) return *request->required;
    if (request->preferred) return *request->preferred;
    if (IsSliceOnly(request)) return snapshot.levels().front();
    if (request->unconstrained.value_or(false)) return snapshot.levels().back();
  }
  if (pod_set.implied) return snapshot.levels().back();
  return std::nullopt;
}

tl::expected<ResolvedRequest, std::string> ResolveRequest(const PodSetRequest& workers,
                                                          const FlavorSnapshot& snapshot,
                                                          const FeatureGates& gates) {
  auto pod_template = ApplyUpdates(workers);
  if (!pod_template) return Failure(pod_template.error());

  const std::optional<TopologyRequest>& request = workers.topology_request;
  const std::vector<SliceConstraint> constraints = SliceConstraints(request);
  const auto slice_size = SliceSize(constraints);
  if (!slice_size) return Failure(slice_size.error());

  const std::optional<std::string> key = RequestedLevelKey(workers, snapshot);
  if (!key) return Failure("topology level not specified");
  ResolvedRequest resolved;
  PlacementQuery& query = resolved.query;
  query.level = snapshot.FindLevel(*key);
  if (query.level < 0) return Failure(fmt::format("no requested topology level: {}", *key));

  const std::string& slice_key =
      constraints.empty() ? snapshot.levels().back() : constraints.front().topology;
  query.slice.size = *slice_size;
  query.slice.level = snapshot.FindLevel(slice_key);
  if (query.slice.level < 0) {
    return Failure(fmt::format("no requested topology level for slices: {}", slice_key));
  }
  if (query.level > query.slice.level) {
    return Failure(
        fmt::format("podset slice topology {} is above the podset topology {}", slice_key, *key));
  }
  const auto layers = ResolveInnerLayers(constraints, snapshot, query.slice);
  if (!layers) return Failure(layers.error());

  auto node_constraints = ResolveConstraints(std::move(*pod_template), snapshot, gates);
  if (!node_constraints) return Failure(node_constraints.error());
  resolved.constraints = std::move(*node_constraints);

  query.required = request && request->required.has_value();  // R6.5
  query.unconstrained = workers.implied || IsSliceOnly(request) ||
                        (request && request->unconstrained.value_or(false));
  query.least_free = query.unconstrained && gates.profile_mixed;  // R9.6
  query.balanced = gates.balanced_placement;
  query.affinity = gates.respect_node_affinity_preferred;
  return resolved;
}

RequestVector BindRequests(const Resources& requests, const FlavorSnapshot& snapshot) {
  Resources with_slot;  // allocated once, with room for the slot
  with_slot.Reserve(requests.size() + 1);
  with_slot = requests;
  Amount& slot = with_slot[kPodsResource];
  slot = SaturatingAdd(slot, 1);
  RequestVector vector;
  vector.names.reserve(with_slot.size());
  vector.columns.reserve(with_slot.size());
  vector.amounts.reserve(with_slot.size());
  for (const auto& [name, amount] : with_slot) {
    vector.names.push_back(name);
    vector.columns.push_back(snapshot.FindResource(name));
    vector.amounts.push_back(amount);
  }
  return vector;
}

std::shared_ptr<const PodShape> MakeShape(ResolvedRequest resolved, const PodSetRequest& workers,
                                          const PodSetRequest* leader,
                                          const FlavorSnapshot& snapshot, WorkBudget& budget) {
  PodShape shape;
  shape.workers = BindRequests(workers.requests, snapshot);
  if (leader != nullptr) {
    shape.leader = BindRequests(leader->requests, snapshot);
    for (const std::string& name : shape.workers.names) {
      const auto it = std::ranges::lower_bound(shape.leader.names, name);
      const bool found = it != shape.leader.names.end() && *it == name;
      shape.leader_on_workers.push_back(
          found ? shape.leader.amounts[static_cast<std::size_t>(it - shape.leader.names.begin())]
                : 0);
    }
  }
  shape.slice = resolved.query.slice;
  if (snapshot.host_topology()) {
    shape.constraints_key = resolved.constraints.Key();
    shape.constraints = std::make_shared<const NodeConstraints>(std::move(resolved.constraints));
  }
  return snapshot.Intern(std::move(shape), budget);
}

tl::expected<PlacementTemplate, std::string> MakePlacementTemplate(const PodSetRequest& workers,
                                                                   const PodSetRequest* leader,
                                                                   const FlavorSnapshot& snapshot,
                                                                   const FeatureGates& gates,
                                                                   WorkBudget& budget) {
  auto request = ResolveRequest(workers, snapshot, gates);
  if (!request) return tl::unexpected(std::move(request.error()));
  request->query.leaders = leader != nullptr ? 1 : 0;
  const PlacementQuery query = request->query;
  return PlacementTemplate{query,
                           MakeShape(*std::move(request), workers, leader, snapshot, budget)};
}

PlacementJob MakeJob(const PlacementTemplate& resolved, const FlavorState& state,
                     std::shared_ptr<const NodeFilter> filter, Count pods, WorkBudget& budget) {
  PlacementJob job{.state = &state,
                   .shape = resolved.shape,
                   .filter = std::move(filter),
                   .query = resolved.query,
                   .replacement_domain = {0, state.snapshot().leaf_count()},
                   .budget = &budget};
  job.query.pods = pods;
  return job;
}

}  // namespace espalier
