#include "host/live/cluster_difference.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/kueue/objects/cluster_input.hpp"
#include "host/live/usage_by_key.hpp"
#include "host/packing/usage_by_leaf.hpp"

namespace espalier {
namespace {

struct Described {
  explicit Described(const Cluster& cluster, const FeatureGates& gates)
      : input(BuildClusterStateInput(cluster, gates)), workloads(TakeUsageByKey(cluster, input)) {}

  ClusterStateInput input;
  std::vector<AdmittedUsage> workloads;
};

// Fills in what comes or changes, and the names of what goes.
template <class Object>
void Compare(const std::vector<Object>& before, std::vector<Object> after,
             std::vector<Object>& upserted, std::vector<std::string>& removed) {
  std::map<std::string_view, const Object*> known;
  for (const Object& object : before) known.emplace(object.name, &object);
  for (Object& object : after) {
    const auto same = known.find(object.name);
    const bool is_same = same != known.end() && *same->second == object;
    if (same != known.end()) known.erase(same);
    if (!is_same) upserted.push_back(std::move(object));
  }
  for (const auto& [name, object] : known) removed.emplace_back(name);
}

std::vector<NodeUsage> MoreUsage(const std::vector<NodeUsage>& before,
                                 const std::vector<NodeUsage>& after) {
  std::map<std::string, NodeUsage> more;
  const auto add = [&](const NodeUsage& usage, Amount sign) {
    NodeUsage& sum = more[usage.node];
    AddTo(sum.usage, Times(usage.usage, sign));
    AddTo(sum.lasting, Times(usage.lasting, sign));
  };
  for (const NodeUsage& usage : before) add(usage, -1);
  for (const NodeUsage& usage : after) add(usage, 1);
  std::vector<NodeUsage> changed;
  for (auto& [node, sum] : more) {
    sum.node = node;
    sum.usage = WithoutZeros(sum.usage);
    sum.lasting = WithoutZeros(sum.lasting);
    if (!sum.usage.empty() || !sum.lasting.empty()) changed.push_back(std::move(sum));
  }
  return changed;
}

std::vector<AdmittedUsage> OtherWorkloads(const std::vector<AdmittedUsage>& before,
                                          std::vector<AdmittedUsage> after) {
  std::map<ObjectKey, const AdmittedUsage*> known;
  for (const AdmittedUsage& workload : before) known.emplace(workload.key, &workload);
  std::vector<AdmittedUsage> changed;
  for (AdmittedUsage& workload : after) {
    const auto same = known.find(workload.key);
    const bool is_same = same != known.end() && *same->second == workload;
    if (same != known.end()) known.erase(same);
    if (!is_same) changed.push_back(std::move(workload));
  }
  for (const auto& [key, workload] : known) changed.push_back({key, workload->priority, 0, {}, {}});
  return changed;
}

}  // namespace

ProposedChange ChangeBetween(const Cluster& before, const Cluster& after,
                             const FeatureGates& gates) {
  const Described was(before, gates);
  Described is(after, gates);
  ProposedChange change;
  StateDelta& delta = change.delta;
  Compare(was.input.nodes, std::move(is.input.nodes), delta.upsert_nodes, delta.remove_nodes);
  Compare(was.input.topologies, std::move(is.input.topologies), delta.upsert_topologies,
          delta.remove_topologies);
  Compare(was.input.flavors, std::move(is.input.flavors), delta.upsert_flavors,
          delta.remove_flavors);
  delta.set_non_tas_usage = MoreUsage(was.input.non_tas_usage, is.input.non_tas_usage);
  delta.set_workloads = OtherWorkloads(was.workloads, std::move(is.workloads));
  return change;
}

}  // namespace espalier
