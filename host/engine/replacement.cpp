#include "host/engine/replacement.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "host/engine/assignments.hpp"
#include "host/engine/request_resolution.hpp"

namespace espalier {
namespace {

bool Divides(const SliceConstraint& constraint, Count pods) {
  return constraint.size > 0 && pods % constraint.size == 0;
}

// Returns the innermost constraint whose size does, or does not, divide the pods; null: none.
const SliceConstraint* Innermost(const std::vector<SliceConstraint>& constraints, Count pods,
                                 bool divides) {
  for (auto it = constraints.rbegin(); it != constraints.rend(); ++it) {
    if (Divides(*it, pods) == divides) return &*it;
  }
  return nullptr;
}

// The pods that remain in one domain.
struct RemainingPods {
  DomainId domain;
  Count pods = 0;
};

// Returns the pods by domain of a level, in the order of the shares; those of one domain are
// adjacent.
std::vector<RemainingPods> PodsByDomain(const std::vector<LeafShare>& shares, std::int32_t level,
                                        const FlavorSnapshot& snapshot) {
  std::vector<RemainingPods> held;
  for (const LeafShare& share : shares) {
    const DomainId domain = snapshot.Ancestor(share.leaf, level);
    if (held.empty() || held.back().domain != domain) held.push_back({domain, 0});
    held.back().pods += share.pods;
  }
  return held;
}

// Returns an ancestor at the constraint's level whose slice lost the pods (R17.6).
std::optional<DomainId> IncompleteDomain(const SliceConstraint& constraint,
                                         std::vector<LeafShare> remaining, Count lost,
                                         std::int32_t level, const FlavorSnapshot& snapshot) {
  // The smallest id of several is taken (section 24): ids order like paths, but leaves of a host
  // topology are known by their hostname.
  const bool by_hostname = snapshot.host_topology() && level == snapshot.tree().lowest();
  std::ranges::stable_sort(remaining, [&](const LeafShare& a, const LeafShare& b) {
    return by_hostname ? snapshot.LeafIdText(a.leaf) < snapshot.LeafIdText(b.leaf)
                       : a.leaf < b.leaf;
  });
  const std::vector<RemainingPods> held = PodsByDomain(remaining, level, snapshot);
  const auto found = std::ranges::find_if(held, [&](const RemainingPods& in) {
    return in.pods > 0 && (in.pods + lost) % constraint.size == 0;
  });
  return found == held.end() ? std::nullopt : std::optional(found->domain);
}

struct RequiredDomain {
  DomainId domain;
  std::int32_t level = 0;
};

// Returns the domain that replacements must be in (R17.5); nullopt: anywhere.
std::optional<RequiredDomain> FindRequiredDomain(const PodSetRequest& pod_set,
                                                 const std::vector<SliceConstraint>& constraints,
                                                 const std::vector<LeafShare>& remaining,
                                                 Count lost, const FlavorSnapshot& snapshot) {
  const std::optional<std::string> key = RequestedLevelKey(pod_set, snapshot);
  const std::int32_t level = key ? snapshot.FindLevel(*key) : -1;
  if (level < 0 || remaining.empty()) return std::nullopt;
  const auto slice_size = SliceSize(constraints);
  if (!slice_size) return std::nullopt;
  if (!constraints.empty() && lost % *slice_size != 0) {
    const SliceConstraint* broken = Innermost(constraints, lost, false);
    const std::int32_t slice_level = snapshot.FindLevel(broken->topology);
    if (slice_level < 0 || broken->size <= 0) return std::nullopt;
    const auto domain = IncompleteDomain(*broken, remaining, lost, slice_level, snapshot);
    return domain ? std::optional(RequiredDomain{*domain, slice_level}) : std::nullopt;
  }
  if (!pod_set.topology_request || !pod_set.topology_request->required) return std::nullopt;
  return RequiredDomain{snapshot.Ancestor(remaining.front().leaf, level), level};
}

// Returns whether the domain's id has no character, which reads as no required domain at all:
// that of a root with an empty value, or of a leaf known by an empty hostname.
bool HasEmptyId(const RequiredDomain& required, const FlavorSnapshot& snapshot) {
  const bool by_value = required.level == 0 ||
                        (snapshot.host_topology() && required.level == snapshot.tree().lowest());
  return by_value && snapshot.Value(required.domain).empty();
}

DomainRange LeavesOf(DomainId domain, std::int32_t level, const TreeView& tree) {
  return LeavesBelow(tree, {domain.value, domain.value + 1}, level);
}

// The leaves whose path lies under the id of the domain (R7.10).
DomainRange LeavesUnder(const RequiredDomain& required, const FlavorSnapshot& snapshot) {
  const TreeView tree = snapshot.tree();
  DomainId domain = required.domain;
  std::int32_t level = required.level;
  // A leaf of a host topology with several levels is known by its hostname alone, which is no path:
  // it matches nothing, unless a root happens to have that value (R17.7).
  if (snapshot.host_topology() && level > 0 && level == tree.lowest()) {
    domain = snapshot.FindRoot(snapshot.Value(domain));
    level = 0;
    if (!domain.valid()) return {0, 0};
  }
  return LeavesOf(domain, level, tree);
}

tl::unexpected<std::string> StaleDomain(const TopologyDomainAssignment& domain) {
  return tl::unexpected<std::string>(
      fmt::format("Cannot replace the node, because the existing topologyAssignment is invalid, "
                  "as it contains the stale domain {}",
                  domain.values.empty() ? std::string() : domain.values.front()));
}

// Leaves of the request only the constraints from `first` on.
void KeepInnerSlices(TopologyRequest& request, std::size_t first) {
  std::vector<SliceConstraint> constraints = SliceConstraints(request);
  constraints.erase(constraints.begin(), constraints.begin() + static_cast<std::ptrdiff_t>(first));
  // Without slices it would have no level (R17.8).
  if (constraints.empty() && !request.required && !request.preferred) request.unconstrained = true;
  request.slice_topology.reset();
  request.slice_size.reset();
  request.slice_constraints = std::move(constraints);
}

}  // namespace

tl::expected<ReplacementPlan, std::string> PlanReplacement(const PodSetRequest& pod_set,
                                                           const TopologyAssignment& existing,
                                                           std::string_view node,
                                                           const FlavorSnapshot& snapshot) {
  ReplacementPlan plan;
  plan.request = pod_set;
  plan.request.count = 0;
  DomainIds ids;
  for (const TopologyDomainAssignment& domain : existing.domains) {  // R17.3
    if (!domain.values.empty() && domain.values.back() == node) {
      plan.request.count = domain.count;
      continue;
    }
    const LeafId leaf = snapshot.FindLeaf(ids.Of(domain.values));
    if (!leaf.valid()) return StaleDomain(domain);
    plan.remaining.push_back({leaf, 0, domain.count});
  }
  const Count lost = plan.request.count;
  const std::vector<SliceConstraint> constraints = SliceConstraints(pod_set.topology_request);
  const auto required = FindRequiredDomain(pod_set, constraints, plan.remaining, lost, snapshot);
  plan.domain = {0, snapshot.leaf_count()};
  if (!required || HasEmptyId(*required, snapshot)) return plan;
  plan.domain = LeavesUnder(*required, snapshot);
  if (!constraints.empty() && lost % constraints.front().size != 0) {  // R17.8
    TopologyRequest& request = *plan.request.topology_request;
    request.slice_topology.reset();
    request.slice_size.reset();
    request.slice_constraints.clear();
    if (const SliceConstraint* whole = Innermost(constraints, lost, true)) {
      request.slice_constraints.push_back(*whole);
    }
  }
  return plan;
}

std::vector<std::string_view> NodesIn(const TopologyAssignment& existing,
                                      const std::vector<std::string>& nodes) {
  std::unordered_set<std::string_view> held;
  for (const TopologyDomainAssignment& domain : existing.domains) {
    if (!domain.values.empty()) held.insert(domain.values.back());
  }
  std::vector<std::string_view> found;
  for (const std::string& node : nodes) {
    if (held.erase(node) > 0) found.push_back(node);
  }
  return found;
}

tl::expected<Damage, std::string> TakeOut(const TopologyAssignment& existing,
                                          const std::vector<std::string_view>& nodes,
                                          const FlavorSnapshot& snapshot) {
  Damage damage;
  DomainIds ids;
  const std::unordered_set<std::string_view> failed(nodes.begin(), nodes.end());
  for (const TopologyDomainAssignment& domain : existing.domains) {
    if (!domain.values.empty() && failed.contains(domain.values.back())) {
      damage.lost += domain.count;
      continue;
    }
    const LeafId leaf = snapshot.FindLeaf(ids.Of(domain.values));
    if (!leaf.valid()) return StaleDomain(domain);
    damage.remaining.push_back({leaf, 0, domain.count});
  }
  damage.remaining = MergeShares(damage.remaining, {});
  return damage;
}

tl::expected<ReplacementPlan, std::string> PlanJointReplacement(const PodSetRequest& pod_set,
                                                                const Damage& damage,
                                                                const FlavorSnapshot& snapshot,
                                                                const FeatureGates& gates) {
  const auto resolved = ResolveRequest(pod_set, snapshot, gates);
  if (!resolved) return tl::unexpected(resolved.error());
  const PlacementQuery& query = resolved->query;
  const TreeView tree = snapshot.tree();
  ReplacementPlan plan{pod_set, damage.remaining, {0, snapshot.leaf_count()}};
  Count pods = damage.lost;
  bool broken = false;
  for (std::int32_t i = query.slice.layer_count - 1; i >= 0 && !broken; --i) {
    const std::int32_t level = query.slice.layer_level[i];
    const Count size = query.slice.layer_size[i];
    const std::vector<RemainingPods> held = PodsByDomain(damage.remaining, level, snapshot);
    const auto part =
        std::ranges::find_if(held, [&](const RemainingPods& in) { return in.pods % size != 0; });
    broken = part != held.end();
    if (!broken) continue;
    pods = size - part->pods % size;
    plan.domain = LeavesOf(part->domain, level, tree);
    KeepInnerSlices(*plan.request.topology_request, static_cast<std::size_t>(i) + 1);
  }
  const bool whole = broken || pods % query.slice.size == 0;
  if (pods > damage.lost || pods > kMaxStored || !whole) {
    return tl::unexpected<std::string>(
        "cannot replace the pods of the unhealthy nodes: with them, the existing "
        "topologyAssignment has no whole slices");
  }
  plan.request.count = static_cast<std::int32_t>(pods);
  if (!broken && query.required && !damage.remaining.empty()) {
    const LeafId leaf = damage.remaining.front().leaf;
    plan.domain = LeavesOf(snapshot.Ancestor(leaf, query.level), query.level, tree);
  }
  return plan;
}

}  // namespace espalier
