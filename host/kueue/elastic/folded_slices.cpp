#include "host/kueue/elastic/folded_slices.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "host/kueue/elastic/slice_placement.hpp"

namespace espalier {
namespace {

// Returns what a slice is folded by, once.
std::string_view FoldName(const Workload& slice) {
  return slice.uid.empty() ? slice.key.name : slice.uid;
}

std::vector<std::string_view> FoldedNames(const Workload& parent) {
  std::vector<std::string_view> names;
  const std::string* folded = parent.annotations.Find(kFoldedSlicesAnnotation);
  std::string_view rest;
  if (folded != nullptr) rest = *folded;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    names.push_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return names;
}

}  // namespace

FoldedSlices::FoldedSlices(const Workload& parent) {
  for (const std::string_view name : FoldedNames(parent)) names_.emplace(name);
}

void FoldedSlices::Fold(const Workload& slice, Workload& parent) {
  if (!slice.admission || !parent.admission) return;
  // One that was folded as it was planned has got its uid since.
  if (names_.contains(slice.key.name)) return;
  if (!names_.emplace(FoldName(slice)).second) return;
  for (const PodSetAssignment& part : slice.admission->pod_set_assignments) {
    auto& assignments = parent.admission->pod_set_assignments;
    const auto whole = std::ranges::find(assignments, part.name, &PodSetAssignment::name);
    if (whole == assignments.end()) continue;
    const std::int32_t count = part.count.value_or(0);
    whole->count = AddCounts(whole->count.value_or(0), count);
    AddTo(whole->resource_usage, part.resource_usage);
    if (part.topology_assignment) {
      whole->topology_assignment = whole->topology_assignment ? Merged(*whole->topology_assignment,
                                                                       *part.topology_assignment)
                                                              : *part.topology_assignment;
    }
    const auto pod_set = std::ranges::find(parent.pod_sets, part.name, &PodSet::name);
    if (pod_set != parent.pod_sets.end()) pod_set->count = AddCounts(pod_set->count, count);
  }
  std::string& folded = parent.annotations[kFoldedSlicesAnnotation];
  folded += folded.empty() ? "" : ",";
  folded += FoldName(slice);
}

std::int64_t NextReplicaNumber(const Workload& parent) {
  const std::string prefix = ReplicaPrefix(parent);
  const std::vector<std::string_view> names = FoldedNames(parent);
  std::int64_t number = std::ssize(names);
  for (const std::string_view name : names) {
    if (!name.starts_with(prefix)) continue;
    std::int64_t known = 0;
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data() + prefix.size(), end, known).ptr == end) {
      number = std::max(number, known);
    }
  }
  return number + 1;
}

std::string ReplicaPrefix(const Workload& parent) { return parent.key.name + "-replica-"; }

}  // namespace espalier
