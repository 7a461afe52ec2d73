#include "service/wire/objects.hpp"

#include <algorithm>
#include <utility>

#include "host/kueue/objects/ungater.hpp"

namespace espalier {

std::vector<std::string> ObjectReader::Texts(
    const google::protobuf::RepeatedField<std::uint32_t>& references, const FieldPath& path,
    std::string_view field) {
  std::vector<std::string> texts;
  for (int i = 0; i < references.size() && decoder_.ok(); ++i) {
    texts.push_back(decoder_.String(references[i], FieldPath(path, field, i)));
  }
  return texts;
}

Workload ObjectReader::Read(const v1::Workload& message, const FieldPath& path) {
  Workload workload;
  workload.key = {Text(message.namespace_(), path, "namespace"),
                  Text(message.name(), path, "name")};
  workload.uid = Text(message.uid(), path, "uid");
  workload.annotations = FromProto(message.annotations(), FieldPath(path, "annotations"), decoder_);
  workload.owners = ReadList<OwnerReference>(message.owners(), path, "owners");
  workload.creation_seconds = message.creation_seconds();
  workload.priority = message.priority();
  workload.queue_name = Text(message.queue_name(), path, "queue_name");
  workload.active = !message.deactivated();
  workload.pod_sets = ReadList<PodSet>(message.pod_sets(), path, "pod_sets");
  CheckPodSetNames(workload.pod_sets, path, "pod_sets", 0, decoder_);
  if (message.has_admission()) {
    const FieldPath admission_path(path, "admission");
    const v1::Admission& admission = message.admission();
    workload.admission = {Text(admission.cluster_queue(), admission_path, "cluster_queue"),
                          ReadList<PodSetAssignment>(admission.pod_set_assignments(),
                                                     admission_path, "pod_set_assignments")};
    CheckPodSetNames(workload.admission->pod_set_assignments, admission_path, "pod_set_assignments",
                     0, decoder_);
  }
  workload.conditions = ReadList<Condition>(message.conditions(), path, "conditions");
  DropWithdrawnAdmission(workload);
  workload.unhealthy_nodes = Texts(message.unhealthy_nodes(), path, "unhealthy_nodes");
  workload.reclaimable_pods =
      ReadList<ReclaimablePod>(message.reclaimable_pods(), path, "reclaimable_pods");
  workload.admission_checks =
      ReadList<AdmissionCheckState>(message.admission_checks(), path, "admission_checks");
  if (message.has_requeue_at_seconds()) workload.requeue_at_seconds = message.requeue_at_seconds();
  workload.resources_error = Text(message.resources_error(), path, "resources_error");
  return workload;
}

PodSet ObjectReader::Read(const v1::PodSet& message, const FieldPath& path) {
  PodSet pod_set;
  pod_set.name = Text(message.name(), path, "name");
  pod_set.count = PodCount(message.count(), FieldPath(path, "count"), decoder_);
  if (message.has_min_count()) {
    const FieldPath min_path(path, "min_count");
    pod_set.min_count = PodCount(message.min_count(), min_path, decoder_);
    if (*pod_set.min_count > pod_set.count) {
      decoder_.Fail(min_path, "is {}; 0 to the count of the pod set, {}, expected",
                    *pod_set.min_count, pod_set.count);
    }
  }
  pod_set.topology_request = tables_.topology_requests.GetOptional(
      message.topology_request(), FieldPath(path, "topology_request"), decoder_);
  pod_set.pod_template = tables_.node_constraints.Get(
      message.node_constraints(), FieldPath(path, "node_constraints"), decoder_);
  pod_set.pod_template.requests =
      tables_.resources.Get(message.requests(), FieldPath(path, "requests"), decoder_);
  CheckRequests(pod_set.pod_template.requests, FieldPath(path, "requests"), decoder_);
  pod_set.pod_template.devices =
      tables_.resources.Get(message.devices(), FieldPath(path, "devices"), decoder_);
  CheckRequests(pod_set.pod_template.devices, FieldPath(path, "devices"), decoder_);
  for (const std::string& resource : Texts(message.device_backed(), path, "device_backed")) {
    const Amount* amount = pod_set.pod_template.requests.Find(resource);
    pod_set.pod_template.device_backed.Set(resource, amount == nullptr ? 0 : *amount);
  }
  pod_set.pod_template.labels = FromProto(message.labels(), FieldPath(path, "labels"), decoder_);
  pod_set.pod_template.annotations =
      FromProto(message.annotations(), FieldPath(path, "annotations"), decoder_);
  return pod_set;
}

PodSetAssignment ObjectReader::Read(const v1::AdmittedPodSet& message, const FieldPath& path) {
  return FromProto(message, tables_, path, decoder_);
}

OwnerReference ObjectReader::Read(const v1::OwnerReference& message, const FieldPath& path) {
  OwnerReference owner;
  owner.api_version = Text(message.api_version(), path, "api_version");
  owner.kind = Text(message.kind(), path, "kind");
  owner.name = Text(message.name(), path, "name");
  owner.uid = Text(message.uid(), path, "uid");
  owner.controller = message.controller();
  return owner;
}

Condition ObjectReader::Read(const v1::Condition& message, const FieldPath& path) {
  Condition condition;
  condition.type = Text(message.type(), path, "type");
  condition.status = Text(message.status(), path, "status");
  condition.reason = Text(message.reason(), path, "reason");
  if (message.has_since_seconds()) condition.since_seconds = message.since_seconds();
  return condition;
}

ReclaimablePod ObjectReader::Read(const v1::ReclaimablePod& message, const FieldPath& path) {
  return {Text(message.name(), path, "name"),
          PodCount(message.count(), FieldPath(path, "count"), decoder_)};
}

AdmissionCheckState ObjectReader::Read(const v1::AdmissionCheckState& message,
                                       const FieldPath& path) {
  return {
      Text(message.name(), path, "name"), Text(message.state(), path, "state"),
      FromProtoList<PodSetUpdate>(message.pod_set_updates(), path, "pod_set_updates", decoder_)};
}

ClusterQueue ObjectReader::Read(const v1::ClusterQueue& message, const FieldPath& path) {
  ClusterQueue queue;
  queue.name = Text(message.name(), path, "name");
  queue.cohort = Text(message.cohort(), path, "cohort");
  queue.queueing_strategy = Text(message.queueing_strategy(), path, "queueing_strategy");
  queue.stop_policy = Text(message.stop_policy(), path, "stop_policy");
  queue.resource_groups =
      ReadList<ResourceGroup>(message.resource_groups(), path, "resource_groups");
  std::vector<FlatMap<std::vector<std::string>>::Entry> check_flavors;
  for (int i = 0; i < message.admission_checks_size() && decoder_.ok(); ++i) {
    const v1::ClusterQueueCheck& check = message.admission_checks(i);
    const FieldPath check_path(path, "admission_checks", i);
    queue.admission_checks.push_back(Text(check.name(), check_path, "name"));
    if (check.flavors().empty()) continue;
    check_flavors.emplace_back(queue.admission_checks.back(),
                               Texts(check.flavors(), check_path, "flavors"));
  }
  queue.admission_check_flavors = FlatMap(std::move(check_flavors));
  queue.within_cluster_queue = Text(message.within_cluster_queue(), path, "within_cluster_queue");
  queue.reclaim_within_cohort =
      Text(message.reclaim_within_cohort(), path, "reclaim_within_cohort");
  if (message.has_namespace_selector()) {
    const FieldPath selector_path(path, "namespace_selector");
    const v1::LabelSelector& selector = message.namespace_selector();
    queue.namespace_selector = {
        FromProto(selector.match_labels(), FieldPath(selector_path, "match_labels"), decoder_),
        FromProtoList<NodeSelectorRequirement>(selector.match_expressions(), selector_path,
                                               "match_expressions", decoder_)};
  }
  return queue;
}

Namespace ObjectReader::Read(const v1::Namespace& message, const FieldPath& path) {
  return {Text(message.name(), path, "name"),
          FromProto(message.labels(), FieldPath(path, "labels"), decoder_)};
}

ResourceGroup ObjectReader::Read(const v1::ResourceGroup& message, const FieldPath& path) {
  return {Texts(message.covered_resources(), path, "covered_resources"),
          ReadList<FlavorQuota>(message.flavors(), path, "flavors")};
}

FlavorQuota ObjectReader::Read(const v1::FlavorQuota& message, const FieldPath& path) {
  FlavorQuota quota;
  quota.flavor = Text(message.flavor(), path, "flavor");
  const FieldPath nominal_path(path, "nominal");
  const Resources nominal = FromProto(message.nominal(), nominal_path, decoder_);
  CheckAmounts(nominal, nominal_path, decoder_);
  for (const auto& [resource, amount] : nominal) {
    quota.resources.push_back({resource, amount, std::nullopt});
  }
  return quota;
}

LocalQueue ObjectReader::Read(const v1::LocalQueue& message, const FieldPath& path) {
  LocalQueue queue;
  queue.key = {Text(message.namespace_(), path, "namespace"), Text(message.name(), path, "name")};
  queue.cluster_queue = Text(message.cluster_queue(), path, "cluster_queue");
  queue.stop_policy = Text(message.stop_policy(), path, "stop_policy");
  return queue;
}

AdmissionCheck ObjectReader::Read(const v1::AdmissionCheck& message, const FieldPath& path) {
  AdmissionCheck check;
  check.name = Text(message.name(), path, "name");
  check.controller_name = Text(message.controller_name(), path, "controller_name");
  if (message.has_active()) check.active = message.active();
  return check;
}

Pod ObjectReader::Read(const v1::Pod& message, const FieldPath& path) {
  Pod pod;
  pod.key = {Text(message.namespace_(), path, "namespace"), Text(message.name(), path, "name")};
  pod.labels = FromProto(message.labels(), FieldPath(path, "labels"), decoder_);
  pod.annotations = FromProto(message.annotations(), FieldPath(path, "annotations"), decoder_);
  pod.node_selector =
      FromProto(message.node_selector(), FieldPath(path, "node_selector"), decoder_);
  pod.phase = Text(message.phase(), path, "phase");
  if (message.gated()) pod.scheduling_gates.emplace_back(kTopologyGate);
  if (message.elastic_gated()) pod.scheduling_gates.emplace_back(kElasticJobGate);
  pod.ungating_unconfirmed = message.ungating_unconfirmed();
  return pod;
}

namespace {

v1::PodSet ToProto(const PodSet& pod_set, WorkloadTablesWriter& tables) {
  v1::PodSet message;
  message.set_name(tables.strings.Ref(pod_set.name));
  message.set_count(pod_set.count);
  if (pod_set.min_count) message.set_min_count(*pod_set.min_count);
  message.set_topology_request(tables.Ref(pod_set.topology_request));
  message.set_requests(tables.Ref(pod_set.pod_template.requests));
  if (!pod_set.pod_template.devices.empty()) {
    message.set_devices(tables.Ref(pod_set.pod_template.devices));
  }
  for (const auto& [resource, amount] : pod_set.pod_template.device_backed) {
    message.add_device_backed(tables.strings.Ref(resource));
  }
  message.set_node_constraints(tables.Ref(pod_set.pod_template));
  *message.mutable_labels() = ToProto(pod_set.pod_template.labels, tables.strings);
  *message.mutable_annotations() = ToProto(pod_set.pod_template.annotations, tables.strings);
  return message;
}

v1::AdmissionCheckState ToProto(const AdmissionCheckState& check, StringTable& strings) {
  v1::AdmissionCheckState message;
  message.set_name(strings.Ref(check.name));
  message.set_state(strings.Ref(check.state));
  for (const PodSetUpdate& update : check.pod_set_updates) {
    *message.add_pod_set_updates() = ToProto(update, strings);
  }
  return message;
}

v1::ResourceGroup ToProto(const ResourceGroup& group, StringTable& strings) {
  v1::ResourceGroup message;
  for (const std::string& resource : group.covered_resources) {
    message.add_covered_resources(strings.Ref(resource));
  }
  for (const FlavorQuota& quota : group.flavors) {
    v1::FlavorQuota& row = *message.add_flavors();
    row.set_flavor(strings.Ref(quota.flavor));
    Resources nominal;
    for (const FlavorQuota::Quota& entry : quota.resources) {
      nominal.Set(entry.resource, entry.nominal);
    }
    *row.mutable_nominal() = ToProto(nominal, strings);
  }
  return message;
}

}  // namespace

v1::Workload ToProto(const Workload& workload, WorkloadTablesWriter& tables) {
  StringTable& strings = tables.strings;
  v1::Workload message;
  message.set_namespace_(strings.Ref(workload.key.namespace_));
  message.set_name(strings.Ref(workload.key.name));
  message.set_uid(strings.Ref(workload.uid));
  *message.mutable_annotations() = ToProto(workload.annotations, strings);
  for (const OwnerReference& owner : workload.owners) {
    v1::OwnerReference& row = *message.add_owners();
    row.set_api_version(strings.Ref(owner.api_version));
    row.set_kind(strings.Ref(owner.kind));
    row.set_name(strings.Ref(owner.name));
    row.set_uid(strings.Ref(owner.uid));
    row.set_controller(owner.controller);
  }
  message.set_creation_seconds(workload.creation_seconds);
  message.set_priority(workload.priority);
  message.set_queue_name(strings.Ref(workload.queue_name));
  message.set_deactivated(!workload.active);
  for (const PodSet& pod_set : workload.pod_sets) {
    *message.add_pod_sets() = ToProto(pod_set, tables);
  }
  if (workload.admission) {
    v1::Admission& admission = *message.mutable_admission();
    admission.set_cluster_queue(strings.Ref(workload.admission->cluster_queue));
    for (const PodSetAssignment& assignment : workload.admission->pod_set_assignments) {
      *admission.add_pod_set_assignments() = tables.ToMessage(assignment);
    }
  }
  for (const Condition& condition : workload.conditions) {
    v1::Condition& row = *message.add_conditions();
    row.set_type(strings.Ref(condition.type));
    row.set_status(strings.Ref(condition.status));
    row.set_reason(strings.Ref(condition.reason));
    if (condition.since_seconds) row.set_since_seconds(*condition.since_seconds);
  }
  for (const std::string& node : workload.unhealthy_nodes) {
    message.add_unhealthy_nodes(strings.Ref(node));
  }
  for (const ReclaimablePod& reclaimable : workload.reclaimable_pods) {
    v1::ReclaimablePod& row = *message.add_reclaimable_pods();
    row.set_name(strings.Ref(reclaimable.name));
    row.set_count(reclaimable.count);
  }
  for (const AdmissionCheckState& check : workload.admission_checks) {
    *message.add_admission_checks() = ToProto(check, strings);
  }
  if (workload.requeue_at_seconds) message.set_requeue_at_seconds(*workload.requeue_at_seconds);
  message.set_resources_error(strings.Ref(workload.resources_error));
  return message;
}

v1::ClusterQueue ToProto(const ClusterQueue& queue, WorkloadTablesWriter& tables) {
  StringTable& strings = tables.strings;
  v1::ClusterQueue message;
  message.set_name(strings.Ref(queue.name));
  message.set_cohort(strings.Ref(queue.cohort));
  message.set_queueing_strategy(strings.Ref(queue.queueing_strategy));
  message.set_stop_policy(strings.Ref(queue.stop_policy));
  for (const ResourceGroup& group : queue.resource_groups) {
    *message.add_resource_groups() = ToProto(group, strings);
  }
  for (const std::string& name : queue.admission_checks) {
    v1::ClusterQueueCheck& check = *message.add_admission_checks();
    check.set_name(strings.Ref(name));
    if (const auto* flavors = queue.admission_check_flavors.Find(name)) {
      for (const std::string& flavor : *flavors) check.add_flavors(strings.Ref(flavor));
    }
  }
  message.set_within_cluster_queue(strings.Ref(queue.within_cluster_queue));
  message.set_reclaim_within_cohort(strings.Ref(queue.reclaim_within_cohort));
  if (queue.namespace_selector) {
    v1::LabelSelector& selector = *message.mutable_namespace_selector();
    *selector.mutable_match_labels() = ToProto(queue.namespace_selector->match_labels, strings);
    for (const auto& requirement : queue.namespace_selector->match_expressions) {
      *selector.add_match_expressions() = ToProto(requirement, strings);
    }
  }
  return message;
}

v1::Namespace ToProto(const Namespace& name_space, WorkloadTablesWriter& tables) {
  v1::Namespace message;
  message.set_name(tables.strings.Ref(name_space.name));
  *message.mutable_labels() = ToProto(name_space.labels, tables.strings);
  return message;
}

v1::LocalQueue ToProto(const LocalQueue& queue, WorkloadTablesWriter& tables) {
  v1::LocalQueue message;
  message.set_namespace_(tables.strings.Ref(queue.key.namespace_));
  message.set_name(tables.strings.Ref(queue.key.name));
  message.set_cluster_queue(tables.strings.Ref(queue.cluster_queue));
  message.set_stop_policy(tables.strings.Ref(queue.stop_policy));
  return message;
}

v1::AdmissionCheck ToProto(const AdmissionCheck& check, WorkloadTablesWriter& tables) {
  v1::AdmissionCheck message;
  message.set_name(tables.strings.Ref(check.name));
  message.set_controller_name(tables.strings.Ref(check.controller_name));
  if (check.active) message.set_active(*check.active);
  return message;
}

v1::Pod ToProto(const Pod& pod, WorkloadTablesWriter& tables) {
  v1::Pod message;
  message.set_namespace_(tables.strings.Ref(pod.key.namespace_));
  message.set_name(tables.strings.Ref(pod.key.name));
  *message.mutable_labels() = ToProto(pod.labels, tables.strings);
  *message.mutable_annotations() = ToProto(pod.annotations, tables.strings);
  *message.mutable_node_selector() = ToProto(pod.node_selector, tables.strings);
  message.set_phase(tables.strings.Ref(pod.phase));
  const auto& gates = pod.scheduling_gates;
  message.set_gated(std::ranges::find(gates, kTopologyGate) != gates.end());
  message.set_elastic_gated(std::ranges::find(gates, kElasticJobGate) != gates.end());
  message.set_ungating_unconfirmed(pod.ungating_unconfirmed);
  return message;
}

}  // namespace espalier
