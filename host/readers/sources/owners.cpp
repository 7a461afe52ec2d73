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

OwnerIndex::OwnerIndex(const std::vector<PodAsker>& askers,
                       const std::vector<Workload>& workloads) {
  for (const PodAsker& asker : askers) {
    const auto metadata = Member(asker.object.value, "metadata");
    if (!metadata || !metadata->is_object()) continue;
    objects_.emplace(KeyOf(asker, *metadata), Object{&asker});
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

OwnerIndex::Key OwnerIndex::KeyOf(const PodAsker& asker, JsonValue metadata) {
  const std::string_view name_space = NameSpaceOf(metadata);
  if (asker.kind == "HorizontalPodAutoscaler") {
    JsonValue target;
    if (asker.object.value["spec"]["scaleTargetRef"].get(target) == simdjson::SUCCESS) {
      return {fmt::format("{} for {}", asker.kind, TextOf(target, "kind")), std::string(name_space),
              std::string(TextOf(target, "name"))};
    }
  }
  const bool of_cluster = asker.kind == "ClusterTrainingRuntime";
  return {std::string(asker.kind), std::string(of_cluster ? "" : name_space),
          std::string(TextOf(metadata, "name"))};
}

const PodAsker* OwnerIndex::Find(std::string_view kind, std::string_view name_space,
                                 std::string_view name) const {
  const auto it = objects_.find(Key{std::string(kind), std::string(name_space), std::string(name)});
  return it == objects_.end() ? nullptr : it->second.asker;
}

bool OwnerIndex::HasWorkload(const PodAsker& asker) const {
  const auto metadata = Member(asker.object.value, "metadata");
  if (!metadata || !metadata->is_object()) return false;
  return HasWorkload(asker.kind, NameSpaceOf(*metadata), TextOf(*metadata, "name"),
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
  if (bound) owner.has_bound_pods = true;
}

void OwnerIndex::NoteGroupedPod(JsonValue pod) {
  const Objects::value_type* top = FindTopOwner(pod, false);
  if (top != nullptr) objects_.find(top->first)->second.pods_are_grouped = true;
}

bool OwnerIndex::PodsAreGrouped(const PodAsker& asker) const {
  const Objects::value_type* object = FindObject(asker);
  return object != nullptr && object->second.pods_are_grouped;
}

std::int32_t OwnerIndex::CountWorkloads(const PodAsker& asker) const {
  const auto metadata = Member(asker.object.value, "metadata");
  if (!metadata || !metadata->is_object()) return 0;
  const auto it = with_workload_.find(KeyOf(asker, *metadata));
  return it == with_workload_.end() ? 0 : it->second;
}

bool OwnerIndex::SiblingsHaveWorkload(JsonValue pod) const {
  const Objects::value_type* top = FindTopOwner(pod);
  return top != nullptr && top->second.pods_have_workload && !HasWorkload(*top->second.asker) &&
         !ControllerHasWorkload(pod);
}

bool OwnerIndex::HasController(const PodAsker& asker) const {
  return FindOwner(asker.object.value) != nullptr;
}

bool OwnerIndex::PodsHaveWorkload(const PodAsker& asker) const {
  const Objects::value_type* object = FindObject(asker);
  return object != nullptr && object->second.pods_have_workload;
}

bool OwnerIndex::HasBoundPods(const PodAsker& asker) const {
  const Objects::value_type* object = FindObject(asker);
  return object != nullptr && object->second.has_bound_pods;
}

bool OwnerIndex::IsPartOfAnother(const PodAsker& asker) const {
  const bool group = asker.source != nullptr &&
                     (asker.source->kind == "Workload" || asker.source->kind.ends_with("PodGroup"));
  if (group) return false;
  const Objects::value_type* owner = FindOwner(asker.object.value);
  return owner != nullptr && std::get<0>(owner->first) != "CronJob";
}

bool OwnerIndex::IsMadeBy(const PodAsker& asker, const PodAsker& owner) const {
  const Objects::value_type* found = FindOwner(asker.object.value);
  return found != nullptr && found->second.asker == &owner;
}

std::optional<JsonValue> OwnerIndex::TopOwner(JsonValue object) const {
  const Objects::value_type* top = FindTopOwner(object);
  if (top == nullptr) return std::nullopt;
  return top->second.asker->object.value;
}

const OwnerIndex::Objects::value_type* OwnerIndex::FindObject(const PodAsker& asker) const {
  const auto metadata = Member(asker.object.value, "metadata");
  if (!metadata || !metadata->is_object()) return nullptr;
  const auto it = objects_.find(KeyOf(asker, *metadata));
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
        FindOwner(top == nullptr ? object : top->second.asker->object.value);
    if (owner == nullptr || (!with_cron_job && std::get<0>(owner->first) == "CronJob")) break;
    top = owner;
  }
  return top;
}

}  // namespace espalier
