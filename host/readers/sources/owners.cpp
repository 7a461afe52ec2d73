#include "host/readers/sources/owners.hpp"

#include <fmt/format.h>

#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/source_kinds.hpp"

namespace espalier {
namespace {

std::string_view NameSpaceOf(JsonValue metadata) {
  const std::string_view name_space = TextOf(metadata, "namespace");
  return name_space.empty() ? kDefaultNamespace : name_space;
}

// The object that controls this one, as its metadata say.
std::optional<JsonValue> ControllerIn(JsonValue metadata) {
  simdjson::dom::array owners;
  if (metadata["ownerReferences"].get(owners) != simdjson::SUCCESS) return std::nullopt;
  for (const JsonValue owner : owners) {
    bool controller = false;
    if (owner["controller"].get(controller) == simdjson::SUCCESS && controller) return owner;
  }
  return std::nullopt;
}

}  // namespace

OwnerIndex::OwnerIndex(const std::vector<SourceObject>& source_objects,
                       const std::vector<Workload>& workloads) {
  for (const SourceObject& source_object : source_objects) {
    const auto metadata = Member(source_object.object.value, "metadata");
    if (!metadata || !metadata->is_object()) continue;
    objects_.emplace(KeyOf(source_object, *metadata), Object{&source_object});
  }
  for (const Workload& workload : workloads) {
    workloads_.emplace(workload.key.namespace_, workload.key.name);
    slice_names_.emplace(workload.key.namespace_, SliceName(workload));
    for (const OwnerReference& owner : workload.owners) {
      ++with_workload_[{owner.kind, workload.key.namespace_, owner.name}];
      if (!owner.uid.empty()) uids_with_workload_.insert(owner.uid);
    }
  }
}

OwnerIndex::Key OwnerIndex::KeyOf(const SourceObject& source_object, JsonValue metadata) {
  const std::string_view name_space = NameSpaceOf(metadata);
  if (source_object.kind == "HorizontalPodAutoscaler") {
    JsonValue target;
    if (source_object.object.value["spec"]["scaleTargetRef"].get(target) == simdjson::SUCCESS) {
      return {fmt::format("{} for {}", source_object.kind, TextOf(target, "kind")),
              std::string(name_space), std::string(TextOf(target, "name"))};
    }
  }
  const bool of_cluster = source_object.kind == "ClusterTrainingRuntime";
  return {std::string(source_object.kind), std::string(of_cluster ? "" : name_space),
          std::string(TextOf(metadata, "name"))};
}

const SourceObject* OwnerIndex::Find(std::string_view kind, std::string_view name_space,
                                     std::string_view name) const {
  const auto it = objects_.find(Key{std::string(kind), std::string(name_space), std::string(name)});
  return it == objects_.end() ? nullptr : it->second.source_object;
}

bool OwnerIndex::HasWorkload(const SourceObject& source_object) const {
  const auto metadata = Member(source_object.object.value, "metadata");
  if (!metadata || !metadata->is_object()) return false;
  return HasWorkload(source_object.kind, NameSpaceOf(*metadata), TextOf(*metadata, "name"),
                     TextOf(*metadata, "uid"));
}

bool OwnerIndex::HasWorkload(std::string_view kind, std::string_view name_space,
                             std::string_view name, std::string_view uid) const {
  if (!uid.empty() && uids_with_workload_.contains(uid)) return true;
  return with_workload_.contains(
      Key{std::string(kind), std::string(name_space), std::string(name)});
}

bool OwnerIndex::ControllerHasWorkload(JsonValue object) const {
  const auto metadata = Member(object, "metadata");
  if (!metadata || !metadata->is_object()) return false;
  const auto controller = ControllerIn(*metadata);
  return controller && HasWorkload(TextOf(*controller, "kind"), NameSpaceOf(*metadata),
                                   TextOf(*controller, "name"), TextOf(*controller, "uid"));
}

bool OwnerIndex::IsWorkload(std::string_view name_space, std::string_view name) const {
  return workloads_.contains({name_space, name});
}

bool OwnerIndex::IsSliceName(std::string_view name_space, std::string_view name) const {
  return slice_names_.contains({name_space, name});
}

void OwnerIndex::NotePod(JsonValue pod, bool has_workload, bool bound) {
  const Objects::value_type* top = FindTopOwner(pod);
  if (top == nullptr || std::get<0>(top->first) == "CronJob") return;
  Object& owner = objects_.find(top->first)->second;
  if (has_workload) owner.pods_have_workload = true;
  if (bound) owner.bound_pods.push_back(pod);
}

void OwnerIndex::NoteGroupedPod(JsonValue pod) {
  const Objects::value_type* top = FindTopOwner(pod, false);
  if (top != nullptr) objects_.find(top->first)->second.pods_are_grouped = true;
}

bool OwnerIndex::PodsAreGrouped(const SourceObject& source_object) const {
  const Objects::value_type* object = FindObject(source_object);
  return object != nullptr && object->second.pods_are_grouped;
}

std::int32_t OwnerIndex::CountWorkloads(const SourceObject& source_object) const {
  const auto metadata = Member(source_object.object.value, "metadata");
  if (!metadata || !metadata->is_object()) return 0;
  const auto it = with_workload_.find(KeyOf(source_object, *metadata));
  return it == with_workload_.end() ? 0 : it->second;
}

bool OwnerIndex::SiblingsHaveWorkload(JsonValue pod) const {
  const Objects::value_type* top = FindTopOwner(pod);
  return top != nullptr && top->second.pods_have_workload &&
         !HasWorkload(*top->second.source_object) && !ControllerHasWorkload(pod);
}

bool OwnerIndex::HasController(const SourceObject& source_object) const {
  return FindOwner(source_object.object.value) != nullptr;
}

bool OwnerIndex::PodsHaveWorkload(const SourceObject& source_object) const {
  const Objects::value_type* object = FindObject(source_object);
  return object != nullptr && object->second.pods_have_workload;
}

bool OwnerIndex::HasBoundPods(const SourceObject& source_object) const {
  return !BoundPods(source_object).empty();
}

std::span<const JsonValue> OwnerIndex::BoundPods(const SourceObject& source_object) const {
  const Objects::value_type* object = FindObject(source_object);
  if (object == nullptr) return {};
  return object->second.bound_pods;
}

bool OwnerIndex::IsPartOfAnother(const SourceObject& source_object) const {
  const bool group =
      source_object.source != nullptr && (source_object.source->kind == "Workload" ||
                                          source_object.source->kind.ends_with("PodGroup"));
  if (group) return false;
  const Objects::value_type* owner = FindOwner(source_object.object.value);
  return owner != nullptr && std::get<0>(owner->first) != "CronJob";
}

bool OwnerIndex::IsMadeBy(const SourceObject& source_object, const SourceObject& owner) const {
  const Objects::value_type* found = FindOwner(source_object.object.value);
  return found != nullptr && found->second.source_object == &owner;
}

std::optional<JsonValue> OwnerIndex::TopOwner(JsonValue object) const {
  const Objects::value_type* top = FindTopOwner(object);
  if (top == nullptr) return std::nullopt;
  return top->second.source_object->object.value;
}

const OwnerIndex::Objects::value_type* OwnerIndex::FindObject(
    const SourceObject& source_object) const {
  const auto metadata = Member(source_object.object.value, "metadata");
  if (!metadata || !metadata->is_object()) return nullptr;
  const auto it = objects_.find(KeyOf(source_object, *metadata));
  return it == objects_.end() ? nullptr : &*it;
}

const OwnerIndex::Objects::value_type* OwnerIndex::FindOwner(JsonValue object) const {
  if (objects_.empty()) return nullptr;
  const auto metadata = Member(object, "metadata");
  if (!metadata || !metadata->is_object()) return nullptr;
  const auto owner = ControllerIn(*metadata);
  if (!owner) return nullptr;
  const auto it =
      objects_.find(Key{std::string(TextOf(*owner, "kind")), std::string(NameSpaceOf(*metadata)),
                        std::string(TextOf(*owner, "name"))});
  return it == objects_.end() ? nullptr : &*it;
}

const OwnerIndex::Objects::value_type* OwnerIndex::FindTopOwner(JsonValue object,
                                                                bool with_cron_job) const {
  constexpr int kMostOwners = 8;  // above each other; a cycle ends there
  const Objects::value_type* top = nullptr;
  for (int i = 0; i < kMostOwners; ++i) {
    const Objects::value_type* owner =
        FindOwner(top == nullptr ? object : top->second.source_object->object.value);
    if (owner == nullptr || (!with_cron_job && std::get<0>(owner->first) == "CronJob")) break;
    top = owner;
  }
  return top;
}

}  // namespace espalier
