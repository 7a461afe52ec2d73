#include "host/kueue/elastic/new_slices.hpp"

#include <iterator>
#include <utility>

#include "host/engine/assignments.hpp"
#include "host/engine/booked_usage.hpp"
#include "host/kueue/cycle/quota_requests.hpp"
#include "host/kueue/elastic/workload_slices.hpp"

namespace espalier {
namespace {

// Texts of values; keys are shared.
std::int64_t BytesOf(const StringMap& map) {
  std::int64_t bytes = 0;
  for (const std::string& value : map.values()) bytes += sizeof(std::string) + value.size();
  return bytes;
}

std::int64_t BytesOf(const std::vector<NodeSelectorRequirement>& requirements) {
  std::int64_t bytes = 0;
  for (const NodeSelectorRequirement& requirement : requirements) {
    bytes += sizeof(requirement) + requirement.key.size();
    for (const std::string& value : requirement.values) bytes += sizeof(value) + value.size();
  }
  return bytes;
}

std::int64_t BytesOf(const NodeSelectorTerm& term) {
  return static_cast<std::int64_t>(sizeof(term)) + BytesOf(term.match_expressions) +
         BytesOf(term.match_fields);
}

std::int64_t BytesOf(const PodTemplate& pods) {
  std::int64_t bytes =
      BytesOf(pods.labels) + BytesOf(pods.annotations) + BytesOf(pods.node_selector) +
      static_cast<std::int64_t>(sizeof(Amount) * (pods.requests.size() + pods.devices.size() +
                                                  pods.device_backed.size()));
  for (const PodResourceClaim& claim : pods.resource_claims) {
    bytes += sizeof(claim) + claim.claim.size() + claim.claim_template.size();
  }
  for (const Toleration& toleration : pods.tolerations) {
    bytes += sizeof(toleration) + toleration.key.size() + toleration.value.size();
  }
  if (pods.affinity.required) {
    for (const NodeSelectorTerm& term : *pods.affinity.required) bytes += BytesOf(term);
  }
  for (const PreferredSchedulingTerm& term : pods.affinity.preferred) {
    bytes += sizeof(term.weight) + BytesOf(term.preference);
  }
  for (const std::string& ignored : pods.ignored_constraints) {
    bytes += sizeof(ignored) + ignored.size();
  }
  return bytes;
}

}  // namespace

Workload SliceAfter(const Workload& old) {
  Workload slice;
  slice.key.namespace_ = old.key.namespace_;
  slice.labels = old.labels;
  slice.annotations = old.annotations;
  slice.annotations.Erase(kScaleRequestAnnotation);  // the slice answers it
  slice.annotations.Set(kElasticJobAnnotation, "true");
  slice.annotations.Set(kSliceReplacementFor, old.key.ToString());
  slice.annotations.Set(kSliceNameAnnotation, std::string(SliceName(old)));
  slice.owners = old.owners;
  slice.creation_seconds = old.creation_seconds;
  slice.priority = old.priority;
  slice.priority_class = old.priority_class;
  slice.queue_name = old.queue_name;
  slice.refusal = old.refusal;
  slice.pod_sets = old.pod_sets;
  return slice;
}

Workload ReplicaSliceOf(const Workload& parent, std::size_t pod_set) {
  Workload slice;
  slice.key.namespace_ = parent.key.namespace_;
  slice.labels = parent.labels;
  slice.owners = {{"kueue.x-k8s.io/v1beta2", "Workload", parent.key.name, parent.uid, true}};
  slice.creation_seconds = parent.creation_seconds;
  slice.priority = parent.priority;
  slice.priority_class = parent.priority_class;
  slice.queue_name = parent.queue_name;
  slice.pod_sets = {parent.pod_sets[pod_set]};
  slice.pod_sets.front().count = 1;
  return slice;
}

std::int64_t ReplicaSliceBytes(const Workload& parent, std::size_t pod_set) {
  // The owner, the admission and the conditions, which are short.
  constexpr std::int64_t kBytesOfTheRest = 1024;
  const PodSet& replicated = parent.pod_sets[pod_set];
  return static_cast<std::int64_t>(sizeof(Workload) + sizeof(PodSet)) + kBytesOfTheRest +
         BytesOf(parent.labels) + BytesOf(replicated.pod_template) + std::ssize(parent.key.name) +
         std::ssize(parent.uid) + std::ssize(parent.queue_name);
}

void KeepAddedPod(const Nomination& nomination, const PodSet& pod_set,
                  const KueueConfiguration* configuration, PodSetAssignment& assignment) {
  assignment.count = 1;
  assignment.resource_usage =
      QuotaRequests(pod_set.pod_template, pod_set.pod_template.requests, configuration);
  if (!assignment.topology_assignment) return;
  TopologyAssignment added{assignment.topology_assignment->levels, {}};
  for (const AddedPods& pods : PodsAdded(nomination.request, nomination.answer)) {
    if (pods.pod_set->name != pod_set.name) continue;
    for (const TopologyDomainAssignment& domain : assignment.topology_assignment->domains) {
      if (DomainIdText(domain.values) != pods.leaf) continue;
      added.domains.push_back({domain.values, static_cast<std::int32_t>(pods.count)});
    }
  }
  assignment.topology_assignment = std::move(added);
}

std::string FreeNames::Take(const std::string& prefix, std::int64_t& number) {
  if (!std::exchange(read_, true)) {
    for (const Workload& workload : workloads_) {
      if (workload.key.namespace_ == namespace_) taken_.insert(workload.key.name);
    }
  }
  while (taken_.contains(prefix + std::to_string(number))) ++number;
  return *taken_.insert(prefix + std::to_string(number)).first;
}

}  // namespace espalier
