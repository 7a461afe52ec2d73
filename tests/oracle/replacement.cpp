// Section 17.
#include <algorithm>

#include "tests/oracle/workload.hpp"

namespace espalier::oracle {
namespace {

const TopologyAssignment* AdmittedAssignment(const ReplacementContext& context,
                                             const std::string& pod_set) {
  for (const PodSetAssignment& admitted : context.admitted) {
    if (admitted.name == pod_set && admitted.topology_assignment) {
      return &*admitted.topology_assignment;
    }
  }
  return nullptr;
}

// --- R17.3 ---------------------------------------------------------------------------------------

struct Damage {
  TopologyAssignment remaining;
  std::int32_t missing = 0;  // n
};

Damage RemoveNode(const TopologyAssignment& existing, const std::string& node) {
  Damage damage{{existing.levels, {}}, 0};
  for (const TopologyDomainAssignment& domain : existing.domains) {
    if (domain.values.back() == node) {
      damage.missing = domain.count;
    } else {
      damage.remaining.domains.push_back(domain);
    }
  }
  return damage;
}

// --- R17.6 ---------------------------------------------------------------------------------------

Path AncestorOf(const Cluster& cluster, const TopologyDomainAssignment& domain, std::size_t level) {
  Path path = *cluster.FindLeaf(JoinWithComma(domain.values));
  path.resize(level + 1);
  return path;
}

std::string IncompleteSliceDomain(const Cluster& cluster, const Damage& damage,
                                  const SliceConstraint& constraint) {
  const auto level = cluster.LevelOf(constraint.topology);
  if (!level) return "";
  std::map<std::string, std::int64_t> pods_of;  // by id, smallest first
  for (const TopologyDomainAssignment& domain : damage.remaining.domains) {
    pods_of[cluster.DomainId(AncestorOf(cluster, domain, *level))] += domain.count;
  }
  for (const auto& [id, pods] : pods_of) {
    if ((pods + damage.missing) % constraint.size == 0) return id;
  }
  return "";
}

// --- R17.5 ---------------------------------------------------------------------------------------

tl::unexpected<std::string> SizeZero() {
  return tl::unexpected(std::string(kUndefined) + "additional slice layer of size 0");
}

OrReason<std::string> RequiredDomain(const Cluster& cluster, const PodSetRequest& request,
                                     const Damage& damage) {
  const auto key = LevelKey(cluster, request);  // 1
  const auto level = key ? cluster.LevelOf(*key) : std::nullopt;
  if (!level) return "";
  if (damage.remaining.domains.empty()) return "";  // 2
  const auto slice_size = SliceSize(request);       // 3
  if (!slice_size) return "";
  std::vector<SliceConstraint> constraints = SliceConstraints(request);
  if (!constraints.empty() && damage.missing % *slice_size != 0) {  // 4
    std::reverse(constraints.begin(), constraints.end());
    for (const SliceConstraint& constraint : constraints) {
      if (constraint.size == 0) return SizeZero();
      if (damage.missing % constraint.size == 0) continue;
      return IncompleteSliceDomain(cluster, damage, constraint);
    }
  }
  const bool required = request.topology_request && request.topology_request->required;
  if (!required) return "";                                                                // 5
  return cluster.DomainId(AncestorOf(cluster, damage.remaining.domains.front(), *level));  // 6
}

// --- R17.8 ---------------------------------------------------------------------------------------

OrReason<PodSetRequest> AdjustedRequest(PodSetRequest request, const Damage& damage,
                                        const std::string& required_domain) {
  request.count = damage.missing;
  std::vector<SliceConstraint> constraints = SliceConstraints(request);
  const auto slice_size = SliceSize(request);
  if (constraints.empty() || required_domain.empty() || !slice_size ||
      damage.missing % *slice_size == 0) {
    return request;
  }
  TopologyRequest& topology = *request.topology_request;
  topology.slice_topology.reset();
  topology.slice_size.reset();
  topology.slice_constraints.clear();
  std::reverse(constraints.begin(), constraints.end());
  for (const SliceConstraint& constraint : constraints) {
    if (constraint.size == 0) return SizeZero();
    if (damage.missing % constraint.size != 0) continue;
    topology.slice_constraints = {constraint};
    break;
  }
  return request;
}

// --- R17.2 to R17.11, R24.1 ----------------------------------------------------------------------

OrReason<TopologyAssignment> Replace(Evaluation& evaluation, const PodSetRequest& request,
                                     const TopologyAssignment& existing) {
  const ReplacementContext& context = *evaluation.request.replacement;
  if (evaluation.input.gates.skip_reassignment_for_pod_owned_workloads &&
      context.owned_by_single_pod) {
    return existing;
  }
  for (const TopologyDomainAssignment& domain : existing.domains) {
    if (domain.values.empty()) {
      return tl::unexpected(std::string(kUndefined) + "assignment with zero levels");
    }
  }
  const std::string& node = context.unhealthy_nodes.front();
  const Damage damage = RemoveNode(existing, node);

  for (const TopologyDomainAssignment& domain : damage.remaining.domains) {  // R17.4
    if (evaluation.cluster.FindLeaf(JoinWithComma(domain.values))) continue;
    return tl::unexpected(
        "Cannot replace the node, because the existing topologyAssignment is invalid, as it "
        "contains the stale domain " +
        domain.values.front());
  }
  const auto required_domain = RequiredDomain(evaluation.cluster, request, damage);
  if (!required_domain) return tl::unexpected(required_domain.error());
  const auto adjusted = AdjustedRequest(request, damage, *required_domain);
  if (!adjusted) return tl::unexpected(adjusted.error());

  Situation situation = evaluation.Here();
  situation.simulate_empty = false;
  situation.required_domain = *required_domain;
  const auto placement = Place(evaluation.cluster, evaluation.input, *adjusted, nullptr, situation);
  if (!placement) return tl::unexpected(placement.error());  // R17.10
  if (placement->workers.domains.empty()) {
    return tl::unexpected("cannot find replacement assignment for unhealthy node: " + node);
  }
  evaluation.Assume(placement->workers, request.requests);
  return Merge(evaluation.cluster, placement->workers, damage.remaining);
}

}  // namespace

// --- R17.1 ---------------------------------------------------------------------------------------

bool EvaluateReplacement(Evaluation& evaluation, const PodSetRequest& request) {
  const TopologyAssignment* existing =
      AdmittedAssignment(*evaluation.request.replacement, request.name);
  if (existing == nullptr) return true;
  const auto result = Replace(evaluation, request, *existing);
  if (!result) {
    evaluation.reasons[request.name] = result.error();
    return false;
  }
  evaluation.assignments[request.name] = *result;
  return true;
}

}  // namespace espalier::oracle
