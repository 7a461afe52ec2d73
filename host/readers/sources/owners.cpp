#include "host/readers/sources/owners.hpp"

#include <fmt/format.h>

#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/source_kinds.hpp"

namespace espalier {
namespace {

std::string_view TextOf(JsonValue object, std::string_view name) {
  std::string_view text;
  std::ignore = object[name].get(text);
  return text;
}

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
    const JsonValue object = asker.object.value;
    const auto metadata = Member(object, "metadata");
    if (!metadata || !metadata->is_object()) continue;
    const std::string kind(asker.kind);
    const bool of_cluster = kind == "ClusterTrainingRuntime";
    const std::string name_space(of_cluster ? "" : NameSpaceOf(*metadata));
    if (kind == "HorizontalPodAutoscaler") {
      const auto target = object["spec"]["scaleTargetRef"];
      JsonValue reference;
      if (target.get(reference) != simdjson::SUCCESS) continue;
      objects_.emplace(Key{fmt::format("{} for {}", kind, TextOf(reference, "kind")), name_space,
                           TextOf(reference, "name")},
                       object);
      continue;
    }
    objects_.emplace(Key{kind, name_space, TextOf(*metadata, "name")}, object);
  }
  for (const Workload& workload : workloads) {
    for (const OwnerReference& owner : workload.owners) {
      with_workload_.insert({owner.kind, workload.key.namespace_, owner.name});
      if (!owner.uid.empty()) uids_with_workload_.insert(owner.uid);
    }
  }
}

std::optional<JsonValue> OwnerIndex::Find(std::string_view kind, std::string_view name_space,
                                          std::string_view name) const {
  const auto it = objects_.find(Key{std::string(kind), std::string(name_space), std::string(name)});
  return it == objects_.end() ? std::nullopt : std::optional<JsonValue>(it->second);
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

std::optional<JsonValue> OwnerIndex::OwnerOf(JsonValue object) const {
  const auto metadata = Member(object, "metadata");
  if (!metadata || !metadata->is_object()) return std::nullopt;
  const auto owner = ControllerIn(*metadata);
  if (!owner) return std::nullopt;
  return Find(TextOf(*owner, "kind"), NameSpaceOf(*metadata), TextOf(*owner, "name"));
}

bool OwnerIndex::IsPartOfAnother(const PodAsker& asker) const {
  const bool group = asker.source != nullptr &&
                     (asker.source->kind == "Workload" || asker.source->kind.ends_with("PodGroup"));
  if (group) return false;
  const auto owner = OwnerOf(asker.object.value);
  return owner && TextOf(*owner, "kind") != "CronJob";
}

std::optional<JsonValue> OwnerIndex::TopOwner(JsonValue object) const {
  constexpr int kMostOwners = 8;  // above each other; a cycle ends there
  std::optional<JsonValue> top;
  for (int i = 0; i < kMostOwners; ++i) {
    const auto owner = OwnerOf(top.value_or(object));
    if (!owner) break;
    top = owner;
  }
  return top;
}

}  // namespace espalier
