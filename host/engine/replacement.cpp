#include "host/engine/replacement.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "host/engine/assignments.hpp"
#include "host/engine/request_resolution.hpp"
#include "kernels/decisions/replacement.hpp"

namespace espalier {
namespace {

bool Divides(const SliceConstraint& constraint, Count pods) {
  return constraint.size > 0 && pods % constraint.size == 0;
}

// The innermost constraint whose size does, or does not, divide the pods; null: none.
const SliceConstraint* Innermost(const std::vector<SliceConstraint>& constraints, Count pods,
                                 bool divides) {
  for (auto it = constraints.rbegin(); it != constraints.rend(); ++it) {
    if (Divides(*it, pods) == divides) return &*it;
  }
  return nullptr;
}

// R17.6: an ancestor at the constraint's level whose slice lost the pods.
std::optional<DomainId> IncompleteDomain(const SliceConstraint& constraint,
                                         std::vector<LeafShare> remaining, Count lost,
                                         std::int32_t level, const FlavorSnapshot& snapshot) {
  // Of several, the smallest id (section 24): ids order like paths, but leaves of a host topology
  // are known by their hostname.
  const bool by_hostname = snapshot.host_topology() && level == snapshot.tree().lowest();
  std::ranges::stable_sort(remaining, [&](const LeafShare& a, const LeafShare& b) {
    return by_hostname ? snapshot.LeafIdText(a.leaf) < snapshot.LeafIdText(b.leaf)
                       : a.leaf < b.leaf;
  });
  std::vector<std::int32_t> ancestors;
  std::vector<Count> pods;
  for (const LeafShare& share : remaining) {
    ancestors.push_back(snapshot.Ancestor(share.leaf, level).value);
    pods.push_back(share.pods);
  }
  const std::int32_t found =
      IncompleteSliceDomain({static_cast<std::int32_t>(pods.size()), ancestors.data(), pods.data()},
                            lost, constraint.size);
  return found < 0 ? std::nullopt : std::optional(DomainId(found));
}

struct RequiredDomain {
  DomainId domain;
  std::int32_t level = 0;
};

// R17.5; nullopt: anywhere.
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

// An id without a character reads as no required domain at all: that of a root with an empty value,
// or of a leaf known by an empty hostname.
bool HasEmptyId(const RequiredDomain& required, const FlavorSnapshot& snapshot) {
  const bool by_value = required.level == 0 ||
                        (snapshot.host_topology() && required.level == snapshot.tree().lowest());
  return by_value && snapshot.Value(required.domain).empty();
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
  const DomainRange leaves =
      Descendants(tree, {domain.value, domain.value + 1}, level, tree.lowest());
  const std::int32_t first = tree.LevelBegin(tree.lowest());
  return {leaves.begin - first, leaves.end - first};
}

}  // namespace

tl::expected<ReplacementPlan, std::string> PlanReplacement(const PodSetRequest& pod_set,
                                                           const TopologyAssignment& existing,
                                                           const std::string& node,
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
    if (!leaf.valid()) {
      return tl::unexpected<std::string>(fmt::format(
          "Cannot replace the node, because the existing topologyAssignment is invalid, "
          "as it contains the stale domain {}",
          domain.values.empty() ? std::string() : domain.values.front()));
    }
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

}  // namespace espalier
