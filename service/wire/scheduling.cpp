#include "service/wire/scheduling.hpp"

#include <map>
#include <utility>

#include "host/model/excerpt.hpp"
#include "service/wire/objects.hpp"
#include "service/wire/shared_rows.hpp"

namespace espalier {
namespace {

v1::DecisionStatus StatusToProto(DecisionStatus status) {
  switch (status) {
    case DecisionStatus::kAssumed:
      return v1::DECISION_STATUS_ASSUMED;
    case DecisionStatus::kNotAdmitted:
      return v1::DECISION_STATUS_NOT_ADMITTED;
    case DecisionStatus::kReplaced:
      return v1::DECISION_STATUS_REPLACED;
    case DecisionStatus::kEvicted:
      return v1::DECISION_STATUS_EVICTED;
    case DecisionStatus::kKept:
      return v1::DECISION_STATUS_KEPT;
  }
  return v1::DECISION_STATUS_UNSPECIFIED;
}

DecisionStatus StatusFromProto(int status, const FieldPath& path, Decoder& decoder) {
  for (const DecisionStatus known :
       {DecisionStatus::kAssumed, DecisionStatus::kNotAdmitted, DecisionStatus::kReplaced,
        DecisionStatus::kEvicted, DecisionStatus::kKept}) {
    if (StatusToProto(known) == status) return known;
  }
  decoder.Fail(path, "is {}, which is no known status", status);
  return DecisionStatus::kNotAdmitted;
}

v1::Decision DecisionToProto(const Decision& decision, AssignmentTablesWriter& tables) {
  v1::Decision message;
  message.set_cycle(decision.cycle);
  message.set_cluster_queue(tables.strings.Ref(decision.cluster_queue));
  message.set_namespace_(tables.strings.Ref(decision.workload.namespace_));
  message.set_name(tables.strings.Ref(decision.workload.name));
  message.set_status(StatusToProto(decision.status));
  message.set_reason(tables.strings.Ref(decision.reason));
  message.set_pending_reason(tables.strings.Ref(decision.pending_reason));
  for (const PodSetAssignment& assignment : decision.assignments) {
    *message.add_pod_set_assignments() = tables.ToMessage(assignment);
  }
  return message;
}

Decision DecisionFromProto(const v1::Decision& message, const AssignmentTables& tables,
                           const FieldPath& path, Decoder& decoder) {
  const auto text = [&](std::uint32_t reference, std::string_view field) {
    return decoder.String(reference, FieldPath(path, field));
  };
  Decision decision;
  decoder.Charge(sizeof(Decision), path);
  decision.cycle = message.cycle();
  decision.cluster_queue = text(message.cluster_queue(), "cluster_queue");
  decision.workload = {text(message.namespace_(), "namespace"), text(message.name(), "name")};
  decision.status = StatusFromProto(message.status(), FieldPath(path, "status"), decoder);
  decision.reason = text(message.reason(), "reason");
  decision.pending_reason = text(message.pending_reason(), "pending_reason");
  for (int i = 0; i < message.pod_set_assignments_size() && decoder.ok(); ++i) {
    decision.assignments.push_back(FromProto(message.pod_set_assignments(i), tables,
                                             FieldPath(path, "pod_set_assignments", i), decoder));
  }
  return decision;
}

// Fails when two objects in the list `field` have the same name; `kind` is what one is called.
template <class Object>
void CheckNames(const std::vector<Object>& objects, std::string_view kind, const FieldPath& parent,
                std::string_view field, Decoder& decoder) {
  std::map<std::string_view, std::size_t> positions;
  for (std::size_t i = 0; i < objects.size() && decoder.ok(); ++i) {
    const auto [first, fresh] = positions.emplace(objects[i].name, i);
    if (fresh) continue;
    decoder.Fail(FieldPath(parent, field, static_cast<std::int64_t>(i)),
                 "is {} as {}[{}] is; send each {} once", Excerpt(objects[i].name), field,
                 first->second, kind);
  }
}

}  // namespace

Result<Cluster> FromProto(const v1::CycleRequest& message, WorkBudget& budget,
                          std::string_view field) {
  Decoder decoder(message.strings(), budget);
  const FieldPath root(field);
  const WorkloadTables tables(message, root, decoder);
  ObjectReader reader(tables, decoder);
  Cluster cluster;
  cluster.cluster_queues =
      reader.ReadList<ClusterQueue>(message.cluster_queues(), root, "cluster_queues");
  CheckNames(cluster.cluster_queues, "queue", root, "cluster_queues", decoder);
  cluster.local_queues = reader.ReadList<LocalQueue>(message.local_queues(), root, "local_queues");
  CheckKeys(cluster.local_queues, "queue", root, "local_queues", decoder);
  cluster.admission_checks =
      reader.ReadList<AdmissionCheck>(message.admission_checks(), root, "admission_checks");
  CheckNames(cluster.admission_checks, "check", root, "admission_checks", decoder);
  cluster.workloads = reader.ReadList<Workload>(message.workloads(), root, "workloads");
  CheckKeys(cluster.workloads, "workload", root, "workloads", decoder);
  cluster.namespaces = reader.ReadList<Namespace>(message.namespaces(), root, "namespaces");
  CheckNames(cluster.namespaces, "namespace", root, "namespaces", decoder);
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  return cluster;
}

Result<v1::CycleRequest> ToProto(const Cluster& cluster) {
  v1::CycleRequest message;
  WorkloadTablesWriter tables(message);
  for (const ClusterQueue& queue : cluster.cluster_queues) {
    *message.add_cluster_queues() = ToProto(queue, tables);
  }
  for (const LocalQueue& queue : cluster.local_queues) {
    *message.add_local_queues() = ToProto(queue, tables);
  }
  for (const AdmissionCheck& check : cluster.admission_checks) {
    *message.add_admission_checks() = ToProto(check, tables);
  }
  for (const Workload& workload : cluster.workloads) {
    *message.add_workloads() = ToProto(workload, tables);
  }
  for (const Namespace& name_space : cluster.namespaces) {
    *message.add_namespaces() = ToProto(name_space, tables);
  }
  if (tables.error()) return tl::unexpected(*tables.error());
  return message;
}

Result<v1::CycleResponse> ToProto(const SchedulingCyclesResult& result) {
  v1::CycleResponse message;
  AssignmentTablesWriter tables(message);
  message.set_cycles(result.cycles);
  for (const Decision& decision : result.decisions) {
    *message.add_decisions() = DecisionToProto(decision, tables);
  }
  for (const std::string& note : result.notes) message.add_notes(tables.strings.Ref(note));
  if (tables.error()) return tl::unexpected(*tables.error());
  return message;
}

Result<SchedulingCyclesResult> FromProto(const v1::CycleResponse& message, WorkBudget& budget) {
  Decoder decoder(message.strings(), budget);
  const FieldPath root("decided");
  const AssignmentTables tables(message, root, decoder);
  SchedulingCyclesResult result;
  result.cycles = message.cycles();
  for (int i = 0; i < message.decisions_size() && decoder.ok(); ++i) {
    result.decisions.push_back(
        DecisionFromProto(message.decisions(i), tables, FieldPath(root, "decisions", i), decoder));
    result.decisions.back().evaluation = i + 1;
  }
  for (int i = 0; i < message.notes_size() && decoder.ok(); ++i) {
    result.notes.push_back(decoder.String(message.notes(i), FieldPath(root, "notes", i)));
  }
  if (!decoder.ok()) return tl::unexpected(decoder.error());
  return result;
}

}  // namespace espalier
