#include "service/wire/nested.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "host/model/excerpt.hpp"
#include "host/nested/nested_steps.hpp"
#include "service/wire/columns.hpp"
#include "service/wire/shared_rows.hpp"

namespace espalier {
namespace {

const FieldPath kNested("nested");

using References = google::protobuf::RepeatedField<std::uint32_t>;

class NestedBatchDecoder {
 public:
  NestedBatchDecoder(const v1::NestedBatch& message, WorkBudget& budget)
      : message_(message),
        decoder_(message.strings(), budget),
        resources_(message.resources(), kNested, "resources", decoder_),
        node_constraints_(message.node_constraints(), kNested, "node_constraints", decoder_) {}

  Result<std::vector<NestedRequest>> Decode() {
    CheckColumns();
    const int workloads = std::max(0, message_.group_offsets_size() - 1);
    std::vector<NestedRequest> requests;
    for (int w = 0; w < workloads && decoder_.ok(); ++w) requests.push_back(ReadWorkload(w));
    if (decoder_.ok() && running_ < message_.running_pods_size()) ReadRunning(-1);
    if (!decoder_.ok()) return tl::unexpected(decoder_.error());
    return requests;
  }

 private:
  void CheckColumns() {
    const int groups = message_.group_names_size();
    const int workloads = std::max(0, message_.group_offsets_size() - 1);
    const auto check = [&](const auto& column, int expected, bool may_be_empty,
                           std::string_view field) {
      decoder_.CheckColumn(column.size(), expected, may_be_empty, FieldPath(kNested, field));
    };
    check(message_.namespaces(), workloads, true, "namespaces");
    check(message_.names(), workloads, true, "names");
    check(message_.flavors(), workloads, false, "flavors");
    check(message_.simulate_empty(), workloads, true, "simulate_empty");
    check(message_.group_children(), groups, false, "group_children");
    check(message_.copies(), groups, true, "copies");
    check(message_.min_copies(), groups, true, "min_copies");
    check(message_.required(), groups, true, "required");
    check(message_.preferred(), groups, true, "preferred");
    check(message_.in_order(), groups, true, "in_order");
    check(message_.ranks(), groups, true, "ranks");
    check(message_.rank_levels(), groups, true, "rank_levels");
    check(message_.pods(), groups, true, "pods");
    check(message_.min_counts(), groups, true, "min_counts");
    check(message_.max_counts(), groups, true, "max_counts");
    check(message_.profiles(), workloads, true, "profiles");
    check(message_.pod_sets(), groups, true, "pod_sets");
    check(message_.min_groups(), groups, true, "min_groups");
    check(message_.apart(), groups, true, "apart");
    decoder_.CheckOffsets(message_.group_offsets(), groups, FieldPath(kNested, "group_offsets"));
  }

  const std::string& StringAt(const References& column, int i, std::string_view field) {
    return decoder_.String(EntryOf(column, i), FieldPath(kNested, field, i));
  }

  std::optional<std::string> LevelAt(const References& column, int i, std::string_view field) {
    if (EntryOf(column, i) == 0) return std::nullopt;
    return StringAt(column, i, field);
  }

  NestedRequest ReadWorkload(int w) {
    NestedRequest request;
    const FieldPath path(kNested, "group_offsets", w);
    decoder_.Charge(sizeof(NestedRequest), path);
    request.key.namespace_ = StringAt(message_.namespaces(), w, "namespaces");
    request.key.name = StringAt(message_.names(), w, "names");
    request.flavor = StringAt(message_.flavors(), w, "flavors");
    request.simulate_empty = EntryOf(message_.simulate_empty(), w);
    request.profile = ProfileAt(w);
    next_ = static_cast<int>(message_.group_offsets(w));
    end_ = static_cast<int>(message_.group_offsets(w + 1));
    if (next_ == end_) decoder_.Fail(path, "workload {} has no group; each has a root", w);
    if (!decoder_.ok()) return request;
    request.root = ReadGroup(0);
    if (next_ < end_) {
      decoder_.Fail(FieldPath(kNested, "group_children", next_),
                    "workload {} has {} more groups than are inside its root", w, end_ - next_);
    }
    return request;
  }

  NestedProfile ProfileAt(int w) {
    if (message_.profiles().empty()) return NestedProfile::kEspalier;
    const int profile = message_.profiles(w);
    if (profile == v1::PLACEMENT_PROFILE_KEP5732) return NestedProfile::kKep5732;
    if (profile != v1::PLACEMENT_PROFILE_ESPALIER) {
      decoder_.Fail(FieldPath(kNested, "profiles", w),
                    "is {}; ESPALIER (2) or KEP5732 (3) expected", profile);
    }
    return NestedProfile::kEspalier;
  }

  // Reads the next group and all inside it.
  NestedGroup ReadGroup(int depth) {
    const int g = next_++;
    NestedGroup group;
    const FieldPath path(kNested, "group_names", g);
    decoder_.Charge(sizeof(NestedGroup), path);
    group.name = StringAt(message_.group_names(), g, "group_names");
    if (!message_.copies().empty()) group.copies = message_.copies(g);
    group.min_copies = message_.min_copies().empty() ? group.copies : message_.min_copies(g);
    group.required = LevelAt(message_.required(), g, "required");
    group.preferred = LevelAt(message_.preferred(), g, "preferred");
    group.in_order = EntryOf(message_.in_order(), g);
    group.min_groups = EntryOf(message_.min_groups(), g);
    group.apart = EntryOf(message_.apart(), g);
    group.ranks = RanksAt(g);
    group.rank_level = LevelAt(message_.rank_levels(), g, "rank_levels");
    ReadRunningOf(g, group);
    ReadPods(g, group);
    ReadChildren(g, depth, group);
    return group;
  }

  void ReadChildren(int g, int depth, NestedGroup& group) {
    const std::uint32_t children = message_.group_children(g);
    const FieldPath path(kNested, "group_children", g);
    if (children > static_cast<std::uint32_t>(end_ - next_)) {
      decoder_.Fail(path, "is {}; its workload has {} more groups", children, end_ - next_);
    } else if (children > 0 && depth + 1 >= kMostNestedDepth) {
      decoder_.Fail(path, "groups are nested {} deep; nest at most {}", depth + 2,
                    kMostNestedDepth);
    }
    for (std::uint32_t c = 0; c < children && decoder_.ok(); ++c) {
      if (next_ == end_) {
        decoder_.Fail(path, "is {}; its workload has only {} groups for it", children, c);
        return;
      }
      group.groups.push_back(ReadGroup(depth + 1));
    }
  }

  RankPlacement RanksAt(int g) {
    if (message_.ranks().empty()) return RankPlacement::kByPath;
    const int ranks = message_.ranks(g);
    if (ranks < v1::NESTED_RANK_PLACEMENT_BY_PATH || ranks > v1::NESTED_RANK_PLACEMENT_STRIPED) {
      decoder_.Fail(FieldPath(kNested, "ranks", g), "is {}; 0 to {} expected", ranks,
                    static_cast<int>(v1::NESTED_RANK_PLACEMENT_STRIPED));
      return RankPlacement::kByPath;
    }
    return static_cast<RankPlacement>(ranks);
  }

  void ReadPods(int g, NestedGroup& group) {
    const std::uint32_t reference = EntryOf(message_.pods(), g);
    const FieldPath path(kNested, "pods", g);
    const auto* shape = decoder_.Row(message_.shapes(), reference, path);
    if (shape == nullptr) {
      if (EntryOf(message_.min_counts(), g) != 0 || EntryOf(message_.max_counts(), g) != 0) {
        decoder_.Fail(path, "is 0, but the group has counts of pods; refer to their shape");
      }
      return;
    }
    const FieldPath shape_path(kNested, "shapes", static_cast<std::int64_t>(reference) - 1);
    const FieldPath requests_path(shape_path, "requests");
    if (shape->requests() == 0) {
      decoder_.Fail(requests_path,
                    "is 0, which refers to nothing; references count from 1, and pods that request "
                    "nothing refer to an empty row");
    }
    NestedPodSet& pods = group.pods.emplace();
    pods.requests = resources_.Get(shape->requests(), requests_path, decoder_);
    CheckRequests(pods.requests, requests_path, decoder_);
    pods.pod_template = node_constraints_.Get(shape->node_constraints(),
                                              FieldPath(shape_path, "node_constraints"), decoder_);
    pods.min_count =
        PodCount(EntryOf(message_.min_counts(), g), FieldPath(kNested, "min_counts", g), decoder_);
    pods.max_count =
        PodCount(EntryOf(message_.max_counts(), g), FieldPath(kNested, "max_counts", g), decoder_);
    const std::uint32_t pod_set = EntryOf(message_.pod_sets(), g);
    if (pod_set > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
      decoder_.Fail(FieldPath(kNested, "pod_sets", g), "is {}; no workload has as many", pod_set);
      return;
    }
    pods.pod_set = static_cast<std::int32_t>(pod_set) - 1;
  }

  void ReadRunningOf(int g, NestedGroup& group) {
    if (running_ == message_.running_pods_size()) return;
    const v1::RunningPods& running = message_.running_pods(running_);
    if (static_cast<std::int64_t>(running.group()) > g) return;
    if (static_cast<std::int64_t>(running.group()) < g) return ReadRunning(g);
    const FieldPath path(kNested, "running_pods", running_++);
    for (int i = 0; i < running.leaves_size() && decoder_.ok(); ++i) {
      const FieldPath leaf(path, "leaves", i);
      decoder_.Charge(sizeof(std::string), leaf);
      group.running_on.push_back(decoder_.String(running.leaves(i), leaf));
    }
  }

  // The next entry is of no group that is still to come; `g`: at which that shows.
  void ReadRunning(int g) {
    const std::uint32_t group = message_.running_pods(running_).group();
    const FieldPath entry(kNested, "running_pods", running_);
    const FieldPath path(entry, "group");
    if (g < 0 && static_cast<std::int64_t>(group) >= message_.group_names_size()) {
      decoder_.Fail(path, "is {}; there are only {}", group, message_.group_names_size());
    } else {
      decoder_.Fail(path, "is {}, not above the one before; entries ascend", group);
    }
  }

  const v1::NestedBatch& message_;
  Decoder decoder_;
  const SharedRows<Resources> resources_;
  const SharedRows<PodTemplate> node_constraints_;
  int next_ = 0;     // group
  int end_ = 0;      // of the workload's groups
  int running_ = 0;  // of running_pods
};

class NestedBatchEncoder {
 public:
  v1::NestedBatch Encode(std::span<const NestedRequest> requests) {
    message_.add_group_offsets(0);
    for (const NestedRequest& request : requests) {
      message_.add_namespaces(strings_.Ref(request.key.namespace_));
      message_.add_names(strings_.Ref(request.key.name));
      message_.add_flavors(strings_.Ref(request.flavor));
      message_.add_simulate_empty(request.simulate_empty);
      message_.add_profiles(request.profile == NestedProfile::kKep5732
                                ? v1::PLACEMENT_PROFILE_KEP5732
                                : v1::PLACEMENT_PROFILE_ESPALIER);
      WriteGroup(request.root);
      message_.add_group_offsets(static_cast<std::uint32_t>(message_.group_names_size()));
    }
    const bool same_rules = std::ranges::all_of(requests, [](const NestedRequest& request) {
      return request.profile == NestedProfile::kEspalier;
    });
    if (same_rules) message_.clear_profiles();
    if (AllZero(message_.pod_sets())) message_.clear_pod_sets();
    if (AllZero(message_.min_groups())) message_.clear_min_groups();
    if (AllZero(message_.apart())) message_.clear_apart();
    return std::move(message_);
  }

 private:
  void WriteGroup(const NestedGroup& group) {
    if (!group.running_on.empty()) {
      v1::RunningPods& running = *message_.add_running_pods();
      running.set_group(static_cast<std::uint32_t>(message_.group_names_size()));
      for (const std::string& leaf : group.running_on) running.add_leaves(strings_.Ref(leaf));
    }
    message_.add_group_names(strings_.Ref(group.name));
    message_.add_group_children(static_cast<std::uint32_t>(group.groups.size()));
    message_.add_copies(group.copies);
    message_.add_min_copies(group.min_copies);
    message_.add_required(strings_.Ref(group.required));
    message_.add_preferred(strings_.Ref(group.preferred));
    message_.add_in_order(group.in_order);
    message_.add_ranks(static_cast<v1::NestedRankPlacement>(group.ranks));
    message_.add_rank_levels(strings_.Ref(group.rank_level));
    message_.add_pods(group.pods ? ShapeOf(*group.pods) : 0);
    message_.add_min_counts(group.pods ? group.pods->min_count : 0);
    message_.add_max_counts(group.pods ? group.pods->max_count : 0);
    message_.add_pod_sets(group.pods ? static_cast<std::uint32_t>(group.pods->pod_set + 1) : 0);
    message_.add_min_groups(group.min_groups);
    message_.add_apart(group.apart);
    for (const NestedGroup& child : group.groups) WriteGroup(child);
  }

  std::uint32_t ShapeOf(const NestedPodSet& pods) {
    v1::NestedShape shape;
    shape.set_requests(resources_.Ref(ToProto(pods.requests, strings_)));
    const v1::NodeConstraints constraints = NodeConstraintsToProto(pods.pod_template, strings_);
    if (constraints.ByteSizeLong() > 0) shape.set_node_constraints(constraints_.Ref(constraints));
    return shapes_.Ref(std::move(shape));
  }

  v1::NestedBatch message_;
  StringTable strings_{message_.mutable_strings()};
  RowTable<v1::ResourceVector> resources_{message_.mutable_resources()};
  RowTable<v1::NodeConstraints> constraints_{message_.mutable_node_constraints()};
  RowTable<v1::NestedShape> shapes_{message_.mutable_shapes()};
};

std::optional<NestedStatus> StatusOf(int status) {
  for (const NestedStatus known :
       {NestedStatus::kPlaced, NestedStatus::kPlacedInPart, NestedStatus::kNotNow,
        NestedStatus::kNever, NestedStatus::kUndecided, NestedStatus::kBadRequest}) {
    if (ToProto(known) == status) return known;
  }
  return std::nullopt;
}

class NestedAnswerDecoder {
 public:
  NestedAnswerDecoder(const v1::NestedAnswerBatch& message, WorkBudget& budget)
      : message_(message), decoder_(message.strings(), budget) {}

  Result<std::vector<NestedAnswer>> Decode(std::size_t requests) {
    decoder_.CheckColumn(message_.workloads_size(), static_cast<std::int64_t>(requests), false,
                         FieldPath(kNested, "workloads"));
    std::vector<NestedAnswer> answers;
    for (int w = 0; w < message_.workloads_size() && decoder_.ok(); ++w) {
      const FieldPath path(kNested, "workloads", w);
      const v1::NestedWorkloadAnswer& workload = message_.workloads(w);
      decoder_.Charge(sizeof(NestedAnswer), path);
      NestedAnswer& answer = answers.emplace_back();
      answer.status = ReadStatus(workload.status(), path);
      answer.reason = decoder_.String(workload.reason(), FieldPath(path, "reason"));
      answer.groups = FromProtoGroups(workload, path);
    }
    if (!decoder_.ok()) return tl::unexpected(decoder_.error());
    return answers;
  }

 private:
  NestedStatus ReadStatus(int status, const FieldPath& path) {
    const auto known = StatusOf(status);
    if (!known) decoder_.Fail(FieldPath(path, "status"), "is {}; 1 to 6 expected", status);
    return known.value_or(NestedStatus::kUndecided);
  }

  std::vector<NestedGroupAnswer> FromProtoGroups(const v1::NestedWorkloadAnswer& workload,
                                                 const FieldPath& parent) {
    std::vector<NestedGroupAnswer> groups;
    for (int g = 0; g < workload.groups_size() && decoder_.ok(); ++g) {
      const v1::NestedGroupAnswer& group = workload.groups(g);
      const FieldPath path(parent, "groups", g);
      decoder_.Charge(sizeof(NestedGroupAnswer), path);
      NestedGroupAnswer& answer = groups.emplace_back();
      answer.path = decoder_.String(group.path(), FieldPath(path, "path"));
      answer.status = ReadStatus(group.status(), path);
      if (group.level() != 0) answer.level = decoder_.String(group.level(), path);
      for (const std::uint32_t value : group.values()) {
        decoder_.Charge(sizeof(std::string), path);
        answer.values.push_back(decoder_.String(value, FieldPath(path, "values")));
      }
      if (group.has_assignment()) {
        answer.assignment = FromProto(group.assignment(), FieldPath(path, "assignment"), decoder_);
      }
    }
    return groups;
  }

  const v1::NestedAnswerBatch& message_;
  Decoder decoder_;
};

Result<void> WriteGroup(const NestedGroupAnswer& group, StringTable& strings,
                        v1::NestedGroupAnswer& message) {
  message.set_path(strings.Ref(group.path));
  message.set_status(ToProto(group.status));
  message.set_level(strings.Ref(group.level));
  for (const std::string& value : group.values) {
    message.add_values(strings.Ref(std::optional<std::string>(value)));
  }
  if (!group.assignment) return {};
  auto assignment = ToProto(*group.assignment, strings);
  if (!assignment) {
    return tl::unexpected(Error{ErrorClass::kInternal, std::move(assignment.error().message)});
  }
  *message.mutable_assignment() = *std::move(assignment);
  return {};
}

}  // namespace

Result<std::vector<NestedRequest>> FromProto(const v1::NestedBatch& message, WorkBudget& budget) {
  return NestedBatchDecoder(message, budget).Decode();
}

v1::NestedBatch ToProto(std::span<const NestedRequest> requests) {
  return NestedBatchEncoder().Encode(requests);
}

v1::NestedStatus ToProto(NestedStatus status) {
  switch (status) {
    case NestedStatus::kPlaced:
      return v1::NESTED_STATUS_PLACED;
    case NestedStatus::kPlacedInPart:
      return v1::NESTED_STATUS_PLACED_IN_PART;
    case NestedStatus::kNotNow:
      return v1::NESTED_STATUS_NOT_NOW;
    case NestedStatus::kNever:
      return v1::NESTED_STATUS_NEVER;
    case NestedStatus::kUndecided:
      return v1::NESTED_STATUS_UNDECIDED;
    case NestedStatus::kBadRequest:
      break;
  }
  return v1::NESTED_STATUS_BAD_REQUEST;
}

Result<v1::NestedAnswerBatch> ToProto(std::span<const NestedAnswer> answers, WorkBudget& budget) {
  v1::NestedAnswerBatch message;
  StringTable strings(message.mutable_strings());
  for (const NestedAnswer& answer : answers) {
    v1::NestedWorkloadAnswer& workload = *message.add_workloads();
    workload.set_status(ToProto(answer.status));
    workload.set_reason(strings.Ref(answer.reason));
    for (const NestedGroupAnswer& group : answer.groups) {
      const auto domains = group.assignment ? group.assignment->domains.size() : std::size_t{0};
      const auto bytes = sizeof(v1::NestedGroupAnswer) + domains * sizeof(TopologyDomainAssignment);
      if (!budget.Charge(static_cast<std::int64_t>(bytes))) {
        return tl::unexpected(budget.Check().error());
      }
      if (auto written = WriteGroup(group, strings, *workload.add_groups()); !written) {
        return tl::unexpected(std::move(written.error()));
      }
    }
  }
  return message;
}

Result<std::vector<NestedAnswer>> FromProto(const v1::NestedAnswerBatch& message,
                                            std::size_t requests, WorkBudget& budget) {
  return NestedAnswerDecoder(message, budget).Decode(requests);
}

}  // namespace espalier
