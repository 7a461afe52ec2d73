#include "service/wire/workloads.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/engine/nested_request.hpp"
#include "service/wire/columns.hpp"
#include "service/wire/nested.hpp"
#include "service/wire/shared_rows.hpp"

namespace espalier {
namespace {

const FieldPath kRoot("workloads");

class BatchDecoder {
 public:
  BatchDecoder(const v1::WorkloadBatch& message, WorkBudget& budget)
      : message_(message),
        budget_(budget),
        decoder_(message.strings(), budget),
        tables_(message, kRoot, decoder_) {}

  Result<std::vector<WorkloadRequest>> Decode() {
    CheckColumns(message_, decoder_);
    const int workloads = std::max(0, message_.pod_set_offsets_size() - 1);
    std::vector<WorkloadRequest> requests;
    for (int w = 0; w < workloads && decoder_.ok(); ++w) requests.push_back(ReadWorkload(w));
    ReadUpdates(requests);
    ReadReplacements(requests);
    ReadAssumedUsage(requests);
    if (!decoder_.ok()) return tl::unexpected(decoder_.error());
    if (const auto trees = ReadTrees(requests); !trees) return tl::unexpected(trees.error());
    return requests;
  }

  Result<std::vector<WorkloadRequest>> DecodeAt(std::span<const int> positions) {
    CheckColumns(message_, decoder_);
    std::vector<WorkloadRequest> requests;
    for (std::size_t i = 0; i < positions.size() && decoder_.ok(); ++i) {
      requests.push_back(ReadWorkload(positions[i]));
    }
    if (!decoder_.ok()) return tl::unexpected(decoder_.error());
    return requests;
  }

 private:
  const std::string& StringAt(const google::protobuf::RepeatedField<std::uint32_t>& column, int i,
                              std::string_view field) {
    return decoder_.String(EntryOf(column, i), FieldPath(kRoot, field, i));
  }

  WorkloadRequest ReadWorkload(int w) {
    WorkloadRequest request;
    decoder_.Charge(sizeof(WorkloadRequest), FieldPath(kRoot, "pod_set_offsets", w));
    request.key.namespace_ = StringAt(message_.namespaces(), w, "namespaces");
    request.key.name = StringAt(message_.names(), w, "names");
    request.simulate_empty = EntryOf(message_.simulate_empty(), w);
    request.affinity_scores_consumed = EntryOf(message_.affinity_scores_consumed(), w);
    const auto end = static_cast<int>(message_.pod_set_offsets(w + 1));
    for (int p = static_cast<int>(message_.pod_set_offsets(w)); p < end && decoder_.ok(); ++p) {
      request.pod_sets.push_back(ReadPodSet(p));
    }
    CheckPodSetNames(request.pod_sets, kRoot, "pod_set_names", message_.pod_set_offsets(w),
                     decoder_);
    return request;
  }

  PodSetRequest ReadPodSet(int p) {
    PodSetRequest pod_set;
    const FieldPath counts_path(kRoot, "pod_set_counts", p);
    decoder_.Charge(sizeof(PodSetRequest), counts_path);
    pod_set.name = StringAt(message_.pod_set_names(), p, "pod_set_names");
    pod_set.flavor = StringAt(message_.pod_set_flavors(), p, "pod_set_flavors");
    pod_set.count = PodCount(message_.pod_set_counts(p), counts_path, decoder_);
    const FieldPath requests_path(kRoot, "pod_set_requests", p);
    if (message_.pod_set_requests(p) == 0) {
      decoder_.Fail(requests_path,
                    "is 0, which refers to nothing; references count from 1, and a pod set that "
                    "requests nothing refers to an empty row");
    }
    pod_set.requests = tables_.resources.Get(message_.pod_set_requests(p), requests_path, decoder_);
    CheckRequests(pod_set.requests, requests_path, decoder_);
    pod_set.topology_request = tables_.topology_requests.GetOptional(
        EntryOf(message_.pod_set_topology_requests(), p),
        FieldPath(kRoot, "pod_set_topology_requests", p), decoder_);
    pod_set.implied = EntryOf(message_.pod_set_implied(), p);
    if (EntryOf(message_.pod_set_groups(), p) != 0) {
      pod_set.group = StringAt(message_.pod_set_groups(), p, "pod_set_groups");
    }
    pod_set.previous_assignment = tables_.assignments.GetShared(
        EntryOf(message_.pod_set_previous_assignments(), p),
        FieldPath(kRoot, "pod_set_previous_assignments", p), decoder_);
    pod_set.pod_template =
        tables_.node_constraints.Get(EntryOf(message_.pod_set_node_constraints(), p),
                                     FieldPath(kRoot, "pod_set_node_constraints", p), decoder_);
    return pod_set;
  }

  // Checks that `index` is above the one before and below `end`.
  bool InOrder(std::uint32_t index, std::int64_t& previous, std::int64_t end,
               const FieldPath& path) {
    if (index >= end) decoder_.Fail(path, "is {}; there are only {}", index, end);
    if (index <= previous) {
      decoder_.Fail(path, "is {}, not above the one before, {}; entries ascend", index, previous);
    }
    previous = index;
    return decoder_.ok();
  }

  void ReadUpdates(std::vector<WorkloadRequest>& requests) {
    std::int64_t previous = -1;
    for (int i = 0; i < message_.updates_size() && decoder_.ok(); ++i) {
      const v1::PodSetUpdates& updates = message_.updates(i);
      const FieldPath path(kRoot, "updates", i);
      if (!InOrder(updates.pod_set(), previous, message_.pod_set_names_size(),
                   FieldPath(path, "pod_set"))) {
        return;
      }
      const auto& offsets = message_.pod_set_offsets();
      const auto after = std::ranges::upper_bound(offsets, updates.pod_set());
      const auto w = static_cast<int>(after - offsets.begin()) - 1;
      PodSetRequest& pod_set = requests[w].pod_sets[updates.pod_set() - offsets[w]];
      pod_set.pod_template.labels =
          FromProto(updates.labels(), FieldPath(path, "labels"), decoder_);
      pod_set.pod_template.annotations =
          FromProto(updates.annotations(), FieldPath(path, "annotations"), decoder_);
      pod_set.updates = FromProtoList<PodSetUpdate>(updates.updates(), path, "updates", decoder_);
    }
  }

  void ReadReplacements(std::vector<WorkloadRequest>& requests) {
    std::int64_t previous = -1;
    for (int i = 0; i < message_.replacements_size() && decoder_.ok(); ++i) {
      const v1::Replacement& replacement = message_.replacements(i);
      const FieldPath path(kRoot, "replacements", i);
      if (!InOrder(replacement.workload(), previous, static_cast<std::int64_t>(requests.size()),
                   FieldPath(path, "workload"))) {
        return;
      }
      requests[replacement.workload()].replacement = ReadReplacement(replacement, path);
    }
  }

  ReplacementContext ReadReplacement(const v1::Replacement& message, const FieldPath& path) {
    ReplacementContext context;
    const FieldPath nodes_path(path, "unhealthy_nodes");
    if (message.unhealthy_nodes().empty()) {
      decoder_.Fail(nodes_path, "is empty; a replacement names at least one node");
    }
    for (const std::uint32_t node : message.unhealthy_nodes()) {
      context.unhealthy_nodes.push_back(decoder_.String(node, nodes_path));
    }
    for (int i = 0; i < message.admitted_size() && decoder_.ok(); ++i) {
      context.admitted.push_back(
          FromProto(message.admitted(i), tables_, FieldPath(path, "admitted", i), decoder_));
    }
    context.owned_by_single_pod = message.owned_by_single_pod();
    context.joint = message.joint();
    return context;
  }

  void ReadAssumedUsage(std::vector<WorkloadRequest>& requests) {
    std::int64_t previous = -1;
    for (int i = 0; i < message_.assumed_usage_size() && decoder_.ok(); ++i) {
      const v1::AssumedUsage& assumed = message_.assumed_usage(i);
      const FieldPath path(kRoot, "assumed_usage", i);
      decoder_.CheckColumn(assumed.usages_size(), assumed.leaves_size(), false,
                           FieldPath(path, "usages"));
      if (!InOrder(assumed.workload(), previous, static_cast<std::int64_t>(requests.size()),
                   FieldPath(path, "workload"))) {
        return;
      }
      for (int u = 0; u < assumed.leaves_size() && decoder_.ok(); ++u) {
        requests[assumed.workload()].assumed_usage.push_back(
            {decoder_.String(assumed.leaves(u), FieldPath(path, "leaves", u)),
             tables_.resources.Get(assumed.usages(u), FieldPath(path, "usages", u), decoder_)});
      }
    }
  }

  Result<void> ReadTrees(std::vector<WorkloadRequest>& requests) {
    if (!message_.has_trees()) return {};
    const FieldPath path(kRoot, "trees");
    auto trees = FromProto(message_.trees().trees(), budget_);
    if (!trees) return tl::unexpected(trees.error());
    const auto& workloads = message_.trees().workloads();
    decoder_.CheckColumn(workloads.size(), static_cast<std::int64_t>(trees->size()), false,
                         FieldPath(path, "workloads"));
    std::int64_t previous = -1;
    for (int i = 0; i < workloads.size() && decoder_.ok(); ++i) {
      if (!InOrder(workloads[i], previous, static_cast<std::int64_t>(requests.size()),
                   FieldPath(path, "workloads", i))) {
        break;
      }
      WorkloadRequest& request = requests[workloads[i]];
      NestedRequest& tree = (*trees)[static_cast<std::size_t>(i)];
      tree.key = request.key;
      tree.simulate_empty = false;
      request.tree = std::move(tree);
    }
    if (!decoder_.ok()) return tl::unexpected(decoder_.error());
    return {};
  }

  const v1::WorkloadBatch& message_;
  WorkBudget& budget_;
  Decoder decoder_;
  const WorkloadTables tables_;
};

class BatchEncoder {
 public:
  Result<v1::WorkloadBatch> Encode(std::span<const WorkloadRequest> requests) {
    message_.add_pod_set_offsets(0);
    for (std::size_t w = 0; w < requests.size(); ++w) {
      WriteWorkload(static_cast<std::uint32_t>(w), requests[w]);
    }
    if (tables_.error()) return tl::unexpected(*tables_.error());
    if (!trees_.empty()) *message_.mutable_trees()->mutable_trees() = ToProto(trees_);
    LeaveOut(*message_.mutable_namespaces());
    LeaveOut(*message_.mutable_names());
    LeaveOut(*message_.mutable_simulate_empty());
    LeaveOut(*message_.mutable_affinity_scores_consumed());
    LeaveOut(*message_.mutable_pod_set_topology_requests());
    LeaveOut(*message_.mutable_pod_set_implied());
    LeaveOut(*message_.mutable_pod_set_groups());
    LeaveOut(*message_.mutable_pod_set_node_constraints());
    LeaveOut(*message_.mutable_pod_set_previous_assignments());
    return std::move(message_);
  }

 private:
  // A column that says nothing.
  static void LeaveOut(auto& column) {
    if (AllZero(column)) column.Clear();
  }

  void WriteWorkload(std::uint32_t w, const WorkloadRequest& request) {
    message_.add_namespaces(tables_.strings.Ref(request.key.namespace_));
    message_.add_names(tables_.strings.Ref(request.key.name));
    message_.add_simulate_empty(request.simulate_empty);
    message_.add_affinity_scores_consumed(request.affinity_scores_consumed);
    for (const PodSetRequest& pod_set : request.pod_sets) WritePodSet(pod_set);
    message_.add_pod_set_offsets(static_cast<std::uint32_t>(message_.pod_set_names_size()));
    if (request.replacement) WriteReplacement(w, *request.replacement);
    if (!request.assumed_usage.empty()) WriteAssumedUsage(w, request.assumed_usage);
    if (request.tree) {
      message_.mutable_trees()->add_workloads(w);
      trees_.push_back(*request.tree);
    }
  }

  void WritePodSet(const PodSetRequest& pod_set) {
    const auto p = static_cast<std::uint32_t>(message_.pod_set_names_size());
    message_.add_pod_set_names(tables_.strings.Ref(pod_set.name));
    message_.add_pod_set_flavors(tables_.strings.Ref(pod_set.flavor));
    message_.add_pod_set_counts(pod_set.count);
    message_.add_pod_set_requests(tables_.RowOf(pod_set.requests));
    message_.add_pod_set_topology_requests(tables_.Ref(pod_set.topology_request));
    message_.add_pod_set_implied(pod_set.implied);
    message_.add_pod_set_groups(tables_.strings.Ref(pod_set.group));
    message_.add_pod_set_node_constraints(tables_.Ref(pod_set.pod_template));
    message_.add_pod_set_previous_assignments(tables_.Ref(pod_set.previous_assignment));
    if (!pod_set.updates.empty()) WriteUpdates(p, pod_set);
  }

  void WriteUpdates(std::uint32_t p, const PodSetRequest& pod_set) {
    v1::PodSetUpdates& message = *message_.add_updates();
    message.set_pod_set(p);
    *message.mutable_labels() = ToProto(pod_set.pod_template.labels, tables_.strings);
    *message.mutable_annotations() = ToProto(pod_set.pod_template.annotations, tables_.strings);
    for (const PodSetUpdate& update : pod_set.updates) {
      *message.add_updates() = ToProto(update, tables_.strings);
    }
  }

  void WriteReplacement(std::uint32_t w, const ReplacementContext& context) {
    v1::Replacement& message = *message_.add_replacements();
    message.set_workload(w);
    for (const std::string& node : context.unhealthy_nodes) {
      message.add_unhealthy_nodes(tables_.strings.Ref(node));
    }
    for (const PodSetAssignment& admitted : context.admitted) {
      *message.add_admitted() = tables_.ToMessage(admitted);
    }
    message.set_owned_by_single_pod(context.owned_by_single_pod);
    message.set_joint(context.joint);
  }

  void WriteAssumedUsage(std::uint32_t w, const std::vector<LeafUsage>& usage) {
    v1::AssumedUsage& message = *message_.add_assumed_usage();
    message.set_workload(w);
    for (const LeafUsage& leaf : usage) {
      message.add_leaves(tables_.strings.Ref(leaf.leaf));
      message.add_usages(tables_.Ref(leaf.usage));
    }
  }

  v1::WorkloadBatch message_;
  WorkloadTablesWriter tables_{message_};
  std::vector<NestedRequest> trees_;
};

}  // namespace

void CheckColumns(const v1::WorkloadBatch& message, Decoder& decoder) {
  const int pod_sets = message.pod_set_names_size();
  const int workloads = std::max(0, message.pod_set_offsets_size() - 1);
  const auto check = [&](const auto& column, int expected, bool may_be_empty,
                         std::string_view field) {
    decoder.CheckColumn(column.size(), expected, may_be_empty, FieldPath(kRoot, field));
  };
  check(message.namespaces(), workloads, true, "namespaces");
  check(message.names(), workloads, true, "names");
  check(message.simulate_empty(), workloads, true, "simulate_empty");
  check(message.affinity_scores_consumed(), workloads, true, "affinity_scores_consumed");
  check(message.pod_set_flavors(), pod_sets, false, "pod_set_flavors");
  check(message.pod_set_counts(), pod_sets, false, "pod_set_counts");
  check(message.pod_set_requests(), pod_sets, false, "pod_set_requests");
  check(message.pod_set_topology_requests(), pod_sets, true, "pod_set_topology_requests");
  check(message.pod_set_implied(), pod_sets, true, "pod_set_implied");
  check(message.pod_set_groups(), pod_sets, true, "pod_set_groups");
  check(message.pod_set_node_constraints(), pod_sets, true, "pod_set_node_constraints");
  check(message.pod_set_previous_assignments(), pod_sets, true, "pod_set_previous_assignments");
  decoder.CheckOffsets(message.pod_set_offsets(), pod_sets, FieldPath(kRoot, "pod_set_offsets"));
}

Result<std::vector<WorkloadRequest>> FromProto(const v1::WorkloadBatch& message,
                                               WorkBudget& budget) {
  return BatchDecoder(message, budget).Decode();
}

Result<std::vector<WorkloadRequest>> FromProto(const v1::WorkloadBatch& message,
                                               std::span<const int> positions, WorkBudget& budget) {
  return BatchDecoder(message, budget).DecodeAt(positions);
}

bool HasPodsInPlace(const WorkloadRequest& request) {
  return request.replacement ||
         std::ranges::any_of(request.pod_sets, [](const PodSetRequest& pod_set) {
           return pod_set.previous_assignment.has_value();
         });
}

Result<v1::WorkloadBatch> ToProto(std::span<const WorkloadRequest> requests) {
  return BatchEncoder().Encode(requests);
}

}  // namespace espalier
