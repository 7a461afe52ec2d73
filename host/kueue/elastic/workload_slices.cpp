#include "host/kueue/elastic/workload_slices.hpp"

#include <algorithm>

#include "host/kueue/objects/workload_status.hpp"

namespace espalier {

bool IsElasticJob(const Workload& workload) {
  const std::string* value = workload.annotations.Find(kElasticJobAnnotation);
  return value != nullptr && *value == "true";
}

const Workload* ReplacedSlice(const Workload& workload, const ClusterLookup& lookup,
                              const ClusterQueue* queue, const FeatureGates& gates) {
  if (!gates.elastic_jobs_via_workload_slices) return nullptr;
  const std::string* reference = workload.annotations.Find(kSliceReplacementFor);
  if (reference == nullptr) return nullptr;
  const auto slash = reference->find('/');
  if (slash == std::string::npos) return nullptr;
  const ObjectKey key{reference->substr(0, slash), reference->substr(slash + 1)};
  if (key.namespace_ != workload.key.namespace_ || key == workload.key) return nullptr;
  const Workload* slice = lookup.FindWorkload(key);
  if (slice == nullptr || !HasReservation(*slice)) return nullptr;
  if (queue != nullptr && slice->admission->cluster_queue != queue->name) return nullptr;
  return slice;
}

void PutWorkload(const Workload& workload, std::vector<Workload>& workloads) {
  const auto found = std::ranges::find(workloads, workload.key, &Workload::key);
  if (found == workloads.end()) {
    workloads.push_back(workload);
  } else {
    *found = workload;
  }
}

}  // namespace espalier
