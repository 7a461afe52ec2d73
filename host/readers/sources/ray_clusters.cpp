#include "host/readers/sources/ray_clusters.hpp"

#include <map>
#include <string_view>

#include "host/model/kueue_keys.hpp"
#include "host/readers/object_metadata.hpp"

namespace espalier {
namespace {

// The RayCluster that runs a RayJob or RayService, as its status says; empty: it does not.
std::string_view RayClusterInStatus(JsonValue object) {
  for (const std::string_view path :
       {"/status/rayClusterName", "/status/activeServiceStatus/rayClusterName"}) {
    std::string_view name;
    if (object.at_pointer(path).get(name) == simdjson::SUCCESS) return name;
  }
  return "";
}

}  // namespace

bool Autoscales(const SourceObject& source_object) {
  for (const std::string_view path :
       {"/spec/enableInTreeAutoscaling", "/spec/rayClusterSpec/enableInTreeAutoscaling",
        "/spec/rayClusterConfig/enableInTreeAutoscaling"}) {
    bool scales = false;
    if (source_object.object.value.at_pointer(path).get(scales) == simdjson::SUCCESS && scales)
      return true;
  }
  return false;
}

void MarkElastic(Workload& head) {
  if (head.annotations.Find(kElasticJobAnnotation) == nullptr)
    head.annotations.Set(kElasticJobAnnotation, "true");
}

const SourceObject* RayClusterOf(const SourceObject& job,
                                 const std::vector<SourceObject>& source_objects,
                                 const OwnerIndex& owners) {
  if (job.kind != "RayJob" && job.kind != "RayService") return nullptr;
  const std::string_view active = RayClusterInStatus(job.object.value);
  const SourceObject* found = nullptr;
  std::string_view born;
  for (const SourceObject& source_object : source_objects) {
    if (source_object.kind != "RayCluster" || source_object.source == nullptr ||
        !owners.IsMadeBy(source_object, job)) {
      continue;
    }
    const auto metadata = Member(source_object.object.value, "metadata");
    if (!active.empty() && TextOf(*metadata, "name") == active) return &source_object;
    const std::string_view created = TextOf(*metadata, "creationTimestamp");
    if (Member(*metadata, "deletionTimestamp") || (found != nullptr && created < born)) continue;
    found = &source_object;
    born = created;
  }
  return found;
}

// Takes over the counts that `now` has for pods of the same name.
void TakeCounts(const GangWorkload& now, GangWorkload& job) {
  std::map<std::string_view, const EqGroup*> groups;
  for (const GangGroup& gang : now.gang_groups) {
    for (const RankedGroup& ranked : gang.ranked_groups) {
      for (const EqGroup& group : ranked.eq_groups) groups.emplace(group.name, &group);
    }
  }
  for (GangGroup& gang : job.gang_groups) {
    for (RankedGroup& ranked : gang.ranked_groups) {
      for (EqGroup& group : ranked.eq_groups) {
        const auto found = groups.find(group.name);
        if (found == groups.end()) continue;
        group.count = found->second->count;
        group.min_count = found->second->min_count;
        group.max_count = found->second->max_count;
      }
    }
  }
}

}  // namespace espalier
