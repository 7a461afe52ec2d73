#include "service/wire/resizing.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/excerpt.hpp"
#include "service/wire/objects.hpp"
#include "service/wire/scheduling.hpp"
#include "service/wire/shared_rows.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kMostPods = std::numeric_limits<std::int32_t>::max();

v1::ResizeDecision DecisionToProto(ResizeDecision decision) {
  switch (decision) {
    case ResizeDecision::kNone:
      return v1::RESIZE_DECISION_NONE;
    case ResizeDecision::kInPlace:
      return v1::RESIZE_DECISION_IN_PLACE;
    case ResizeDecision::kNewSlice:
      return v1::RESIZE_DECISION_NEW_SLICE;
    case ResizeDecision::kSlicesPerReplica:
      return v1::RESIZE_DECISION_SLICES_PER_REPLICA;
    case ResizeDecision::kRefused:
      return v1::RESIZE_DECISION_REFUSED;
  }
  return v1::RESIZE_DECISION_UNSPECIFIED;
}

v1::LeavingPods LeavingToProto(const LeavingPods& leaving, StringTable& strings) {
  v1::LeavingPods message;
  message.set_pod_set(strings.Ref(leaving.pod_set));
  for (const TopologyDomainAssignment& domain : leaving.domains) {
    v1::LeavingDomain& row = *message.add_domains();
    for (const std::string& value : domain.values) row.add_values(strings.Ref(value));
    row.set_count(domain.count);
  }
  return message;
}

// Reads the counts that are wanted of pod sets of `workload`.
std::vector<std::pair<std::string, std::int64_t>> ReadCounts(const v1::PlanResizeRequest& message,
                                                             const Workload& workload,
                                                             Decoder& decoder) {
  std::vector<std::string_view> known;
  for (const PodSet& pod_set : workload.pod_sets) known.push_back(pod_set.name);
  std::ranges::sort(known);
  std::vector<std::pair<std::string, std::int64_t>> counts;
  std::map<std::string_view, int> positions;
  for (int i = 0; i < message.counts_size() && decoder.ok(); ++i) {
    const FieldPath path("counts", i);
    const FieldPath name_path(path, "name");
    const v1::PodSetCount& row = message.counts(i);
    const std::string& name = decoder.String(row.name(), name_path);
    if (!std::ranges::binary_search(known, name)) {
      decoder.Fail(name_path, "is \"{}\"; the workload has the pod sets {}", Excerpt(name),
                   Excerpt(fmt::format("{}", fmt::join(known, ", "))));
    }
    if (const auto [first, fresh] = positions.emplace(name, i); !fresh) {
      decoder.Fail(name_path, "is \"{}\", as that of counts[{}]; each pod set once expected",
                   Excerpt(name), first->second);
    }
    if (row.count() < 0 || row.count() > kMostPods) {
      decoder.Fail(FieldPath(path, "count"), "is {}; 0 to {} pods expected", row.count(),
                   kMostPods);
    }
    counts.emplace_back(name, row.count());
  }
  return counts;
}

}  // namespace

Result<ResizeQuestion> FromProto(const v1::PlanResizeRequest& message, WorkBudget& budget) {
  auto cluster = FromProto(message.objects(), budget, "objects");
  if (!cluster) return tl::unexpected(cluster.error());
  Decoder decoder(message.objects().strings(), budget);
  const FieldPath root("");
  ResizeQuestion question{*std::move(cluster), {}};
  const std::vector<Workload>& workloads = question.cluster.workloads;
  if (message.workload() >= workloads.size()) {
    decoder.Fail(FieldPath(root, "workload"), "is {}; there are {} workloads", message.workload(),
                 workloads.size());
  } else {
    question.request.workload = workloads[message.workload()].key;
  }
  if (decoder.ok()) {
    question.request.counts = ReadCounts(message, workloads[message.workload()], decoder);
  }
  switch (message.slice_mode()) {
    case v1::SLICE_MODE_REPLACEMENT:
      break;
    case v1::SLICE_MODE_PER_REPLICA:
      question.request.mode = SliceMode::kPerReplica;
      break;
    default:
      decoder.Fail(FieldPath(root, "slice_mode"), "is {}, which is no known mode",
                   static_cast<int>(message.slice_mode()));
  }
  switch (message.profile()) {
    case v1::RESIZE_PROFILE_KUEUE:
      break;
    case v1::RESIZE_PROFILE_ESPALIER:
      question.request.profile = ResizeProfile::kEspalier;
      break;
    default:
      decoder.Fail(FieldPath(root, "profile"), "is {}, which is no known profile",
                   static_cast<int>(message.profile()));
  }
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  return question;
}

Result<v1::PlanResizeResponse> ToProto(const ResizePlan& plan) {
  v1::PlanResizeResponse message;
  WorkloadTablesWriter tables(message);
  StringTable& strings = tables.strings;
  message.set_decision(DecisionToProto(plan.decision));
  message.set_namespace_(strings.Ref(plan.workload.namespace_));
  message.set_name(strings.Ref(plan.workload.name));
  for (const auto& [name, count] : plan.counts) {
    v1::PodSetCount& row = *message.add_counts();
    row.set_name(strings.Ref(name));
    row.set_count(count);
  }
  for (const LeavingPods& leaving : plan.leaving) {
    *message.add_leaving() = LeavingToProto(leaving, strings);
  }
  for (const PlannedSlice& slice : plan.slices) {
    v1::PlannedSlice& row = *message.add_slices();
    *row.mutable_workload() = ToProto(slice.workload, tables);
    row.set_replacement_for(strings.Ref(slice.replacement_for));
    row.set_admitted(slice.admitted);
    row.set_reason(strings.Ref(slice.reason));
  }
  for (const auto& [key, amount] : plan.usage) {
    v1::FlavorUsage& row = *message.add_usage();
    row.set_flavor(strings.Ref(key.flavor));
    row.set_resource(strings.Ref(key.resource));
    row.set_amount(amount);
  }
  message.set_reason(strings.Ref(plan.reason));
  for (const std::string& note : plan.notes) message.add_notes(strings.Ref(note));
  if (plan.after) *message.mutable_after() = ToProto(*plan.after, tables);
  if (tables.error()) return tl::unexpected(*tables.error());
  return message;
}

}  // namespace espalier
