#include "host/readers/object_converter.hpp"

#include <string_view>

#include "host/model/kueue_keys.hpp"
#include "host/readers/object_metadata.hpp"

namespace espalier {
namespace {

// Returns whether what an admitted Workload uses rests on a field. Its labels and annotations, and
// those of its templates, only say what was asked for.
bool TellsUsage(std::string_view field) {
  return !field.starts_with("metadata") && field.find(".metadata") == field.npos &&
         field.find(".topologyRequest") == field.npos;
}

}  // namespace

void ObjectConverter::ReadDefaults(const Cluster& cluster, const std::vector<NetworkTier>& tiers) {
  defaults_.network_tiers = tiers;
  ReadClaims(cluster);
  for (const LocalQueue& queue : cluster.local_queues) {
    if (queue.key.name != kDefaultLocalQueue) continue;
    defaults_.namespaces_with_default_queue.insert(queue.key.namespace_);
  }
  ForEach(ObjectKind::kRuntimeClass, [&](JsonValue object, const ReadContext& context) {
    ReadRuntimeClass(object, context, defaults_);
  });
  // A namespace with two defaults has that of the LimitRange whose name is first.
  std::vector<IndexedObject> limit_ranges = index_.Of(ObjectKind::kLimitRange);
  std::ranges::stable_sort(limit_ranges, {}, [](const IndexedObject& object) {
    const auto metadata = Member(object.value, "metadata");
    return metadata ? TextOf(*metadata, "name") : std::string_view();
  });
  ForEach(ObjectKind::kLimitRange, limit_ranges, [&](JsonValue object, const ReadContext& context) {
    ReadLimitRange(object, context, defaults_);
  });
  ForEach(ObjectKind::kPriorityClass, [&](JsonValue object, const ReadContext& context) {
    ReadPriorityClass(object, context, defaults_);
  });
  for (const WorkloadPriorityClass& priority_class : cluster.priority_classes) {
    defaults_.workload_priority_classes.emplace(priority_class.name, priority_class.value);
  }
}

void ObjectConverter::DropTwins(ObjectKind kind) {
  SeenObjects seen;
  const std::vector<IndexedObject>& objects = index_.Of(kind);
  std::vector<bool> is_dropped(objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const IndexedObject* first = seen.FindOrAdd("", "", objects[i]);
    if (first == nullptr) continue;
    is_dropped[i] = ReportTwin(*first, objects[i], SaySame(first->value, objects[i].value), index_,
                               index_.ContextOf(kind, objects[i], diagnostics_));
  }
  index_.Drop(kind, is_dropped);
}

void ObjectConverter::ReadClaims(const Cluster& cluster) {
  std::vector<DeviceClass> classes;
  ForEach(ObjectKind::kDeviceClass, [&](JsonValue object, const ReadContext& context) {
    classes.push_back(ReadDeviceClass(object, context));
  });
  // Kubernetes takes the newest of several for a resource, and of those the first by name.
  for (const DeviceClass& one : classes) {
    if (one.extended_resource.empty()) continue;
    const auto [taken, is_new] = defaults_.class_of_resource.emplace(one.extended_resource, one);
    const auto order = [](const DeviceClass& device_class) {
      return std::pair(-device_class.creation_seconds, std::string_view(device_class.name));
    };
    if (!is_new && order(one) < order(taken->second)) taken->second = one;
  }
  const ClaimSurroundings around = SurroundingsOf(classes, cluster.topologies);
  const auto read = [&](ObjectKind kind, auto& places) {
    ForEach(kind, [&](JsonValue object, const ReadContext& context) {
      const bool is_template = kind == ObjectKind::kResourceClaimTemplate;
      const ObjectKey key = ReadObjectKey(object, context);
      places.emplace(key, ReadResourceClaim(object, is_template, around, context));
      if (!is_template) return;
      ClaimedDevices devices = ReadClaimedDevices(object, context);
      if (cluster.configuration && devices.has_selectors && devices.problem.empty()) {
        context.Warn(object,
                     "selectors of its requests are not evaluated for quota: Kueue also refuses "
                     "workloads while ResourceSlices have too few devices that match",
                     "");
      }
      defaults_.claimed_devices.emplace(key, std::move(devices));
    });
  };
  read(ObjectKind::kResourceClaim, defaults_.claims.claims);
  read(ObjectKind::kResourceClaimTemplate, defaults_.claims.templates);
}

bool ObjectConverter::UseIsUnknown(const Workload& workload, const Diagnostics& findings) {
  return workload.admission && std::ranges::any_of(findings.errors(), [](const Diagnostic& error) {
           return TellsUsage(error.field);
         });
}

}  // namespace espalier
